#ifndef AB_SHELL_JUDGE_RULING_H
#define AB_SHELL_JUDGE_RULING_H
/*
 * What a policy says about commands: rules of the user's own, and decisions
 * of built-in rules changed by name.
 *
 * The user's rules are tried in order on each simple command, also on those
 * that wrappers run; the first that matches decides it. It does not lift what
 * a built-in rule forbids: only an override of that rule by name does. What
 * comes from a file that is not trusted can only make stricter.
 */
#include "shell/command/rules.h"

enum ab_match_kind {
	AB_MATCH_GLOB,	 /* all words, joined by one blank; * and ? match
				 * any byte, also "/" */
	AB_MATCH_PREFIX, /* the first words are these */
	AB_MATCH_REGEX,	 /* extended regular expression, on the words as
				 * for GLOB; finds, is not anchored */
};

struct ab_user_rule {
	enum ab_match_kind kind;
	const char *text;	  /* as written: for lists and records */
	const char *const *words; /* PREFIX */
	size_t nwords;
	const void *regex; /* REGEX: regex_t, compiled */
	enum ab_decision decision;
	const char *reason; /* a sentence; NULL: none was given */
	bool tighten;	    /* can only make stricter */
};

struct ab_ruling {
	const struct ab_user_rule *rules;
	size_t nrules;
	/* By built-in rule; `changed` where an override was given. */
	struct {
		enum ab_decision decision;
		bool changed;
		bool tighten; /* from a file that is not trusted */
	} overrides[AB_RULE_COUNT];
};

/* What is decided for a hit. */
enum ab_decision ab_ruling_decide(const struct ab_ruling *ruling, const struct ab_hit *hit);
/*
 * The first rule that matches, or one from a file that is not trusted where
 * that is stricter; NULL: none. A word that is not known matches nothing but a
 * "*" that covers it whole. What asks or refuses matches a program by its name
 * also where its folder is written; what permits does not.
 */
const struct ab_user_rule *ab_ruling_match(const struct ab_ruling *ruling,
					   const struct ab_simple *command);

#endif
