#pragma once
/*
 * The list of a run's quarantine: one record for each object that was moved there, with its id
 * ("7kq2x-q1"), where it was and what it is. The list is a file in the run's folder beside the
 * objects. Its lines are records of denials, which go to the run's record when the run has ended.
 *
 *	quarantine.jsonl	{..., "kind":"violation", "id":"7kq2x-q1", "door":"quarantine",
 *				 "path":TEXT, "allowed":false, "rule", "reason", "hint",
 *				 "entry":".envrc", "file":"0001-.envrc", "where":BYTES,
 *				 "type":"file", "mode":420, "size":N, "dev":N, "ino":N,
 *				 "keys":TEXT|null}
 *
 * The box chooses the names, and nothing else of it. `where` has the bytes of the path
 * (workspace/quarantine/journal.h).
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

struct ab_log;
struct ab_quarantine_report;
struct ab_run;

#define AB_MOVED_LIST "quarantine.jsonl"
enum {
	AB_MOVED_RECORDED = 200,      /* in the run's record; the others are counted */
	AB_MOVED_LIST_MAX = 16 << 20, /* bytes that are read of a list */
};

/* Add what was moved since the last call; *told is 0 at first. Best effort: an object without a
 * record is still found by its name. */
void ab_moved_note(const struct ab_run *run, const struct ab_quarantine_report *report,
		   size_t *told);
/* The run has ended: the same for what was moved late, and all of the list to its record. */
int ab_moved_record(const struct ab_run *run, struct ab_log *log, struct ab_error *err);

/* The list, or the beginning of one that is too long; free it. -1 with errno (ENOENT: there is none). */
int ab_moved_read(int dir, char **ret, size_t *ret_len);

/* One line of the list. */
struct ab_moved_file {
	char *id, *file, *where, *entry, *keys; /* keys: or NULL */
	char stamp[32];
	enum ab_node kind;
	mode_t mode;
	uint64_t size;
	dev_t dev;
	ino_t ino;
};

/* Pure: -1 if it is not such a line. */
int ab_moved_parse(const char *line, size_t len, struct ab_moved_file *ret);
void ab_moved_file_fini(struct ab_moved_file *file);
