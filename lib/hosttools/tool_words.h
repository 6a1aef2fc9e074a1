#pragma once
/*
 * May a tool be called with these words? Pure.
 *
 * A pattern has words with one blank between them, and is compared word by word: "*" in a word is any
 * text, and a last word "*" is any number of words, also none. What no pattern matches is denied, and
 * so is a flag that makes the tool run something else (tool_flags.h), whatever the patterns say.
 */
#include "base/base.h"

struct ab_host_tool;

bool ab_tool_pattern_matches(const char *pattern, const char *const *words, size_t n);
/* Does it match without some options, and their values, that are between its words? For patterns that
 * ask: "pr --repo a/b merge 5" is a "pr merge *", too. */
bool ab_tool_pattern_covers(const char *pattern, const char *const *words, size_t n);

enum ab_tool_ruling { AB_TOOL_DENIED, AB_TOOL_ASKED, AB_TOOL_ALLOWED };

struct ab_tool_judgement {
	enum ab_tool_ruling ruling;
	const char *rule;    /* "tools.allow", "tools.ask", "tools.flags", "tools" */
	const char *pattern; /* that decided, or NULL */
	const char *word;    /* AB_TOOL_DENIED by a flag: the word of the caller, else NULL */
	const char *why;     /* AB_TOOL_DENIED: "starts programs that an option names" */
};

/* `words`: without the name of the tool. */
void ab_tool_judge(const struct ab_host_tool *tool, const char *const *words, size_t n,
		   struct ab_tool_judgement *ret);
