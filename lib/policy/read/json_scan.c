#include "policy/read/json_scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"

struct cursor {
	struct ab_json_scan *s;
	const char *text;
	size_t at, len;
	uint32_t line;
	unsigned depth;
};

static bool wrong(struct cursor *c, const char *what)
{
	c->s->line = c->line;
	c->s->wrong = what;
	return false;
}

/* The byte at the cursor, or -1 at the end. */
static int peek(const struct cursor *c)
{
	return c->at < c->len ? (unsigned char)c->text[c->at] : -1;
}

static void space(struct cursor *c)
{
	for (;; c->at++) {
		int b = peek(c);

		if (b == '\n')
			c->line++;
		else if (b != ' ' && b != '\t' && b != '\r')
			return;
	}
}

/* One well-formed UTF-8 character beyond ASCII; its length or 0. */
static size_t utf8(const unsigned char *p, size_t left)
{
	static const struct {
		unsigned char lo, hi;	/* of the first byte */
		unsigned char lo2, hi2; /* of the second */
		size_t len;
	} form[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < AB_COUNT(form); i++) {
		if (p[0] < form[i].lo || p[0] > form[i].hi)
			continue;
		if (left < form[i].len || p[1] < form[i].lo2 || p[1] > form[i].hi2)
			return 0;
		for (size_t k = 2; k < form[i].len; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return form[i].len;
	}
	return 0;
}

static bool hex4(struct cursor *c, unsigned *ret)
{
	unsigned n = 0;

	for (int i = 0; i < 4; i++, c->at++) {
		int b = peek(c);

		if (b >= '0' && b <= '9')
			n = n * 16 + (unsigned)(b - '0');
		else if (b >= 'a' && b <= 'f')
			n = n * 16 + (unsigned)(b - 'a') + 10;
		else if (b >= 'A' && b <= 'F')
			n = n * 16 + (unsigned)(b - 'A') + 10;
		else
			return false;
	}
	*ret = n;
	return true;
}

/* Behind the backslash. */
static bool escape(struct cursor *c)
{
	unsigned high, low;
	int b = peek(c);

	c->at++;
	if (b > 0 && strchr("\"\\/bfnrt", b))
		return true;
	if (b != 'u')
		return wrong(c, "unknown escape in a string");
	if (!hex4(c, &high))
		return wrong(c, "\\u needs four hexadecimal digits");
	if (high == 0)
		return wrong(c, "a string cannot hold \\u0000");
	if (high >= 0xdc00 && high <= 0xdfff)
		return wrong(c, "half of a surrogate pair in a string");
	if (high < 0xd800 || high > 0xdbff)
		return true;
	if (c->len - c->at < 6 || c->text[c->at] != '\\' || c->text[c->at + 1] != 'u')
		return wrong(c, "half of a surrogate pair in a string");
	c->at += 2;
	if (!hex4(c, &low) || low < 0xdc00 || low > 0xdfff)
		return wrong(c, "half of a surrogate pair in a string");
	return true;
}

static bool string(struct cursor *c)
{
	c->at++;
	for (;;) {
		int b = peek(c);
		size_t n;

		if (b < 0 || b == '\n')
			return wrong(c, "the string is not closed");
		if (b < 0x20)
			return wrong(c, "a control character in a string");
		if (b == '"') {
			c->at++;
			return true;
		}
		if (b == '\\') {
			c->at++;
			if (!escape(c))
				return false;
			continue;
		}
		n = b < 0x80 ? 1 : utf8((const unsigned char *)c->text + c->at, c->len - c->at);
		if (n == 0)
			return wrong(c, "not UTF-8");
		c->at += n;
	}
}

static bool digits(struct cursor *c)
{
	size_t from = c->at;

	while (peek(c) >= '0' && peek(c) <= '9')
		c->at++;
	return c->at > from;
}

static bool number(struct cursor *c)
{
	if (peek(c) == '-')
		c->at++;
	if (peek(c) == '0') {
		c->at++;
		if (peek(c) >= '0' && peek(c) <= '9')
			return wrong(c, "a number cannot start with 0");
	} else if (!digits(c)) {
		return wrong(c, "expected a number");
	}
	if (peek(c) == '.') {
		c->at++;
		if (!digits(c))
			return wrong(c, "expected digits behind the point");
	}
	if (peek(c) == 'e' || peek(c) == 'E') {
		c->at++;
		if (peek(c) == '+' || peek(c) == '-')
			c->at++;
		if (!digits(c))
			return wrong(c, "expected digits in the exponent");
	}
	return true;
}

static bool literal(struct cursor *c, const char *name)
{
	size_t n = strlen(name);

	if (c->len - c->at < n || memcmp(c->text + c->at, name, n) != 0)
		return wrong(c, "expected a value");
	c->at += n;
	/* "nullx" is one wrong word, not null and something. */
	if ((peek(c) >= 'a' && peek(c) <= 'z') || (peek(c) >= 'A' && peek(c) <= 'Z'))
		return wrong(c, "expected a value");
	return true;
}

static struct ab_json_scan_node *add_node(struct cursor *c, uint32_t parent, uint32_t *ret)
{
	struct ab_json_scan *s = c->s;

	if (s->len >= AB_SCAN_NODES)
		return NULL;
	if (s->len == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->nodes = ab_realloc(s->nodes, s->room * sizeof(s->nodes[0]));
	}
	*ret = (uint32_t)s->len;
	s->nodes[s->len] = (struct ab_json_scan_node){ .parent = parent, .line = c->line };
	return &s->nodes[s->len++];
}

static bool value(struct cursor *c, uint32_t node);

/* One member or element; the cursor stands on it. */
static bool child(struct cursor *c, uint32_t parent, bool keyed)
{
	struct ab_json_scan_node *n;
	uint32_t index;

	n = add_node(c, parent, &index);
	if (!n)
		return wrong(c, "too many values");
	if (!keyed)
		return value(c, index);
	if (peek(c) != '"')
		return wrong(c, "expected a key in quotes");
	n->key_begin = (uint32_t)c->at;
	if (!string(c))
		return false;
	n->key_end = (uint32_t)c->at;
	space(c);
	if (peek(c) != ':')
		return wrong(c, "expected a colon behind the key");
	c->at++;
	space(c);
	return value(c, index);
}

static bool container(struct cursor *c, uint32_t node, bool keyed)
{
	int close = keyed ? '}' : ']';

	if (++c->depth > AB_SCAN_DEPTH)
		return wrong(c, "nested too deep");
	c->at++;
	space(c);
	if (peek(c) != close) {
		for (;;) {
			if (!child(c, node, keyed))
				return false;
			space(c);
			if (peek(c) != ',')
				break;
			c->at++;
			space(c);
			if (peek(c) == close)
				return wrong(c, "a comma with nothing behind it");
		}
	}
	if (peek(c) != close)
		return wrong(c, keyed ? "expected a comma or }" : "expected a comma or ]");
	c->at++;
	c->depth--;
	return true;
}

static bool value(struct cursor *c, uint32_t node)
{
	int b = peek(c);
	bool good;

	c->s->nodes[node].begin = (uint32_t)c->at;
	c->s->nodes[node].kind = (char)b;
	switch (b) {
	case '{':
	case '[':
		good = container(c, node, b == '{');
		break;
	case '"':
		good = string(c);
		break;
	case 't':
		good = literal(c, "true");
		break;
	case 'f':
		good = literal(c, "false");
		break;
	case 'n':
		good = literal(c, "null");
		break;
	case -1:
		return wrong(c, "the file ends too early");
	case '/':
		return wrong(c, "JSON has no comments");
	default:
		if (b != '-' && (b < '0' || b > '9'))
			return wrong(c, "expected a value");
		c->s->nodes[node].kind = '0';
		good = number(c);
		break;
	}
	/* The array of nodes may have moved meanwhile. */
	c->s->nodes[node].end = (uint32_t)c->at;
	c->s->nodes[node].next = (uint32_t)c->s->len;
	return good;
}

int ab_json_scan_parse(struct ab_json_scan *s, const char *text, size_t len)
{
	struct cursor c = { .s = s, .text = text, .len = len, .line = 1 };
	uint32_t root;

	s->len = 0;
	if (len >= UINT32_MAX) {
		wrong(&c, "too large");
		return -1;
	}
	space(&c);
	if (!add_node(&c, 0, &root) || !value(&c, root))
		return -1;
	space(&c);
	if (c.at != c.len) {
		wrong(&c, "something behind the last }");
		return -1;
	}
	return 0;
}

void ab_json_scan_fini(struct ab_json_scan *s)
{
	free(s->nodes);
	*s = (struct ab_json_scan){ 0 };
}
