#ifndef AB_AUDIT_AUDIT_H
#define AB_AUDIT_AUDIT_H
/*
 * The record of a run: JSON lines, one write() each, so that a reader and a
 * crash see whole lines or nothing.
 *
 *	struct ab_buf line = { 0 };
 *	ab_record_open(&line, run, "end");
 *	ab_record_number(&line, "status", 0);
 *	ab_record_write(fd, &line, err);
 */
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/strv.h"

struct ab_error;

/* UTC with milliseconds, for a time after 1970. */
#define AB_STAMP_ROOM 64
void ab_stamp(const struct timespec *at, char ret[AB_STAMP_ROOM]);

/* Start a record: timestamp (UTC, milliseconds), run_id, kind. */
void ab_record_open(struct ab_buf *line, const char *run_id, const char *kind);
void ab_record_text(struct ab_buf *line, const char *key, const char *value);
void ab_record_number(struct ab_buf *line, const char *key, int64_t value);
void ab_record_list(struct ab_buf *line, const char *key,
		    const struct ab_strv *values);
/* A value that is JSON already. */
void ab_record_json(struct ab_buf *line, const char *key, const char *json);
/* Close the line and write it, whole; the buffer is empty afterwards. */
int ab_record_write(int fd, struct ab_buf *line, struct ab_error *err);

#endif
