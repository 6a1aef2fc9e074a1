#ifndef AB_SHELL_WRAP_H
#define AB_SHELL_WRAP_H
/*
 * Commands that run other commands: sudo, env, timeout, xargs, find -exec,
 * sh -c, eval, ssh, python -c ... One call looks through one wrapper; the
 * caller goes on with what it got, so nesting needs no care here.
 *
 * Pure; memory from the arena.
 */
#include "shell/rules.h"
#include "shell/simple.h"

struct ab_arena;

enum ab_inner_kind {
	AB_INNER_ARGV,	 /* the command argv */
	AB_INNER_SCRIPT, /* a shell reads `script` */
};

struct ab_inner {
	enum ab_inner_kind kind;
	const struct ab_field *argv;
	size_t argc;
	const struct ab_binding *bindings; /* env X=1 CMD */
	size_t nbindings;
	struct ab_field script; /* also one that is wholly unknown */
	/* SCRIPT: "$0", "$1" ... `sh -c script name args`; NULL: unknown */
	const struct ab_fields *positional;
	struct ab_data in; /* the wrapper's own standard input, or none */
	unsigned flags;	   /* added to the command's: ROOT, REMOTE */
	const char *cwd;   /* env -C, sudo -D; NULL: the command's */
	struct ab_inner *next;
};

struct ab_unwrapped {
	struct ab_inner *inners; /* NULL: not a wrapper, or alone */
	/* The command is nothing but its inner ones (env, timeout, sh -c): it
	 * has no verdict of its own. */
	bool transparent;
};

/* Also what a shell reads from its standard input or a here-document. */
void ab_unwrap(struct ab_arena *arena, const struct ab_simple *command, struct ab_unwrapped *ret);

#endif
