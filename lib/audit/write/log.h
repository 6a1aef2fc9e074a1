#pragma once
/*
 * Write the records of one run to audit.jsonl in its folder, and to the copy
 * that the user asked for, if any. Each record is one write(), so that readers
 * see whole lines even after a crash. Several threads may write.
 *
 * A full file becomes audit.1.jsonl, the next one audit.2.jsonl and so on;
 * audit.jsonl is always the current one. So the order is
 *
 *	audit.1.jsonl, audit.2.jsonl, ..., audit.jsonl
 *
 * The first file begins with the start record and is never removed; of the
 * other full files the last AB_LOG_FULL - 1 are kept. Each later file begins
 * with a record "continued", which names the file before it and the file that
 * was removed, and has the hash of the last line of the first file, so that the
 * first file stays a part of the chain.
 *
 * The lines form a chain, and the last one is signed (seal.h).
 */
#include <pthread.h>

#include "base/base.h"

struct ab_copy;
struct ab_seal;

#define AB_LOG_NAME "audit.jsonl"
/* The name of a full file, "audit.12.jsonl"; returns ret. And back; 0: it is not one. */
#define AB_LOG_NAME_ROOM 32
const char *ab_log_full_name(unsigned int number, char ret[AB_LOG_NAME_ROOM]);
unsigned int ab_log_full_number(const char *name);
#define AB_LOG_SIZE (64ull << 20)
enum { AB_LOG_FULL = 4 };

struct ab_log_setup {
	int dir; /* the run's folder; stays the caller's */
	const char *run_id;
	struct ab_copy *copy; /* or NULL; outlives the log */
	uint64_t size;	      /* of a full file; 0: AB_LOG_SIZE */
	/* To sign the last record, if it is loaded by then; or NULL. It outlives
	 * the log. */
	struct ab_seal *seal;
	/* Called with each record that was written, on the thread that wrote it
	 * and with the lock held; or NULL. */
	void (*tap)(void *arg, const char *line, size_t len);
	void *tap_arg;
};

struct ab_log {
	struct ab_log_setup setup;
	pthread_mutex_t mutex;
	int fd;
	uint64_t len;		/* of the file */
	uint64_t limit;		/* when it is full */
	unsigned int full;	/* number of full files */
	struct ab_buf unhashed; /* the last line, until its hash is needed */
	char prev[65];		/* hash of the last line before that; "": there is none */
	char first[65];		/* hash of the last line of the first file, once it is full */
	bool torn;		/* after the last whole line, there is a part of one */
};

#define AB_LOG_NONE      \
	{                \
		.fd = -1 \
	}

/* Create audit.jsonl, which must not exist. */
int ab_log_open(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err);
/* Continue the record of a run whose supervisor is gone. */
int ab_log_resume(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err);
void ab_log_fini(struct ab_log *log);

/* Close the line and write it. The buffer is empty afterwards and can be used
 * again. -1: the file or the copy does not have it. */
int ab_log_write(struct ab_log *log, struct ab_buf *line, struct ab_error *err);
/* The same for the last record of the run, which is signed. */
int ab_log_end(struct ab_log *log, struct ab_buf *line, struct ab_error *err);

/* Hash the last line now, because the next line needs it and its writer should not wait. */
void ab_log_settle(struct ab_log *log);

/* Does the run in this folder have a record? */
bool ab_log_begun(int dir);
/* The first bytes of its first line, or more. Returns how many; -1 with errno. */
ssize_t ab_log_head(int dir, char *ret, size_t size);
/* Its first line, without the newline; free it. -1 with errno. */
int ab_log_first(int dir, char **ret_line);
/* The same for its last line. */
int ab_log_last(int dir, char **ret_line);
