#pragma once
/*
 * Commands that run other commands: sudo, env, timeout, xargs, find -exec,
 * sh -c, eval, ssh, python -c ... One call unwraps one wrapper; the caller
 * unwraps the result again, which handles nesting.
 *
 * Pure; memory from the arena.
 */
#include "base/base.h"
#include "shell/command/inner.h"
#include "shell/command/rules.h"

struct ab_unwrapped {
	struct ab_inner *inners; /* NULL: not a wrapper, or it runs nothing */
	/* The command only runs its inner ones (env, timeout, sh -c) and gets no
	 * verdict of its own. */
	bool transparent;
};

/* Includes scripts that a shell reads from standard input or a here-document. */
void ab_unwrap(struct ab_arena *arena, const struct ab_simple *command, struct ab_unwrapped *ret);
