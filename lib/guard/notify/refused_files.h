#pragma once
/*
 * Files that the box was denied for writing, and with --trace-denials everything else that it was
 * denied (guard/notify/trace.h): a record for each, and the lines at the end. Belongs to
 * guard/notify/refused_programs.h.
 */
#include "base/base.h"

struct ab_log;
struct ab_note;
struct ab_refused_file;

struct ab_refused_files {
	const char *run_id;
	struct ab_log *log;
	/* the rest is its own */
	struct ab_buf line;
	struct ab_refused_file **v;
	uint32_t len;
	uint64_t untold;
	bool noticed;
};

void ab_refused_files_fini(struct ab_refused_files *denials);

/* A note of kind FILE, CALL or AGAIN. -1: it cannot be recorded. */
int ab_refused_files_take(struct ab_refused_files *denials, const struct ab_note *note,
			  struct ab_error *err);
/* A line for the user at once, about a note that was just taken; or NULL. One in a run. */
char *ab_refused_files_notice(struct ab_refused_files *denials, const struct ab_note *note);
uint64_t ab_refused_files_count(const struct ab_refused_files *denials);
/* No lines without denials. Without `all`, writes that are only incidental get no line of their
 * own, and none at all if there are no others. Histories never get one. */
void ab_refused_files_summary(const struct ab_refused_files *denials, bool all,
			      struct ab_strv *ret);

/* Is this a file that programs write on their own, and do without: a cache, a history, a lock? Pure;
 * the path as in the record. */
bool ab_refused_is_incidental(const char *path);
