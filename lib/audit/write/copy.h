#pragma once
/*
 * The copy of a run's record that the user asked for: a file by its name, or
 * a descriptor that was open already, by its number, or one of our own.
 *
 * A file must be a regular file or a FIFO, owned by the user and not writable
 * by others; a descriptor can be anything but a terminal. If the reader of a
 * pipe stalls, a write waits AB_COPY_MS once, and then not again until the
 * reader continues: a record that it does not take counts as not written.
 *
 * A lossy copy is a socket whose reader is never waited for: a record for which
 * it has no room is dropped and counted, and that is not an error.
 */
#include "base/base.h"

enum { AB_COPY_MS = 1000 };

struct ab_copy {
	int fd;		    /* -1: there is no copy */
	struct stat st;	    /* of the open file */
	const char *option; /* what it is for: "--audit" */
	char *name;	    /* as the user wrote it */
	bool named;	    /* we opened a file by that name */
	char *path;	    /* its real path; NULL when it has none */
	bool late;	    /* the reader stalled */
	bool torn;	    /* the last record was written in part */
	bool lossy;
	struct ab_buf rest; /* of a lossy copy: the end of a record that has begun */
	uint64_t given;	    /* records that it got, in whole or in part */
	uint64_t dropped;   /* records that it did not */
};

#define AB_COPY_NONE     \
	{                \
		.fd = -1 \
	}

/* `option` and `where` are what the user wrote. A descriptor: */
bool ab_copy_is_fd(const char *where);
int ab_copy_open_fd(const char *option, const char *where, struct ab_copy *ret,
		    struct ab_error *err);
/* The file `file` in the open folder `dir`. */
int ab_copy_open_file(const char *option, const char *where, int dir, const char *file,
		      struct ab_copy *ret, struct ab_error *err);
/* A descriptor of the caller, which the copy takes over, also if it fails. `name` is for messages. */
int ab_copy_open_own(const char *option, const char *name, int fd, bool lossy, struct ab_copy *ret,
		     struct ab_error *err);
/* Write what a lossy copy still has to write, as far as there is room. */
void ab_copy_flush(struct ab_copy *copy);
/* Empty a file that was opened by name. A descriptor is left as it is. */
int ab_copy_clear(const struct ab_copy *copy, struct ab_error *err);
/* Write one whole record; SIGPIPE must be blocked. */
int ab_copy_write(struct ab_copy *copy, const char *line, size_t len, struct ab_error *err);
void ab_copy_fini(struct ab_copy *copy);
