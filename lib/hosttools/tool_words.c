#include "hosttools/tool_words.h"

#include "hosttools/tool_flags.h"
#include "policy/model/host_tools.h"

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

/* Options may be anywhere, each with "=value", or perhaps with a value as the next word. */
static void skip_options(const char *const *words, size_t n, bool *at)
{
	for (size_t i = 0; i < n; i++) {
		if (!at[i] || words[i][0] != '-')
			continue;
		at[i + 1] = true;
		if (i + 1 < n && !strchr(words[i], '='))
			at[i + 2] = true;
	}
}

static bool matches_value(const char *pattern, size_t len, const char *word)
{
	const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;

	return equals && matches_word(pattern, len, equals + 1);
}

bool ab_tool_pattern_covers(const char *pattern, const char *const *words, size_t n)
{
	/* Before which words could the rest of the pattern begin? */
	ab_autofree bool *at = ab_alloc(n + 1);

	at[0] = true;
	for (;;) {
		size_t len = strcspn(pattern, " ");
		bool any = false, last = false;

		if (!pattern[len] && len == 1 && *pattern == '*')
			return true;
		skip_options(words, n, at);
		for (size_t i = 0; i < n; i++) {
			bool here = last;

			last = at[i] && (matches_word(pattern, len, words[i]) ||
					 matches_value(pattern, len, words[i]));
			at[i] = here;
			any = any || last;
		}
		at[n] = last;
		if (!any)
			return false;
		if (!pattern[len])
			break;
		pattern += len + 1;
	}
	skip_options(words, n, at);
	return at[n];
}

typedef bool fits_fn(const char *pattern, const char *const *words, size_t n);

/* The first that fits the words, or NULL. */
static const char *find_pattern(const struct ab_strv *patterns, fits_fn *fits,
				const char *const *words, size_t n)
{
	for (size_t i = 0; i < patterns->len; i++)
		if (fits(patterns->v[i], words, n))
			return patterns->v[i];
	return NULL;
}

void ab_tool_judge(const struct ab_host_tool *tool, const char *const *words, size_t n,
		   struct ab_tool_judgement *ret)
{
	const char *names[] = { ab_path_name(tool->program), tool->name };
	const struct ab_tool_flag *flag = NULL;
	const char *asked, *allowed;

	*ret = (struct ab_tool_judgement){ .ruling = AB_TOOL_DENIED };
	for (size_t i = 0; i < 2 && !flag; i++)
		flag = ab_tool_flag_find(names[i], words, n, &ret->word);
	if (flag) {
		ret->rule = "tools.flags";
		ret->why = ab_tool_flag_why(flag);
		return;
	}
	ret->word = NULL;
	asked = find_pattern(&tool->ask, ab_tool_pattern_matches, words, n);
	allowed = find_pattern(&tool->allow, ab_tool_pattern_matches, words, n);
	if (!asked && allowed)
		asked = find_pattern(&tool->ask, ab_tool_pattern_covers, words, n);
	ret->pattern = asked ? asked : allowed;
	ret->ruling = asked ? AB_TOOL_ASKED : allowed ? AB_TOOL_ALLOWED : AB_TOOL_DENIED;
	ret->rule = asked ? "tools.ask" : "tools.allow";
	ret->why = "no pattern of its list matches these words";
}
