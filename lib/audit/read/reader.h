#ifndef AB_AUDIT_READ_READER_H
#define AB_AUDIT_READ_READER_H
/*
 * The lines of a run's record, oldest first, through all of its files (for
 * their order see audit/write/log.h), even while these are written, fill up and are
 * renamed: at the end, a reader can be asked again later.
 *
 * Only whole lines are given. One without a newline (its writer was killed, or
 * is about to continue) waits for the rest; a line that is too long or never
 * ends is skipped and counted. Memory does not grow with the record.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;

/* A policy with long lists is in the first line. */
enum { AB_LINE_MAX = 4 << 20 };

struct ab_reader {
	int dir; /* the run's folder; the caller's */
	int fd;
	unsigned int number; /* of full files that are behind us */
	bool last;	     /* fd is the one that is written */
	bool over;	     /* it is not any more, and was read to its end */
	bool skip;	     /* until the end of this line */
	char *buf;
	size_t room, begin, seen, end; /* seen: no end of line before it */
	uint64_t lost;		       /* lines that were passed over */
};

/* `dir` stays open as long as the reader. */
int ab_reader_open(int dir, struct ab_reader *ret, struct ab_error *err);
void ab_reader_fini(struct ab_reader *reader);

/* 1: the next line, without its newline and not followed by a NUL, valid until
 * the next call; 0: there is none (yet); -1. */
int ab_reader_next(struct ab_reader *reader, const char **ret_line, size_t *ret_len,
		   struct ab_error *err);

/* How many lines were skipped. An unfinished last line counts, so ask when
 * done with reading. */
uint64_t ab_reader_lost(const struct ab_reader *reader);

#endif
