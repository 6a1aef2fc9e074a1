#ifndef AB_SERVE_CHILD_H
#define AB_SERVE_CHILD_H
/* The child process of a run or a task, from the fork to the library call. It ends with us. */
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

struct ab_error;
struct ab_policy_input;
struct ab_serve_policy;

struct ab_child_setup {
	sigset_t before; /* the signal mask that we were started with */
	int stdio[3];
	const int *keep; /* further descriptors, with these numbers */
	size_t nkeep;
	const struct ab_serve_policy *policy; /* or NULL */
};

/* In the child: arrange its descriptors, folder and environment, and fill in the policy input.
 * `parent` is the process that forked. */
int ab_child_enter(const struct ab_child_setup *setup, pid_t parent, struct ab_policy_input *ret,
		   struct ab_error *err);

/* The same in a child that has waited: other streams, and perhaps another environment. */
int ab_child_take(const int stdio[3], const struct ab_serve_policy *policy,
		  struct ab_policy_input *ret, struct ab_error *err);

#endif
