#pragma once
/*
 * Reads the value of a secret from a variable, a file (optionally a key in its
 * JSON) or a command's output. The value of a key that signs is all its words
 * (ab_secret.part), whatever form the source has. The supervisor does it before the start, later
 * the broker, which can still read and execute.
 */
#include "policy/model/secrets.h"

/* A value in its own locked pages; fini wipes it. */
struct ab_sourced {
	char *data; /* NULL: the variable is not set */
	size_t len;
	int64_t expires; /* wall clock, in seconds; 0: the source does not say */
};
void ab_sourced_fini(struct ab_sourced *s);
#define ab_autosourced __attribute__((cleanup(ab_sourced_fini)))

/* Copy this value, of at most AB_SECRET_MAX bytes. */
void ab_sourced_hold(struct ab_sourced *s, const char *value, size_t len);

/* The timeout of a command. */
#define AB_SOURCE_MS 60000

/* `ms`: timeout of a command. The error's text quotes its standard error,
 * escaped and with its output masked. */
int ab_source_read(const struct ab_secret *secret, char *const *env, unsigned ms,
		   struct ab_sourced *ret, struct ab_error *err);

/* Is it a file that the box could write or replace? */
bool ab_source_is_open(const struct ab_secret *secret);

/* A number that changes when a file source is written or replaced; 0: not a
 * file source, or the file is missing. */
uint64_t ab_source_stamp(const struct ab_secret *secret);
