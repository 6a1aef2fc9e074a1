#include "policy/values/urlpath.h"

/* The path so far, and why it was refused. */
struct writer {
	char *to;
	size_t len;
	bool slashes;
	const char *why;
};

/* Letters, digits and four marks mean the same escaped and unescaped (RFC 3986,
 * 2.3). */
static bool is_unreserved(char c)
{
	return ab_is_alnum(c) || (c && strchr("-._~", c));
}

static bool fail_path(struct writer *w, const char *why)
{
	w->why = why;
	return false;
}

/* Is this the rest of a dot, a slash, a backslash or a NUL that was escaped twice
 * or more, after its "%25"? */
static bool is_escaped_twice(const char *s, size_t left)
{
	int high, low, c;

	while (left >= 2 && s[0] == '2' && s[1] == '5') {
		s += 2;
		left -= 2;
	}
	high = left > 0 ? ab_hex(s[0]) : -1;
	low = left > 1 ? ab_hex(s[1]) : -1;
	if (high < 0 || low < 0)
		return false;
	c = high << 4 | low;
	return c == '.' || c == '/' || c == '\\' || c == 0;
}

/* The escapes of one character of UTF-8 outside ASCII; returns their number, or 0. Servers decode others, such
 * as %C0%AF and %E0%80%AF, to a dot or a slash. */
static size_t count_escapes(const char *s, size_t left)
{
	char bytes[4];
	uint32_t c;
	size_t n = 0;
	int byte;

	while (n < sizeof(bytes) && (byte = ab_percent(s + 3 * n, left - 3 * n)) >= 0)
		bytes[n++] = (char)byte;
	return ab_utf8_get(bytes, n, &c);
}

/* One "%xx" at s, of which `left` bytes are left; the character has begun *inside bytes before. */
static bool put_escape(struct writer *w, const char *s, size_t left, size_t *inside)
{
	static const char digits[] = "0123456789ABCDEF";
	int c = ab_percent(s, left);

	if (c < 0)
		return fail_path(w, "it has a % without two digits");
	if (c == '\\' || (c == '/' && !w->slashes))
		return fail_path(w, "it has an escaped slash");
	/* Some servers remove them, and then see dots. */
	if (c < ' ' || c == 0x7f)
		return fail_path(w, "it has an escaped control character");
	if (!*inside)
		*inside = count_escapes(s, left);
	if (!*inside)
		return fail_path(w, "it has an escape that is not a character");
	--*inside;
	if (is_unreserved((char)c)) {
		w->to[w->len++] = (char)c;
		return true;
	}
	w->to[w->len++] = '%';
	w->to[w->len++] = digits[c >> 4];
	w->to[w->len++] = digits[c & 15];
	return true;
}

/* The one or two dots of a dot segment, or of one with a parameter or a blank behind them; 0: of another. */
static size_t count_dots(const char *s, size_t n)
{
	size_t dots = 0;

	while (dots < n && dots < 3 && s[dots] == '.')
		dots++;
	if (dots < n && s[dots] != ';' && (n - dots < 3 || memcmp(s + dots, "%20", 3) != 0))
		return 0;
	return dots < 3 ? dots : 0;
}

/* Is this a segment with escaped slashes, for which a server could remove dots or parameters? */
static bool is_ambiguous(const char *s, size_t len)
{
	const char *end = s + len, *slash = memmem(s, len, "%2F", 3);

	if (!slash)
		return false;
	if (memchr(s, ';', len) || memmem(s, len, "%3B", 3))
		return true;
	for (;; slash = memmem(s, (size_t)(end - s), "%2F", 3)) {
		if (count_dots(s, (size_t)((slash ? slash : end) - s)))
			return true;
		if (!slash)
			return false;
		s = slash + 3;
	}
}

/*
 * The segment after the last "/" is complete: remove it if it is a dot segment.
 * Some servers strip what follows a ";", or blanks, and then see dots that others do not.
 */
static bool end_segment(struct writer *w)
{
	size_t begin = w->len;
	const char *s;
	size_t n, dots;

	while (w->to[begin - 1] != '/')
		begin--;
	s = w->to + begin;
	n = w->len - begin;
	if (is_ambiguous(s, n))
		return fail_path(w, "it has dots or a parameter beside an escaped slash");
	dots = count_dots(s, n);
	if (dots == 0)
		return true;
	if (dots < n)
		return fail_path(w, "it has a dot segment with a parameter or a blank");
	w->len = begin;
	if (dots == 1)
		return true;
	if (begin == 1)
		return fail_path(w, "it leads above the root");
	do
		w->len--;
	while (w->to[w->len - 1] != '/');
	return true;
}

static bool put_byte(struct writer *w, char c)
{
	if (c != '/') {
		w->to[w->len++] = c;
		return true;
	}
	if (!end_segment(w))
		return false;
	if (w->to[w->len - 1] != '/')
		w->to[w->len++] = '/';
	return true;
}

static bool write_path(struct writer *w, const char *s, size_t len)
{
	if (len == 0 || s[0] != '/')
		return fail_path(w, "it does not start with /");
	w->to[w->len++] = '/';
	for (size_t i = 1, inside = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c <= ' ' || c > 126)
			return fail_path(w, "it has a byte that must be escaped");
		if (c == '\\' || c == '#' || c == '?')
			return fail_path(w, "it contains a \\, # or ?");
		if (c != '%') {
			if (!put_byte(w, (char)c))
				return false;
			continue;
		}
		if (!put_escape(w, s + i, len - i, &inside))
			return false;
		i += 2;
	}
	return end_segment(w);
}

/* Some servers decode a path twice. Only the normal form shows it: the digits may
 * be escaped themselves. */
static bool has_double_escape(const struct writer *w)
{
	for (size_t i = 0; i + 3 <= w->len; i++)
		if (memcmp(w->to + i, "%25", 3) == 0 &&
		    is_escaped_twice(w->to + i + 3, w->len - i - 3))
			return true;
	return false;
}

/* "//host/token" may be read as a URL without a scheme, whose path is another one. */
static bool begins_as_authority(const struct writer *w)
{
	return w->len >= 4 && memcmp(w->to, "/%2F", 4) == 0;
}

bool ab_urlpath_normal(const char *s, size_t len, bool slashes, char *ret, size_t *ret_len,
		       const char **ret_why)
{
	struct writer w = { .to = ret, .slashes = slashes };

	if (!write_path(&w, s, len) ||
	    (has_double_escape(&w) &&
	     !fail_path(&w, "it has a dot or a slash that is escaped twice")) ||
	    (begins_as_authority(&w) && !fail_path(&w, "it begins with an escaped slash"))) {
		*ret_why = w.why;
		return false;
	}
	ret[w.len] = '\0';
	*ret_len = w.len;
	return true;
}

/* In small letters, without parameters, empty segments and a slash at the end; an escaped slash is one,
 * another escape a "%". */
static char *fold_path(const char *s)
{
	char *ret = ab_alloc(strlen(s) + 1);
	size_t n = 0;

	while (*s) {
		char c = strncmp(s, "%2F", 3) == 0 ? '/' : (char)ab_lower(*s);

		if (*s == ';') {
			s += strcspn(s, "/");
			continue;
		}
		if (c != '/' || !n || ret[n - 1] != '/')
			ret[n++] = c;
		s += *s == '%' ? 3 : 1;
	}
	if (n > 1 && ret[n - 1] == '/')
		ret[n - 1] = '\0';
	return ret;
}

/* at[i]: what was read of the path may be the first i characters of `other`. Read one more. */
static void follow_path(char c, const char *other, size_t len, bool *at)
{
	for (size_t i = len; i > 0 && c != '%'; i--)
		at[i] = at[i - 1] && other[i - 1] == c;
	for (size_t i = 0; i < len && c == '%'; i++)
		at[i + 1] |= at[i] && other[i] != '/';
	at[0] &= c == '%';
}

/* Not a part of the name before it: an extension, a path below it, or anything that a server may strip. */
static bool ends_name(char c)
{
	return !ab_is_alnum(c) && c != '-' && c != '_';
}

bool ab_urlpath_may_mean(const char *path, const char *other)
{
	ab_autofree char *given = fold_path(path), *wanted = fold_path(other);
	size_t len = strlen(wanted), i = 0;
	ab_autofree bool *at = ab_alloc((len + 1) * sizeof(*at));

	at[0] = true;
	for (; given[i] && !(at[len] && ends_name(given[i])); i++)
		follow_path(given[i], wanted, len, at);
	return at[len];
}
