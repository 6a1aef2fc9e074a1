#include "broker/list_wire.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/layers/layers.h"
#include "tap.h"

static struct ab_policy *load(const char *const (*settings)[2], size_t n)
{
	struct ab_setting v[16];
	char *no_environ[] = { NULL };
	struct ab_policy_input in = { .cwd = "/usr",
				      .home = "/nonexistent",
				      .environ = no_environ,
				      .system_config = "/nonexistent/x",
				      .settings = v,
				      .nsettings = n };
	struct ab_policy *policy = NULL;
	struct ab_error err = { 0 };

	for (size_t i = 0; i < n; i++)
		v[i] = (struct ab_setting){ settings[i][0], settings[i][1], "test" };
	if (ab_policy_load(&in, &policy, NULL, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	return policy;
}

static const char *const some[][2] = {
	{ "network.allow", "github.com" },  { "network.allow", "*.example.org:8443" },
	{ "network.deny", "evil.example" }, { "network.allowPrivate", "10.1.2.0/24:5432" },
	{ "network.unknown", "deny" },
};

static const char *const others[][2] = {
	{ "network.allow", "github.com" },  { "network.allow", "npmjs.org" },
	{ "network.deny", "evil.example" }, { "network.deny", "worse.example" },
	{ "network.unknown", "ask" },	    { "network.mode", "blocked" },
};

static void make(const char *const (*settings)[2], size_t n, struct ab_host_lists *ret)
{
	struct ab_policy *policy = load(settings, n);
	ab_autobuf struct ab_buf b = { 0 };
	ab_autostrv struct ab_strv notes = { 0 }, waiting = { 0 };
	struct ab_error err = { 0 };

	ab_strv_add(&notes, "a \"note\"\n");
	ab_strv_add(&waiting, "limits.timeout");
	ab_host_lists_write(&b, policy, &notes, &waiting);
	if (ab_host_lists_read(b.data, b.len, ret, &err) < 0)
		abort();
	ab_policy_free(policy);
}

static void check_roundtrip(void)
{
	struct ab_host_lists lists;

	make(some, AB_COUNT(some), &lists);
	ok(lists.allow.len == 2 && ab_strv_has(&lists.allow, "github.com") &&
		   ab_strv_has(&lists.allow, "*.example.org:8443"),
	   "what is allowed");
	ok(lists.deny.len == 1 && ab_strv_has(&lists.deny, "evil.example"), "what is denied");
	ok(ab_strv_has(&lists.allow_private, "10.1.2.0/24:5432"), "private ranges");
	ok(lists.unknown == AB_UNKNOWN_DENY && lists.intercepted.len == 0, "the rest");
	ok(lists.notes.len == 1 && strcmp(lists.notes.v[0], "a \"note\"\n") == 0,
	   "notes as they were");
	ok(lists.waiting.len == 1 && strcmp(lists.waiting.v[0], "limits.timeout") == 0,
	   "keys that wait for the next run");
	ab_host_lists_fini(&lists);
}

static void check_intercepted(void)
{
	struct ab_http_rule rules[2] = { 0 };
	char *hosts[] = { (char *)(uintptr_t) "api.example:443", NULL };
	struct ab_secret secrets[] = {
		{ .hosts = { hosts, 1 } },
		{ .hosts = { hosts, 1 } },
		{ .hosts = { hosts, 1 }, .via = AB_VIA_GATEWAY },
	};
	struct ab_policy policy = {
		.net.http = { .v = rules, .len = 2 },
		.secrets = { .v = secrets, .len = AB_COUNT(secrets) },
	};
	static const struct ab_strv none;
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_error err = { 0 };
	struct ab_host_lists lists;

	if (ab_host_entry_parse("a.example", 9, &rules[0].host, NULL) < 0 ||
	    ab_host_entry_parse("b.example:8080", 14, &rules[1].host, NULL) < 0)
		abort();
	ab_host_lists_write(&b, &policy, &none, &none);
	ok(ab_host_lists_read(b.data, b.len, &lists, &err) == 0 && lists.intercepted.len == 4 &&
		   ab_strv_has(&lists.intercepted, "api.example:443") &&
		   ab_strv_has(&lists.intercepted, "a.example:80") &&
		   ab_strv_has(&lists.intercepted, "a.example:443") &&
		   ab_strv_has(&lists.intercepted, "b.example:8080"),
	   "hosts of secrets and of rules, each once: %s", b.data);
	ab_host_lists_fini(&lists);
}

static void check_compare(void)
{
	static const char *const want[] = {
		"- *.example.org:8443 no longer allowed",
		"+ npmjs.org allowed",
		"+ worse.example denied",
		"- 10.1.2.0/24:5432 no longer allowed as a private range",
		"  unknown hosts: ask (was deny)",
		"! network.mode is now blocked: this run stays filtered until it ends",
	};
	ab_autostrv struct ab_strv lines = { 0 }, same = { 0 };
	struct ab_host_lists a, b;

	make(some, AB_COUNT(some), &a);
	make(others, AB_COUNT(others), &b);
	ab_host_lists_compare(&a, &b, &lines);
	ok(lines.len == AB_COUNT(want), "%zu changes", lines.len);
	for (size_t i = 0; i < lines.len && i < AB_COUNT(want); i++)
		is_str(lines.v[i], want[i], "told");
	ab_host_lists_compare(&a, &a, &same);
	ok(same.len == 0, "nothing changed, nothing told");
	ab_host_lists_fini(&a);
	ab_host_lists_fini(&b);
}

#define GOOD                                                                                                       \
	"{\"allow\":[],\"deny\":[],\"denyFrom\":[],\"allowPrivate\":[],\"unknown\":\"ask\",\"mode\":\"filtered\"," \
	"\"intercepted\":[],\"notes\":[],\"waiting\":[]}"

static void check_wrong(void)
{
	static const char *const wrong[] = {
		"",
		"{}",
		"[]",
		"{\"allow\":[],\"deny\":[],\"denyFrom\":[],\"allowPrivate\":[],"
		"\"unknown\":\"yes\",\"mode\":\"filtered\",\"intercepted\":[],\"notes\":[],\"waiting\":[]}",
		"{\"allow\":[1],\"deny\":[],\"denyFrom\":[],\"allowPrivate\":[],"
		"\"unknown\":\"ask\",\"mode\":\"filtered\",\"intercepted\":[],\"notes\":[],\"waiting\":[]}",
		"{\"allow\":[],\"deny\":[],\"denyFrom\":[],\"allowPrivate\":[],"
		"\"unknown\":\"ask\",\"mode\":\"filtered\",\"intercepted\":[],\"notes\":[],\"waiting\":[],\"x\":1}",
		"{\"allow\":[],\"deny\":\"a\",\"denyFrom\":[],\"allowPrivate\":[],"
		"\"unknown\":\"ask\",\"mode\":\"filtered\",\"intercepted\":[],\"notes\":[],\"waiting\":[]}",
	};
	struct ab_host_lists lists;
	struct ab_error err = { 0 };

	for (size_t i = 0; i < AB_COUNT(wrong); i++)
		ok(ab_host_lists_read(wrong[i], strlen(wrong[i]), &lists, &err) < 0, "refused: %s",
		   wrong[i]);
	for (size_t n = 0; n < strlen(GOOD); n++)
		if (ab_host_lists_read(GOOD, n, &lists, &err) == 0)
			ok(false, "cut at %zu", n);
	ok(ab_host_lists_read(GOOD, strlen(GOOD), &lists, &err) == 0, "whole it is taken");
	ab_host_lists_fini(&lists);
}

int main(void)
{
	check_roundtrip();
	check_intercepted();
	check_compare();
	check_wrong();
	return done();
}
