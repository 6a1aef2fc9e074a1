#include "policy/model/http_rules.h"

#include "policy/layers/compare.h"
#include "policy/layers/trust.h"
#include "policy_help.h"
#include "tap.h"

/* What is wrong with the first rule of a file. */
static const struct {
	const char *rule, *line;
} wrongs[] = {
	{ "3",
	  "9: network.http[0]: expected an object, got a number; use { \"host\": \"api.example.com\", \"methods\": [\"GET\"] }" },
	{ "{}", "9: network.http[0].host: is missing; use one like \"api.example.com\"" },
	{ "{\"host\":1}",
	  "10: network.http[0].host: expected a string, got a number; use one like \"api.example.com\"" },
	{ "{\"host\":\"a.b\",\"path\":[\"/\"]}",
	  "23: network.http[0].path: unknown key; did you mean paths?" },
	{ "{\"host\":\"@npm\"}",
	  "10: network.http[0].host: \"@npm\" is a group of hosts; use a rule for each host" },
	{ "{\"host\":\"10.0.0.1\"}",
	  "10: network.http[0].host: \"10.0.0.1\" is an address; use the host name" },
	{ "{\"host\":\"https://a.b/\"}",
	  "10: network.http[0].host: \"https://a.b/\" is not a host; use \"a.b\"" },
	{ "{\"host\":\"a.b\",\"methods\":\"GET\"}",
	  "23: network.http[0].methods: expected a list, got a string; use one like [\"GET\"], or remove it to allow all" },
	{ "{\"host\":\"a.b\",\"methods\":[]}",
	  "23: network.http[0].methods: is empty; use one like [\"GET\"], or remove it to allow all" },
	{ "{\"host\":\"a.b\",\"methods\":[\"get\"]}",
	  "34: network.http[0].methods[0]: \"get\" is not a method; use capitals, as in \"GET\"" },
	{ "{\"host\":\"a.b\",\"methods\":[\"GET\",2]}",
	  "40: network.http[0].methods[1]: expected a string, got a number; put it in quotes" },
	{ "{\"host\":\"a.b\",\"paths\":[]}",
	  "23: network.http[0].paths: is empty; use one like [\"/v1/*\"], or remove it to allow all" },
	{ "{\"host\":\"a.b\",\"paths\":[\"x\"]}",
	  "32: network.http[0].paths[0]: \"x\" is not a URL path; it does not start with /" },
	{ "{\"host\":\"a.b\",\"paths\":[\"/x?y=1\"]}",
	  "32: network.http[0].paths[0]: \"/x?y=1\" contains a query; rules match only the path, before the ?" },
	{ "{\"host\":\"a.b\",\"paths\":[\"/x/*/../y\"]}",
	  "32: network.http[0].paths[0]: \"/x/*/../y\" contains a .. segment; use \"/x/y\"" },
	{ "{\"host\":\"a.b\",\"paths\":[\"/a%2fb\"]}",
	  "32: network.http[0].paths[0]: \"/a%2fb\" is not a URL path; it has an escaped slash" },
};

static void test_wrongs(void)
{
	struct ab_strv problems = { 0 };

	for (size_t i = 0; i < AB_COUNT(wrongs); i++) {
		ab_autofree char *text =
			ab_printf("{\"network\":{\n\"http\":[%s]}}", wrongs[i].rule);
		ab_autofree char *line = ab_printf("x.json:2:%s", wrongs[i].line);

		put_file("home/work/x.json", text);
		ab_strv_fini(&problems);
		if (ab_policy_check_file(&input, "x.json", &problems, &error) < 0)
			abort();
		is_str(joined(&problems), line, "a mistake with its line, its key and the way out");
	}
	ab_strv_fini(&problems);
}

#define HTTP(rules) "{\"network\":{\"http\":[" rules "]}}"

static struct ab_policy *with(const char *user, const char *project)
{
	struct ab_policy *p;

	put_file(USER_FILE, user);
	if (project)
		put_file(PROJECT_FILE, project);
	else
		remove_file(PROJECT_FILE);
	p = load();
	if (!p)
		printf("# %s\n", error.text);
	return p;
}

/* "GET api.x.org /path" */
static bool may(const struct ab_policy *p, const char *what, uint16_t port)
{
	const char *host = strchr(what, ' ') + 1, *path = strchr(host, ' ') + 1;
	const struct ab_http_rule *rule = NULL;
	struct ab_host h;
	bool good, bound;

	if (ab_host_parse(host, (size_t)(path - host - 1), &h, NULL) < 0)
		abort();
	good = ab_http_rules_judge(&p->net.http, &h, port, what, (size_t)(host - what - 1), path,
				   strlen(path), &rule);
	bound = ab_http_rules_bind(&p->net.http, &h, port);
	/* Who is bound has a rule to show; who is not is not refused. */
	ok(bound == (rule != NULL) && (bound || good), "%s: with its rule", what);
	return good;
}

static void test_judging(void)
{
	struct ab_policy *p = with(
		HTTP("{\"host\":\"api.x.org\",\"methods\":[\"GET\",\"HEAD\"],\"paths\":[\"/r/a*\",\"/v%31/*/end\"]},"
		     "{\"host\":\"api.x.org\",\"methods\":[\"POST\"],\"paths\":[\"/r/b\"]},"
		     "{\"host\":\"*.y.org\",\"methods\":[\"GET\"]},"
		     "{\"host\":\"z.org:8080\",\"paths\":[\"/\"]}"),
		NULL);

	ok(p && p->net.http.len == 4, "rules are read");
	if (!p)
		return;
	is_str(p->net.http.v[0].text,
	       "{\"host\":\"api.x.org\",\"methods\":[\"GET\",\"HEAD\"],\"paths\":[\"/r/a*\",\"/v1/*/end\"]}",
	       "and have one form");
	ok(may(p, "GET api.x.org /r/a", 443), "a path that a rule has");
	ok(may(p, "HEAD api.x.org /r/abc/d", 80), "* is any text, / too");
	ok(may(p, "POST api.x.org /r/b", 443), "another rule permits it");
	ok(may(p, "GET api.x.org /v1/x/y/end", 443), "* in the middle");
	ok(!may(p, "GET api.x.org /v1/end", 443), "but not of less");
	ok(!may(p, "GET api.x.org /v1/x/end/y", 443), "nor with more behind");
	ok(!may(p, "POST api.x.org /r/a", 443), "another rule's method");
	ok(!may(p, "GET api.x.org /r/b", 443), "another rule's path");
	ok(!may(p, "get api.x.org /r/a", 443), "methods have a case");
	ok(!may(p, "GETS api.x.org /r/a", 443), "and an end");
	ok(!may(p, "GET api.x.org /r", 443), "a path above");
	ok(!may(p, "GET api.x.org /R/a", 443), "paths have a case");
	ok(may(p, "DELETE api.x.org /r/a", 8443), "another port is not touched");
	ok(may(p, "DELETE x.org /r/a", 443), "another host is not touched");
	ok(may(p, "GET a.y.org /", 443) && !may(p, "PUT a.y.org /", 443) &&
		   may(p, "PUT y.org /", 443),
	   "names below a name");
	ok(may(p, "PUT z.org /", 8080) && !may(p, "PUT z.org /x", 8080) &&
		   may(p, "PUT z.org /x", 443),
	   "a rule for one port");
	ab_policy_free(p);
}

static void test_patterns(void)
{
	static const struct {
		const char *pattern, *path;
		bool good;
	} cases[] = {
		{ "/*", "/", true },	      { "/*", "/x/y", true },
		{ "/", "/", true },	      { "/", "/x", false },
		{ "/a*a", "/aa", true },      { "/a*a", "/a", false },
		{ "/*a*b*", "/ab", true },    { "/*a*b*", "/ba", false },
		{ "/**b", "/xb", true },      { "/a*b*b", "/ab", false },
		{ "/a*b*b", "/abb", true },   { "/a*bc", "/abxbc", true },
		{ "/*ab*ab", "/xab", false }, { "/*ab*ab", "/abab", true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *text = ab_printf(HTTP("{\"host\":\"x.org\",\"paths\":[\"%s\"]}"),
						   cases[i].pattern);
		ab_autofree char *what = ab_printf("GET x.org %s", cases[i].path);
		struct ab_policy *p = with(text, NULL);

		ok(p && may(p, what, 443) == cases[i].good, "%s %s %s", cases[i].pattern,
		   cases[i].good ? "has" : "has not", cases[i].path);
		ab_policy_free(p);
	}
}

static void test_layers(void)
{
	static const char user[] =
		HTTP("{\"host\":\"x.org\",\"methods\":[\"GET\",\"PUT\"],\"paths\":[\"/r/*\"]}");
	struct ab_policy *p, *q;

	p = with(user, HTTP("{\"host\":\"x.org\"},{\"host\":\"y.org\",\"methods\":[\"GET\"]}"));
	ok(p && p->net.http.len == 3 && p->net.http.v[1].tighten,
	   "rules of a file that nobody trusts are marked");
	is_str(joined(&notes),
	       ".agentbox.json is not trusted and asks for more (1 key): agentbox trust .agentbox.json: network.http: 1 rule applies only where stricter",
	       "one that asks for more is noted");
	ok(p && may(p, "GET x.org /r/1", 443), "what both have is permitted");
	ok(p && !may(p, "POST x.org /", 443), "theirs alone permits nothing");
	ok(p && !may(p, "PUT y.org /", 443), "but makes stricter");
	ab_policy_free(p);

	q = with(user, NULL);
	p = with(user, HTTP("{\"host\":\"x.org\",\"methods\":[\"GET\"],\"paths\":[\"/r/a*\"]}"));
	ok(p && notes.len == 0, "what asks for less is not noted");
	ok(p && may(p, "GET x.org /r/a", 443) && !may(p, "PUT x.org /r/a", 443) &&
		   !may(p, "GET x.org /r/b", 443),
	   "and what is asked for must be in both");
	if (p && q) {
		ab_autostrv struct ab_strv lines = { 0 };

		ab_policy_wider(q, p, &lines);
		ok(lines.len == 0, "so it is never wider");
		ab_policy_wider(p, q, &lines);
		ok(lines.len == 1 && strstr(lines.v[0], "network.http: without"),
		   "and the other one is");
	}
	ab_policy_free(q);
	ab_policy_free(p);

	put_file(SYSTEM_FILE, HTTP("{\"host\":\"z.org\"}"));
	p = with(user, NULL);
	ok(p && p->net.http.len == 2 && p->net.allow.len == 0,
	   "the rules of the files add up, and no rule allows a host");
	ab_policy_free(p);
	remove_file(SYSTEM_FILE);

	add_flag("network.mode", "allowed", "--net");
	p = with(user, NULL);
	ok(p && p->net.http.len == 0, "without a door there are no rules");
	is_str(joined(&notes), "network.http is ignored: the network is allowed (--net)",
	       "and that is said");
	ab_policy_free(p);
	input.nsettings = 0;
}

static void test_compare(void)
{
	static const struct {
		const char *a, *b;
		bool wider; /* b, of the two */
	} cases[] = {
		{ HTTP("{\"host\":\"x.org\",\"methods\":[\"GET\"]}"), HTTP("{\"host\":\"x.org\"}"),
		  true },
		{ HTTP("{\"host\":\"x.org\"}"), HTTP("{\"host\":\"x.org\",\"methods\":[\"GET\"]}"),
		  false },
		{ HTTP(""), HTTP("{\"host\":\"x.org\"}"), false },
		{ HTTP("{\"host\":\"x.org\",\"paths\":[\"/a\"]}"), HTTP(""), true },
		{ HTTP("{\"host\":\"x.org\",\"paths\":[\"/a/*\"]}"),
		  HTTP("{\"host\":\"x.org\",\"paths\":[\"/a/b*c\"]}"), false },
		{ HTTP("{\"host\":\"x.org\",\"paths\":[\"/a/b*c\"]}"),
		  HTTP("{\"host\":\"x.org\",\"paths\":[\"/a/*\"]}"), true },
		{ HTTP("{\"host\":\"*.x.org\",\"paths\":[\"/a\"]}"),
		  HTTP("{\"host\":\"b.x.org\",\"paths\":[\"/a\"]}"), true },
		{ HTTP("{\"host\":\"*.x.org\",\"paths\":[\"/a\"]}"),
		  HTTP("{\"host\":\"*.x.org\",\"paths\":[\"/a\"]},{\"host\":\"b.x.org\"}"), true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autostrv struct ab_strv lines = { 0 };
		struct ab_policy *a = with(cases[i].a, NULL);
		struct ab_policy *b = with(cases[i].b, NULL);

		if (!a || !b)
			abort();
		ab_policy_wider(a, b, &lines);
		ok((lines.len > 0) == cases[i].wider, "%s against %s", cases[i].b, cases[i].a);
		ab_policy_free(a);
		ab_policy_free(b);
	}
}

int main(void)
{
	world_init();
	test_wrongs();
	test_judging();
	test_patterns();
	test_layers();
	test_compare();
	world_fini();
	return done();
}
