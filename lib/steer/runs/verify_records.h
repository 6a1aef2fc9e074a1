#pragma once
/*
 * Check the chains of records (audit/read/verify.h), for `log --verify`. Nothing
 * is changed.
 */
#include "base/base.h"
#include "audit/read/verify.h"

struct ab_left_out; /* audit/read/collect.h */
struct ab_policy_input;

struct ab_verify_request {
	const char *what; /* a run's id or name, or a file or run's folder with a slash or .jsonl in
			     its name; NULL: the newest run */
	bool all;	  /* every run of the state folder */
	const char *folder; /* every record below it, or NULL */
	const char *keys;   /* a file with known public keys, or NULL */
	/* Called for each run; `path` is that of its record, or NULL. */
	void (*fn)(void *arg, const char *path, const struct ab_chain_verdict *verdict);
	void *arg;
};

/* The key of the own state folder is known. */
int ab_records_verify(const struct ab_policy_input *input, const struct ab_verify_request *request,
		      struct ab_left_out *ret_left_out, struct ab_error *err);
