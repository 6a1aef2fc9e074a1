/*
 * (( )) or ( ( ) )? It is arithmetic if "))" closes it, which is only known at
 * the end. One scan from the outermost "((" decides for every "((" inside it,
 * so no byte is examined once per level.
 */
#include "shell/syntax/grow.h"
#include "shell/syntax/lex.h"

/* Nobody writes arithmetic deeper than this. */
enum { SCAN_DEPTH = 1000 };

struct scan {
	struct ab_reader *r;
	uint32_t at;
	size_t depth;
	struct {
		char open; /* ( { " */
		uint32_t at;
		size_t pair; /* index of the pair that begins here */
	} stack[SCAN_DEPTH];
};

static size_t add_pair(struct ab_reader *r, uint32_t at)
{
	AB_GROW(r->arena, r->pairs, r->npairs, r->pairs_room, 16);
	r->pairs[r->npairs] = (struct ab_double_paren){ at, false };
	return r->npairs++;
}

static bool push_open(struct scan *s, char open)
{
	struct ab_reader *r = s->r;

	if (s->depth == SCAN_DEPTH)
		return false;
	s->stack[s->depth].open = open;
	s->stack[s->depth].at = s->at;
	s->stack[s->depth].pair = SIZE_MAX;
	if (open == '(' && s->at + 1 < r->end && r->s[s->at + 1] == '(')
		s->stack[s->depth].pair = add_pair(r, s->at);
	s->depth++;
	return true;
}

static void pop_paren(struct scan *s)
{
	struct ab_reader *r = s->r;
	uint32_t at = s->stack[--s->depth].at;

	if (s->depth && s->at + 1 < r->end && r->s[s->at + 1] == ')' &&
	    s->stack[s->depth - 1].pair != SIZE_MAX && s->stack[s->depth - 1].at + 1 == at)
		r->pairs[s->stack[s->depth - 1].pair].arith = true;
}

/* To the closing quote; `escapes`: a backslash escapes it. */
static void skip_quote(struct scan *s, char quote, bool escapes)
{
	const struct ab_reader *r = s->r;

	for (s->at++; s->at < r->end && r->s[s->at] != quote; s->at++)
		if (escapes && r->s[s->at] == '\\')
			s->at++;
}

/* One byte; false: nested too deeply. */
static bool scan_byte(struct scan *s)
{
	const struct ab_reader *r = s->r;
	char open = s->depth ? s->stack[s->depth - 1].open : '\0';
	bool dollar = s->at > 0 && r->s[s->at - 1] == '$';

	switch (r->s[s->at]) {
	case '\\':
		s->at++;
		return true;
	case '`':
		skip_quote(s, '`', true);
		return true;
	case '"':
		if (open != '"')
			return push_open(s, '"');
		s->depth--;
		return true;
	case '\'':
		if (open != '"')
			skip_quote(s, '\'', dollar);
		return true;
	case '{':
		return !dollar || push_open(s, '{');
	case '}':
		s->depth -= open == '{';
		return true;
	case '#':
		if (open == '(' && ab_lex_is(r->s[s->at - 1], AB_LEX_BREAK))
			skip_quote(s, '\n', false);
		return true;
	case '(':
		return (open == '"' && !dollar) || push_open(s, '(');
	case ')':
		if (open == '(')
			pop_paren(s);
		return true;
	default:
		return true;
	}
}

static void scan_pairs(struct ab_reader *r, uint32_t at)
{
	struct scan s;

	s.r = r;
	s.at = at;
	s.depth = 0;
	r->npairs = 0;
	do {
		if (!scan_byte(&s))
			s.at = r->end;
		else
			s.at++;
	} while (s.depth && s.at < r->end);
	r->pairs_to = s.at < r->end ? s.at : r->end;
	r->work += r->pairs_to - at;
}

static int compare_pair(const void *at, const void *pair)
{
	uint32_t a = *(const uint32_t *)at;
	uint32_t b = ((const struct ab_double_paren *)pair)->at;

	return a < b ? -1 : a > b;
}

bool ab_parse_is_arith(struct ab_reader *r, uint32_t at)
{
	const struct ab_double_paren *pair;

	if (at >= r->pairs_to)
		scan_pairs(r, at);
	pair = bsearch(&at, r->pairs, r->npairs, sizeof(*pair), compare_pair);
	return pair && pair->arith;
}

struct balance {
	char open, close;
	bool quoted;	  /* the parts are */
	bool single, dbl; /* in quotes of its own */
	uint32_t depth;
};

/* A quote hides brackets but not expansions: arithmetic is quoted as a whole. */
static void parse_quote(struct ab_reader *r, struct ab_parts *parts, struct balance *b)
{
	uint32_t at = r->at++;
	bool single = r->s[at] == '\'';
	bool text = single ? b->dbl : b->single;

	if (!text && single)
		b->single = !b->single;
	else if (!text)
		b->dbl = !b->dbl;
	if (text || (single && b->quoted))
		ab_parts_text(r, parts, at, at + 1, b->quoted);
}

static void parse_backslash(struct ab_reader *r, struct ab_parts *parts, const struct balance *b)
{
	uint32_t at = r->at++;
	char c = at + 1 < r->end ? r->s[at + 1] : '\0';

	bool escapes = !b->single && c && (!b->quoted || strchr("$`\"\\\n", c) || c == b->close);

	r->at += escapes;
	if (!escapes)
		ab_parts_text(r, parts, at, at + 1, b->quoted);
	else if (c != '\n')
		ab_parts_text(r, parts, at + 1, at + 2, true);
}

/* Any bracket; true: the closing one. */
static bool parse_bracket(struct ab_reader *r, struct ab_parts *parts, struct balance *b)
{
	uint32_t at = r->at++;
	char c = r->s[at];

	if (!b->single && !b->dbl) {
		if (c == b->close && b->depth == 0)
			return true;
		b->depth += c == b->open;
		b->depth -= c == b->close;
	}
	ab_parts_text(r, parts, at, at + 1, b->quoted);
	return false;
}

/* One special byte and what it begins; true: the end. */
static bool parse_special(struct ab_reader *r, struct ab_parts *parts, struct balance *b)
{
	switch (r->s[r->at]) {
	case '$':
		ab_parse_dollar(r, parts, b->quoted);
		return false;
	case '`':
		ab_parse_backquote(r, parts, b->quoted, false);
		return false;
	case AB_UNKNOWN:
		ab_parts_unknown(r, parts, b->quoted);
		return false;
	case '\'':
	case '"':
		parse_quote(r, parts, b);
		return false;
	case '\\':
		parse_backslash(r, parts, b);
		return false;
	default:
		return parse_bracket(r, parts, b);
	}
}

void ab_parse_balanced(struct ab_reader *r, struct ab_parts *parts, char open, char close,
		       bool quoted)
{
	struct balance b = { .open = open, .close = close, .quoted = quoted };
	uint32_t begin = r->at;
	bool done = false;

	if (!ab_lex_enter(r))
		return;
	while (r->at < r->end && !done) {
		ab_parts_add_run(r, parts, ab_lex_run(r, AB_LEX_BALANCED), quoted);
		done = r->at < r->end && parse_special(r, parts, &b);
	}
	if (!done)
		ab_lex_fail(r, begin,
			    close == ')'   ? "`))` is missing"
			    : close == ']' ? "`]` is missing"
					   : "`}` is missing");
	ab_lex_leave(r);
}

void ab_parse_arith(struct ab_reader *r, struct ab_parts *parts)
{
	uint32_t begin = r->at;

	ab_parse_balanced(r, parts, '(', ')', true);
	if (!ab_lex_take(r, ")"))
		ab_lex_fail(r, begin, "`))` is missing");
}
