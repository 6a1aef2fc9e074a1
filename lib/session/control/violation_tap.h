#pragma once
/*
 * A run's denials as they happen: every record of a denial ("violation": network, files, calls;
 * "exec": programs; "refused": the run's own command) goes from the thread that wrote it to the supervisor's thread. This is the
 * log's tap (audit/write/log.h).
 */
#include "base/base.h"

struct ab_violations;

enum { AB_VIOLATIONS_KEPT = 200 };

int ab_violations_new(struct ab_violations **ret, struct ab_error *err);
void ab_violations_free(struct ab_violations *violations);
/* For ab_log_setup. */
void ab_violations_tap(void *arg, const char *line, size_t len);

/* The descriptor is readable when there is a denial. take() returns the next one, which the caller
 * frees, or NULL. */
int ab_violations_fd(const struct ab_violations *violations);
char *ab_violations_take(struct ab_violations *violations);
/* The number of denials taken, and the first AB_VIOLATIONS_KEPT of them. */
uint64_t ab_violations_count(const struct ab_violations *violations);
const struct ab_strv *ab_violations_lines(const struct ab_violations *v);
