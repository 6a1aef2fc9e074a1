#pragma once
/*
 * Labels: why a person should look at a change before it is applied. Most of them
 * say that a program outside the box would run the file or obey it; the others that
 * it is not what it looks like.
 *
 * Pure and bounded: a label follows from the path, the types, the modes, the sizes and
 * the content of a change. Everything about a change is hostile. Names are compared
 * folded, because some file systems take .GIT for .git. Content that should decide but
 * is not known counts as the worse case.
 */
#include "base/base.h"

struct ab_change;
struct ab_changes;

/* Bits of ab_change.labels, and the index of the row in ab_labels. */
enum ab_label_id {
	AB_LABEL_GIT,
	AB_LABEL_FOLDER,
	AB_LABEL_LOGIN,
	AB_LABEL_CI,
	AB_LABEL_BUILD,
	AB_LABEL_REGISTRY,
	AB_LABEL_PACKAGES,
	AB_LABEL_AGENT,
	AB_LABEL_CREDENTIALS,
	AB_LABEL_HOME,
	AB_LABEL_EXECUTABLE,
	AB_LABEL_SETID,
	AB_LABEL_LINK,
	AB_LABEL_DEVICE,
	AB_LABEL_BINARY,
	AB_LABEL_HIDDEN,
	AB_LABEL_SECRET,
	AB_LABEL_LARGE,
	AB_LABEL_DELETION,
	AB_LABEL_MASS,
	AB_LABEL_UNCHECKED,
	AB_LABEL_COUNT,
};
#define AB_LABEL_BIT(id) (UINT32_C(1) << (id))

struct ab_label {
	const char *name; /* for scripts: "git" */
	const char *what; /* a clause about the change: "runs on commit or checkout" */
	const char *why;  /* a sentence */
};
extern const struct ab_label ab_labels[AB_LABEL_COUNT];

/* Why a change has a label. */
struct ab_label_hit {
	enum ab_label_id id;
	char who[24];	 /* the program that would run or obey it: "direnv"; or "" */
	char detail[96]; /* what in it: a setting, a host; escaped; or "" */
};

struct ab_label_hits {
	uint32_t bits;
	struct ab_label_hit v[AB_LABEL_COUNT]; /* one for each bit, in the order of ids */
	size_t len;
};

/* One side of a change. */
struct ab_label_side {
	const char *data; /* of a regular file, or the target of a link; NULL: not known */
	size_t len;
	bool cut; /* there is more */
};

struct ab_label_input {
	const struct ab_change *change;
	struct ab_label_side old, fresh;
	bool gitdir; /* the change is in a git directory, whatever that is called */
	const char *
		completes; /* what git would obey in the git directory that it completes, or NULL */
	bool repository;   /* it deletes a folder that contains a .git */
	bool mass;	   /* ab_contents_mass() of all changes */
	bool home;	   /* the tree is the home folder */
};

void ab_labels_find(const struct ab_label_input *in, struct ab_label_hits *ret);

/* The labels that follow from the name alone, for a file whose change is not known. */
void ab_labels_find_name(const char *path, struct ab_label_hits *ret);

/* Do these changes delete so much that every deletion wants a look? Fewer deletions are many too
 * if they are more than half of the tree; see ab_contents_mass(). */
#define AB_LABEL_MASS_FILES 100
#define AB_LABEL_MASS_LEAST 5
bool ab_changes_mass(const struct ab_changes *changes);
bool ab_change_deletes(const struct ab_change *change);

/* Is it a file of git's own in .git: objects, refs, the index? Their content is for git, which
 * runs none of it. A file there that makes git run something has the label AB_LABEL_GIT. */
bool ab_label_is_git_data(const char *path);
/* The length of the path of that .git, or 0. */
size_t ab_label_gitdir_len(const char *path);

/* May the path be a part of a git directory that has another name than .git? Then *ret_len is the length
 * of that folder's path. It may have several such names: *at is 0 at first, and then behind the last one. */
bool ab_label_maybe_gitdir(const char *path, size_t *at, size_t *ret_len);

/* Does this folded path end with the name of something that every git directory has? */
bool ab_label_is_gitdir_part(const char *folded);
/* The files of a git directory, besides hooks and configuration, that make git read something else; "*" is
 * any name. NULL behind the last one. */
const char *ab_label_git_lead(size_t i);
