#include "workspace/git/gitconfig.h"

#define KEY_MAX 4096

struct scan {
	const char *p, *end;
	unsigned line;
	struct ab_buf key; /* "section." or "section.sub." and the name */
	size_t section;	   /* length of the part up to the last dot */
	struct ab_buf value;
};

/* The next byte, with CR LF as one LF; -1 at the end. A NUL is malformed. */
static int peek_byte(const struct scan *s)
{
	if (s->p == s->end)
		return -1;
	if (*s->p == '\r' && s->end - s->p > 1 && s->p[1] == '\n')
		return '\n';
	return (unsigned char)*s->p;
}

static int read_byte(struct scan *s)
{
	int c = peek_byte(s);

	if (c < 0)
		return c;
	if (*s->p == '\r' && c == '\n')
		s->p++;
	s->p++;
	s->line += c == '\n';
	return c;
}

/* git's own isspace(), without the line end: VT and FF are ordinary bytes. */
static bool is_blank(int c)
{
	return ab_is_blank(c) || c == '\r';
}

static bool is_name_char(int c)
{
	return ab_is_alnum(c) || c == '-';
}

static void add_byte(struct ab_buf *b, int c)
{
	char byte = (char)c;

	ab_buf_add(b, &byte, 1);
}

static void skip_line(struct scan *s)
{
	int c;

	do {
		c = read_byte(s);
	} while (c >= 0 && c != '\n');
}

static int parse_subsection(struct scan *s)
{
	int c;

	do {
		c = read_byte(s);
	} while (is_blank(c));
	if (c != '"')
		return -1;
	add_byte(&s->key, '.');
	while ((c = read_byte(s)) != '"') {
		if (c == '\\')
			c = read_byte(s);
		if (c <= 0 || c == '\n' || s->key.len > KEY_MAX)
			return -1;
		add_byte(&s->key, c);
	}
	return read_byte(s) == ']' ? 0 : -1;
}

/* After '['. "[a.B]" is the old spelling of [a "b"]. */
static int parse_section(struct scan *s)
{
	s->key.len = 0;
	for (;;) {
		int c = read_byte(s);

		if (c == ']')
			break;
		if (is_blank(c)) {
			if (parse_subsection(s) < 0)
				return -1;
			break;
		}
		if ((!is_name_char(c) && c != '.') || s->key.len > KEY_MAX)
			return -1;
		add_byte(&s->key, ab_lower(c));
	}
	add_byte(&s->key, '.');
	s->section = s->key.len;
	return 0;
}

static int parse_escape(struct scan *s)
{
	static const char names[] = "tnb\"\\", bytes[] = "\t\n\b\"\\";
	int c = read_byte(s);
	const char *at = c > 0 ? strchr(names, c) : NULL;

	if (at)
		add_byte(&s->value, bytes[at - names]);
	/* The value continues in the next line. */
	return at || c == '\n' ? 0 : -1;
}

/* After '='. Spaces inside are kept, those at both ends are dropped. */
static int parse_value(struct scan *s)
{
	bool quoted = false;
	size_t keep = 0; /* length without trailing spaces */

	s->value.len = 0;
	ab_buf_add(&s->value, "", 0);
	for (;;) {
		int c = read_byte(s);

		if (c < 0 || c == '\n') {
			if (quoted)
				return -1;
			break;
		}
		if (c == 0)
			return -1;
		if (is_blank(c) && !quoted) {
			if (s->value.len > 0)
				add_byte(&s->value, c);
			continue;
		}
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(s);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
		} else if (c == '\\') {
			if (parse_escape(s) < 0)
				return -1;
		} else {
			add_byte(&s->value, c);
		}
		keep = s->value.len;
	}
	s->value.len = keep;
	s->value.data[keep] = '\0';
	return 0;
}

static int parse_assignment(struct scan *s, int c, ab_gitconfig_fn *fn, void *arg)
{
	s->key.len = s->section;
	if (!s->section || !is_name_char(c) || c == '-' || ab_is_digit(c))
		return -1;
	add_byte(&s->key, ab_lower(c));
	while (is_name_char(peek_byte(s))) {
		if (s->key.len > KEY_MAX)
			return -1;
		add_byte(&s->key, ab_lower(read_byte(s)));
	}
	while (ab_is_blank(peek_byte(s)))
		read_byte(s);
	c = read_byte(s);
	if (c < 0 || c == '\n') {
		fn(arg, s->key.data, NULL);
		return 0;
	}
	if (c != '=' || parse_value(s) < 0)
		return -1;
	fn(arg, s->key.data, s->value.data);
	return 0;
}

static int parse_file(struct scan *s, ab_gitconfig_fn *fn, void *arg)
{
	int c;

	while ((c = read_byte(s)) >= 0) {
		int rc = 0;

		if (c == '\n' || is_blank(c))
			continue;
		if (c == '#' || c == ';')
			skip_line(s);
		else if (c == '[')
			rc = parse_section(s);
		else
			rc = parse_assignment(s, c, fn, arg);
		if (rc < 0)
			return -1;
	}
	return 0;
}

unsigned ab_gitconfig_parse(const char *data, size_t len, ab_gitconfig_fn *fn, void *arg)
{
	struct scan s = { .p = data, .end = data + len, .line = 1 };
	unsigned bad = 0;

	if (len > AB_GITCONFIG_MAX)
		return 1;
	if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		s.p += 3;
	if (parse_file(&s, fn, arg) < 0)
		/* A line end that was already read belongs to its line. */
		bad = s.line - (s.line > 1 && s.p[-1] == '\n');
	ab_buf_fini_all(&s.key, &s.value);
	return bad;
}
