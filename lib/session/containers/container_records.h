#ifndef AB_SESSION_CONTAINERS_CONTAINER_RECORDS_H
#define AB_SESSION_CONTAINERS_CONTAINER_RECORDS_H
/*
 * The filter's notes: each becomes a record. An allowed request is a "container"; a denied one is a
 * "violation" with the id RUN-cN, and they become a few lines for the user at the end of the run.
 */
#include "base/data/strv.h"

struct ab_container_records;
struct ab_error;
struct ab_log;
struct ab_engine_relay_note;

struct ab_container_records *ab_container_records_new(const char *run_id, struct ab_log *log);
void ab_container_records_free(struct ab_container_records *records);
int ab_container_records_take(struct ab_container_records *records,
			      const struct ab_engine_relay_note *note, struct ab_error *err);
/* No lines without denials. */
void ab_container_records_summary(const struct ab_container_records *records, struct ab_strv *ret);

#endif
