#ifndef AB_STEER_CHANGES_PAGER_H
#define AB_STEER_CHANGES_PAGER_H
/*
 * Output through the user's pager: $AGENTBOX_PAGER, else $PAGER, else `less -FRX` if
 * there is one; an empty value or "cat" means none. The pager runs with the caller's
 * environment, except that less may not start other programs or read its own
 * preprocessor: the text comes from a box. It must contain no control characters
 * except colours.
 *
 * The pager starts with the first output, and only if standard output is a terminal. If
 * it cannot be started, the output goes to the terminal.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ab_pager {
	int fd;	   /* where output goes: standard output, or a pipe */
	pid_t pid; /* of the pager, or 0 */
	bool started;
	int errnum;	     /* why the output could not be written without a pager, or 0 */
	const char *command; /* NULL: none */
	char *const *environ;
};

/* `wanted`: standard output is a terminal. */
void ab_pager_init(struct ab_pager *pager, bool wanted, char *const *env);
/* An ab_diff_put_fn. */
int ab_pager_put(void *pager, const char *data, size_t len);
/* Wait until the person has left the pager. */
void ab_pager_close(struct ab_pager *pager);

#endif
