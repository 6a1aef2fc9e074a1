#ifndef AB_POLICY_LAYERS_TRUST_H
#define AB_POLICY_LAYERS_TRUST_H
/*
 * Trust in a project file. `agentbox trust` records the SHA-256 and a copy of
 * the file's text under the state directory; a file that differs from its
 * record by a single byte is untrusted again. The record is found by the real
 * path of the file, so a copy of a trusted file elsewhere is not trusted.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_policy_input;

enum ab_trust_state {
	AB_TRUST_NONE,	  /* never recorded */
	AB_TRUST_CHANGED, /* recorded, but it is another file now */
	AB_TRUST_HOLDS,
};

/* Does the record hold for this text of this file? */
enum ab_trust_state ab_trust_check(const char *state_dir, const char *path, const char *text,
				   size_t len);

/*
 * A look at a project file before trusting it. Recording writes down exactly
 * the bytes that the review read, whatever the file has become meanwhile.
 */
struct ab_trust_review {
	char *path; /* real, absolute */
	char *text;
	size_t len;
	char sha256[65];
	enum ab_trust_state state;
	/* What changed since it was trusted, as lines "-old" and "+new", safe
	 * to print; the whole file as "+" when it never was. */
	struct ab_strv diff;
	/* What it would allow beyond the policy without it, and the reverse:
	 * "network.allow: github.com". */
	struct ab_strv widens, tightens;
};

/* The state alone. `file`: NULL for the project file of the workspace, here
 * and below. Fails when there is no such file. */
int ab_trust_status(const struct ab_policy_input *in, const char *file,
		    enum ab_trust_state *ret_state, struct ab_error *err);

int ab_trust_review(const struct ab_policy_input *in, const char *file,
		    struct ab_trust_review *ret_review, struct ab_error *err);
int ab_trust_record(const struct ab_policy_input *in, const struct ab_trust_review *review,
		    struct ab_error *err);
/* Forget the record; *ret_had says whether there was one. */
int ab_trust_revoke(const struct ab_policy_input *in, const char *file, bool *ret_had,
		    struct ab_error *err);
void ab_trust_review_fini(struct ab_trust_review *review);

#endif
