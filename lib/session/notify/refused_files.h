#ifndef AB_SESSION_NOTIFY_REFUSED_FILES_H
#define AB_SESSION_NOTIFY_REFUSED_FILES_H
/*
 * Files, sockets and system calls that the box was denied, if that is traced
 * (session/notify/trace.h): a record for each, and the lines at the end. Belongs to
 * session/notify/refused_programs.h.
 */
#include <stdint.h>

#include "base/data/strv.h"

struct ab_refused_files;
struct ab_error;
struct ab_log;
struct ab_note;

struct ab_refused_files *ab_refused_files_new(const char *run_id, struct ab_log *log);
void ab_refused_files_free(struct ab_refused_files *denials);

/* A note of kind FILE, CALL or AGAIN. -1: it cannot be recorded. */
int ab_refused_files_take(struct ab_refused_files *denials, const struct ab_note *note,
			  struct ab_error *err);
uint64_t ab_refused_files_count(const struct ab_refused_files *denials);
/* No lines without denials. */
void ab_refused_files_summary(const struct ab_refused_files *denials, struct ab_strv *ret);

#endif
