#include "policy/values/urlpath.h"

#include <string.h>

#include "base/text/ascii.h"

/* Where a path is written to, and why it could not be. */
struct writer {
	char *to;
	size_t len;
	const char *why;
};

/* Letters, digits and four marks: they mean the same with and without an
 * escape (RFC 3986, 2.3). */
static bool is_unreserved(char c)
{
	return ab_is_alnum(c) || (c && strchr("-._~", c));
}

static bool fail(struct writer *w, const char *why)
{
	w->why = why;
	return false;
}

/* One "%xx" at s, of which `left` bytes are left. */
static bool put_escape(struct writer *w, const char *s, size_t left)
{
	static const char digits[] = "0123456789ABCDEF";
	int high = left > 1 ? ab_hex(s[1]) : -1;
	int low = left > 2 ? ab_hex(s[2]) : -1;
	int c;

	if (high < 0 || low < 0)
		return fail(w, "it has a % without two digits");
	c = high << 4 | low;
	if (c == '/' || c == '\\')
		return fail(w, "it has an escaped slash");
	if (c == 0)
		return fail(w, "it has an escaped NUL");
	/* The first byte of a character that is too long on purpose: some
	 * decode it to a dot or a slash. */
	if (c == 0xc0 || c == 0xc1)
		return fail(w, "it has an escape that is no character");
	if (is_unreserved((char)c)) {
		w->to[w->len++] = (char)c;
		return true;
	}
	w->to[w->len++] = '%';
	w->to[w->len++] = digits[high];
	w->to[w->len++] = digits[low];
	return true;
}

/*
 * The segment that ends here is complete, and stands behind the last "/": is
 * it one of those that are gone? Some readers take away what follows a ";",
 * and find dots then that others do not see.
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
	for (dots = 0; dots < n && dots < 3 && s[dots] == '.';)
		dots++;
	if (dots == 0 || dots > 2 || (dots < n && s[dots] != ';'))
		return true;
	if (dots < n)
		return fail(w, "it has dots with a parameter");
	w->len = begin;
	if (dots == 1)
		return true;
	if (begin == 1)
		return fail(w, "it leads above the root");
	do
		w->len--;
	while (w->to[w->len - 1] != '/');
	return true;
}

static bool put(struct writer *w, char c)
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
		return fail(w, "it does not begin with /");
	w->to[w->len++] = '/';
	for (size_t i = 1; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c <= ' ' || c > 126)
			return fail(w, "it has a byte that must be escaped");
		if (c == '\\' || c == '#' || c == '?')
			return fail(w, "it has a \\, # or ? in it");
		if (c != '%') {
			if (!put(w, (char)c))
				return false;
			continue;
		}
		if (!put_escape(w, s + i, len - i))
			return false;
		i += 2;
	}
	return end_segment(w);
}

bool ab_urlpath_normal(const char *s, size_t len, char *ret, size_t *ret_len, const char **ret_why)
{
	struct writer w = { .to = ret };

	if (!write_path(&w, s, len)) {
		*ret_why = w.why;
		return false;
	}
	ret[w.len] = '\0';
	*ret_len = w.len;
	return true;
}
