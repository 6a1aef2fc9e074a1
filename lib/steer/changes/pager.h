#pragma once
/*
 * Output through the user's pager: $AGENTBOX_PAGER, else $PAGER, else `less -FRX` if
 * there is one; an empty value or "cat" means none. The pager runs with the caller's
 * environment, except that less may not start other programs or read its own
 * preprocessor: the text comes from a box. It must contain no control characters
 * except colours.
 *
 * No box chooses the pager: like every command that we run on the host
 * (host/host_command.h), it runs in /, and neither it nor a folder of its PATH may be
 * where a box can write.
 *
 * The pager starts with the first output, and only if standard output is a terminal. If
 * it cannot be started, the output goes to the terminal.
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_pager {
	int fd;	   /* where output goes: standard output, or a pipe */
	pid_t pid; /* of the pager, or 0 */
	bool started;
	int errnum;	     /* why the output could not be written without a pager, or 0 */
	const char *command; /* NULL: none */
	const struct ab_policy_input *input;
	const struct ab_strv *roots;
	struct ab_error refused; /* why the command was not run; AB_ENONE: it was, or is missing */
};

/*
 * `wanted`: standard output is a terminal. `roots`: the folders that the box wrote whose changes are
 * shown, besides those of the policy; complete before the first output.
 */
void ab_pager_init(struct ab_pager *pager, bool wanted, const struct ab_policy_input *input,
		   const struct ab_strv *roots);
/* An ab_diff_put_fn. */
int ab_pager_put(void *pager, const char *data, size_t len);
/* Wait until the person has left the pager. */
void ab_pager_close(struct ab_pager *pager);
