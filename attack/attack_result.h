#pragma once
#include "base/base.h"

struct ab_policy_input;

/*
 * The self-attack: this program attacks every wall from inside a box, and then checks
 * the host. Harmless even if a wall is missing.
 */
enum ab_hold {
	AB_HOLD_HELD,
	AB_HOLD_BROKEN,
	AB_HOLD_UNTRIED,
	AB_HOLD_UNCLAIMED, /* it worked, and the box did not claim to stop it */
	AB_HOLD_COUNT,
};

struct ab_attempt {
	const char *wall, *name;
	enum ab_hold hold;
	char *seen; /* what happened */
};

struct ab_attack {
	struct ab_attempt *v;
	size_t len;
	char *summary;
	bool broken; /* a row has AB_HOLD_BROKEN */
};

int ab_attack(const struct ab_policy_input *input, struct ab_attack *ret, struct ab_error *err);
void ab_attack_fini(struct ab_attack *attack);
char *ab_attack_text(const struct ab_attack *attack);
char *ab_attack_json(const struct ab_attack *attack);
