#ifndef AB_LAYER_COPY_FOLDER_COPY_H
#define AB_LAYER_COPY_FOLDER_COPY_H
/*
 * Copy a tree of files, and remove one.
 *
 * Both sides may be hostile, and may change meanwhile: every name is opened in the folder that
 * contains it, without following a link, and everything is bounded. A copy shares the blocks of the
 * original where the file system can do that. It has the permissions, times and user attributes of
 * the original; holes stay holes; hard links become separate files.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/data/buf.h"

struct ab_strv;

enum { AB_FOLDER_DEPTH_MAX = 256 };

struct ab_folder_copy {
	uint64_t max_entries, max_bytes;
	bool one_mount; /* fail with EXDEV where another mount begins; else copy what it shows */
	/* An overlay's upper, which a box may be using: also copy its deletions and its own
	 * attributes, and leave out what is removed meanwhile. */
	bool upper;
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

/* Copy what is in the folder `from` into the empty folder `to`, which gets the mode and the times of
 * `from`. 0, or an errno: EFBIG if the tree exceeds a limit. What was copied so far stays. */
int ab_folder_copy(struct ab_folder_copy *c, int from, int to);
void ab_folder_copy_fini(struct ab_folder_copy *c);

/* Remove `name` in the folder `parent` with everything in it. Does not enter another mount. 0, or an
 * errno; then the rest stays. */
int ab_folder_remove(int parent, const char *name);

#endif
