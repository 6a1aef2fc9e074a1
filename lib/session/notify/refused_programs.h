#ifndef AB_SESSION_NOTIFY_REFUSED_PROGRAMS_H
#define AB_SESSION_NOTIFY_REFUSED_PROGRAMS_H
/*
 * What the judge tells: each note becomes a record, and all of them become a
 * few lines for the user when the run is over. Programs that the box was
 * refused are "exec" with an id, RUN-eN, the same for the same command and
 * rule; files and calls are "violation" with RUN-fN (session/notify/refused_files.h);
 * programs that it executed, where that is asked for, "program".
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_log;
struct ab_note;
struct ab_refused_programs;

/* Under `strict` a refusal that cannot be recorded is an error. */
struct ab_refused_programs *ab_refused_programs_new(const char *run_id, struct ab_log *log,
						    bool strict);
void ab_refused_programs_free(struct ab_refused_programs *refusals);

/* -1: it cannot be written, and should. */
int ab_refused_programs_take(struct ab_refused_programs *refusals, const struct ab_note *note,
			     struct ab_error *err);
uint64_t ab_refused_programs_count(const struct ab_refused_programs *refusals);
/* Of files and calls. */
uint64_t ab_refused_programs_others(const struct ab_refused_programs *refusals);
/* Nothing when there was none. */
void ab_refused_programs_summary(const struct ab_refused_programs *refusals, struct ab_strv *ret);

#endif
