#pragma once
/*
 * The guard's notes: each becomes a record, and all of them become a few lines for the user at the
 * end of the run. Programs that were refused are "exec" with an id, RUN-eN, the same for the same
 * command and rule; files and calls are "violation" with RUN-fN (guard/notify/refused_files.h);
 * programs that were executed, if asked for, are "program".
 */
#include "base/base.h"

struct ab_log;
struct ab_note;
struct ab_refused_programs;

/* With `strict`, a refusal that cannot be recorded is an error. */
struct ab_refused_programs *ab_refused_programs_new(const char *run_id, struct ab_log *log,
						    bool strict);
void ab_refused_programs_free(struct ab_refused_programs *refusals);

/* -1: it cannot be recorded, but must be. */
int ab_refused_programs_take(struct ab_refused_programs *refusals, const struct ab_note *note,
			     struct ab_error *err);
/* A line for the user at once, about a note that was just taken; or NULL. One in a run. */
char *ab_refused_programs_notice(struct ab_refused_programs *refusals, const struct ab_note *note);
uint64_t ab_refused_programs_count(const struct ab_refused_programs *refusals);
/* The number of files and calls. */
uint64_t ab_refused_programs_others(const struct ab_refused_programs *refusals);
/* No lines without refusals. `all`: also of writes that programs try on their own and do without
 * (guard/notify/refused_files.h). */
void ab_refused_programs_summary(struct ab_refused_programs *refusals, bool all,
				 struct ab_strv *ret);
