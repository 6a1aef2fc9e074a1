#pragma once
/*
 * Trust in a project file. `agentbox trust` records the SHA-256 and a copy of
 * the file under the state folder. A file that differs from its record by a
 * single byte is untrusted again. The record belongs to the real path, so a
 * copy of a trusted file elsewhere is not trusted.
 */
#include "base/base.h"

struct ab_policy_input;

enum ab_trust_state {
	AB_TRUST_NONE,	  /* never recorded */
	AB_TRUST_CHANGED, /* recorded, but the file has changed */
	AB_TRUST_HOLDS,
};

/* Does the record match this text of this file? */
enum ab_trust_state ab_trust_check(const char *state_dir, const char *path, const char *text,
				   size_t len);

/*
 * A review of a project file before trusting it. Recording stores exactly the
 * bytes of the review, even if the file has changed since.
 */
struct ab_trust_review {
	char *path; /* real, absolute */
	char *text;
	size_t len;
	char sha256[65];
	enum ab_trust_state state;
	/* The change since it was trusted, as lines "-old" and "+new", safe to
	 * print; the whole file as "+" if it was never trusted. */
	struct ab_strv diff;
	/* What the policy allows only with the file, and only without it:
	 * "network.allow: github.com". */
	struct ab_strv widens, tightens;
};

/* Only the state. A NULL `file` is the project file of the workspace, here and
 * below. Fails if the file does not exist. */
int ab_trust_status(const struct ab_policy_input *in, const char *file,
		    enum ab_trust_state *ret_state, struct ab_error *err);

int ab_trust_review(const struct ab_policy_input *in, const char *file,
		    struct ab_trust_review *ret_review, struct ab_error *err);
int ab_trust_record(const struct ab_policy_input *in, const struct ab_trust_review *review,
		    struct ab_error *err);
/* Remove the record; *ret_had: was there one? */
int ab_trust_revoke(const struct ab_policy_input *in, const char *file, bool *ret_had,
		    struct ab_error *err);
void ab_trust_review_fini(struct ab_trust_review *review);
