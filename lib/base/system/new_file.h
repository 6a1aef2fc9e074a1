#pragma once
/*
 * A file that readers see whole or not at all: it is written beside its place, under another name, and
 * then gets its own. Neither name is followed if it is a link.
 */
#include "base/data/libc.h"

enum {
	AB_NEW_FILE_ONLY = 1,	 /* EEXIST if there is one, even one that was made meanwhile */
	AB_NEW_FILE_NO_SYNC = 2, /* it may be empty after the machine stopped */
	AB_NEW_FILE_SYNC_NAME =
		4, /* the name reaches the disk, too, if possible; not with AT_FDCWD */
};

struct ab_new_file {
	int fd; /* to write to; stays open when the file is in its place */
	int dir;
	const char *name;
	char *temporary; /* NULL when the file is in its place */
};

#define AB_NEW_FILE_NONE \
	{                \
		.fd = -1 \
	}

/*
 * Create the file that will be `name` in the folder `dir`; with AT_FDCWD, `name` is a path. Both must
 * outlive *ret. `temporary` is its name until then, and what has that name is removed: only for a
 * caller with a lock, whose predecessor may have been killed. NULL: a random one.
 * -1 with errno.
 */
int ab_new_file_open(int dir, const char *name, const char *temporary, mode_t mode,
		     struct ab_new_file *ret);
/* Give it its name; `how` is a set of AB_NEW_FILE_. -1 with errno, and it can be closed. */
int ab_new_file_place(struct ab_new_file *f, unsigned int how);
/* Remove it unless it is in its place. Keeps errno. */
void ab_new_file_close(struct ab_new_file *f);
#define ab_autonewfile __attribute__((cleanup(ab_new_file_close)))

/* All of this for these bytes; the mode is 0600. -1 with errno. */
int ab_new_file_write(int dir, const char *name, const char *temporary, const void *data,
		      size_t len, unsigned int how);
