#include "policy/toolchains/registry_text.h"

#include <string.h>
#include <strings.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"
#include "policy/toolchains/registry_files.h"
#include "policy/values/host.h"
#include "policy/values/secret_text.h"

enum { URL_MAX = 2048, URLS_MAX = 64 };

bool ab_registry_has_only(const char *s, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++)
		if (!ab_is_alnum(s[i]) && (!s[i] || !strchr(more, s[i])))
			return false;
	return true;
}

/* "550e8400-e29b-41d4-a716-446655440000" */
static bool is_uuid(const char *s, size_t len)
{
	enum { UUID_LEN = 36 };

	for (size_t i = 0; len == UUID_LEN && i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : ab_hex(s[i]) < 0)
			return false;
	}
	return len == UUID_LEN;
}

/* Does a name between slashes look like a token? Some registries have one there. It is a UUID, a long
 * word without a digit or a separator, or words with digits that are long together: a token may have
 * separators, and ordinary names have numbers, but short ones. */
static bool is_random_name(const char *s, size_t len)
{
	enum { RANDOM_MIN = 16 };
	size_t mixed = 0;

	for (size_t i = 0; i < len; i++) {
		size_t start = i, digits = 0, joints = 0;

		for (; i < len && (ab_is_alnum(s[i]) || s[i] == '_'); i++) {
			digits += ab_is_digit(s[i]);
			joints += s[i] == '_';
		}
		if (digits)
			mixed += i - start;
		else if (!joints && i - start >= RANDOM_MIN)
			return true;
	}
	return mixed >= RANDOM_MIN || is_uuid(s, len);
}

static bool has_random_part(const char *path, size_t len)
{
	for (const char *end = path + len; path < end; path++) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t n = (size_t)((slash ? slash : end) - path);

		if (is_random_name(path, n))
			return true;
		path += n;
	}
	return false;
}

char *ab_registry_url(const char *s, size_t len)
{
	const char *host = memmem(s, len, "://", 3), *at, *path;
	ab_autofree char *url = NULL;
	struct ab_host_entry e;
	size_t n, rest, scheme;

	if (!host || len > URL_MAX || host == s ||
	    !ab_registry_has_only(s, (size_t)(host - s), "+"))
		return NULL;
	scheme = (size_t)(host - s);
	host += 3;
	rest = len - (size_t)(host - s);
	for (n = 0; n < rest && !strchr("/?#", host[n]);)
		n++;
	path = host + n;
	rest -= n;
	at = memrchr(host, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (ab_host_entry_parse(host, n, &e, NULL) < 0 || e.below)
		return NULL;
	for (n = 0; n < rest && path[n] != '?' && path[n] != '#';)
		n++;
	if (!ab_registry_has_only(path, n, "/._~%!*+,;=-") || has_random_part(path, n))
		return NULL;
	url = ab_printf("%.*s://%.*s%.*s", (int)scheme, s, (int)(path - host), host, (int)n, path);
	return ab_secret_text(url) ? NULL : ab_take(url);
}

/* The length of "user:password@" or "token@" here; 0: there is none. A variable is not a login. */
static size_t measure_login(const char *s)
{
	size_t n = strcspn(s, "/?#\"'<> \t\r\n");
	const char *at = memrchr(s, '@', n);

	return at && !memchr(s, '$', (size_t)(at - s)) ? (size_t)(at + 1 - s) : 0;
}

static bool is_web(const char *text, const char *mark)
{
	size_t n = (size_t)(mark - text);

	return (n >= 4 && strncasecmp(mark - 4, "http", 4) == 0) ||
	       (n >= 5 && strncasecmp(mark - 5, "https", 5) == 0);
}

char *ab_registry_without_logins(const char *text)
{
	struct ab_buf out = { .wipe = true };
	const char *p = text, *mark;
	bool any = false;
	char *ret;

	while ((mark = strstr(p, "://"))) {
		/* ssh://git@host has no login. */
		size_t login = is_web(text, mark) ? measure_login(mark + 3) : 0;

		any |= login > 0;
		ab_buf_add(&out, p, (size_t)(mark + 3 - p));
		p = mark + 3 + login;
	}
	ab_buf_puts(&out, p);
	ret = any ? ab_strdup(out.data) : NULL;
	ab_buf_fini(&out);
	return ret;
}

const char *ab_registry_trim(const char *s, size_t *len)
{
	while (*len && ab_is_space(s[*len - 1]))
		--*len;
	while (*len && ab_is_space(*s)) {
		s++;
		--*len;
	}
	if (*len >= 2 && (*s == '"' || *s == '\'') && s[*len - 1] == *s) {
		s++;
		*len -= 2;
	}
	return s;
}

char *ab_registry_keep_url(struct ab_registry *r, const char *s, size_t len)
{
	char *url = r->urls.len < URLS_MAX ? ab_registry_url(s, len) : NULL;

	if (url)
		ab_strv_add_once(&r->urls, url);
	return url;
}

void ab_registry_each_line(const char *text, struct ab_registry *r,
			   void (*line)(struct ab_registry *r, const char *s, size_t len,
					void *arg),
			   void *arg)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		line(r, text, n, arg);
		text += n + (text[n] == '\n');
	}
}

int ab_registry_split_pair(const char *s, size_t len, char separator, size_t *ret_key,
			   const char **ret_value, size_t *ret_len)
{
	const char *at = memchr(s, separator, len);

	if (!at)
		return -1;
	*ret_key = (size_t)(at - s);
	while (*ret_key && ab_is_space(s[*ret_key - 1]))
		--*ret_key;
	*ret_len = len - (size_t)(at + 1 - s);
	*ret_value = ab_registry_trim(at + 1, ret_len);
	return 0;
}

bool ab_registry_is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(s, word, len) == 0;
}

bool ab_registry_is_bool(const char *s, size_t len)
{
	return ab_registry_is_word(s, len, "true") || ab_registry_is_word(s, len, "false");
}

bool ab_registry_is_file(const char *s, size_t len)
{
	return len > 1 && len < 1024 && s[0] == '/' && ab_registry_has_only(s, len, "/._-+@");
}
