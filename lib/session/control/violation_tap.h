#pragma once
/*
 * A run's denials as they happen: every record of a denial ("violation": network, files, calls;
 * "exec": programs; "refused": the run's own command) goes from the thread that wrote it to the supervisor's thread. This is the
 * log's tap (audit/write/log.h).
 */
#include "base/base.h"
#include "base/system/mailbox.h"

enum { AB_VIOLATIONS_KEPT = 200 };

struct ab_violations {
	struct ab_mailbox mail; /* its descriptor is readable when there is a denial */
	struct ab_strv kept;	/* the first AB_VIOLATIONS_KEPT of those that were taken */
	uint64_t count;		/* all that were taken */
};

int ab_violations_new(struct ab_violations **ret, struct ab_error *err);
void ab_violations_free(struct ab_violations *violations);
/* For ab_log_setup. */
void ab_violations_tap(void *arg, const char *line, size_t len);

/* The next denial, which the caller frees, or NULL. */
char *ab_violations_take(struct ab_violations *violations);
