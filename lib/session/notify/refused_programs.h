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
struct ab_refusals;

/* Under `strict` a refusal that cannot be recorded is an error. */
struct ab_refusals *ab_refusals_new(const char *run_id, struct ab_log *log, bool strict);
void ab_refusals_free(struct ab_refusals *refusals);

/* -1: it cannot be written, and should. */
int ab_refusals_take(struct ab_refusals *refusals, const struct ab_note *note,
		     struct ab_error *err);
uint64_t ab_refusals_count(const struct ab_refusals *refusals);
/* Of files and calls. */
uint64_t ab_refusals_others(const struct ab_refusals *refusals);
/* Nothing when there was none. */
void ab_refusals_summary(const struct ab_refusals *refusals, struct ab_strv *ret);

#endif
