#include "shell/syntax/lex.h"

#include "shell/syntax/name_table.h"

enum { INNER_MAX = 16 };

/* Ends a run of every class: an expansion may begin here. */
#define EXPANDS (AB_LEX_WORD | AB_LEX_OPERAND | AB_LEX_DOUBLE | AB_LEX_BODY | AB_LEX_BALANCED)
#define ENDS (AB_LEX_BREAK | AB_LEX_WORD)
#define NAME AB_LEX_NAME
#define DIGIT (AB_LEX_NAME | AB_LEX_DIGIT)

#define SLASH AB_LEX_KINDS(AB_BYTES_SLASH)
#define UP AB_LEX_KINDS(AB_BYTES_UP)
#define SEPARATOR AB_LEX_KINDS(AB_BYTES_SEPARATOR)
#define CODE AB_LEX_KINDS(AB_BYTES_CODE)
#define PATTERN AB_LEX_KINDS(AB_BYTES_PATTERN)

const uint16_t ab_lex_classes[256] = {
	[AB_UNKNOWN] = EXPANDS | AB_LEX_KINDS(AB_BYTES_UNKNOWN),
	['\t'] = ENDS | AB_LEX_BLANK,
	['\n'] = ENDS | AB_LEX_BODY,
	[' '] = ENDS | AB_LEX_BLANK,
	['"'] = (EXPANDS & ~AB_LEX_BODY) | SEPARATOR,
	['#'] = AB_LEX_BLANK,
	['$'] = EXPANDS,
	['&'] = ENDS,
	['\''] = AB_LEX_WORD | AB_LEX_OPERAND | AB_LEX_BALANCED | SEPARATOR,
	['('] = ENDS | AB_LEX_BALANCED | CODE,
	[')'] = ENDS | AB_LEX_BALANCED,
	['*'] = PATTERN,
	[','] = SEPARATOR,
	['.'] = UP,
	['/'] = SLASH,
	['0' ... '9'] = DIGIT,
	[':'] = SEPARATOR,
	[';'] = ENDS | SEPARATOR,
	['<'] = ENDS | AB_LEX_OPERAND,
	['='] = SEPARATOR,
	['>'] = ENDS | AB_LEX_OPERAND,
	['?'] = PATTERN,
	['@'] = SEPARATOR,
	['A' ... 'Z'] = NAME,
	['['] = AB_LEX_BALANCED | CODE | PATTERN,
	['\\'] = EXPANDS | AB_LEX_BLANK,
	[']'] = AB_LEX_BALANCED | PATTERN,
	['_'] = NAME,
	['`'] = EXPANDS,
	['a' ... 'z'] = NAME,
	['{'] = CODE,
	['|'] = ENDS | CODE,
	['}'] = AB_LEX_OPERAND | AB_LEX_BALANCED,
	['~'] = UP,
};

uint8_t ab_bytes_read(const char *s, uint32_t len)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < len; i++)
		found |= ab_lex_classes[(unsigned char)s[i]];
	return (uint8_t)(found >> 8) | AB_BYTES_READ;
}

struct ab_span ab_lex_since(const struct ab_reader *r, uint32_t from)
{
	bool blanks = r->at == r->blanks_to && r->before >= from;

	return ab_lex_span(r, from, blanks ? r->before : r->at);
}

void ab_lex_fail(struct ab_reader *r, uint32_t at, const char *error)
{
	if (!r->error) {
		r->error = error;
		r->error_at = r->map ? r->map[at] : at;
	}
	r->at = r->end;
}

static const char *quote_token(struct ab_reader *r, const char *before, struct ab_text token,
			       const char *after)
{
	struct ab_text text = ab_text_join(r->arena, ab_text_of(before), token);

	return ab_text_join(r->arena, text, ab_text_of(after)).s;
}

/* Length of the operator or reserved word here; 0: neither. */
static uint32_t measure_token(struct ab_reader *r)
{
	const char *s = r->s + r->at;
	uint32_t n = 1, left = r->end - r->at;

	if (ab_lex_keyword(r))
		return r->key_end - r->at;
	if (!ab_lex_is(*s, AB_LEX_BREAK))
		return 0;
	if (!strchr("()", *s))
		while (n < left && n < 3 && s[n] && strchr(";&|<>", s[n]))
			n++;
	return n;
}

void ab_lex_unexpected(struct ab_reader *r, const char *missing)
{
	const char *error;
	uint32_t len;

	if (r->error)
		return;
	if (r->at >= r->end && missing)
		error = quote_token(r, "`", ab_text_of(missing), "` is missing");
	else if (r->at >= r->end)
		error = "a command is missing at the end";
	else if (r->s[r->at] == '\n')
		error = "the line ends too early";
	else if ((len = measure_token(r)) > 0)
		error = quote_token(r, "unexpected `", (struct ab_text){ r->s + r->at, len }, "`");
	else if (missing)
		error = quote_token(r, "`", ab_text_of(missing), "` is missing");
	else
		error = "unexpected word";
	ab_lex_fail(r, r->at, error);
}

bool ab_lex_enter(struct ab_reader *r)
{
	if (++r->depth <= AB_SHELL_DEPTH_MAX)
		return true;
	ab_lex_fail(r, r->at, "it is nested too deeply");
	return false;
}

struct ab_reader ab_lex_inner(const struct ab_reader *r, const char *s, uint32_t from, uint32_t to)
{
	struct ab_reader inner = *r;

	inner.s = s;
	inner.at = from;
	inner.end = to;
	inner.heredocs = NULL;
	inner.in_command = false;
	/* Each inner reader reads its bytes again: the bound keeps this linear. */
	if (++inner.inner > INNER_MAX)
		ab_lex_fail(&inner, inner.at, "it is nested too deeply");
	inner.key_at = inner.blanks_to = UINT32_MAX;
	if (s != r->s) {
		inner.pairs = NULL;
		inner.npairs = inner.pairs_room = 0;
		inner.pairs_to = 0;
	}
	return inner;
}

void ab_lex_outer(struct ab_reader *r, const struct ab_reader *inner)
{
	r->nodes = inner->nodes;
	r->work = inner->work;
	r->passed = inner->passed;
	r->passed_at = inner->passed_at;
	if (inner->error && !r->passed) {
		r->passed = inner->error;
		r->passed_at = inner->error_at;
	}
	if (r->nodes > AB_SHELL_NODES_MAX)
		ab_lex_fail(r, r->at, "it is too complex");
}

/* A backslash at the end of a line joins it with the next one. */
uint32_t ab_lex_joined(const struct ab_reader *r, uint32_t at)
{
	while (r->end - at >= 2 && r->s[at] == '\\' && r->s[at + 1] == '\n')
		at += 2;
	return at;
}

static void skip_comment(struct ab_reader *r)
{
	const char *p = memchr(r->s + r->at, '\n', r->end - r->at);
	uint32_t to = p ? p - r->s : r->end;

	r->work += to - r->at;
	r->at = to;
}

void ab_lex_read_blanks(struct ab_reader *r)
{
	uint32_t at = r->at;

	while (at < r->end) {
		char c = r->s[at];

		if (c == ' ' || c == '\t')
			at++;
		else if (c == '\\' && r->end - at >= 2 && r->s[at + 1] == '\n')
			at += 2;
		else
			break;
	}
	r->work += at - r->at;
	r->at = at;
	if (ab_lex_at(r, '#'))
		skip_comment(r);
}

void ab_lex_skip_newlines(struct ab_reader *r)
{
	for (;;) {
		ab_lex_skip_blanks(r);
		if (!ab_lex_at(r, '\n'))
			return;
		r->at++;
		if (r->heredocs)
			ab_parse_heredoc_bodies(r);
	}
}

enum { KEYWORD_MAX = sizeof("function") - 1 };

/* Sorted by length. */
static const struct keyword {
	char name[KEYWORD_MAX + 1];
	enum ab_keyword key;
} keywords[] = {
	{ "!", AB_KEY_BANG },	     { "{", AB_KEY_OPEN },	  { "}", AB_KEY_CLOSE },
	{ "[[", AB_KEY_TEST },	     { "do", AB_KEY_DO },	  { "fi", AB_KEY_FI },
	{ "if", AB_KEY_IF },	     { "in", AB_KEY_IN },	  { "for", AB_KEY_FOR },
	{ "case", AB_KEY_CASE },     { "done", AB_KEY_DONE },	  { "elif", AB_KEY_ELIF },
	{ "else", AB_KEY_ELSE },     { "esac", AB_KEY_ESAC },	  { "then", AB_KEY_THEN },
	{ "time", AB_KEY_TIME },     { "until", AB_KEY_UNTIL },	  { "while", AB_KEY_WHILE },
	{ "coproc", AB_KEY_COPROC }, { "select", AB_KEY_SELECT }, { "function", AB_KEY_FUNCTION },
};

/* For each length the first keyword that is as long, or longer. */
static const uint8_t by_length[KEYWORD_MAX + 2] = { 0, 0, 3, 8, 9, 16, 18, 20, 20, 21 };

static enum ab_keyword find_keyword(const char *name, size_t len)
{
	for (size_t i = by_length[len]; i < by_length[len + 1]; i++)
		if (keywords[i].name[0] == name[0] && memcmp(keywords[i].name, name, len) == 0)
			return keywords[i].key;
	return AB_KEY_NONE;
}

/* A backslash may join lines within the word. */
static enum ab_keyword read_joined_keyword(struct ab_reader *r)
{
	char name[KEYWORD_MAX];
	uint32_t at = r->at;
	size_t n = 0;

	for (;; at++) {
		if (at < r->end && r->s[at] == '\\')
			at = ab_lex_joined(r, at);
		if (at >= r->end || ab_lex_is(r->s[at], AB_LEX_BREAK))
			break;
		if (n == sizeof(name) || ab_lex_is(r->s[at], AB_LEX_WORD)) {
			n = 0;
			break;
		}
		name[n++] = r->s[at];
	}
	r->key = find_keyword(name, n);
	r->key_end = at;
	return r->key;
}

const bool ab_lex_begins_keyword[256] = {
	['!'] = true, ['['] = true, ['\\'] = true, ['c'] = true, ['d'] = true,
	['e'] = true, ['f'] = true, ['i'] = true,  ['s'] = true, ['t'] = true,
	['u'] = true, ['w'] = true, ['{'] = true,  ['}'] = true,
};

enum ab_keyword ab_lex_read_keyword(struct ab_reader *r)
{
	uint32_t at = r->at, stop = r->end - at > KEYWORD_MAX ? at + KEYWORD_MAX : r->end;

	r->key_at = at;
	while (at < stop && !ab_lex_is(r->s[at], AB_LEX_BREAK | AB_LEX_WORD))
		at++;
	if (at < r->end && r->s[at] == '\\')
		return read_joined_keyword(r);
	r->key = AB_KEY_NONE;
	if (at == r->end || ab_lex_is(r->s[at], AB_LEX_BREAK))
		r->key = find_keyword(r->s + r->at, at - r->at);
	r->key_end = at;
	return r->key;
}

bool ab_lex_take_keyword(struct ab_reader *r, enum ab_keyword key)
{
	if (ab_lex_keyword(r) != key)
		return false;
	r->at = r->key_end;
	return true;
}

bool ab_lex_read_operator(struct ab_reader *r, const char *op)
{
	uint32_t at = r->at;

	for (; *op; op++, at++) {
		if (at < r->end && r->s[at] == '\\')
			at = ab_lex_joined(r, at);
		if (at >= r->end || r->s[at] != *op)
			return false;
	}
	r->at = at;
	return true;
}

static uint32_t skip_name(const struct ab_reader *r, uint32_t at)
{
	while (at < r->end && ab_lex_is(r->s[at], AB_LEX_NAME))
		at++;
	return at;
}

struct ab_text ab_lex_name(struct ab_reader *r)
{
	uint32_t from = r->at, at = skip_name(r, from), len = at - from;
	char *name;

	/* Find the end of a name that continues across joined lines. */
	for (uint32_t next = ab_lex_joined(r, at); next > at && len && skip_name(r, next) > next;
	     next = ab_lex_joined(r, at))
		at = skip_name(r, next);
	r->work += at - from;
	r->at = at;
	if (at - from == len)
		return (struct ab_text){ r->s + from, len };
	name = ab_arena_alloc(r->arena, at - from);
	len = 0;
	for (uint32_t i = from; i < at; i++)
		if (ab_lex_is(r->s[i], AB_LEX_NAME))
			name[len++] = r->s[i];
	return (struct ab_text){ name, len };
}

void ab_parts_add(struct ab_parts *parts, struct ab_part *part)
{
	if (parts->last)
		parts->last->next = part;
	else
		parts->first = part;
	parts->last = part;
}

static void add_bytes(struct ab_reader *r, struct ab_parts *parts, uint32_t from, uint32_t to,
		      bool quoted, uint8_t bytes)
{
	struct ab_part *last = parts->last;
	struct ab_part *part;

	if (last && last->kind == AB_PART_TEXT && last->quoted == quoted && last->text.len &&
	    last->text.s + last->text.len == r->s + from) {
		last->text.len += to - from;
		last->bytes |= bytes;
		last->range.to = ab_lex_span(r, from, to).to;
		return;
	}
	part = ab_lex_new(r, sizeof(*part));
	part->kind = AB_PART_TEXT;
	part->quoted = quoted;
	part->range = ab_lex_span(r, from, to);
	part->text = (struct ab_text){ r->s + from, to - from };
	part->bytes = bytes;
	ab_parts_add(parts, part);
}

void ab_parts_text(struct ab_reader *r, struct ab_parts *parts, uint32_t from, uint32_t to,
		   bool quoted)
{
	add_bytes(r, parts, from, to, quoted, ab_bytes_read(r->s + from, to - from));
}

void ab_parts_add_run(struct ab_reader *r, struct ab_parts *parts, struct ab_run run, bool quoted)
{
	uint32_t from = r->at;

	if (run.to == from)
		return;
	r->work += run.to - from;
	r->at = run.to;
	add_bytes(r, parts, from, run.to, quoted, run.bytes);
}
/* The byte here is AB_UNKNOWN. */
void ab_parts_unknown(struct ab_reader *r, struct ab_parts *parts, bool quoted)
{
	struct ab_part *part = ab_lex_new(r, sizeof(*part));

	part->kind = AB_PART_PARAM;
	part->quoted = quoted;
	part->param.name = (struct ab_text){ r->s + r->at, 0 };
	if (r->at < r->end) {
		part->range = ab_lex_span(r, r->at, r->at + 1);
		r->at++;
	}
	ab_parts_add(parts, part);
}

void ab_parts_single(struct ab_reader *r, struct ab_parts *parts, uint32_t to,
		     bool (*add)(struct ab_reader *r, struct ab_parts *parts, uint32_t from,
				 uint32_t to))
{
	uint32_t from = r->at;
	bool ended = false;

	if (from == to)
		ab_parts_text(r, parts, to, to, true);
	while (from < to && !ended) {
		const char *p = memchr(r->s + from, AB_UNKNOWN, to - from);
		uint32_t stop = p ? p - r->s : to;

		if (stop > from)
			ended = add(r, parts, from, stop);
		r->at = stop;
		if (p && !ended)
			ab_parts_unknown(r, parts, true);
		from = p ? stop + 1 : to;
	}
	r->at = r->error ? r->end : to + 1;
}
