#include "shell/judge/ruling.h"

#include <regex.h>

enum ab_decision ab_ruling_decide(const struct ab_ruling *ruling, const struct ab_hit *hit)
{
	const struct ab_rule *rule = &ab_rules[hit->rule];
	enum ab_decision own = hit->mild ? rule->elsewhere : rule->decision;
	enum ab_decision other;

	if (!ruling || !ruling->overrides[hit->rule].changed)
		return own;
	other = ruling->overrides[hit->rule].decision;
	if (ruling->overrides[hit->rule].tighten && other < own)
		return own;
	return other;
}

/* A position in the words of a command, as if joined by blanks. */
struct place {
	const struct ab_simple *command;
	struct ab_text first; /* instead of argv[0] */
	size_t word;
	uint32_t at;
};

enum { AT_END = -1 };

static struct ab_text get_word_at(const struct place *p)
{
	return p->word == 0 ? p->first : p->command->argv[p->word].text;
}

static int get_byte_at(const struct place *p)
{
	struct ab_text text = get_word_at(p);

	if (p->at < text.len)
		return (unsigned char)text.s[p->at];
	return p->word + 1 < p->command->argc ? ' ' : AT_END;
}

static void advance_place(struct place *p)
{
	if (p->at < get_word_at(p).len) {
		p->at++;
	} else {
		p->word++;
		p->at = 0;
	}
}

static size_t get_joined_len(const struct ab_simple *command, struct ab_text first)
{
	size_t len = first.len + 1;

	for (size_t i = 1; i < command->argc; i++)
		len += command->argv[i].text.len + 1;
	return len;
}

/*
 * Backtracks to the last star only, but the worst case is still the product of both
 * lengths. Pattern and command may both be hostile, so after a few times the
 * combined length the result is `undecided`.
 */
static bool glob_matches(const char *glob, struct place p, bool undecided)
{
	size_t steps = 8 * (get_joined_len(p.command, p.first) + strlen(glob));
	const char *star = NULL;
	struct place resume = p;

	while (steps--) {
		int c = get_byte_at(&p);

		if (*glob == '*') {
			star = ++glob;
			resume = p;
		} else if (c == AT_END && *glob == '\0') {
			return true;
		} else if (c != AT_END && c != AB_UNKNOWN && *glob &&
			   (*glob == '?' || (unsigned char)*glob == c)) {
			glob++;
			advance_place(&p);
		} else if (star && get_byte_at(&resume) != AT_END) {
			advance_place(&resume);
			p = resume;
			glob = star;
		} else {
			return false;
		}
	}
	return undecided;
}

static bool prefix_matches(const struct ab_user_rule *rule, const struct ab_simple *command,
			   struct ab_text first)
{
	if (rule->nwords > command->argc)
		return false;
	for (size_t i = 0; i < rule->nwords; i++) {
		struct ab_text word = i == 0 ? first : command->argv[i].text;

		if (!ab_text_is(word, rule->words[i]))
			return false;
	}
	return true;
}

/* Replaces unknown text: nobody writes an expression for this byte. */
#define UNKNOWN_IN_TEXT '\001'

static bool regex_matches(const regex_t *regex, struct place p)
{
	char small[8192];
	ab_autofree char *large = NULL;
	size_t len = get_joined_len(p.command, p.first), n = 0;
	char *text = small;
	int c;

	if (len > sizeof(small))
		text = large = ab_alloc(len);
	for (; (c = get_byte_at(&p)) != AT_END; advance_place(&p))
		text[n++] = c == AB_UNKNOWN ? UNKNOWN_IN_TEXT : (char)c;
	text[n] = '\0';
	return regexec(regex, text, 0, NULL, 0) == 0;
}

static bool matches_as(const struct ab_user_rule *rule, const struct ab_simple *command,
		       struct ab_text first)
{
	struct place start = { .command = command, .first = first };

	switch (rule->kind) {
	case AB_MATCH_GLOB:
		return glob_matches(rule->text, start, rule->decision >= AB_ESCALATED);
	case AB_MATCH_PREFIX:
		return prefix_matches(rule, command, first);
	case AB_MATCH_REGEX:
		return regex_matches(rule->regex, start);
	}
	return false;
}

/* A path does not evade a rule that escalates or forbids; but a rule that allows
 * `make` does not allow `./make`. */
static bool matches_command(const struct ab_user_rule *rule, const struct ab_simple *command)
{
	struct ab_text written = command->argv[0].text;

	return matches_as(rule, command, written) ||
	       (rule->decision >= AB_ESCALATED && command->name.len > 0 &&
		command->name.len != written.len && matches_as(rule, command, command->name));
}

const struct ab_user_rule *ab_ruling_match(const struct ab_ruling *ruling,
					   const struct ab_simple *command)
{
	const struct ab_user_rule *first = NULL, *tightest = NULL;

	if (!ruling || command->argc == 0)
		return NULL;
	for (size_t i = 0; i < ruling->nrules; i++) {
		const struct ab_user_rule *rule = &ruling->rules[i];

		if (rule->tighten ? tightest && tightest->decision >= rule->decision
				  : first != NULL)
			continue;
		if (matches_command(rule, command))
			*(rule->tighten ? &tightest : &first) = rule;
	}
	if (!first || (tightest && tightest->decision > first->decision))
		return tightest;
	return first;
}
