#ifndef AB_SESSION_CONTROL_VIOLATION_TAP_H
#define AB_SESSION_CONTROL_VIOLATION_TAP_H
/*
 * What a run was refused, as it happens: every record of a denial ("violation":
 * network, files, calls; "exec": programs) is brought from the thread that
 * wrote it to the supervisor's. Works as the log's tap (audit/write/log.h).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_violations;

enum { AB_VIOLATIONS_KEPT = 200 };

int ab_violations_new(struct ab_violations **ret, struct ab_error *err);
void ab_violations_free(struct ab_violations *violations);
/* For ab_log_setup. */
void ab_violations_tap(void *arg, const char *line, size_t len);

/* The descriptor is readable when there is one. take() gives the next, to be
 * freed; NULL: there is none. */
int ab_violations_fd(const struct ab_violations *violations);
char *ab_violations_take(struct ab_violations *violations);
/* Of those that were taken: how many, and the first AB_VIOLATIONS_KEPT. */
uint64_t ab_violations_count(const struct ab_violations *violations);
const struct ab_strv *ab_violations_lines(const struct ab_violations *v);

#endif
