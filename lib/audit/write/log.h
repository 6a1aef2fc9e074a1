#ifndef AB_AUDIT_WRITE_LOG_H
#define AB_AUDIT_WRITE_LOG_H
/*
 * Where the records of one run go: audit.jsonl in its folder, and the copy
 * that the user asked for, if any. One write() for each record, so that a
 * reader and a crash see whole lines or nothing. Several threads may write.
 *
 * A file that is full becomes audit.1.jsonl, the next one audit.2.jsonl and
 * so on, and audit.jsonl is always the one that is written. So the order is
 *
 *	audit.1.jsonl, audit.2.jsonl, ..., audit.jsonl
 *
 * The first one begins with the start record and is never removed; of the
 * others that are full the last AB_LOG_FULL - 1 are kept. A file behind
 * another begins with a record "continued", which names the one before it and
 * the one that was removed for it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/buf.h"

struct ab_copy;
struct ab_error;

#define AB_LOG_NAME "audit.jsonl"
#define AB_LOG_SIZE (64ull << 20)
enum { AB_LOG_FULL = 4 };

struct ab_log_setup {
	int dir; /* the run's folder; stays the caller's */
	const char *run_id;
	struct ab_copy *copy; /* or NULL; outlives the log */
	uint64_t size;	      /* when a file is full; 0: AB_LOG_SIZE */
	/* Sees each record that was written, on the thread that wrote it and
	 * with the lock held; or NULL. */
	void (*tap)(void *arg, const char *line, size_t len);
	void *tap_arg;
};

struct ab_log {
	struct ab_log_setup setup;
	pthread_mutex_t mutex;
	int fd;
	uint64_t len;	   /* of the file */
	uint64_t limit;	   /* when it is full */
	unsigned int full; /* how many there were */
};

#define AB_LOG_NONE      \
	{                \
		.fd = -1 \
	}

/* Make audit.jsonl, which must not be there yet. */
int ab_log_open(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err);
/* Go on with the record of a run whose own process is gone. */
int ab_log_resume(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err);
void ab_log_fini(struct ab_log *log);

/* Close the line and write it, whole. The buffer is empty afterwards and can
 * be used again. -1: it is not everywhere where it should be. */
int ab_log_write(struct ab_log *log, struct ab_buf *line, struct ab_error *err);

/* Has the run in this folder a record? */
bool ab_log_begun(int dir);
/* Its first line, without the end of line; -1 with errno. Free it. */
int ab_log_first(int dir, char **ret_line);

#endif
