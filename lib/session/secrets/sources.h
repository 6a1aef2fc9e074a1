#ifndef AB_SESSION_SECRETS_SOURCES_H
#define AB_SESSION_SECRETS_SOURCES_H
/*
 * Where the values of secrets come from: a variable, a file (with a key of its
 * JSON), a command's output. Used before the start by the supervisor, and
 * later by the broker, which can still read and execute.
 */
#include <stddef.h>
#include <stdint.h>

#include "policy/model/secrets.h"

struct ab_error;

/* A value in memory of its own, locked; wiped by fini. */
struct ab_sourced {
	char *data; /* NULL: there is none (an unset variable) */
	size_t len;
};
void ab_sourced_fini(struct ab_sourced *s);
#define ab_autosourced __attribute__((cleanup(ab_sourced_fini)))

/* How long a command may take before a start, and again later. */
#define AB_SOURCE_MS 60000

/* A command has `ms` milliseconds; its standard error goes into the error's
 * text, escaped and without the value, its output nowhere. */
int ab_source_read(const struct ab_secret *secret, char *const *env, unsigned ms,
		   struct ab_sourced *ret, struct ab_error *err);

/* The state of a file source: changes when it is written or replaced; 0: it
 * is no file, or is not there. */
uint64_t ab_source_stamp(const struct ab_secret *secret);

#endif
