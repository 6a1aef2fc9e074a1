#ifndef AB_SHELL_WRAP_WRAP_H
#define AB_SHELL_WRAP_WRAP_H
/*
 * Commands that run other commands: sudo, env, timeout, xargs, find -exec,
 * sh -c, eval, ssh, python -c ... One call looks through one wrapper; the
 * caller goes on with what it got, so nesting needs no care here.
 *
 * Pure; memory from the arena.
 */
#include "shell/command/inner.h"
#include "shell/command/rules.h"

struct ab_arena;

struct ab_unwrapped {
	struct ab_inner *inners; /* NULL: not a wrapper, or alone */
	/* The command is nothing but its inner ones (env, timeout, sh -c): it
	 * has no verdict of its own. */
	bool transparent;
};

/* Also what a shell reads from its standard input or a here-document. */
void ab_unwrap(struct ab_arena *arena, const struct ab_simple *command, struct ab_unwrapped *ret);

#endif
