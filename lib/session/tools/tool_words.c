#include "session/tools/tool_words.h"

#include <string.h>

#include "base/system/path.h"
#include "policy/model/host_tools.h"
#include "session/tools/tool_flags.h"

/* "*" is any text; linear for each star. */
static bool matches_word(const char *pattern, size_t len, const char *word)
{
	const char *end = pattern + len, *star = NULL, *from = NULL;

	while (*word) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			from = word;
		} else if (pattern < end && *pattern == *word) {
			pattern++;
			word++;
		} else if (star) {
			pattern = star;
			word = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool ab_tool_pattern_matches(const char *pattern, const char *const *words, size_t n)
{
	for (size_t i = 0;; i++) {
		size_t len = strcspn(pattern, " ");

		if (!pattern[len] && len == 1 && *pattern == '*')
			return true;
		if (i == n || !matches_word(pattern, len, words[i]))
			return false;
		if (!pattern[len])
			return i + 1 == n;
		pattern += len + 1;
	}
}

static const char *find_pattern(const struct ab_strv *patterns, const char *const *words, size_t n)
{
	for (size_t i = 0; i < patterns->len; i++)
		if (ab_tool_pattern_matches(patterns->v[i], words, n))
			return patterns->v[i];
	return NULL;
}

void ab_tool_judge(const struct ab_host_tool *tool, const char *const *words, size_t n,
		   struct ab_tool_judgement *ret)
{
	const char *names[] = { ab_path_name(tool->program), tool->name };
	const struct ab_tool_flag *flag = NULL;

	*ret = (struct ab_tool_judgement){ .ruling = AB_TOOL_DENIED };
	for (size_t i = 0; i < 2 && !flag; i++)
		flag = ab_tool_flag_find(names[i], words, n, &ret->word);
	if (flag) {
		ret->rule = "tools.flags";
		ret->why = ab_tool_flag_why(flag);
		return;
	}
	ret->word = NULL;
	ret->pattern = find_pattern(&tool->ask, words, n);
	if (ret->pattern) {
		ret->ruling = AB_TOOL_ASKED;
		ret->rule = "tools.ask";
		return;
	}
	ret->pattern = find_pattern(&tool->allow, words, n);
	ret->ruling = ret->pattern ? AB_TOOL_ALLOWED : AB_TOOL_DENIED;
	ret->rule = "tools.allow";
	ret->why = "no pattern of its list matches these words";
}
