#pragma once
/*
 * Read the lines of a run's record, oldest first, through all of its files
 * (audit/write/log.h has their order), even while they are written and renamed. At
 * the end, call again later for more.
 *
 * The reader returns whole lines only. A line without a newline waits for its
 * rest (the writer was killed, or is about to continue); a line that is too
 * long or never ends is skipped and counted. Memory does not grow with the
 * record.
 */
#include "base/base.h"

/* The first line contains the policy, which may have long lists. */
enum { AB_LINE_MAX = 4 << 20 };

struct ab_reader {
	int dir; /* the run's folder; the caller's. -1: there is one file only */
	int fd;
	unsigned int number; /* of the last full file that was read */
	bool last;	     /* fd is audit.jsonl */
	bool over;	     /* it was renamed, and was read to its end */
	bool skip;	     /* until the end of this line */
	char *buf;
	size_t room, begin, seen, end; /* seen: no newline before it */
	uint64_t lines;		       /* of this file, so far */
	uint64_t lost;		       /* lines that were skipped */
};

/* Open a name in a folder to which anybody may write: only a regular file. -1 with errno. */
int ab_reader_open_name(int dir, const char *name);
/* `dir` stays open as long as the reader. */
int ab_reader_open(int dir, struct ab_reader *ret, struct ab_error *err);
/* Read one open file, which is closed with the reader. */
void ab_reader_open_file(int fd, struct ab_reader *ret);
void ab_reader_fini(struct ab_reader *reader);

/* 1: the next line, without its newline and not followed by a NUL, valid until
 * the next call; 0: there is none (yet); -1. */
int ab_reader_next(struct ab_reader *reader, const char **ret_line, size_t *ret_len,
		   struct ab_error *err);

/* Calls back for each line of a run's whole record, until `fn` returns false. */
typedef bool ab_line_fn(void *arg, const char *line, size_t len);
int ab_reader_each(int dir, ab_line_fn *fn, void *arg, struct ab_error *err);

/* The file of the line that was returned last, "audit.jsonl"; and the number of
 * the line in it, from 1. */
#define AB_READER_NAME 32
uint64_t ab_reader_place(const struct ab_reader *reader, char ret_file[AB_READER_NAME]);

/* How many lines were skipped. An unfinished last line counts, so ask when
 * done with reading. */
uint64_t ab_reader_lost(const struct ab_reader *reader);
