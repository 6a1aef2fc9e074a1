#ifndef AB_SHELL_JUDGE_JUDGE_H
#define AB_SHELL_JUDGE_JUDGE_H
/*
 * The judge: a command line in, a decision out, with the rule, the reason and
 * the part that decided.
 *
 * Pure: no I/O, no globals, no clock. Everything that the verdict points to
 * lives in the arena, the text, or the scene.
 */
#include "shell/command/rules.h"
#include "shell/syntax/parse.h"

struct ab_arena;

/* One simple command that would run, wherever it stands. */
struct ab_judged {
	const struct ab_field *argv;
	size_t argc;
	const char *via; /* the wrapper that starts it, or NULL */
	struct ab_span range;
	enum ab_decision decision;
	const char *rule; /* "": none */
	const struct ab_judged *next;
};

struct ab_judgement {
	enum ab_decision decision;
	const char *rule;		  /* its name; "": none; "user": one of the user's */
	const char *reason;		  /* a sentence */
	const char *instead;		  /* what to do instead, or NULL */
	const char *user_rule;		  /* what the user's rule says, or NULL */
	struct ab_span range;		  /* of the part that decided, in `text` */
	struct ab_text text;		  /* what was judged */
	const struct ab_judged *commands; /* in source order */
	size_t ncommands;
	struct ab_script script; /* the tree, and where reading ended */
};

void ab_judge_text(struct ab_arena *arena, const struct ab_scene *scene, struct ab_text text,
		   struct ab_judgement *ret);
/* The same verdict as that of the words quoted for a shell; `text` is those. */
void ab_judge_argv(struct ab_arena *arena, const struct ab_scene *scene, const char *const *argv,
		   size_t argc, struct ab_judgement *ret);

#endif
