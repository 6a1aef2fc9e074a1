#include "policy/values/urlpath.h"

#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

/* What is asked for, and the form that is judged and sent; NULL: none. */
static const struct {
	const char *in, *out;
} cases[] = {
	{ "/", "/" },
	{ "/a/b", "/a/b" },
	{ "/a/b/", "/a/b/" },
	{ "/v1/chat.completions", "/v1/chat.completions" },
	{ "/a//b", "/a/b" },
	{ "//", "/" },
	{ "///a///", "/a/" },
	{ "/./a/./b/.", "/a/b/" },
	{ "/a/b/../c", "/a/c" },
	{ "/a/b/..", "/a/" },
	{ "/a/..", "/" },
	{ "/a/../", "/" },
	{ "/a//../b", "/b" },
	{ "/a/...", "/a/..." },
	{ "/.a/..b/c..", "/.a/..b/c.." },

	/* The same, written so that it is not seen. */
	{ "/a/%2e%2e/b", "/b" },
	{ "/a/%2E./b", "/b" },
	{ "/a/.%2e/b", "/b" },
	{ "/a/%2e/b", "/a/b" },
	{ "/a/%2e%2e%2e/b", "/a/.../b" },
	{ "/a/b/%2e%2e", "/a/" },

	/* Above the root. */
	{ "/..", NULL },
	{ "/../etc/passwd", NULL },
	{ "/a/../../b", NULL },
	{ "/%2e%2e/b", NULL },
	{ "//..", NULL },

	/* Decoded once, and never twice; what others decode twice is refused. */
	{ "/a/%252e%252e/b", NULL },
	{ "/a/%25%32%65./b", NULL },
	{ "/a/%2%35%32E/b", NULL },
	{ "/a/%25252E/b", NULL },
	{ "/a%252fb", NULL },
	{ "/a%25%32%46b", NULL },
	{ "/a%255Cb", NULL },
	{ "/a%2500", NULL },
	{ "/a%25252", "/a%25252" },
	{ "/a%252", "/a%252" },
	{ "/a%2520b", "/a%2520b" },
	{ "/%25", "/%25" },
	{ "/%2541", "/%2541" },

	/* Escapes. */
	{ "/%41%62%7e%2d%5f%30", "/Ab~-_0" },
	{ "/a%3ab%c3%a9", "/a%3Ab%C3%A9" },
	{ "/a%20b%2a", "/a%20b%2A" },
	{ "/a*b!$&'()+,;=:@", "/a*b!$&'()+,;=:@" },
	{ "/a%2fb", NULL },
	{ "/a%2Fb", NULL },
	{ "/..%2fb", NULL },
	{ "/a%5cb", NULL },
	{ "/..%5C", NULL },
	{ "/a%00b", NULL },
	{ "/a%c0%afb", NULL },
	{ "/%c0%ae%c0%ae/b", NULL },
	{ "/a%C1%9cb", NULL },

	/* Only the shortest UTF-8 of a character. */
	{ "/%E0%80%AFb", NULL },
	{ "/%e0%80%ae%e0%80%ae/b", NULL },
	{ "/a/..%E0%80%AFb", NULL },
	{ "/%F0%80%80%AFb", NULL },
	{ "/%f8%80%80%80%af", NULL },
	{ "/%fc%80%80%80%80%af", NULL },
	{ "/a%ed%a0%80", NULL },
	{ "/a%f4%90%80%80", NULL },
	{ "/a%e9t%e9", NULL },
	{ "/a%c3", NULL },
	{ "/a%c3/%a9", NULL },
	{ "/a%c3x%a9", NULL },
	{ "/a%e2%82", NULL },
	{ "/a%80", NULL },
	{ "/a%ff", NULL },
	{ "/a%e2%82%acb%C3%A9", "/a%E2%82%ACb%C3%A9" },
	{ "/%f0%9f%98%80/%41", "/%F0%9F%98%80/A" },
	{ "/a%c3%a9%2e%2e/b", "/a%C3%A9../b" },
	{ "/a%c3%a9/%2e%2e/b", "/b" },

	/* What a server may remove behind dots. */
	{ "/a/..%09/b", NULL },
	{ "/a/.%09./b", NULL },
	{ "/a/%09../b", NULL },
	{ "/a/..%0a/b", NULL },
	{ "/a/..%0D%0A", NULL },
	{ "/a/..%7f/b", NULL },
	{ "/a/..%20/b", NULL },
	{ "/a/..%20%20", NULL },
	{ "/a/.%20/b", NULL },
	{ "/a/...%20/b", "/a/...%20/b" },
	{ "/a/b..%20/c", "/a/b..%20/c" },
	{ "/a/..b%20c/d", "/a/..b%20c/d" },
	{ "/a%", NULL },
	{ "/a%4", NULL },
	{ "/a%4g", NULL },
	{ "/a%u002fb", NULL },
	{ "/a%%41", NULL },

	/* Dots with a parameter: gone for some, a name for others. */
	{ "/a/..;/b", NULL },
	{ "/a/..;x=1/b", NULL },
	{ "/a/.;/b", NULL },
	{ "/a/%2e%2e;/b", NULL },
	{ "/a/..;", NULL },
	{ "/a/b;x/c", "/a/b;x/c" },
	{ "/a/..%3b/b", "/a/..%3B/b" },

	/* Bytes that are no part of a path. */
	{ "", NULL },
	{ "a", NULL },
	{ "*", NULL },
	{ "http://x/", NULL },
	{ "/a\\..\\b", NULL },
	{ "/a b", NULL },
	{ "/a\tb", NULL },
	{ "/a\x7f", NULL },
	{ "/a\xc3\xa9", NULL },
	{ "/a#b", NULL },
	{ "/a?b", NULL },
};

/* Where escaped slashes may stay. */
static const struct {
	const char *in, *out;
} slashes[] = {
	{ "/api/v4/projects/group%2Fname", "/api/v4/projects/group%2Fname" },
	{ "/@scope%2fname", "/@scope%2Fname" },
	{ "/a%2F%2Fb%2F", "/a%2F%2Fb%2F" },
	{ "/a%2f...%2fb", "/a%2F...%2Fb" },
	{ "/a%2Fb/../c", "/c" },
	{ "/a%2Fb/./c", "/a%2Fb/c" },
	{ "/a;x/b%2Fc", "/a;x/b%2Fc" },
	{ "/%41%2f%42", "/A%2FB" },
	{ "/a%2F..%2Ftoken", NULL },
	{ "/%2Fhost/token", NULL },
	{ "/a/..//%2fhost/token", NULL },
	{ "/.%2F", NULL },
	{ "/a%2f..", NULL },
	{ "/..%2ftoken", NULL },
	{ "/a/..%2Ftoken", NULL },
	{ "/a%2F%2e%2E/token", NULL },
	{ "/.%2Ftoken", NULL },
	{ "/a%2F.", NULL },
	{ "/a%2F..%20", NULL },
	{ "/a%2F..%20%2Fb", NULL },
	{ "/..%20%2Fb", NULL },
	{ "/a%2F.%20x%2Fb", NULL },
	{ "/a%2F...%20%2Fb..%20%2F", "/a%2F...%20%2Fb..%20%2F" },
	{ "/a;x%2Fb", NULL },
	{ "/a%2Fb;x", NULL },
	{ "/a%2Fb%3bx", NULL },
	{ "/a%252Fb", NULL },
	{ "/a%25%32%46b", NULL },
	{ "/a%2Fb%5Cc", NULL },
	{ "/a%2F%00", NULL },
	{ "/a%2F%c0%af", NULL },
	{ "/a%2", NULL },
};

/* The form, or NULL; both sides end where memory ends. */
static const char *find_form(const char *s, size_t len, bool with_slashes)
{
	static char buf[4096];
	const char *why = NULL;
	size_t n = 0;
	bool good = ab_urlpath_normal(guarded(s, len), len, with_slashes, buf, &n, &why);

	if (good != !why || (good && (strlen(buf) != n || n > len)))
		return "(wrong)";
	return good ? buf : NULL;
}

static const char *normal(const char *s, size_t len)
{
	return find_form(s, len, false);
}

static void test_slashes(void)
{
	for (size_t i = 0; i < AB_COUNT(slashes); i++) {
		const char *in = slashes[i].in, *got = find_form(in, strlen(in), true);
		ab_autofree char *kept = got ? ab_strdup(got) : NULL;
		bool some = strcasestr(in, "%2f") != NULL;

		is_str(kept, slashes[i].out, in);
		if (kept)
			is_str(find_form(kept, strlen(kept), true), kept, "and stays as it is");
		if (some)
			is_str(normal(in, strlen(in)), NULL, "where they may not stay it has none");
	}
	for (size_t i = 0; i < AB_COUNT(cases); i++)
		if (!strcasestr(cases[i].in, "%2f"))
			is_str(find_form(cases[i].in, strlen(cases[i].in), true), cases[i].out,
			       "the same with them");
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *got = normal(cases[i].in, strlen(cases[i].in));
		ab_autofree char *kept = got ? ab_strdup(got) : NULL;

		is_str(kept, cases[i].out, cases[i].in);
		if (kept)
			is_str(normal(kept, strlen(kept)), kept, "and stays as it is");
	}
	is_str(normal("/a\0b", 4), NULL, "a NUL is no part of a path");
}

static void test_cuts(void)
{
	size_t bad = 0;

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		for (size_t n = 0; n <= strlen(cases[i].in); n++) {
			const char *got = normal(cases[i].in, n);

			bad += got && got[0] != '/';
		}
	ok(bad == 0, "each cut at every byte is a path or refused");
}

/* Deep paths that go up again: what is written is taken back once. */
static void test_long(void)
{
	enum { TIMES = 100000 };
	ab_autofree char *in = ab_alloc(TIMES * 6 + 2);
	ab_autofree char *out = ab_alloc(TIMES * 6 + 2);
	const char *why;
	size_t n = 0;

	for (size_t i = 0; i < TIMES; i++)
		memcpy(in + 2 * i, "/a", 2);
	for (size_t i = 0; i < TIMES; i++)
		memcpy(in + 2 * TIMES + 3 * i, "/..", 3);
	ok(ab_urlpath_normal(in, 5 * TIMES, false, out, &n, &why) && n == 1,
	   "down and up again is the root");
	memcpy(in + 5 * TIMES, "/..", 3);
	ok(!ab_urlpath_normal(in, 5 * TIMES + 3, false, out, &n, &why), "and one more is refused");
}

/* The path of a token URL, and what is asked for, in normal form. */
static const struct {
	const char *other, *path;
	bool may;
} meanings[] = {
	{ "/token", "/token", true },
	{ "/token", "/token/", true },
	{ "/token", "/Token", true },
	{ "/token", "/token;a=b", true },
	{ "/token", "/;a/token", true },
	{ "/token", "/;a/;b/token;c/", true },
	{ "/token", "/token/x", true },
	{ "/token", "/token.json", true },
	{ "/token", "/token.", true },
	{ "/token", "/token:x", true },
	{ "/token", "/token%20", true },
	{ "/token", "/token%0Ax", true },
	{ "/token", "/%20token", true },
	{ "/token", "/to%E2%84%AAen", true },
	{ "/token", "/%EF%BD%94oken", true },
	{ "/token", "/%E6%96%87", true },
	{ "/token", "/tokens", false },
	{ "/token", "/tokeninfo", false },
	{ "/token", "/token_info", false },
	{ "/token", "/token-2", false },
	{ "/token", "/toke", false },
	{ "/token", "/", false },
	{ "/token", "/x/token", false },
	{ "/token", "/x;/token", false },
	{ "/token", "/%20s", false },
	{ "/token", "/a%20b", false },
	{ "/a/token", "/a/token", true },
	{ "/a/token", "/A/Token", true },
	{ "/a/token", "/a;b/token", true },
	{ "/a/token", "/%61b/token", false },
	{ "/a/token", "/%20/token", true },
	{ "/a/token", "/%20", false },
	{ "/a/token", "/token", false },
	{ "/a/token", "/a/x/token", false },
	{ "/a/token/", "/a/token", true },
	{ "/a/Token", "/a/token", true },
	{ "/", "/", true },
	{ "/", "/;x", true },
	{ "/", "/x", false },
	{ "/token", "/token%2F", true },
	{ "/token", "/%2Ftoken", true },
	{ "/token", "/Token%2Fx", true },
	{ "/token", "/x%2Ftoken", false },
	{ "/oauth/token", "/oauth%2Ftoken", true },
	{ "/oauth/token", "/oauth/%2Ftoken", true },
	{ "/oauth/token", "/oauth%2F%2Ftoken%2F", true },
	{ "/oauth/token", "/%2FOAuth%2FToken", true },
	{ "/oauth/token", "/oauth%2Ftoken.json", true },
	{ "/oauth/token", "/oauth%2Ft%E2%84%AAken", true },
	{ "/oauth/token", "/oauth%2Ftokens", false },
	{ "/oauth/token", "/oauth%2Fother", false },
	{ "/oauth/token", "/oau%2Fth/token", false },
	{ "/oauth/token", "/api/v4/projects/group%2Fname", false },
	{ "/oauth/token", "/api/v4/projects/oauth%2Ftoken", false },
};

static void test_meanings(void)
{
	for (size_t i = 0; i < AB_COUNT(meanings); i++)
		ok(ab_urlpath_may_mean(meanings[i].path, meanings[i].other) == meanings[i].may,
		   "%s may%s mean %s", meanings[i].path, meanings[i].may ? "" : " not",
		   meanings[i].other);
}

int main(void)
{
	test_meanings();
	test_cases();
	test_slashes();
	test_cuts();
	test_long();
	return done();
}
