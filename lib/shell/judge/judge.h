#pragma once
/*
 * The judge: takes a command line and returns a verdict with the rule, the reason
 * and the part that decided.
 *
 * Pure: no I/O, no globals, no clock. All pointers of the result refer to the
 * arena, the text or the scene.
 */
#include "base/base.h"
#include "shell/command/rules.h"
#include "shell/syntax/parse.h"

/* One simple command that would run, at any depth. */
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
	const char *rule;		  /* its name; "": none; "user": a rule of the user */
	const char *reason;		  /* a sentence */
	const char *instead;		  /* a suggestion, or NULL */
	const char *user_rule;		  /* the user's rule as written, or NULL */
	struct ab_span range;		  /* the part of `text` that decided */
	struct ab_text text;		  /* the judged text */
	const struct ab_judged *commands; /* in source order */
	size_t ncommands;
	struct ab_script script; /* the tree, and the parse error, if any */
};

void ab_judge_text(struct ab_arena *arena, const struct ab_scene *scene, struct ab_text text,
		   struct ab_judgement *ret);
/* Judges the words quoted for a shell; ret->text is the quoted text. */
void ab_judge_argv(struct ab_arena *arena, const struct ab_scene *scene, const char *const *argv,
		   size_t argc, struct ab_judgement *ret);
