#ifndef AB_SESSION_SECRETS_RENEW_H
#define AB_SESSION_SECRETS_RENEW_H
/*
 * The broker's part about secrets: their sources are read again when somebody
 * asks, files also when they change, and commands when their time is up. Each reading is a process of its own,
 * one at a time for a secret and not too often, so the broker neither waits
 * for a command nor ever holds a value.
 */
#include <stddef.h>
#include <stdint.h>

#include "policy/model/secrets.h"

struct ab_error;
struct ab_sourced;
struct ab_renewals;

/* Between two readings of one secret. */
#define AB_RENEWAL_MS 5000

struct ab_renewals_setup {
	const struct ab_secrets *secrets;
	char *const *environ;
	const uint64_t *stamps; /* of the files as they were read first */
	/* Called in the process that has read: a value, or err. */
	void (*answer)(void *arg, size_t i, const struct ab_sourced *value,
		       const struct ab_error *err);
	void *arg;
};

struct ab_renewals *ab_renewals_new(const struct ab_renewals_setup *setup);
/* Too soon, in the works, a variable (which stays what it is), or a file where
 * the box can write: nothing. */
void ab_renewals_ask(struct ab_renewals *renewals, size_t i);
/* Every now and then. */
void ab_renewals_look(struct ab_renewals *renewals);

#endif
