#ifndef AB_WORKSPACE_TREE_DIR_H
#define AB_WORKSPACE_TREE_DIR_H
/*
 * Reading folders and small files that a hostile hand may have made: no
 * symbolic link is followed, nothing but a regular file is opened for
 * reading, everything is bounded.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/data/buf.h"

struct ab_entry {
	const char *name; /* valid until the listing is read again */
	ino_t ino;
	unsigned char type; /* DT_*; DT_UNKNOWN where the disk won't say */
};

/* One folder, read whole. Zero-initialised is empty; reading reuses it. */
struct ab_listing {
	struct ab_entry *v;
	size_t len, room;
	struct ab_buf names;
	bool cut; /* there were more than `max` */
};

/* Read the folder behind fd (not "." and ".."); -1 with errno. */
int ab_listing_read(struct ab_listing *l, int fd, size_t max);
const struct ab_entry *ab_listing_find(const struct ab_listing *l, const char *name);
void ab_listing_fini(struct ab_listing *l);
#define ab_autolisting __attribute__((cleanup(ab_listing_fini)))

/* Open `path` below the folder `at` with no symbolic link in it anywhere, and
 * never above `at`; -1 with errno. For an absolute path `at` is AT_FDCWD. */
int ab_open_beneath(int at, const char *path, int flags);

/* The bytes of a small regular file; -1 with errno (EFBIG, EINVAL when it is
 * something else). */
int ab_read_small(int at, const char *name, size_t max, char **ret_data, size_t *ret_len);

/* The real path of what fd is, or NULL with errno. */
char *ab_real_path(int fd);

#endif
