#include "policy/views/value.h"

#include <strings.h>

#include "base/text/words.h"
#include "policy/values/host.h"
#include "policy/values/secret_text.h"

enum { URL_MAX = 2048, NAME_MAX_LEN = 512, PATH_MAX_LEN = 1024, DIGITS_MAX = 12 };

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

/* The scheme as it is written anew, and its length; NULL: it is not known. The first ones are of apt. */
static const char *find_scheme(const char *s, size_t len, size_t *ret_len)
{
	const char *list = "tor+http tor+https mirror+http mirror+https http https ssh git git+ssh "
			   "git+http git+https sparse+http sparse+https registry+http "
			   "registry+https";
	const char *word;

	while ((word = ab_word_next(&list, ret_len)))
		if (*ret_len == len && strncasecmp(word, s, len) == 0)
			return word;
	return NULL;
}

/* The part in front of the first slash, without the login. The user "git" of ssh is not a login. */
static size_t skip_login(const char *authority, size_t len, bool ssh, bool *ret_git)
{
	const char *at = memrchr(authority, '@', len);
	size_t n = at ? (size_t)(at + 1 - authority) : 0;

	*ret_git = ssh && n == 4 && memcmp(authority, "git@", n) == 0;
	return n;
}

char *ab_clean_url(const char *s, size_t len)
{
	const char *host = memmem(s, len, "://", 3), *scheme, *path;
	ab_autofree char *url = NULL;
	struct ab_host_entry e;
	size_t n = 0, rest, scheme_len, login;
	bool git;

	scheme = host && len <= URL_MAX ? find_scheme(s, (size_t)(host - s), &scheme_len) : NULL;
	if (!scheme)
		return NULL;
	host += 3;
	rest = len - (size_t)(host - s);
	while (n < rest && !strchr("/?#", host[n]))
		n++;
	path = host + n;
	rest -= n;
	login = skip_login(host, n, memcmp(scheme + scheme_len - 3, "ssh", 3) == 0, &git);
	host += login;
	n -= login;
	/* A name in another script is left out: what is shown is ASCII. */
	if (ab_host_entry_parse(host, n, &e, NULL) < 0 || e.below ||
	    !ab_has_only(host, n, "._-:[]"))
		return NULL;
	for (n = 0; n < rest && path[n] != '?' && path[n] != '#';)
		n++;
	if (!ab_has_only(path, n, "/._~%!*+,;=-") || has_random_part(path, n))
		return NULL;
	url = ab_printf("%.*s://%s%.*s%.*s", (int)scheme_len, scheme, git ? "git@" : "",
			(int)(path - host), host, (int)n, path);
	return ab_secret_text(url) ? NULL : ab_take(url);
}

bool ab_view_is_name(const char *s, size_t len, const char *more)
{
	ab_autofree char *copy = NULL;

	if (!len || len > NAME_MAX_LEN || !ab_has_only(s, len, more))
		return false;
	copy = ab_strndup(s, len);
	return !ab_secret_text(copy);
}

static char *clean_proxies(const char *s)
{
	ab_autobuf struct ab_buf list = { 0 };

	while (*s) {
		size_t n = strcspn(s, ",|");
		bool word = ab_word_listed("direct off", s, n);
		ab_autofree char *url = word ? ab_strndup(s, n) : ab_clean_url(s, n);

		if (url)
			ab_buf_printf(&list, "%s%s", list.len ? "," : "", url);
		s += n + (s[n] != '\0');
	}
	return list.len ? ab_buf_take(&list) : NULL;
}

static bool is_path(const char *s, size_t len)
{
	size_t skip = s[0] == '~';

	return len > 1 && len < PATH_MAX_LEN && s[skip] == '/' &&
	       ab_has_only(s + skip, len - skip, "/._-+@") && !ab_secret_text(s);
}

static bool is_host(const char *s, size_t len)
{
	struct ab_host_entry e;

	return ab_host_entry_parse(s, len, &e, NULL) == 0 && !e.below &&
	       ab_has_only(s, len, "._-:[]") && !ab_secret_text(s);
}

/* An unknown word could be a token. */
static bool is_cargo_command(const char *s)
{
	static const char words[] =
		"build b check c clippy test t run r doc d bench fmt fix clean update tree install nextest -- "
		"--release -r --workspace --all --all-targets --all-features --no-default-features --lib "
		"--bins --tests --examples --benches --doc --no-deps --open --locked --offline --frozen -q "
		"--quiet -v --verbose --no-run --no-fail-fast --keep-going --nocapture --check --fix "
		"--allow-dirty --allow-staged";
	static const char takes[] =
		"-p --package --bin --example --test --bench -F --features --target "
		"--profile --exclude --manifest-path -j --jobs -D -W -A";
	size_t first = strcspn(s, " ");
	bool runs = ab_word_listed("r run", s, first), lints = ab_word_listed("clippy", s, first);
	bool takes_name = false, passed = false;
	const char *word, *begin = s;

	for (size_t n; (word = ab_word_next(&s, &n));) {
		bool option = !takes_name && ab_word_listed(takes, word, n);

		/* What a program takes that cargo runs could be a password (-p). */
		if (option && passed && !lints)
			return false;
		if (takes_name ? !ab_view_is_name(word, n, "._/:,-")
			       : !option && !ab_word_listed(words, word, n))
			return false;
		passed |= !takes_name && ((n == 2 && memcmp(word, "--", 2) == 0) ||
					  (runs && word != begin && word[0] != '-'));
		takes_name = option;
	}
	return !takes_name;
}

char *ab_view_value(enum ab_view_kind kind, const char *more, const char *value)
{
	static const char flags[] = "true false yes no on off 1 0 True False";
	size_t len = strlen(value);
	bool fits = false;

	switch (kind) {
	case AB_VIEW_GROUP:
		break;
	case AB_VIEW_URL:
		return ab_clean_url(value, len);
	case AB_VIEW_PROXIES:
		return clean_proxies(value);
	case AB_VIEW_FLAG:
		fits = ab_word_listed(flags, value, len);
		break;
	case AB_VIEW_NUMBER:
		fits = len && len <= DIGITS_MAX && strspn(value, "0123456789") == len;
		break;
	case AB_VIEW_PATH:
		fits = is_path(value, len);
		break;
	case AB_VIEW_HOST:
		fits = is_host(value, len);
		break;
	case AB_VIEW_NAME:
		fits = ab_view_is_name(value, len, more);
		break;
	case AB_VIEW_WORD:
		fits = ab_word_listed(more, value, len);
		break;
	case AB_VIEW_CARGO:
		fits = len && is_cargo_command(value);
		break;
	case AB_VIEW_EMPTY:
		fits = len == 0;
		break;
	}
	return fits ? ab_strdup(value) : NULL;
}
