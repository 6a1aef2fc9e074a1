#pragma once
/*
 * What a layer would change on the host: the difference between an overlay's upper
 * (or a full copy) and the folder below it.
 *
 * Everything in the upper was written by the box and is hostile. Both sides are
 * walked by descriptors, one name at a time, without following a link and without
 * entering another mount; depth, entries and open descriptors are bounded. Something
 * that can never be applied is in the list with a reason, never left out. Only names
 * are kept in memory.
 *
 * The caller owns what is in the view. Hold the layer's lock: a box that
 * still runs could change the upper after it was looked at.
 */
#include "base/base.h"
#include "layer/walk/known.h"

enum ab_change_kind {
	AB_CHANGE_ADDED,
	AB_CHANGE_MODIFIED,
	AB_CHANGE_DELETED,
	AB_CHANGE_MODE,	    /* only permissions */
	AB_CHANGE_REPLACED, /* another type */
};

enum ab_change_type { AB_TYPE_NONE, AB_TYPE_FILE, AB_TYPE_DIR, AB_TYPE_LINK, AB_TYPE_OTHER };

/* Which file it was, and whether it has changed. Zero: there was none. */
struct ab_identity {
	dev_t dev;
	ino_t ino;
	uint64_t size;
	mode_t mode; /* with the type */
	struct timespec mtime, ctime;
};

struct ab_change {
	char *path; /* relative to the root, raw bytes, no leading slash */
	enum ab_change_kind kind;
	enum ab_change_type was, is;
	uint64_t old_size, new_size; /* apparent sizes of files; length of a link's target */
	mode_t old_mode, new_mode;   /* without the type */
	uint64_t count;		     /* entries below a folder that is deleted or replaced */
	uint64_t files;		     /* of these, how many are not folders */
	bool conflict;		     /* the host changed it after the layer saw it */
	bool held;		     /* a conflict only because its repository's index is one */
	const char *refused;	     /* why it cannot be applied, or NULL */
	uint32_t labels;	     /* AB_LABEL_* bits, filled by labels.c */

	/* For apply. */
	struct ab_identity host, layer;
	/* The upper says nothing about the host's files beside it unless it contains them: it is
	 * a copy, or in an opaque folder. An entry that is removed there is a deletion. */
	bool full;
};

struct ab_changes {
	struct ab_change *v;
	size_t len;
	bool cut; /* a limit was reached; nothing may be applied */
};

struct ab_changes_limits {
	size_t entries;	    /* names on both sides together */
	unsigned int depth; /* of folders; two descriptors are open for each level */
	size_t path;	    /* bytes of a path */
};

/* What a NULL pointer stands for. */
extern const struct ab_changes_limits ab_changes_limits_default;

struct ab_layer_view {
	int upper, lower;
	bool home;		/* above the home folder, not above a workspace */
	bool copy;		/* the upper is a full copy: a missing name is a deletion */
	struct timespec since;	/* first start of the layer */
	struct timespec latest; /* its latest start, or zero */
	struct ab_known known;	/* files that agentbox itself left on the host */
	char index[65];		/* layer/walk/index.h; "": not known */
	/* Relative paths, sorted: the layer has placeholders there, because the box may not read the
	 * host's files. They are never a change, and no folder around them goes away. */
	struct ab_strv withheld;
	/* layer/walk/points.h: their modes, and those that are untouched, are no change. */
	struct ab_strv points;
};

/*
 * Sorted by path: what is in a folder follows it at once, by name, byte by byte. A new
 * folder has an entry of its own and one for each entry in it; a deleted folder is one
 * entry with a count. A file with the content and
 * mode of the host's is not a change. The mode of the root is not compared.
 *
 * A repository is one unit: if its index is a conflict, everything in its .git is one.
 *
 * An entry that cannot be listed, read or compared is refused. -1 if one of the two roots cannot be
 * read.
 */
int ab_changes_collect(const struct ab_layer_view *view, const struct ab_changes_limits *limits,
		       struct ab_changes *ret, struct ab_error *err);
void ab_changes_fini(struct ab_changes *changes);

/* The entry with this path, or NULL. */
struct ab_change *ab_changes_find(const struct ab_changes *changes, const char *path);
/* The first entry that is not before this path: itself, or the first one in that folder if there is
 * any. */
size_t ab_changes_from(const struct ab_changes *changes, const char *path);
/* The first entry after `i` and everything below it. */
size_t ab_changes_end(const struct ab_changes *changes, size_t i);
/* Is `path` below the folder `top`? */
bool ab_changes_below(const char *path, const char *top);
