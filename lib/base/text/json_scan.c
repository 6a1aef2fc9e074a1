#include "base/text/json_scan.h"

struct cursor {
	struct ab_json_scan *s;
	const char *text;
	size_t at, len;
	uint32_t line;
	size_t line_begin; /* moved by the bytes that are not columns */
	unsigned depth;
	bool comments; /* accept them, and trailing commas */
	char *out;     /* the next decoded string */
};

static uint32_t get_column(const struct cursor *c)
{
	return (uint32_t)(c->at - c->line_begin) + 1;
}

static bool fail_here(struct cursor *c, const char *wrong, const char *right)
{
	c->s->line = c->line;
	c->s->column = get_column(c);
	c->s->wrong = wrong;
	c->s->right = right;
	return false;
}

/* A failure of something that began earlier in this line, without characters
 * beyond ASCII since. */
static bool fail_at(struct cursor *c, size_t begin, const char *wrong, const char *right)
{
	c->at = begin;
	return fail_here(c, wrong, right);
}

/* The byte at the cursor, or -1 at the end. */
static int peek(const struct cursor *c)
{
	return c->at < c->len ? (unsigned char)c->text[c->at] : -1;
}

/* Skip one character of a comment; false: it does not belong in one. */
static bool skip_comment_character(struct cursor *c)
{
	uint32_t character;
	int b = peek(c);
	size_t n;

	if (b == '\n') {
		c->line++;
		c->line_begin = ++c->at;
		return true;
	}
	if (b == '\r' && c->at + 1 < c->len && c->text[c->at + 1] == '\n') {
		c->at++;
		return true;
	}
	n = b < 0 || (b < 0x20 && b != '\t')
		    ? 0
		    : ab_utf8_get(c->text + c->at, c->len - c->at, &character);
	/* Other readers end a comment at a line or paragraph separator. */
	if (n == 0 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
	    character == 0x2029)
		return false;
	c->at += n;
	c->line_begin += n - 1;
	return true;
}

/* Skip a comment. False: it is none, or a wrong one; *c is then where it is wrong. */
static bool skip_comment(struct cursor *c)
{
	bool line = c->len - c->at >= 2 && c->text[c->at + 1] == '/';

	if (!line && (c->len - c->at < 2 || c->text[c->at + 1] != '*'))
		return false;
	for (c->at += 2;;) {
		if (line && (c->at == c->len || c->text[c->at] == '\n'))
			return true;
		if (!line && c->len - c->at >= 2 && memcmp(c->text + c->at, "*/", 2) == 0) {
			c->at += 2;
			return true;
		}
		if (!skip_comment_character(c))
			return false;
	}
}

/* At a slash or "#" where something else was expected. */
static bool fail_comment(struct cursor *c)
{
	struct cursor end = *c;

	if (!c->comments)
		return fail_here(c, "JSON has no comments",
				 "remove it; each section can have a \"reason\"");
	if (peek(c) == '/' && !skip_comment(&end)) {
		if (end.at == c->at)
			return fail_here(c, "unexpected /", "a comment begins with // or /*");
		if (end.at == end.len)
			return fail_here(c, "the comment is not closed", "end it with */");
		return fail_here(&end, "unexpected character in a comment",
				 "use UTF-8 text without control characters");
	}
	return fail_here(c, "unexpected #", "a comment begins with // or /*");
}

/* Something else was expected here: say which of the usual mistakes it is. */
static bool fail_unexpected(struct cursor *c, const char *wrong, const char *right)
{
	switch (peek(c)) {
	case -1:
		return fail_here(c, "unexpected end of file", "is a \", ] or } missing?");
	case 0:
		return fail_here(c, "unexpected NUL byte", "save the file as UTF-8 text");
	case '/':
	case '#':
		return fail_comment(c);
	case '\'':
		return fail_here(c, wrong, "use double quotes");
	default:
		return fail_here(c, wrong, right);
	}
}

/* Space and comments. A wrong comment stays, to be reported as what is not expected. */
static void skip_space(struct cursor *c)
{
	for (;;) {
		int b = peek(c);

		if (b == '\n') {
			c->line++;
			c->line_begin = ++c->at;
		} else if (b == ' ' || b == '\t' || b == '\r') {
			c->at++;
		} else if (b == '/' && c->comments) {
			struct cursor end = *c;

			if (!skip_comment(&end))
				return;
			*c = end;
		} else {
			return;
		}
	}
}

static bool read_hex4(struct cursor *c, uint32_t *ret)
{
	uint32_t n = 0;

	for (int i = 0; i < 4; i++, c->at++) {
		int digit = ab_hex(peek(c));

		if (digit < 0)
			return false;
		n = n * 16 + (uint32_t)digit;
	}
	*ret = n;
	return true;
}

/* After \u; `begin` is the backslash. */
static bool read_unicode_escape(struct cursor *c, size_t begin)
{
	static const char unpaired[] = "half of a surrogate pair";
	static const char write_it[] = "write the character itself, in UTF-8";
	uint32_t n, low;

	if (!read_hex4(c, &n))
		return fail_at(c, begin, "\\u needs four hexadecimal digits",
			       "use one like \\u00e9");
	if (n == 0)
		return fail_at(c, begin, "\\u0000 is not allowed in a string", "remove it");
	if (n >= 0xd800 && n <= 0xdfff) {
		if (n >= 0xdc00 || c->len - c->at < 6 || memcmp(c->text + c->at, "\\u", 2) != 0)
			return fail_at(c, begin, unpaired, write_it);
		c->at += 2;
		if (!read_hex4(c, &low) || low < 0xdc00 || low > 0xdfff)
			return fail_at(c, begin, unpaired, write_it);
		n = 0x10000 + ((n & 0x3ff) << 10) + (low & 0x3ff);
	}
	c->out += ab_utf8_put(n, c->out);
	return true;
}

static bool read_escape(struct cursor *c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	size_t begin = c->at++;
	int b = peek(c);
	const char *letter = b > 0 ? strchr(from, b) : NULL;

	if (!letter && b != 'u')
		return fail_at(c, begin, "unknown escape in a string", "write a backslash as \\\\");
	c->at++;
	if (!letter)
		return read_unicode_escape(c, begin);
	*c->out++ = to[letter - from];
	return true;
}

/* Decode a string to c->out. A decoded string with its NUL is shorter than the
 * string with its quotes, so there is room for all of them. */
static bool read_string(struct cursor *c, const char **ret)
{
	size_t begin = c->at++, line_begin = c->line_begin;

	*ret = c->out;
	for (int b = peek(c); b != '"'; b = peek(c)) {
		uint32_t character;
		size_t n;

		if (b < 0 || b == '\n') {
			c->line_begin = line_begin;
			return fail_at(c, begin, "the string is not closed", "end it with \"");
		}
		if (b < 0x20)
			return fail_here(c, "control character in a string",
					 "escape it: \\t is a tab, \\n a line break");
		if (b == '\\') {
			if (!read_escape(c))
				return false;
			continue;
		}
		n = ab_utf8_get(c->text + c->at, c->len - c->at, &character);
		if (n == 0)
			return fail_here(c, "invalid UTF-8", "save the file as UTF-8 text");
		memcpy(c->out, c->text + c->at, n);
		c->out += n;
		c->at += n;
		c->line_begin += n - 1;
	}
	c->at++;
	*c->out++ = '\0';
	return true;
}

static bool skip_digits(struct cursor *c)
{
	size_t begin = c->at;

	while (ab_is_digit(peek(c)))
		c->at++;
	return c->at > begin;
}

static bool skip_fraction(struct cursor *c)
{
	if (peek(c) == '.') {
		c->at++;
		if (!skip_digits(c))
			return fail_unexpected(c, "expected a digit after the decimal point",
					       "use one like 0.5");
	}
	if (peek(c) == 'e' || peek(c) == 'E') {
		c->at++;
		if (peek(c) == '+' || peek(c) == '-')
			c->at++;
		if (!skip_digits(c))
			return fail_unexpected(c, "expected a digit in the exponent",
					       "use one like 1e6");
	}
	return true;
}

static bool decode_integer(const char *p, const char *end, int64_t *ret)
{
	int sign = *p == '-' ? -1 : 1;

	for (p += *p == '-', *ret = 0; p < end; p++)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, sign * (*p - '0'), ret))
			return false;
	return true;
}

static bool read_number(struct cursor *c, struct ab_json_scan_node *node)
{
	size_t begin = c->at, end;

	c->at += peek(c) == '-';
	end = c->at;
	if (!skip_digits(c))
		return fail_unexpected(c, "expected a digit after -", "use one like -1");
	if (c->text[end] == '0' && c->at > end + 1)
		return fail_at(c, end, "a number cannot start with 0", "remove the 0");
	end = c->at;
	if (!skip_fraction(c))
		return false;
	node->kind = c->at == end ? '0' : '.';
	if (node->kind == '0' && !decode_integer(c->text + begin, c->text + end, &node->integer))
		return fail_at(c, begin, "the number is too large",
			       "the largest is 9223372036854775807");
	return true;
}

static bool fail_no_value(struct cursor *c)
{
	return fail_unexpected(c, "expected a value",
			       "use a string in quotes, a number, true, false, [ ... ] or { ... }");
}

static bool read_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word), begin = c->at;

	if (c->len - c->at < n || memcmp(c->text + c->at, word, n) != 0)
		return fail_no_value(c);
	c->at += n;
	/* "nullx" is one wrong word, not null and something else. */
	if ((peek(c) >= 'a' && peek(c) <= 'z') || (peek(c) >= 'A' && peek(c) <= 'Z')) {
		c->at = begin;
		return fail_no_value(c);
	}
	return true;
}

/* The index of a new node; the array may move. */
static bool add_node(struct cursor *c, uint32_t parent, uint32_t *ret)
{
	struct ab_json_scan *s = c->s;

	if (s->len >= AB_SCAN_NODES)
		return fail_here(c, "too many values", "a file can have 16384");
	*ret = (uint32_t)s->len;
	*ab_append(s->nodes, s->len) = (struct ab_json_scan_node){
		.up = *ret - parent,
		.line = c->line,
		.column = get_column(c),
	};
	if (*ret > 0)
		s->nodes[parent].count++;
	return true;
}

static bool read_value(struct cursor *c, uint32_t node);

static bool read_key(struct cursor *c, struct ab_json_scan_node *node)
{
	static const char right[] = "use \"key\": value";

	if (peek(c) != '"')
		return fail_unexpected(c, "expected a key in quotes", right);
	node->key_begin = (uint32_t)c->at;
	if (!read_string(c, &node->key))
		return false;
	skip_space(c);
	if (peek(c) != ':')
		return fail_unexpected(c, "expected a colon after the key", right);
	c->at++;
	skip_space(c);
	return true;
}

static bool read_child(struct cursor *c, uint32_t parent, bool keyed)
{
	uint32_t node;

	return add_node(c, parent, &node) && (!keyed || read_key(c, &c->s->nodes[node])) &&
	       read_value(c, node);
}

static bool read_container(struct cursor *c, uint32_t node, bool keyed)
{
	int close = keyed ? '}' : ']';

	if (++c->depth > AB_SCAN_DEPTH)
		return fail_here(c, "nested too deeply", "at most 16 levels");
	c->at++;
	skip_space(c);
	while (peek(c) != close) {
		struct cursor comma;

		if (!read_child(c, node, keyed))
			return false;
		skip_space(c);
		if (peek(c) == close)
			break;
		if (peek(c) != ',')
			return fail_unexpected(
				c, keyed ? "expected a comma or }" : "expected a comma or ]",
				"is a comma missing before this?");
		comma = *c;
		c->at++;
		skip_space(c);
		if (peek(c) == close && !c->comments)
			return fail_here(&comma, "trailing comma", "remove it");
	}
	c->at++;
	c->depth--;
	return true;
}

static bool read_value(struct cursor *c, uint32_t node)
{
	struct ab_json_scan_node *n = &c->s->nodes[node];
	int b = peek(c);
	bool good;

	n->begin = (uint32_t)c->at;
	n->kind = (char)b;
	if (b == '{' || b == '[')
		good = read_container(c, node, b == '{');
	else if (b == '"')
		good = read_string(c, &n->text);
	else if (b == 't')
		good = read_word(c, "true");
	else if (b == 'f')
		good = read_word(c, "false");
	else if (b == 'n')
		good = read_word(c, "null");
	else if (b == '-' || ab_is_digit(b))
		good = read_number(c, n);
	else
		good = fail_no_value(c);
	/* The array of nodes may have moved. */
	n = &c->s->nodes[node];
	n->end = (uint32_t)c->at;
	n->span = (uint32_t)c->s->len - node;
	return good;
}

/* By object, then by key. */
static int compare_keys(const struct ab_json_scan_node *a, const struct ab_json_scan_node *b)
{
	if (a - a->up != b - b->up)
		return a - a->up < b - b->up ? -1 : 1;
	return strcmp(a->key, b->key);
}

static int compare_nodes(const void *x, const void *y)
{
	const struct ab_json_scan_node *const *a = x, *const *b = y;
	int by_key = compare_keys(*a, *b);

	return by_key ? by_key : *a < *b ? -1 : *a > *b;
}

/* Sorting keeps this fast whatever the keys are. */
static bool check_duplicates(struct ab_json_scan *s)
{
	ab_autofree const struct ab_json_scan_node **keyed =
		ab_alloc((s->len + 1) * sizeof(*keyed));
	const struct ab_json_scan_node *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		if (s->nodes[i].key)
			keyed[n++] = &s->nodes[i];
	qsort(keyed, n, sizeof(*keyed), compare_nodes);
	for (size_t i = 1; i < n; i++)
		if (compare_keys(keyed[i - 1], keyed[i]) == 0 && (!first || keyed[i] < first))
			first = keyed[i];
	if (!first)
		return true;
	s->line = first->line;
	s->column = first->column;
	s->key = first->key;
	s->wrong = "duplicate key";
	s->right = "remove one of them";
	return false;
}

static bool read_document(struct cursor *c)
{
	uint32_t root;

	if (c->len >= UINT32_MAX)
		return fail_here(c, "the file is too large", "at most 1 MiB");
	if (c->len >= 3 && memcmp(c->text, "\xef\xbb\xbf", 3) == 0)
		return fail_here(c, "the file starts with a byte order mark",
				 "save it as UTF-8 without one");
	c->out = c->s->strings = ab_realloc(NULL, c->len + 1);
	skip_space(c);
	if (!add_node(c, 0, &root) || !read_value(c, root))
		return false;
	skip_space(c);
	if (c->at != c->len)
		return fail_unexpected(c, "unexpected text after the last bracket",
				       "a settings file is one object");
	return true;
}

static int scan_text(struct ab_json_scan *s, const char *text, size_t len, bool comments)
{
	struct cursor c = { .s = s, .text = text, .len = len, .line = 1, .comments = comments };

	ab_json_scan_fini(s);
	s->key = "";
	return read_document(&c) && check_duplicates(s) ? 0 : -1;
}

int ab_json_scan_parse(struct ab_json_scan *s, const char *text, size_t len)
{
	return scan_text(s, text, len, false);
}

int ab_jsonc_scan_parse(struct ab_json_scan *s, const char *text, size_t len)
{
	return scan_text(s, text, len, true);
}

const struct ab_json_scan_node *ab_json_scan_find(const struct ab_json_scan_node *object,
						  const char *key)
{
	ab_json_scan_each(member, object)
	{
		if (member->key && strcmp(member->key, key) == 0)
			return member;
	}
	return NULL;
}

const char *ab_json_scan_text(const struct ab_json_scan_node *object, const char *key)
{
	const struct ab_json_scan_node *member = ab_json_scan_find(object, key);

	return member ? member->text : NULL;
}

void ab_json_scan_fini(struct ab_json_scan *s)
{
	ab_free_all(s->nodes, s->strings);
	*s = (struct ab_json_scan){ 0 };
}
