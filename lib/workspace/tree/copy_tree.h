#pragma once
/*
 * Copy a file, a link or a tree of files.
 *
 * Both sides may be hostile, and may change meanwhile: every name is opened in the folder that
 * contains it, without following a link, and everything is bounded. A copy shares the blocks of the
 * original where the file system can do that; holes stay holes; hard links become separate files.
 */
#include "base/base.h"

enum { AB_COPY_DEPTH_MAX = 256 };

/* What a copy has of the original beside its content. */
enum ab_copy_keep {
	AB_COPY_ALL,	 /* permissions, times and user attributes */
	AB_COPY_USUAL,	 /* permissions without set-id bits, and the time of the last change */
	AB_COPY_PRIVATE, /* nothing: only we may open it */
	/* Nobody else writes in `from`, and the copy is for the user: open what is closed to its
	 * owner, keep permissions without set-id bits and others' right to write, and sync files. */
	AB_COPY_RESTORED,
};

struct ab_copy_tree {
	uint64_t max_entries, max_bytes;
	unsigned max_depth; /* 0: AB_COPY_DEPTH_MAX */
	enum ab_copy_keep keep;
	bool one_mount; /* fail with EXDEV where another mount begins; else copy what it shows */
	/* An overlay's upper, which a box may be using: also copy its deletions and its own
	 * attributes, and leave out what is removed meanwhile. */
	bool upper;
	/* ALL: also the owner, if we may give files away; set-id bits only for the same owner. */
	bool owners;
	bool own_only; /* fail with EPERM if something has another owner or group than we */
	/* Leave out sockets, devices and FIFOs, and count them; else fail with EINVAL. */
	bool skip_special;
	/* Relative paths, sorted: an empty file that nobody may read, or an empty folder, takes the
	 * place of what is there. May be NULL. */
	const struct ab_strv *withheld;
	/* Called now and then; true: fail with ECANCELED. May be NULL. */
	bool (*stop)(void *arg);
	void *arg;
	/* So far. */
	uint64_t entries, bytes, skipped;
	struct ab_buf skipped_first; /* the path of the first one that was left out */
	struct ab_buf path;	     /* where it failed, relative to the tree */
};

/* Copy `name` as `as`, which must not exist. `mode` has its type. 0, or an errno, EFBIG beyond the
 * limits; then a part of the copy may exist. */
int ab_copy_tree(struct ab_copy_tree *c, int from, const char *name, mode_t mode, int to,
		 const char *as);
/* Copy what is in the folder `from` into the empty folder `to`, which gets what is kept of `from`. */
int ab_copy_folder(struct ab_copy_tree *c, int from, int to);
void ab_copy_tree_fini(struct ab_copy_tree *c);

/* Copy an object on the same mount without limits but that of depth, with AB_COPY_USUAL. -1 with
 * errno. */
int ab_copy_object(int from, const char *name, int to, const char *as);
/* The same with AB_COPY_ALL and owners: what must come back as it was. */
int ab_copy_original(int from, const char *name, int to, const char *as);
/* Copy the content of a regular file into a new, empty one. -1 with errno. */
int ab_copy_content(int in, int out, const struct stat *st);
