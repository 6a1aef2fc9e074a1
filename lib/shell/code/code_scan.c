#include "shell/code/code_scan.h"

#include "shell/syntax/name_table.h"

static const bool name_bytes[256] = {
	['0' ... '9'] = true, ['A' ... 'Z'] = true,   ['_'] = true,
	['a' ... 'z'] = true, [0x80 ... 0xff] = true,
};

static bool is_name(char c)
{
	return name_bytes[(unsigned char)c];
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_one_of(enum ab_language language, unsigned set)
{
	return 1u << language & set;
}

static char peek_byte(const struct ab_code_scan *s, uint32_t ahead)
{
	return s->text.len - s->at > ahead ? s->text.s[s->at + ahead] : 1;
}

static void skip_past(struct ab_code_scan *s, const char *end)
{
	const char *from = s->text.s + s->at;
	const char *p = memmem(from, s->text.len - s->at, end, strlen(end));

	s->at = p ? (uint32_t)(p - s->text.s) + (uint32_t)strlen(end) : s->text.len;
}

static void skip_line(struct ab_code_scan *s)
{
	const char *from = s->text.s + s->at;
	const char *p = memchr(from, '\n', s->text.len - s->at);

	s->at = p ? (uint32_t)(p - s->text.s) : s->text.len;
}

static bool skip_comment(struct ab_code_scan *s)
{
	char c = peek_byte(s, 0), d = peek_byte(s, 1);

	if (c == '#' && is_one_of(s->language, PY | PL | RB | PHP | AWK)) {
		skip_line(s);
	} else if (c == '/' && d == '/' && is_one_of(s->language, JS | PHP)) {
		skip_line(s);
	} else if (c == '/' && d == '*' && is_one_of(s->language, JS | PHP)) {
		s->at += 2;
		skip_past(s, "*/");
	} else if (c == '-' && d == '-' && is_one_of(s->language, LUA)) {
		if (peek_byte(s, 2) == '[' && peek_byte(s, 3) == '[')
			skip_past(s, "]]");
		else
			skip_line(s);
	} else {
		return false;
	}
	return true;
}

static char get_closing(char open)
{
	static const char brackets[] = "()[]{}<>";
	const char *at = open ? strchr(brackets, open) : NULL;

	return at && (at - brackets) % 2 == 0 ? at[1] : open;
}

/* Up to the closing delimiter, from after the opening one; brackets nest. */
static void read_until(struct ab_code_scan *s, char open, bool escapes, struct ab_token *t)
{
	char close = get_closing(open);
	unsigned depth = 0;

	t->from = s->at;
	for (; s->at < s->text.len; s->at++) {
		char c = s->text.s[s->at];

		if (c == '\\' && escapes && s->at + 1 < s->text.len) {
			s->at++;
		} else if (c == close) {
			if (depth-- == 0)
				break;
		} else if (c == open) {
			depth++;
		}
	}
	t->to = s->at;
	if (s->at < s->text.len)
		s->at++;
}

static void read_quoted(struct ab_code_scan *s, struct ab_token *t)
{
	char q = s->text.s[s->at++];

	t->kind = AB_TOKEN_STRING;
	if (is_one_of(s->language, PY) && peek_byte(s, 0) == q && peek_byte(s, 1) == q) {
		char end[4] = { q, q, q, 0 };

		s->at += 2;
		t->from = s->at;
		skip_past(s, end);
		t->to = s->at - t->from >= 3 ? s->at - 3 : s->at;
		return;
	}
	/* A raw string of python also skips \". */
	read_until(s, q, true, t);
	if (q == '\'' && is_one_of(s->language, PL | RB | PHP))
		t->style = AB_STRING_PLAIN;
	if (q == '"' && is_one_of(s->language, PL | RB | PHP))
		t->fills = true;
	if (q != '`')
		return;
	t->fills = is_one_of(s->language, JS | PL | RB | PHP);
	if (is_one_of(s->language, PL | RB | PHP))
		t->kind = AB_TOKEN_COMMAND;
}

/* r"", b'', f"""""" of python. */
static bool read_prefixed(struct ab_code_scan *s, uint32_t from, struct ab_token *t)
{
	bool raw = false, fills = false;
	char q = peek_byte(s, 0);

	if (!is_one_of(s->language, PY) || s->at - from > 2 || (q != '"' && q != '\''))
		return false;
	for (uint32_t i = from; i < s->at; i++) {
		char c = s->text.s[i] | 0x20;

		if (!strchr("rbfu", c))
			return false;
		raw |= c == 'r';
		fills |= c == 'f';
	}
	read_quoted(s, t);
	if (raw)
		t->style = AB_STRING_RAW;
	t->fills = fills;
	return true;
}

/* q{} qq() qx// qw[] m// s/// tr/// of perl, and those of ruby after "%". */
static bool read_operator(struct ab_code_scan *s, struct ab_text name, struct ab_token *t)
{
	bool two = ab_listed("s tr y", name);
	uint32_t at = s->at;
	char open;

	while (peek_byte(s, 0) == ' ')
		s->at++;
	open = peek_byte(s, 0);
	if (is_name(open) || (unsigned char)open <= ' ' || strchr("=,;)]}>", open) ||
	    (s->at > at && !strchr("{([", open))) {
		s->at = at;
		return false;
	}
	s->at++;
	t->kind = AB_TOKEN_PATTERN;
	read_until(s, open, true, t);
	if (two) {
		struct ab_token second = { 0 };

		if (get_closing(open) != open)
			while ((unsigned char)peek_byte(s, 0) <= ' ' && s->at < s->text.len)
				s->at++;
		if (get_closing(open) != open && s->at < s->text.len)
			open = s->text.s[s->at++];
		read_until(s, open, true, &second);
	} else if (ab_text_is(name, "q")) {
		t->kind = AB_TOKEN_STRING;
		t->style = AB_STRING_PLAIN;
	} else if (ab_listed("qq Q", name)) {
		t->kind = AB_TOKEN_STRING;
		t->fills = true;
	} else if (ab_listed("qx x", name)) {
		t->kind = AB_TOKEN_COMMAND;
		t->fills = true;
	} else if (ab_listed("qw w W", name)) {
		t->kind = AB_TOKEN_WORDS;
	}
	return true;
}

static void read_name(struct ab_code_scan *s, struct ab_token *t)
{
	uint32_t from = s->at;
	struct ab_text name;
	bool member = from > 0 && (s->text.s[from - 1] == '>' || s->text.s[from - 1] == '{');

	while (s->at < s->text.len && is_name(s->text.s[s->at]))
		s->at++;
	if (read_prefixed(s, from, t))
		return;
	name = (struct ab_text){ s->text.s + from, s->at - from };
	if (is_one_of(s->language, PL) && !member && ab_listed("m q qq qr qw qx s tr y", name) &&
	    read_operator(s, name, t))
		return;
	t->kind = AB_TOKEN_NAME;
	t->from = from;
	t->to = s->at;
	/* An expression follows these words. */
	s->operand = !ab_listed("and grep if not or print return split typeof unless", name);
}

/* $x, @x, $_, $1: a name with its sign. In perl also $! or $#, so that the mark
 * is not mistaken for a quote or a comment. */
static bool read_variable(struct ab_code_scan *s, struct ab_token *t)
{
	char c = peek_byte(s, 0), d = peek_byte(s, 1);

	if (!(c == '$' && is_one_of(s->language, PL | PHP | RB | AWK)) &&
	    !(c == '@' && is_one_of(s->language, PL | RB)))
		return false;
	t->kind = AB_TOKEN_NAME;
	t->from = s->at++;
	if (is_name(d))
		while (s->at < s->text.len && is_name(s->text.s[s->at]))
			s->at++;
	else if (is_one_of(s->language, PL) && d > ' ' && !strchr("({[$@", d))
		s->at++;
	t->to = s->at;
	s->operand = true;
	return true;
}

/* A pattern must close in the same line within this length, so that a text full
 * of slashes is not read repeatedly. */
enum { PATTERN_MAX = 200 };

static bool read_pattern(struct ab_code_scan *s, struct ab_token *t)
{
	bool bracket = false;

	if (s->operand || !is_one_of(s->language, JS | PL | RB | AWK))
		return false;
	for (uint32_t i = s->at + 1; i < s->text.len && i - s->at < PATTERN_MAX; i++) {
		char c = s->text.s[i];

		if (c == '\n')
			return false;
		if (c == '\\')
			i++;
		else if (c == '[')
			bracket = true;
		else if (c == ']')
			bracket = false;
		else if (c == '/' && !bracket) {
			t->kind = AB_TOKEN_PATTERN;
			t->from = s->at + 1;
			t->to = i;
			s->at = i + 1;
			s->operand = true;
			return true;
		}
	}
	return false;
}

static bool read_percent(struct ab_code_scan *s, struct ab_token *t)
{
	char d = peek_byte(s, 1);
	uint32_t at = s->at;

	/* `puts %x(ls)`, but not `a % w`. */
	if (!is_one_of(s->language, RB) || !strchr("wWqQxiI", d) ||
	    (s->operand && at > 0 && !is_blank(s->text.s[at - 1])) || is_name(peek_byte(s, 2)))
		return false;
	s->at += 2;
	if (read_operator(s, (struct ab_text){ s->text.s + at + 1, 1 }, t))
		return true;
	s->at = at;
	return false;
}

void ab_code_next(struct ab_code_scan *s, struct ab_token *ret)
{
	char c;

	*ret = (struct ab_token){ 0 };
	while (s->at < s->text.len && (is_blank(peek_byte(s, 0)) || skip_comment(s)))
		s->at += s->at < s->text.len && is_blank(peek_byte(s, 0));
	if (s->at >= s->text.len)
		return;
	c = peek_byte(s, 0);
	if (c == '"' || c == '\'' || (c == '`' && !is_one_of(s->language, PY | AWK))) {
		read_quoted(s, ret);
		s->operand = true;
	} else if (ab_is_digit(c)) {
		ret->kind = AB_TOKEN_NUMBER;
		ret->from = s->at;
		while (s->at < s->text.len && is_name(s->text.s[s->at]))
			s->at++;
		ret->to = s->at;
		s->operand = true;
	} else if (is_name(c)) {
		s->operand = true;
		read_name(s, ret);
	} else if (read_variable(s, ret) || (c == '/' && read_pattern(s, ret)) ||
		   (c == '%' && read_percent(s, ret))) {
		s->operand = true;
	} else {
		ret->kind = c == '\n' ? AB_TOKEN_LINE : AB_TOKEN_MARK;
		ret->mark = c;
		ret->from = s->at++;
		ret->to = s->at;
		s->operand = c == ')' || c == ']' || c == '}';
	}
}
