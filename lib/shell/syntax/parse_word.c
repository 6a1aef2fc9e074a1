#include "shell/syntax/lex.h"
#include "shell/syntax/name_table.h"

static bool add_literal(struct ab_reader *r, struct ab_parts *parts, uint32_t from, uint32_t to)
{
	ab_parts_text(r, parts, from, to, true);
	return false;
}

/* 'text', after the first quote. */
static void parse_single(struct ab_reader *r, struct ab_parts *parts)
{
	const char *end = memchr(r->s + r->at, '\'', r->end - r->at);
	uint32_t to = end ? end - r->s : r->end;

	r->work += to - r->at;
	if (end)
		ab_parts_single(r, parts, to, add_literal);
	else
		ab_lex_fail(r, r->at - 1, "a quote is not closed");
}

/* A backslash between double quotes or in a here-document. */
static void parse_quoted_escape(struct ab_reader *r, struct ab_parts *parts,
				enum ab_lex_class until)
{
	char c = r->end - r->at >= 2 ? r->s[r->at + 1] : '\0';
	bool escapes = c == '$' || c == '`' || c == '\\' || (c == '"' && until == AB_LEX_DOUBLE);

	r->at += escapes || c == '\n' ? 2 : 1;
	if (c != '\n')
		ab_parts_text(r, parts, r->at - 1, r->at, true);
}

void ab_parse_quoted(struct ab_reader *r, struct ab_parts *parts, enum ab_lex_class until,
		     bool strip)
{
	while (r->at < r->end) {
		if (strip && (r->at == 0 || r->s[r->at - 1] == '\n'))
			while (ab_lex_at(r, '\t'))
				r->at++;
		ab_parts_add_run(r, parts, ab_lex_run(r, until), true);
		if (ab_lex_at(r, '\n')) {
			ab_parts_text(r, parts, r->at, r->at + 1, true);
			r->at++;
		}
		if (r->at >= r->end)
			return;
		switch (r->s[r->at]) {
		case '\\':
			parse_quoted_escape(r, parts, until);
			break;
		case '$':
			ab_parse_dollar(r, parts, true);
			break;
		case '`':
			ab_parse_backquote(r, parts, true, until == AB_LEX_DOUBLE);
			break;
		case AB_UNKNOWN:
			ab_parts_unknown(r, parts, true);
			break;
		case '"':
			if (until == AB_LEX_DOUBLE)
				return;
			break;
		}
	}
}

/* "text", at the first quote. */
static void parse_double(struct ab_reader *r, struct ab_parts *parts)
{
	const struct ab_part *before = parts->last;
	uint32_t from = r->at++;

	ab_parse_quoted(r, parts, AB_LEX_DOUBLE, false);
	if (!ab_lex_at(r, '"')) {
		ab_lex_fail(r, from, "a quote is not closed");
		return;
	}
	r->at++;
	if (parts->last == before)
		ab_parts_text(r, parts, r->at - 1, r->at - 1, true);
}

static void parse_escape(struct ab_reader *r, struct ab_parts *parts)
{
	uint32_t at = r->at;

	if (r->end - at < 2) {
		r->at++;
		ab_parts_text(r, parts, at, at + 1, true);
		return;
	}
	r->at = at + 2;
	if (r->s[at + 1] == '\n')
		return;
	if (r->s[at + 1] == AB_UNKNOWN) {
		r->at--;
		ab_parts_unknown(r, parts, true);
		return;
	}
	ab_parts_text(r, parts, at + 1, at + 2, true);
}

static void parse_word_dollar(struct ab_reader *r, struct ab_parts *parts)
{
	uint32_t next = ab_lex_joined(r, r->at + 1);

	if (next < r->end && r->s[next] == '\'') {
		r->at = next + 1;
		ab_parse_ansi(r, parts);
	} else if (next < r->end && r->s[next] == '"') {
		r->at = next;
		parse_double(r, parts);
	} else {
		ab_parse_dollar(r, parts, false);
	}
}

/* Is the byte before this one an unquoted one of these? */
static bool follows_byte(const struct ab_reader *r, const struct ab_parts *parts, const char *bytes)
{
	const struct ab_part *last = parts->last;

	return last && last->kind == AB_PART_TEXT && !last->quoted && last->text.len &&
	       last->text.s + last->text.len == r->s + r->at && strchr(bytes, r->s[r->at - 1]);
}

/*
 * The array of `declare x=(a b)`: its text becomes part of the word, with its
 * punctuation quoted.
 */
static void parse_word_array(struct ab_reader *r, struct ab_parts *parts)
{
	uint32_t open = r->at++;

	if (!ab_lex_enter(r))
		return;
	ab_parts_text(r, parts, open, open + 1, true);
	for (ab_lex_skip_newlines(r); !ab_lex_at(r, ')'); ab_lex_skip_newlines(r)) {
		struct ab_shell_word *word;

		if (!ab_lex_at_word(r)) {
			ab_lex_unexpected(r, ")");
			ab_lex_leave(r);
			return;
		}
		if (r->at > open + 1)
			ab_parts_text(r, parts, r->at - 1, r->at, true);
		word = ab_parse_word(r, AB_WORD_PLAIN);
		for (struct ab_part *p = word->parts, *next; p; p = next) {
			next = p->next;
			ab_parts_add(parts, p);
		}
	}
	r->at++;
	ab_parts_text(r, parts, r->at - 1, r->at, true);
	ab_lex_leave(r);
}

/*
 * A byte that ends most words, but is text in the parentheses of a pattern or
 * a regular expression. False: the word ends before it.
 */
static bool parse_break(struct ab_reader *r, struct ab_parts *parts, enum ab_word_mode mode,
			unsigned *parens)
{
	char c = r->s[r->at];

	if ((c == '<' || c == '>') && r->end - r->at >= 2 && r->s[r->at + 1] == '(') {
		ab_parse_process(r, parts);
		return true;
	}
	if (mode == AB_WORD_OPERAND) {
		if (c == '}')
			return false;
	} else if (c == '(') {
		if (mode == AB_WORD_DECLARE && *parens == 0 && follows_byte(r, parts, "=")) {
			parse_word_array(r, parts);
			return true;
		}
		if (*parens == 0 && mode != AB_WORD_REGEX && !follows_byte(r, parts, "@!?*+"))
			return false;
		++*parens;
	} else if (*parens == 0) {
		if (c != '|' || mode != AB_WORD_REGEX)
			return false;
	} else if (c == ')') {
		--*parens;
	}
	r->at++;
	ab_parts_text(r, parts, r->at - 1, r->at, false);
	return true;
}

/* One special byte and what it begins; false: the word ends before it. */
static bool parse_special(struct ab_reader *r, struct ab_parts *parts, enum ab_word_mode mode,
			  unsigned *parens)
{
	switch (r->s[r->at]) {
	case '\'':
		r->at++;
		parse_single(r, parts);
		return true;
	case '"':
		parse_double(r, parts);
		return true;
	case '\\':
		parse_escape(r, parts);
		return true;
	case '$':
		parse_word_dollar(r, parts);
		return true;
	case '`':
		ab_parse_backquote(r, parts, false, false);
		return true;
	case AB_UNKNOWN:
		ab_parts_unknown(r, parts, false);
		return true;
	default:
		return parse_break(r, parts, mode, parens);
	}
}

static void parse_rest(struct ab_reader *r, struct ab_shell_word *word, uint32_t from,
		       struct ab_parts *parts, enum ab_word_mode mode)
{
	unsigned until = mode == AB_WORD_OPERAND ? AB_LEX_OPERAND : AB_LEX_WORD;
	unsigned parens = 0;

	r->composed++;
	for (;;) {
		ab_parts_add_run(r, parts, ab_lex_run(r, until), false);
		if (r->at >= r->end || !parse_special(r, parts, mode, &parens))
			break;
	}
	if (parens > 0)
		ab_lex_fail(r, from, "`)` is missing");
	word->parts = parts->first;
	word->range = ab_lex_span(r, from, r->at);
}

struct ab_shell_word *ab_parse_word_rest(struct ab_reader *r, uint32_t from, struct ab_parts *parts,
					 enum ab_word_mode mode)
{
	struct ab_shell_word *word = ab_lex_new(r, sizeof(*word));

	parse_rest(r, word, from, parts, mode);
	return word;
}

/* Does the word end with the run? A byte before a parenthesis may not end it. */
static bool is_whole_word(const struct ab_reader *r, struct ab_run run)
{
	return run.to > r->at && r->nodes + 2 <= AB_SHELL_NODES_MAX &&
	       (run.to == r->end || (ab_lex_is(r->s[run.to], AB_LEX_BREAK) && r->s[run.to] != '<' &&
				     r->s[run.to] != '>' && r->s[run.to] != '('));
}

/* A word that begins with this run. */
static __attribute__((noinline)) struct ab_shell_word *
parse_after(struct ab_reader *r, struct ab_run run, enum ab_word_mode mode)
{
	struct ab_parts parts = { 0 };
	uint32_t from = r->at;
	struct ab_shell_word *word = ab_lex_new(r, sizeof(*word));

	/* Too many nodes: the reader is at its end. */
	if (r->at == from)
		ab_parts_add_run(r, &parts, run, false);
	parse_rest(r, word, from, &parts, mode);
	return word;
}

/* A word that is this run: most words. It and its part are one piece of memory. */
static struct ab_shell_word *make_text(struct ab_reader *r, struct ab_run run)
{
	struct text_word {
		struct ab_shell_word word;
		struct ab_part part;
	} *t = ab_arena_alloc(r->arena, sizeof(*t));
	uint32_t from = r->at;

	t->part.kind = AB_PART_TEXT;
	t->part.bytes = run.bytes;
	t->part.range = t->word.range = ab_lex_span(r, from, run.to);
	t->part.text = (struct ab_text){ r->s + from, run.to - from };
	t->word.parts = &t->part;
	r->nodes += 2;
	r->work += run.to - from;
	r->at = run.to;
	return &t->word;
}

/* Sorted. Commands whose arguments are assignments. */
static const char declaring[][9] = {
	"alias",  "builtin", "command", "declare",  "eval",
	"export", "let",     "local",	"readonly", "typeset",
};

static bool takes_assignments(const struct ab_shell_word *word)
{
	return ab_word_is_text(word) && word->parts->text.len <= 8 &&
	       AB_LOOKUP_WORD(declaring, word->parts->text);
}

struct ab_shell_word *ab_parse_argument(struct ab_reader *r, const struct ab_shell_word *first)
{
	struct ab_run run = ab_lex_run(r, AB_LEX_WORD);

	if (is_whole_word(r, run))
		return make_text(r, run);
	return parse_after(r, run,
			   first && takes_assignments(first) ? AB_WORD_DECLARE : AB_WORD_PLAIN);
}

struct ab_shell_word *ab_parse_word(struct ab_reader *r, enum ab_word_mode mode)
{
	return mode == AB_WORD_PLAIN ? ab_parse_argument(r, NULL)
				     : parse_after(r, (struct ab_run){ .to = r->at }, mode);
}
