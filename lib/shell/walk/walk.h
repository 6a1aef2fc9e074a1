#ifndef AB_SHELL_WALK_WALK_H
#define AB_SHELL_WALK_WALK_H
/*
 * The walk over a tree: every simple command that a shell could run, wherever
 * it stands, with its words as far as they are known there, what it reads,
 * where it runs, and who starts it.
 *
 * Control flow is taken as possible, never as decided: both branches run, a
 * loop runs. What a command is given by wrappers, functions, aliases and
 * nested scripts is followed. Bounded: see the limits; over one, UNPARSED is
 * reported and the walk ends there. Pure; memory from the arena.
 */
#include "shell/command/rules.h"
#include "shell/syntax/parse.h"

enum {
	AB_WALK_COMMANDS_MAX = 20000, /* evaluated, calls and turns counted */
	/* Of these, combinations of what variables may be; then they are not
	 * known, so that a long script is still judged to its end. */
	AB_WALK_ROUNDS_MAX = 4000,
	AB_WALK_LEVELS_MAX = 16,      /* wrappers and scripts in each other */
	AB_WALK_CALLS_MAX = 8,	      /* functions in each other */
	AB_WALK_DEPTH_MAX = 1000,     /* nodes in each other, all in all */
	AB_WALK_NESTED_MAX = 4 << 20, /* bytes that are made; of nested
					 * scripts an eighth */
};

struct ab_walk_events {
	/* A place in the list of commands, in source order. */
	void *(*reserve)(void *arg);
	/*
	 * A command; after those that it starts. `hollow`: it is nothing but
	 * those. `place` is NULL where the command was listed before.
	 */
	void (*command)(void *arg, const struct ab_simple *command, bool hollow, void *place);
	/* What was seen in the tree and not in one command. */
	void (*hit)(void *arg, const struct ab_hit *hit);
	void *arg;
};

void ab_walk_script(struct ab_arena *arena, const struct ab_scene *scene,
		    const struct ab_walk_events *events, struct ab_text text,
		    const struct ab_script *script);

#endif
