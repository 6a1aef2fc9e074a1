#include "base/text/toml.h"

struct scan {
	const char *p, *end;
	unsigned line, table;
	char *keys[AB_TOML_KEYS];
	size_t nkeys;
	ab_toml_fn *fn;
	void *arg;
};

static int peek_at(const struct scan *s, size_t i)
{
	return (size_t)(s->end - s->p) > i ? (unsigned char)s->p[i] : -1;
}

static int peek(const struct scan *s)
{
	return peek_at(s, 0);
}

static bool take(struct scan *s, int c)
{
	if (peek(s) != c)
		return false;
	s->line += c == '\n';
	s->p++;
	return true;
}

static bool starts_with(const struct scan *s, const char *text)
{
	size_t n = strlen(text);

	return (size_t)(s->end - s->p) >= n && memcmp(s->p, text, n) == 0;
}

static void skip_blanks(struct scan *s)
{
	while (ab_is_blank(peek(s)))
		s->p++;
}

static void skip_comment(struct scan *s)
{
	if (peek(s) == '#')
		while (s->p < s->end && *s->p != '\n')
			s->p++;
}

/* Blanks, comments and line breaks. */
static void skip_space(struct scan *s)
{
	for (;;) {
		skip_blanks(s);
		skip_comment(s);
		if (!take(s, '\n') && !take(s, '\r'))
			return;
	}
}

static int end_line(struct scan *s)
{
	skip_blanks(s);
	skip_comment(s);
	take(s, '\r');
	return s->p == s->end || take(s, '\n') ? 0 : -1;
}

static int put_unicode(struct scan *s, struct ab_buf *b, int digits)
{
	uint32_t c = 0;
	char utf8[4];

	for (; digits; digits--) {
		int h = ab_hex(peek(s));

		if (h < 0)
			return -1;
		c = c * 16 + (uint32_t)h;
		s->p++;
	}
	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	ab_buf_add(b, utf8, ab_utf8_put(c, utf8));
	return 0;
}

/* After the backslash. */
static int put_escape(struct scan *s, struct ab_buf *b, bool lines)
{
	static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
	int c = peek(s);
	const char *at = c > 0 ? strchr(from, c) : NULL;

	if (lines && (ab_is_blank(c) || c == '\n' || c == '\r')) {
		while (ab_is_space(peek(s)))
			take(s, peek(s));
		return 0;
	}
	if (c < 0)
		return -1;
	s->p++;
	if (at && *at) {
		ab_buf_add(b, &to[at - from], 1);
		return 0;
	}
	return c == 'u' ? put_unicode(s, b, 4) : c == 'U' ? put_unicode(s, b, 8) : -1;
}

/* The rest of a string whose opening quotes were taken. */
static int read_until(struct scan *s, char quote, bool lines, struct ab_buf *b)
{
	const char closing[] = { quote, quote, quote, '\0' };

	if (lines) {
		take(s, '\r');
		take(s, '\n');
	}
	while (s->p < s->end) {
		if (lines ? starts_with(s, closing) : *s->p == quote) {
			/* Up to two quotes may stand before the closing ones. */
			while (lines && peek_at(s, 3) == quote) {
				ab_buf_add(b, s->p, 1);
				s->p++;
			}
			s->p += lines ? 3 : 1;
			return 0;
		}
		if (*s->p == '\0' || (!lines && *s->p == '\n'))
			return -1;
		if (*s->p == '\\' && quote == '"') {
			s->p++;
			if (put_escape(s, b, lines) < 0)
				return -1;
			continue;
		}
		ab_buf_add(b, s->p, 1);
		take(s, peek(s));
	}
	return -1;
}

static int read_string(struct scan *s, bool key, struct ab_buf *b)
{
	char quote = (char)peek(s);
	bool lines = peek_at(s, 1) == quote && peek_at(s, 2) == quote;

	if (key && lines)
		return -1;
	s->p += lines ? 3 : 1;
	return read_until(s, quote, lines, b);
}

static bool is_bare(int c)
{
	return ab_is_alnum(c) || c == '_' || c == '-';
}

static int push_key(struct scan *s, struct ab_buf *b)
{
	if (s->nkeys == AB_TOML_KEYS)
		return -1;
	s->keys[s->nkeys++] = ab_buf_take(b);
	return 0;
}

static void pop_keys(struct scan *s, size_t n)
{
	while (s->nkeys > n)
		free(s->keys[--s->nkeys]);
}

/* a."b".c */
static int read_keys(struct scan *s)
{
	do {
		ab_autobuf struct ab_buf b = { 0 };

		skip_blanks(s);
		if (peek(s) == '"' || peek(s) == '\'') {
			if (read_string(s, true, &b) < 0)
				return -1;
		} else {
			while (is_bare(peek(s)))
				ab_buf_add(&b, s->p++, 1);
			if (b.len == 0)
				return -1;
		}
		if (push_key(s, &b) < 0)
			return -1;
		skip_blanks(s);
	} while (take(s, '.'));
	return 0;
}

static void pass_on(struct scan *s, char kind, const char *text, bool element, unsigned line)
{
	struct ab_toml_value v = {
		.keys = (const char *const *)s->keys,
		.nkeys = s->nkeys,
		.table = s->table,
		.element = element,
		.kind = kind,
		.text = text,
		.line = line,
	};

	s->fn(s->arg, &v);
}

static int read_value(struct scan *s, int depth, bool element);

static int read_pair(struct scan *s, int depth)
{
	size_t before = s->nkeys;
	int r = read_keys(s);

	if (r == 0 && take(s, '=')) {
		skip_blanks(s);
		r = read_value(s, depth, false);
	} else {
		r = -1;
	}
	pop_keys(s, before);
	return r;
}

/* An array, or an inline table. */
static int read_container(struct scan *s, int depth, bool table)
{
	char closing = table ? '}' : ']';

	s->p++;
	for (;;) {
		skip_space(s);
		if (take(s, closing))
			return 0;
		if ((table ? read_pair(s, depth + 1) : read_value(s, depth + 1, true)) < 0)
			return -1;
		skip_space(s);
		if (take(s, ','))
			continue;
		return take(s, closing) ? 0 : -1;
	}
}

/* true, false, a number or a date: everything up to what ends a value. */
static int read_word(struct scan *s, bool element)
{
	const char *start = s->p;
	ab_autofree char *word = NULL;
	char kind;

	while (s->p < s->end && (ab_is_alnum(*s->p) || strchr("+-_.:", *s->p)) && *s->p)
		s->p++;
	if (s->p == start)
		return -1;
	word = ab_strndup(start, (size_t)(s->p - start));
	kind = strcmp(word, "true") == 0 ? 't' : strcmp(word, "false") == 0 ? 'f' : '0';
	if (kind == '0' && !ab_is_digit(word[0]) && !strchr("+-in", word[0]))
		return -1;
	pass_on(s, kind, word, element, s->line);
	return 0;
}

static int read_value(struct scan *s, int depth, bool element)
{
	ab_autobuf struct ab_buf b = { 0 };
	unsigned line = s->line;
	int c = peek(s);

	if (depth > AB_TOML_DEPTH)
		return -1;
	if (c == '{')
		s->table += element;
	if (c == '[' || c == '{')
		return read_container(s, depth, c == '{');
	if (c != '"' && c != '\'')
		return read_word(s, element);
	if (read_string(s, false, &b) < 0)
		return -1;
	pass_on(s, '"', b.data ? b.data : "", element, line);
	return 0;
}

/* [a.b] or [[a.b]] */
static int read_header(struct scan *s)
{
	bool twice;

	s->p++;
	twice = take(s, '[');
	pop_keys(s, 0);
	if (read_keys(s) < 0 || !take(s, ']') || (twice && !take(s, ']')))
		return -1;
	s->table += twice;
	return 0;
}

int ab_toml_scan(const char *text, size_t len, ab_toml_fn *fn, void *arg, unsigned *ret_line)
{
	struct scan s = { .p = text, .end = text + len, .line = 1, .fn = fn, .arg = arg };
	int r = 0;

	for (;;) {
		skip_space(&s);
		if (s.p == s.end)
			break;
		r = peek(&s) == '[' ? read_header(&s) : read_pair(&s, 0);
		if (r < 0 || end_line(&s) < 0) {
			*ret_line = s.line;
			r = -1;
			break;
		}
	}
	pop_keys(&s, 0);
	return r;
}
