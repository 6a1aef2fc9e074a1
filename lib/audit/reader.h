#ifndef AB_AUDIT_READER_H
#define AB_AUDIT_READER_H
/*
 * The lines of a run's record, oldest first, through all of its files (for
 * their order see audit/log.h), also while they are written, become full and
 * are renamed: a reader that came to the end can be asked again.
 *
 * Every whole line is given. One without its end (whoever wrote it was killed,
 * or is about to go on) waits for the rest of it; what is too long, or was
 * never ended, is passed over and counted. Memory does not grow with the
 * record.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;

/* A policy with long lists is in the first line. */
enum { AB_LINE_MAX = 4 << 20 };

struct ab_reader {
	int dir;		/* the run's folder; the caller's */
	int fd;
	unsigned int number;	/* of full files that are behind us */
	bool last;		/* fd is the one that is written */
	bool over;		/* it is not any more, and was read to its end */
	bool skip;		/* until the end of this line */
	char *buf;
	size_t room, begin, seen, end;	/* seen: no end of line before it */
	uint64_t lost;		/* lines that were passed over */
};

/* `dir` stays open as long as the reader. */
int ab_reader_open(int dir, struct ab_reader *ret, struct ab_error *err);
void ab_reader_fini(struct ab_reader *reader);

/* The next line without its end, good until the next call: 1; 0 when there is
 * none (yet); -1. No NUL behind it. */
int ab_reader_next(struct ab_reader *reader, const char **ret_line,
		   size_t *ret_len, struct ab_error *err);

/* Lines that were lost so far; one that is not ended counts, so this is for
 * who does not go on. */
uint64_t ab_reader_lost(const struct ab_reader *reader);

#endif
