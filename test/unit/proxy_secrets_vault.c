/*
 * What stands for a secret: drawn once, shaped like the value, found in every
 * form; the value in pages of its own.
 */
#include "proxy/secrets/vault.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/text/base64.h"
#include "guard.h"
#include "tap.h"
#include "vault_help.h"

static bool is_letters(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789-_") == strlen(s);
}

static void test_placeholders(void)
{
	struct ab_vault *a = help_vault(), *b = help_vault();
	const struct ab_vault_entry *e = ab_vault_at(a, HELP_BEARER);
	struct ab_error err;
	char *before;

	ok(strncmp(e->placeholder, "sk-one-", 7) == 0,
	   "the longest prefix of the provider's is kept");
	ok(e->placeholder_len == e->value_len && strlen(e->placeholder) == e->placeholder_len,
	   "it is as long as the value");
	ok(ab_vault_at(a, HELP_ANY)->placeholder_len == 22,
	   "of a short value it is longer: chance needs 22 characters");
	for (size_t i = 0; i < HELP_COUNT; i++) {
		ok(is_letters(ab_vault_at(a, i)->placeholder),
		   "nothing in it needs escaping anywhere");
		ok(strcmp(ab_vault_at(a, i)->placeholder, ab_vault_at(b, i)->placeholder) == 0,
		   "it is the same in the next run");
	}
	before = ab_strdup(e->placeholder);
	ok(ab_vault_set(a, HELP_BEARER,
			"another value, longer than the first "
			"one was",
			44, &err) == 0 &&
		   strcmp(before, e->placeholder) == 0 && e->value_len == 44,
	   "a new value keeps the placeholder");
	ok(ab_vault_set(a, HELP_BEARER, NULL, 0, &err) == 0 && !e->value &&
		   strcmp(before, e->placeholder) == 0,
	   "so does none");
	free(before);
	ab_vault_free(a);
	ab_vault_free(b);
}

/* The placeholder of a secret in a vault of its own. */
static const char *derive(struct ab_vault **vault, enum ab_secret_life life, const char *scope,
			  const uint8_t *seed, const char *value)
{
	static struct ab_secret secret;
	struct ab_secrets secrets = { &secret, 1, scope };
	struct ab_error err;

	secret = (struct ab_secret){ .name = "A", .life = life };
	if (ab_vault_new(&secrets, seed, vault, &err) < 0)
		abort();
	return ab_vault_set(*vault, 0, value, strlen(value), &err) < 0
		       ? NULL
		       : ab_vault_at(*vault, 0)->placeholder;
}

static void test_life(void)
{
	static const struct {
		enum ab_secret_life life;
		const char *scope;
		int key; /* 0: none */
		const char *value;
		bool same; /* as the first one */
		const char *what;
	} cases[] = {
		{ AB_LIFE_WORKSPACE, "/w", 1, "value-one", true, "the first" },
		{ AB_LIFE_WORKSPACE, "/w", 1, "value-two", true, "another value" },
		{ AB_LIFE_WORKSPACE, "/x", 1, "value-one", false, "another workspace" },
		{ AB_LIFE_WORKSPACE, "/w", 2, "value-one", false, "another user's key" },
		{ AB_LIFE_STABLE, "/w", 1, "value-one", false, "in every workspace" },
		{ AB_LIFE_RUN, "/w", 1, "value-one", false, "a random one" },
	};
	static const char expected[] = "KxBWPXqfHxZVuWphcYvgw9";
	struct ab_vault *v[AB_COUNT(cases)], *other;
	const char *first = NULL, *now;
	uint8_t seed[AB_VAULT_SEED] = { 0 };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		seed[31] = (uint8_t)cases[i].key;
		now = derive(&v[i], cases[i].life, cases[i].scope, seed, cases[i].value);
		first = first ? first : now;
		ok((strcmp(first, now) == 0) == cases[i].same, "%s", cases[i].what);
	}
	is_str(first, expected, "and stays what it was in earlier releases");
	seed[31] = 1;
	ok(strcmp(derive(&other, AB_LIFE_STABLE, "/elsewhere", seed, "value-one"),
		  ab_vault_at(v[4], 0)->placeholder) == 0,
	   "a stable one is the same everywhere");
	ab_vault_free(other);
	ok(!derive(&other, AB_LIFE_WORKSPACE, "/w", NULL, "value-one"),
	   "without a key it is refused");
	ab_vault_free(other);
	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ab_vault_free(v[i]);
}

/* Each time another one, of the same form; the last three that were replaced are found, in every form. */
static void test_rotated(void)
{
	enum { TIMES = 6, LAST = TIMES - 1 };
	static const struct ab_provider provider = { .name = "one", .prefixes = { "sk-" } };
	static struct ab_secret secrets[] = { { .name = "A", .provider = &provider },
					      { .name = "B", .life = AB_LIFE_RUN } };
	static const struct ab_secrets all = { secrets, 2, "/w" };
	static const uint8_t seed[AB_VAULT_SEED] = { 1 };
	struct ab_vault *v[TIMES];
	struct ab_error err;
	bool good = true;

	for (unsigned i = 0; i < TIMES; i++) {
		good &= ab_vault_new(&all, seed, &v[i], &err) == 0;
		ab_vault_rotated(v[i], 0, i);
		ab_vault_rotated(v[i], 1, i);
		for (size_t k = 0; k < 2; k++)
			good &= ab_vault_set(v[i], k, "sk-value-one", 12, &err) == 0;
	}
	ok(good, "made");
	for (unsigned i = 0; i < TIMES; i++) {
		const char *old = ab_vault_at(v[i], 0)->placeholder;
		bool found = ab_vault_find(v[LAST], old, strlen(old)) == 0;
		char name[128];

		ok(i == 0 || strcmp(old, ab_vault_at(v[i - 1], 0)->placeholder) != 0,
		   "another one after %u times", i);
		ok(strncmp(old, "sk-", 3) == 0 && found == (LAST - i <= AB_VAULT_RETIRED),
		   "%u times before the last one it is%s found", LAST - i, found ? "" : " not");
		snprintf(name, sizeof(name), "a.%s.evil.test", old + 3);
		ok((ab_vault_find_in_name(v[LAST], name) == 0) == (i != LAST && found),
		   "the same in a name");
		old = ab_vault_at(v[i], 1)->placeholder;
		ok((ab_vault_find(v[LAST], old, strlen(old)) == 1) == (i == LAST),
		   "a random one is only that of its run");
	}
	for (unsigned i = 0; i < TIMES; i++)
		ab_vault_free(v[i]);
}

static const struct {
	const char *value, *why; /* why NULL: accepted */
	const char *kept;
} values[] = {
	{ "12345678", NULL, "12345678" },
	{ "  two words\t\r\n", NULL, "two words" },
	{ "\n\nsecret-value\n", NULL, "secret-value" },
	{ "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", NULL, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" },
	{ "1234567", "shorter", NULL },
	{ "1234567 \n", "shorter", NULL },
	{ "", "empty", NULL },
	{ " \n", "empty", NULL },
	{ "line one\nline two", "line", NULL },
	{ "a tab\tin it", "control", NULL },
	{ "del\x7f in it", "control", NULL },
	{ "caf\xc3\xa9-secret", "ASCII", NULL },
};

static void test_values(void)
{
	struct ab_vault *vault = help_vault();
	const struct ab_vault_entry *e = ab_vault_at(vault, HELP_HEADER);
	char *big = malloc(AB_SECRET_MAX + 1), *text;
	struct ab_error err;

	for (size_t i = 0; i < AB_COUNT(values); i++) {
		const char *v = values[i].value;
		int r = ab_vault_set(vault, HELP_HEADER, v, strlen(v), &err);

		if (values[i].why)
			ok(r < 0 && strstr(err.text, values[i].why) &&
				   strstr(err.text, "ONE_KEY") &&
				   (strlen(v) < 4 || !strstr(err.text, v)),
			   "refused, and not shown: %s", values[i].why);
		else
			ok(r == 0 && e->value_len == strlen(values[i].kept) &&
				   memcmp(e->value, values[i].kept, e->value_len) == 0,
			   "accepted: %s", values[i].kept);
	}
	ok(e->value_len == strlen(values[3].kept), "what is refused leaves the old value");
	ok(ab_vault_set(vault, HELP_HEADER, "nul\0inside", 10, &err) < 0, "a NUL is refused");
	memset(big, 'k', AB_SECRET_MAX + 1);
	ok(ab_vault_set(vault, HELP_HEADER, big, AB_SECRET_MAX, &err) == 0, "16 KiB are accepted");
	ok(ab_vault_set(vault, HELP_HEADER, big, AB_SECRET_MAX + 1, &err) < 0, "not one more");
	text = help_fill(vault, "x$0y");
	ok(ab_vault_set(vault, HELP_HEADER, text, strlen(text), &err) < 0,
	   "a value with another's placeholder is refused");
	free(text);
	text = help_fill(vault, "$1");
	ok(ab_vault_set(vault, HELP_HEADER, text, strlen(text), &err) < 0,
	   "so is one with its own");
	free(text);
	free(big);
	ab_vault_free(vault);
}

static const struct {
	const char *host;
	uint16_t port;
	bool bound;
} bounds[] = {
	{ "api.one.test", 443, true },	 { "api.one.test", 80, false },
	{ "api.one.test", 8443, false }, { "x.up.one.test", 8443, true },
	{ "up.one.test", 8443, false },	 { "api.one.test.evil", 443, false },
	{ "other.test", 443, false },	 { "xapi.one.test", 443, false },
};

static void test_bounds(void)
{
	struct ab_vault *vault = help_vault();

	for (size_t i = 0; i < AB_COUNT(bounds); i++) {
		struct ab_host host = help_host(bounds[i].host);

		ok(ab_vault_bound(vault, HELP_BEARER, &host, bounds[i].port) == bounds[i].bound,
		   "%s:%u", bounds[i].host, bounds[i].port);
	}
	ab_vault_free(vault);
}

/* The placeholder in base64 behind `before` other bytes. */
static char *in_base64(const char *s, size_t before, enum ab_base64 alphabet)
{
	char *text = ab_printf("%.*s%s and more", (int)before, "....", s);
	char *encoded = ab_alloc(AB_BASE64_ROOM(strlen(text)) + 1);

	ab_base64_encode(text, strlen(text), alphabet, encoded);
	free(text);
	return encoded;
}

static char *escaped(const char *s, int every, const char *format)
{
	char *text = ab_strdup("");

	for (size_t i = 0; s[i]; i++) {
		char c[8], *more;

		snprintf(c, sizeof(c), i % (size_t)every ? "%c" : format, s[i]);
		more = ab_printf("%s%s", text, c);
		free(text);
		text = more;
	}
	return text;
}

static int seen(const struct ab_vault *vault, const char *s)
{
	return ab_vault_find(vault, guarded(s, strlen(s)), strlen(s));
}

static void test_seen(void)
{
	struct ab_vault *vault = help_vault();
	const char *p = ab_vault_at(vault, HELP_OTHER)->placeholder;
	static const char *const formats[] = { "%%%02x", "%%%02X", "\\u%04x" };
	char *s = ab_printf("before %s after", p);

	ok(seen(vault, s) == HELP_OTHER, "seen as it is");
	s[strlen(s) - 8] ^= 1;
	ok(seen(vault, s) == -1, "not with one other byte");
	free(s);
	s = ab_strndup(p, strlen(p) - 1);
	ok(seen(vault, s) == -1, "not without its last");
	free(s);
	ok(ab_vault_find(vault, NULL, 0) == -1, "not in nothing");
	for (unsigned i = 0; i < 8; i++) {
		s = in_base64(p, i % 4, i / 4);
		ok(seen(vault, s) == HELP_OTHER, "seen in base64, %s", s);
		free(s);
	}
	for (size_t i = 0; i < AB_COUNT(formats); i++)
		for (int every = 1; every < 5; every++) {
			s = escaped(p, every, formats[i]);
			ok(seen(vault, s) == HELP_OTHER, "seen as %s", s);
			s[strlen(s) - 1] = '\0';
			ok(seen(vault, s) == -1, "not when it is cut");
			free(s);
		}
	s = ab_printf("%.*s%s", 20, p, p);
	ok(seen(vault, s) == HELP_OTHER, "seen behind its own begin");
	free(s);
	ab_vault_free(vault);
}

static void test_names(void)
{
	struct ab_vault *vault = help_vault();
	const char *p = ab_vault_at(vault, HELP_ANY)->placeholder;
	char *s = ab_printf("a.%.5s.%.4s.%s.evil.test", p, p + 5, p + 9);

	ok(ab_vault_find_in_name(vault, s) == HELP_ANY, "seen in a host's labels");
	for (char *c = s; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
	ok(ab_vault_find_in_name(vault, s) == HELP_ANY, "in lower case");
	ok(ab_vault_find_in_name(vault, "a.b.evil.test") == -1, "else not");
	s[strlen(s) - 11] = '-';
	ok(ab_vault_find_in_name(vault, s) == -1, "not with one other byte");
	free(s);
	ab_vault_free(vault);
}

static void check_cover(const struct ab_vault *vault, const char *in, const char *out,
			const char *name)
{
	char *text = help_fill(vault, in), *want = help_fill(vault, out);
	size_t len = 0;
	char *got = ab_vault_cover(vault, text, strlen(text), &len);

	is_str(got, want, name);
	ok(got && len == strlen(got), "its length");
	free(text);
	free(want);
	free(got);
}

static void test_cover(void)
{
	struct ab_vault *vault = help_vault();
	size_t len;

	check_cover(vault, "machine x password @0\nother @3 @2",
		    "machine x password $0\nother $3 $2", "a file");
	check_cover(vault, "@2@2", "$2$2", "one behind the other");
	check_cover(vault, "{\"k\":\"0123+abc\\/DEF=ghi%25\\\"q\\\\z\"}", "{\"k\":\"$1\"}",
		    "escaped as in JSON");
	ok(!ab_vault_cover(vault, "nothing here", 12, &len), "nothing in it");
	for (size_t before = 0; before < 4; before++)
		for (size_t i = 0; i < HELP_COUNT; i++) {
			const struct ab_vault_entry *e = ab_vault_at(vault, i);
			char *value = ab_strndup(e->value, e->value_len);
			char *login = in_base64(value, before, 0);
			char *want = in_base64(e->placeholder, before, 0);
			char *in = ab_printf("{\"auth\": \"%s\"}", login);
			char *out = ab_printf("{\"auth\": \"%s\"}", want);

			check_cover(vault, in, out, "a login in base64");
			free(value);
			free(login);
			free(want);
			free(in);
			free(out);
		}
	ab_vault_free(vault);
}

/* What the kernel says about the pages of a value. */
static bool has_flag(const void *p, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long from, to;
	char line[512];
	bool here = false, found = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = (unsigned long)p >= from && (unsigned long)p < to;
		if (here && strncmp(line, "VmFlags:", 8) == 0)
			found |= strstr(line, flag) != NULL;
	}
	if (f)
		fclose(f);
	return found;
}

static void test_pages(void)
{
	struct rlimit none = { 0, 0 };
	struct ab_vault *vault = help_vault();
	const char *value = ab_vault_at(vault, 0)->value;

	ok(has_flag(value, " dd"), "a value is not in core files");
	ok(has_flag(value, " dc"), "nor in children");
	/* A sanitizer's mlock() says yes and does nothing. */
	if (mlock(vault, 1) == 0 && has_flag(vault, " lo"))
		ok(has_flag(value, " lo"), "it is locked");
	munlock(vault, 1);
	ab_vault_free(vault);
	if (geteuid() != 0 && setrlimit(RLIMIT_MEMLOCK, &none) == 0) {
		vault = help_vault();
		ok(!has_flag(ab_vault_at(vault, 0)->value, " lo"), "no lock is no failure");
		ab_vault_free(vault);
	}
}

static void test_hosts(void)
{
	static char name[] = "not a host", *hosts[] = { name };
	struct ab_secret secret = { .name = "A", .hosts = { .v = hosts, .len = 1 } };
	struct ab_secrets secrets = { &secret, 1 }, none = { NULL, 0 };
	struct ab_vault *vault;
	struct ab_error err;

	ok(ab_vault_new(&secrets, NULL, &vault, &err) < 0, "what is no host is refused");
	ok(ab_vault_new(&none, NULL, &vault, &err) == 0 && seen(vault, "anything") == -1,
	   "an empty vault sees nothing");
	ab_vault_free(vault);
}

int main(void)
{
	test_placeholders();
	test_life();
	test_rotated();
	test_values();
	test_bounds();
	test_seen();
	test_names();
	test_cover();
	test_pages();
	test_hosts();
	return done();
}
