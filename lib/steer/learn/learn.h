#pragma once
/*
 * `agentbox learn`, after its run (ab_request's `learn`): turn the record into
 * a policy (steer/learn/learned.h), and save it as a profile of the user.
 */
#include "base/base.h"

struct ab_learned;
struct ab_policy;
struct ab_policy_input;

struct ab_lesson {
	char *policy;	      /* the text of a settings file */
	struct ab_strv notes; /* for people; not escaped */

	/* Private, for ab_learn_save(). */
	char *command; /* escaped, and cut */
	struct ab_learned *learned;
	struct ab_policy *base, *own; /* of the profile, of the run */
	char *home, *workspace;	      /* real paths */
	struct ab_strv closed;	      /* see struct ab_learned_from */
};

/* `result` is the JSON object that the run ended with (session/run/result_json.h). */
int ab_learn(const struct ab_policy_input *input, const char *result, struct ab_lesson *ret,
	     struct ab_error *err);
void ab_lesson_fini(struct ab_lesson *lesson);

/* Can a profile be saved under this name? `add`: also if it exists. Call it before
 * the run. */
int ab_learn_place(const struct ab_policy_input *input, const char *name, bool add,
		   struct ab_error *err);

struct ab_learn_saved {
	char *path;
	bool existed;	     /* what was learned was added to it */
	struct ab_strv diff; /* then: the change, safe to print */
	/* The rules that a later layer of settings overrides: a run with the
	 * profile lacks them. */
	struct ab_strv lacking;
};
/* Write the profile atomically. If it exists, with `add`, nothing in it is lost:
 * lists get longer, and other values stay. */
int ab_learn_save(const struct ab_policy_input *input, const char *name, bool add,
		  const struct ab_lesson *lesson, struct ab_learn_saved *ret, struct ab_error *err);
void ab_learn_saved_fini(struct ab_learn_saved *saved);
