#ifndef AB_STEER_LEARN_H
#define AB_STEER_LEARN_H
/*
 * After a run that was to learn from (ab_request's `learn`): its record becomes
 * a policy (session/learned.h), and that a profile of the user's.
 */
#include <stdbool.h>

#include "base/strv.h"

struct ab_error;
struct ab_learned;
struct ab_policy;
struct ab_policy_input;

struct ab_lesson {
	char *policy;		/* a configuration file */
	struct ab_strv notes;	/* for people; not escaped */
	struct ab_learned *learned;
	struct ab_policy *base, *own;	/* of the profile; of the run */
	char *home, *workspace;		/* where they really are */
	struct ab_strv closed;		/* what of the home is elsewhere */
};

/* `result` is the run's, session/result.h. */
int ab_learn(const struct ab_policy_input *input, const char *result,
	     struct ab_lesson *ret, struct ab_error *err);
void ab_lesson_fini(struct ab_lesson *lesson);

/* Can a profile of this name be saved? Asked before the run. */
int ab_learn_place(const struct ab_policy_input *input, const char *name,
		   bool replace, struct ab_error *err);
/* Write it, whole or not at all. `ret_lacking`: what other layers take back
 * from it again, so that a run with it does not have it. */
int ab_learn_save(const struct ab_policy_input *input, const char *name,
		  bool replace, const struct ab_lesson *lesson,
		  char **ret_path, struct ab_strv *ret_lacking,
		  struct ab_error *err);

#endif
