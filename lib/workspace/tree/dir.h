#pragma once
/*
 * Read folders and small files that may be hostile: never follows a symbolic link,
 * opens only regular files for reading, and limits everything.
 */
#include "base/base.h"

struct ab_entry {
	const char *name; /* valid until the listing is read again */
	ino_t ino;
	unsigned char type; /* DT_*; DT_UNKNOWN if the file system does not tell */
};

/* The entries of a folder. Zero-initialized is empty; reading reuses it. */
struct ab_listing {
	struct ab_entry *v;
	size_t len, room;
	struct ab_buf names;
	bool cut; /* there were more than `max` */
};

/* Read the folder of fd (without "." and ".."); -1 with errno. */
int ab_listing_read(struct ab_listing *l, int fd, size_t max);
const struct ab_entry *ab_listing_find(const struct ab_listing *l, const char *name);
/* Has it an entry that a file system which folds names could take for this name? */
bool ab_listing_may_have(const struct ab_listing *l, const char *name);
void ab_listing_fini(struct ab_listing *l);
#define ab_autolisting __attribute__((cleanup(ab_listing_fini)))

/*
 * Does a program that looks for the protected `name`, or for something below it, find this entry of the
 * folder fd? Then *ret_rest is what follows its first component, as in ab_name_starts(), and `ret_as` how
 * that program spells the entry: otherwise than it is, if the file system does not tell the two apart.
 */
bool ab_entry_starts(int fd, const char *name, const char *entry, char ret_as[NAME_MAX + 1],
		     const char **ret_rest);

/* Open `path` below the folder `at`, without following any symbolic link and never
 * above `at`; -1 with errno. For an absolute path `at` is AT_FDCWD. */
int ab_open_beneath(int at, const char *path, int flags);
/* The same, but fails with EXDEV where another mount begins. */
int ab_open_same_mount(int at, const char *path, int flags);

/* Read a small regular file; -1 with errno (EFBIG, or EINVAL if it is something
 * else). */
int ab_read_small(int at, const char *name, size_t max, char **ret_data, size_t *ret_len);

/* Rename without replacing anything: EEXIST. Falls back to a look and a rename where the
 * file system does not have RENAME_NOREPLACE. -1 with errno. */
int ab_rename_new(int from, const char *name, int to, const char *as);

/* Is it on a file system of one of these types? */
bool ab_is_on(int fd, const unsigned long *types, size_t n);

/* The real path of the file behind fd, or NULL with errno. */
char *ab_real_path(int fd);
