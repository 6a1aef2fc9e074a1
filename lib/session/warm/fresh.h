#pragma once
/*
 * Is a box that waits still the one that a new run would get? Everything is looked up again, by the
 * functions that look for every run, and compared; of the denied names it is enough that what was looked
 * at to find them is as it was (workspace/tree/glob.h).
 *
 * Two processes share the work: the supervisor looks at the settings, the denied names, the mounts
 * and the files below them (ab_fresh_ours), its broker at everything else (ab_fresh_theirs).
 */
#include "base/base.h"
#include "consent/request.h"
#include "session/run/prepare.h"
#include "workspace/tree/glob.h"

struct ab_broker_view;

struct ab_fresh {
	struct ab_request quiet; /* with which the box was prepared; no details are wanted */
	const struct ab_prepared *box;
	struct ab_hidden_names denied;
	struct ab_buf spec, files; /* what init was told, and the identities of the files in it */
	int mounts[2];		   /* of the host and of the box, as they were */
	/* in the broker */
	struct ab_prepared now;
	struct ab_copy result;
};

#define AB_FRESH_NONE                \
	{                            \
		.mounts = { -1, -1 } \
	}

/* Before the host is looked at. */
int ab_fresh_begin(struct ab_fresh *fresh, const struct ab_request *request,
		   struct ab_prepared *box, struct ab_error *err);
/* After it: what the box is. */
int ab_fresh_note(struct ab_fresh *fresh, struct ab_error *err);
void ab_fresh_fini(struct ab_fresh *fresh);

/* NULL: nothing has changed; else what. `now` has the settings of the new run. */
const char *ab_fresh_ours(const struct ab_fresh *fresh, const struct ab_prepared *now);
/* `arg`: a struct ab_fresh. For struct ab_broker_wait. */
const char *ab_fresh_theirs(void *arg, struct ab_broker_view *ret);
void ab_fresh_forget_theirs(void *arg);
