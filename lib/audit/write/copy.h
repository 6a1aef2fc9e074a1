#ifndef AB_AUDIT_WRITE_COPY_H
#define AB_AUDIT_WRITE_COPY_H
/*
 * The copy of a run's record that the user asked for: a file by its name, or
 * a descriptor that was open already, by its number.
 *
 * A file must be a regular one or a FIFO, ours, closed to other writers; a
 * descriptor anything that takes bytes but a terminal. A reader that does not
 * read is waited for AB_COPY_MS per record, and not at all again until it
 * does: a record that it does not take is one that cannot be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct ab_error;

enum { AB_COPY_MS = 1000 };

struct ab_copy {
	int fd;		    /* -1: there is no copy */
	struct stat st;	    /* of what it is */
	const char *option; /* what it is for: "--audit" */
	char *name;	    /* as the user wrote it */
	bool named;	    /* a file that we opened by that name */
	char *path;	    /* its real path; NULL when it has none */
	bool late;	    /* the reader had its time */
	bool torn;	    /* the last record is there only in part */
};

#define AB_COPY_NONE     \
	{                \
		.fd = -1 \
	}

/* `where` is all digits: a descriptor. */
int ab_copy_open(const char *where, struct ab_copy *ret, struct ab_error *err);
/* For another option that takes the same, with the same care. */
int ab_copy_open_as(const char *option, const char *where, struct ab_copy *ret,
		    struct ab_error *err);
/* Nothing is to be in it but what comes now. What was handed in open is left
 * as it is. */
int ab_copy_clear(const struct ab_copy *copy, struct ab_error *err);
/* One record, whole; SIGPIPE must be blocked. */
int ab_copy_write(struct ab_copy *copy, const char *line, size_t len, struct ab_error *err);
void ab_copy_fini(struct ab_copy *copy);

#endif
