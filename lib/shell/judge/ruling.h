#pragma once
/*
 * The policy for commands: the user's own rules, and overrides of built-in rules by
 * name.
 *
 * Each simple command, including those that wrappers run, gets the verdict of the
 * first user rule that matches. Such a rule cannot allow what a built-in rule
 * forbids; only an override of that rule can. Rules from an untrusted file, and managed
 * rules, can only make a verdict stricter; a managed override cannot be made milder by a
 * user rule.
 */
#include "shell/command/rules.h"

enum ab_match_kind {
	/* All words, joined by one blank; * and ? match any byte, including "/". */
	AB_MATCH_GLOB,
	AB_MATCH_PREFIX, /* the first words */
	/* Extended regular expression on the words joined as for GLOB; not anchored. */
	AB_MATCH_REGEX,
};

struct ab_user_rule {
	enum ab_match_kind kind;
	const char *text;	  /* as written, for lists and records */
	const char *const *words; /* PREFIX */
	size_t nwords;
	const void *regex; /* REGEX: regex_t, compiled */
	enum ab_decision decision;
	const char *reason; /* a sentence, or NULL */
	bool tighten;	    /* can only make stricter */
	bool managed;	    /* by the system's settings */
};

struct ab_ruling {
	const struct ab_user_rule *rules;
	size_t nrules;
	/* By built-in rule; `changed`: there is an override. */
	struct {
		enum ab_decision decision;
		bool changed;
		bool tighten; /* can only make stricter */
		bool managed; /* no user rule makes it milder */
	} overrides[AB_RULE_COUNT];
};

/* The verdict for a hit, with overrides applied. */
enum ab_decision ab_ruling_decide(const struct ab_ruling *ruling, const struct ab_hit *hit);
/*
 * The first rule that matches, or a stricter one that can only tighten; NULL: none.
 * Unknown text matches only a "*" that covers all of it. A rule that escalates or
 * forbids also matches a program written with its folder; other rules do not.
 */
const struct ab_user_rule *ab_ruling_match(const struct ab_ruling *ruling,
					   const struct ab_simple *command);
