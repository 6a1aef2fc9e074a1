#pragma once
/*
 * Fit a run to an engine without namespaces, by a table: what needs a mount or a network of its own
 * is refused, or replaced by less, and that is said.
 */
#include "base/base.h"

struct ab_policy;

struct ab_engine_wish {
	struct ab_policy *policy; /* is changed */
	bool stays;		  /* --keep, --detach */
	bool learns;		  /* agentbox learn */
	bool traces;		  /* --trace-denials */
	size_t covered;		  /* files that contain secrets and would be shown without them */
	const char *remedy;	  /* what gives a better engine, for hints */
};

/* `notes` are for the user, `details` for -v. */
int ab_engine_fit(const struct ab_engine_wish *wish, struct ab_strv *notes, struct ab_strv *details,
		  struct ab_error *err);
