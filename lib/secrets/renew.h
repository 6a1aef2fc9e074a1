#pragma once
/*
 * Renewal of secrets, in the broker. A source is read again on request, a file
 * also when it changes, and any source when its value expires. An access token is
 * got when it is first needed, and before it expires. A child process
 * reads it, one at a time for each secret and at a limited rate, so the broker
 * never waits for a command and never holds a value.
 */
#include "policy/model/secrets.h"

struct ab_policy;
struct ab_sourced;
struct ab_renewals;

/* The least time between two readings of one secret. It doubles with each in a row that got lost; on
 * request also with each that found another value than before, until the value has expired. */
#define AB_RENEWAL_MS 5000

struct ab_renewals_setup {
	const struct ab_secrets *secrets;
	char *const *environ;
	const uint64_t *stamps; /* of the files when they were first read */
	const int64_t *expires; /* of the values then (ab_sourced.expires), or NULL */
	/* For access tokens (token_fetch.h): */
	const struct ab_policy *policy;
	char *const *held; /* ab_safe.held */
	int state;
	/* Called in the child, with a value or err; it has `state` and this socket. -1: nobody has got it, so it
	 * is read again. */
	int sock;
	int (*answer)(void *arg, size_t i, const struct ab_sourced *value,
		      const struct ab_error *err);
	void *arg;
};

struct ab_renewals *ab_renewals_new(const struct ab_renewals_setup *setup);
/* Does nothing if it is too soon or already being read, and for variables,
 * which do not change, and files that the box can write. */
void ab_renewals_ask(struct ab_renewals *renewals, size_t i);
/* Looks for changed and expired sources; call it periodically. */
void ab_renewals_look(struct ab_renewals *renewals);
