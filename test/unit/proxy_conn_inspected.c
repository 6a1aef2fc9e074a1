/*
 * Which hosts are looked into, what searches their answers, and where the
 * gateway's paths lead to.
 */
#include "proxy/conn/inspected.h"

#include "base/data/strv.h"
#include "proxy/secrets/scrub.h"
#include "tap.h"
#include "vault_help.h"

static struct ab_inspection inspection;

static bool covers(const char *name, uint16_t port)
{
	struct ab_host host = help_host(name);

	return ab_inspection_covers(&inspection, &host, port);
}

static struct ab_scrub *scrub_of(const char *name)
{
	struct ab_host host = help_host(name);

	return ab_inspection_scrub(&inspection, &host, 443);
}

static void test_covers(void)
{
	ok(covers("api.one.test", 443), "a host that has a secret");
	ok(!covers("api.one.test", 80), "not with another port");
	ok(covers("a.up.one.test", 8443), "those below a name");
	ok(!covers("up.one.test", 8443), "not that one itself");
	ok(!covers("one.test", 443), "no other host");
	ok(!covers("203.0.113.1", 443), "no address");
}

/* What becomes of an answer of the host. */
static const char *answered(struct ab_scrub *scrub, const char *text)
{
	static char s[64];

	snprintf(s, sizeof(s), "%s", text);
	ab_scrub_take(scrub, (uint8_t *)s, strlen(s), true);
	return s;
}

static void test_scrubs(void)
{
	static const char old[] = "<sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8c>",
			  renewed[] = "<sk-one-Renewed0123456789>", late[] = "<late-value-01>";
	struct ab_scrub *one = scrub_of("api.one.test"), *other;

	ok(one && one == scrub_of("api.one.test"), "one search for each set of secrets");
	ok(scrub_of("any.test") && scrub_of("any.test") != one, "another for another set");
	ok(!scrub_of("no.test"), "none where there is no secret");
	ab_inspection_renew(&inspection, HELP_BEARER, "x", 1);
	is_str(answered(one, "<x>"), "<x>", "a value that is refused is none");
	is_str(answered(one, renewed), renewed, "nor is one that may come");
	ab_inspection_renew(&inspection, HELP_BEARER, "sk-one-Renewed0123456789", 24);
	ok(strcmp(answered(one, renewed), renewed) != 0, "it is found in answers that have begun");
	ok(strcmp(answered(one, old), old) != 0, "and so is the one before");
	ab_inspection_renew(&inspection, HELP_OTHER, NULL, 0);
	other = scrub_of("other.test");
	ab_inspection_renew(&inspection, HELP_OTHER, "late-value-01", 13);
	ok(strcmp(answered(other, late), late) != 0, "also where there was no value");
	is_str(answered(one, late), late, "and nowhere else");
}

static const char *route(const char *path, size_t *ret_skip)
{
	static struct ab_host host;
	const char *before;
	uint16_t port;

	return ab_inspection_route(&inspection, path, strlen(path), &host, &port, ret_skip, &before)
		       ? host.text
		       : "(none)";
}

static void test_routes(void)
{
	size_t skip = 0;

	is_str(route("/any_key/v1/x", &skip), "any.test", "a secret that goes by the gateway");
	ok(skip == 8, "the rest of the path is the host's");
	is_str(route("/any_key", &skip), "any.test", "without any more");
	is_str(route("/any_key?x=1", &skip), "any.test", "with a query");
	is_str(route("/any_keys/x", &skip), "(none)", "not a longer name");
	is_str(route("/any_ke/x", &skip), "(none)", "nor a shorter one");
	is_str(route("//any_key/x", &skip), "(none)", "nor behind nothing");
	is_str(route("/", &skip), "(none)", "nor nothing at all");
	is_str(route("/one/x", &skip), "(none)", "a provider whose key does not go there");
}

int main(void)
{
	ab_autostrv struct ab_strv hosts = { 0 };

	ab_strv_add(&hosts, "api.one.test:443");
	ab_strv_add(&hosts, "*.up.one.test:8443");
	help_secrets[HELP_ANY].via = AB_VIA_GATEWAY;
	inspection.vault = help_vault();
	ab_inspection_init(&inspection, &hosts);
	test_covers();
	test_scrubs();
	test_routes();
	is_str(ab_inspection_secret(&inspection, HELP_OTHER), "OTHER_KEY", "secrets have names");
	is_str(ab_inspection_secret(&inspection, -1), "", "and none has none");
	ab_inspection_fini(&inspection);
	return done();
}
