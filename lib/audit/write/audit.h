#pragma once
/*
 * Build a record: one JSON object on one line, whatever the values contain.
 * ab_log_write (audit/write/log.h) closes and writes it.
 *
 *	ab_autobuf struct ab_buf line = { 0 };
 *	ab_record_open(&line, run, "end");
 *	ab_record_number(&line, "status", 0);
 *	ab_log_write(log, &line, err);
 */
#include "base/base.h"

/* UTC with milliseconds, for a time between 1970 and 9999. */
#define AB_STAMP_ROOM 32
void ab_stamp(const struct timespec *at, char ret[AB_STAMP_ROOM]);

/* Start a record: timestamp (UTC, milliseconds), run_id, kind. */
void ab_record_open(struct ab_buf *line, const char *run_id, const char *kind);
void ab_record_text(struct ab_buf *line, const char *key, const char *value);
/* null if the value is NULL or "". */
void ab_record_maybe(struct ab_buf *line, const char *key, const char *value);
void ab_record_number(struct ab_buf *line, const char *key, int64_t value);
void ab_record_list(struct ab_buf *line, const char *key, const struct ab_strv *values);
/* The value is JSON already. */
void ab_record_json(struct ab_buf *line, const char *key, const char *json);
