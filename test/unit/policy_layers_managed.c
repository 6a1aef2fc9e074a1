/* Managed settings: every layer tries to widen each of them, and may still narrow them. */
#include "policy/layers/layers.h"

#include "base/data/arena.h"
#include "policy/layers/environment.h"
#include "policy/layers/trust.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/model/ports.h"
#include "policy/values/complaint.h"
#include "policy_help.h"
#include "proxy/filter/filter.h"
#include "proxy/filter/grants.h"
#include "shell/judge/judge.h"
#include "tap.h"

static void manage(const char *section)
{
	ab_autofree char *text = ab_printf("{\"managed\":{%s}}", section);

	put_file(SYSTEM_FILE, text);
}

static void trust_project(void)
{
	struct ab_trust_review review;

	if (ab_trust_review(&input, NULL, &review, &error) == 0) {
		ab_trust_record(&input, &review, &error);
		ab_trust_review_fini(&review);
	}
}

/* A text with the test's folder for each %s. */
__attribute__((format(printf, 1, 0))) static const char *keep_text(const char *fmt)
{
	ab_strv_addf(&texts, fmt, top, top, top);
	return texts.v[texts.len - 1];
}

static void reset(void)
{
	remove_file(USER_FILE);
	remove_file(PROJECT_FILE);
	remove_file(SYSTEM_FILE);
	reset_input();
}

/* How a wish reaches the policy. */
enum way { USER, PROJECT, CONFIG, PROFILE, PARENT, WAYS };

static void wish(enum way way, const char *text)
{
	switch (way) {
	case USER:
		put_file(USER_FILE, text);
		break;
	case PROJECT:
		put_file(PROJECT_FILE, text);
		trust_project();
		break;
	case CONFIG:
		put_file("home/other.json", text);
		input.config = at("home/other.json");
		break;
	case PROFILE:
		put_file(PROFILE_FILE("mine"), text);
		input.profile = "mine";
		break;
	case PARENT:
		put_file(PROFILE_FILE("mine"), text);
		put_file(USER_FILE, "{\"extends\":\"mine\"}");
		break;
	case WAYS:
		break;
	}
}

/* One key as text: the scalar, or the elements of the list. */
static const char *value_of(const struct ab_policy *p, const char *path)
{
	static char buf[4096];
	const struct ab_key *key = ab_key_find(path, strlen(path));
	const struct ab_value *v = &p->store->config.v[key - ab_keys];
	struct ab_arena arena = { 0 };
	size_t n = 0;

	buf[0] = '\0';
	if (!ab_key_is_list(key))
		snprintf(buf, sizeof(buf), "%s",
			 ab_value_text(&arena, (enum ab_key_id)(key - ab_keys), v));
	for (size_t i = 0; ab_key_is_list(key) && i < v->len && n < sizeof(buf); i++)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%s", i ? " " : "",
				      v->items[i].text);
	ab_arena_fini(&arena);
	return buf;
}

/* What is managed, what a layer asks for, what comes of it; and a wish that is granted. */
static const struct {
	const char *managed, *key, *wider, *stays, *narrower, *granted;
} cases[] = {
	{ "\"network\":{\"mode\":\"filtered\"}", "network.mode", "\"allowed\"", "filtered",
	  "\"blocked\"", "blocked" },
	/* Lists of hosts need the filter. */
	{ "\"network\":{\"deny\":[\"x.org\"]}", "network.mode", "\"allowed\"", "filtered",
	  "\"blocked\"", "blocked" },
	{ "\"network\":{\"unknown\":\"deny\"}", "network.unknown", "\"ask\"", "deny", "\"deny\"",
	  "deny" },
	{ "\"network\":{\"allow\":{\"only\":[\"*.a.org\",\"b.org\"]}}", "network.allow",
	  "[\"x.a.org\",\"evil.org\"]", "x.a.org", "[\"b.org\"]", "b.org" },
	{ "\"network\":{\"allow\":{\"only\":[\"a.org\"]}}", "network.allow",
	  "{\"only\":[\"a.org\",\"evil.org\"]}", "a.org", "[]", "" },
	{ "\"network\":{\"allow\":[]}", "network.allow", "[\"evil.org\"]", "", "[]", "" },
	{ "\"network\":{\"allowPrivate\":[]}", "network.allowPrivate", "[\"10.0.0.0/8\"]", "", "[]",
	  "" },
	{ "\"network\":{\"hostPorts\":{\"only\":[5432]}}", "network.hostPorts", "[5432,22]", "5432",
	  "[5432]", "5432" },
	{ "\"network\":{\"upstream\":\"http://proxy.org:1\"}", "network.upstream", "\"none\"",
	  "http://proxy.org:1", "\"http://proxy.org:1\"", "http://proxy.org:1" },
	{ "\"filesystem\":{\"home\":\"readonly\"}", "filesystem.home", "\"kept\"", "readonly",
	  "\"private\"", "private" },
	{ "\"filesystem\":{\"write\":{\"only\":[\"/srv\"]}}", "filesystem.write",
	  "{\"only\":[\"/opt\",\"/srv\"]}", "/srv", "[]", "" },
	{ "\"filesystem\":{\"unix\":[]}", "filesystem.unix", "[\"/run/docker.sock\"]", "", "[]",
	  "" },
	{ "\"filesystem\":{\"share\":[]}", "filesystem.share", "[\"~/.ssh\"]", "", "[]", "" },
	{ "\"filesystem\":{\"review\":true}", "filesystem.review", "\"auto\"", "true", "true",
	  "true" },
	{ "\"filesystem\":{\"review\":\"auto\"}", "filesystem.review", "false", "auto", "true",
	  "true" },
	{ "\"limits\":{\"timeout\":\"1h\"}", "limits.timeout", "\"none\"", "1h", "\"1m\"", "1m" },
	{ "\"limits\":{\"processes\":100}", "limits.processes", "200", "100", "50", "50" },
	{ "\"records\":{\"keepFor\":\"90d\"}", "records.keepFor", "\"1d\"", "90d", "\"90d\"",
	  "90d" },
	{ "\"assurance\":{\"fallback\":\"strict\"}", "assurance.fallback", "\"warn\"", "strict",
	  "\"strict\"", "strict" },
	{ "\"assurance\":{\"require\":[\"limits\"]}", "assurance.require", "{\"only\":[]}",
	  "limits", "{\"only\":[\"transparent\"]}", "transparent limits" },
	{ "\"env\":{\"mode\":\"listed\"}", "env.mode", "\"strip\"", "listed", "\"listed\"",
	  "listed" },
	{ "\"env\":{\"set\":{\"A\":\"1\"}}", "env.set", "{\"A\":\"2\",\"B\":\"3\"}", "A=1 B=3",
	  "{\"A\":\"1\"}", "A=1" },
	{ "\"commands\":{\"enforce\":\"children\"}", "commands.enforce", "\"start\"", "children",
	  "\"children\"", "children" },
	{ "\"ssh\":{\"hosts\":[]}", "ssh.hosts", "[\"evil.org\"]", "", "[]", "" },
	{ "\"ssh\":{\"hosts\":{\"only\":[\"a.org\"]}}", "ssh.hosts", "[\"a.org\",\"evil.org\"]",
	  "a.org", "[\"a.org\"]", "a.org" },
	{ "\"ssh\":{\"sign\":[]}", "ssh.sign", "[\"git\"]", "", "[]", "" },
	{ "\"ssh\":{\"ask\":\"first\"}", "ssh.ask", "\"never\"", "first", "\"always\"", "always" },
	{ "\"userNamespaces\":\"deny\"", "userNamespaces", "\"allow\"", "deny", "\"deny\"",
	  "deny" },
	{ "\"terminal\":\"filtered\"", "terminal", "\"raw\"", "filtered", "\"filtered\"",
	  "filtered" },
	{ "\"monitor\":{\"action\":\"cut\"}", "monitor.action", "\"warn\"", "cut", "\"stop\"",
	  "stop" },
};

static char *make_file(const char *path, const char *value)
{
	const char *dot = strchr(path, '.');

	return dot ? ab_printf("{\"%.*s\":{\"%s\":%s}}", (int)(dot - path), path, dot + 1, value)
		   : ab_printf("{\"%s\":%s}", path, value);
}

/* A project cannot decide about these in any case. */
static bool applies(enum way way, const char *key)
{
	return way != PROJECT || strncmp(key, "records.", 8) != 0;
}

static void test_every_way(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t held = 0, granted = 0, told = 0, tried = 0;

		for (int way = 0; way < WAYS; way++) {
			ab_autofree char *wide = make_file(cases[i].key, cases[i].wider);
			ab_autofree char *narrow = make_file(cases[i].key, cases[i].narrower);
			struct ab_policy *p;

			if (!applies(way, cases[i].key))
				continue;
			tried++;
			manage(cases[i].managed);
			wish(way, wide);
			p = load();
			held += p && !strcmp(value_of(p, cases[i].key), cases[i].stays);
			told += p && p->attempts.len > 0 && notes.len == 1 &&
				strstr(notes.v[0], cases[i].key);
			if (p && strcmp(value_of(p, cases[i].key), cases[i].stays) != 0)
				printf("# way %d: %s\n", way, value_of(p, cases[i].key));
			if (!p)
				printf("# way %d: %s\n", way, error.text);
			ab_policy_free(p);
			reset();
			manage(cases[i].managed);
			wish(way, narrow);
			p = load();
			granted += p && !strcmp(value_of(p, cases[i].key), cases[i].granted) &&
				   p->attempts.len == 0;
			if (p && strcmp(value_of(p, cases[i].key), cases[i].granted) != 0)
				printf("# way %d, less: %s %s\n", way, value_of(p, cases[i].key),
				       joined(&p->attempts));
			ab_policy_free(p);
			reset();
		}
		ok(held == tried, "%s is not widened: %s", cases[i].key, cases[i].wider);
		ok(granted == tried, "but may be %s", cases[i].granted);
		ok(told == tried || !strcmp(cases[i].key, "assurance.require"),
		   "the attempt is said in one line");
	}
}

/* Options and variables. */
static void test_flags(void)
{
	struct ab_policy *p;

	manage("\"network\":{\"mode\":\"filtered\",\"deny\":[\"evil.org\"],\"unknown\":\"deny\"},"
	       "\"limits\":{\"timeout\":\"1h\"},\"assurance\":{\"fallback\":\"strict\"},"
	       "\"filesystem\":{\"denyRead\":[\"~/hidden\"],\"denyWrite\":[\"deploy\",\"~/ro\"]}");
	set_env("AGENTBOX_NET", "allowed");
	p = load();
	ok(p && p->net.mode == AB_NET_FILTERED, "a variable does not widen it");
	is_str(notes.v[0],
	       "managed settings (/etc/agentbox/config.json) decide: "
	       "network.mode stays filtered, not allowed (AGENTBOX_NET)",
	       "and it is said");
	ab_policy_free(p);
	add_flag("network.mode", "allowed", "--net");
	add_flag("network.allow", "evil.org", "--allow");
	add_flag("network.unknown", "ask", "--unknown");
	add_flag("limits.timeout", "none", "--timeout");
	add_flag("assurance.fallback", "warn", "--fallback");
	add_flag("filesystem.denyRead", "!~/hidden", "--deny-read");
	add_flag("filesystem.denyRead", "!~", "--deny-read");
	add_flag("filesystem.denyWrite", "!deploy", "--deny-write");
	add_flag("filesystem.write", "~/ro/sub", "--write");
	p = load();
	ok(p && p->net.mode == AB_NET_FILTERED && p->net.unknown == AB_UNKNOWN_DENY &&
		   p->limits.timeout_ms == 3600000 && p->assurance.fallback == AB_FALLBACK_STRICT,
	   "nor does an option");
	ok(ab_strv_has(&p->net.deny, "evil.org"), "a denied host stays denied");
	ok(p->fs.deny_read.len > 2 &&
		   !strcmp(p->fs.deny_read.v[p->fs.deny_read.len - 2], at("home/hidden")),
	   "a hidden path comes after everything that takes it back");
	ok(ab_strv_has(&p->fs.deny_write, "deploy") &&
		   ab_strv_has(&p->fs.deny_write, at("home/ro")),
	   "protected names and paths stay");
	ok(notes.len == 1 && strstr(notes.v[0], "; and 5 more"), "one line: %s", joined(&notes));
	is_str(joined(&p->attempts),
	       keep_text("filesystem.denyRead: !%s/home/hidden has no effect (--deny-read) "
			 "filesystem.denyRead: !%s/home has no effect (--deny-read) "
			 "filesystem.denyWrite: !deploy has no effect (--deny-write) "
			 "filesystem.write: %s/home/ro/sub stays read-only (--write) "
			 "network.mode stays filtered, not allowed (--net) "
			 "network.allow: evil.org stays denied (--allow) "
			 "network.unknown stays deny, not ask (--unknown) "
			 "limits.timeout stays 1h, not none (--timeout) "
			 "assurance.fallback stays strict, not warn (--fallback)"),
	       "all of it is for the record");
	ab_policy_free(p);
	reset();

	/* Defaults are not wishes. */
	manage("\"limits\":{\"timeout\":\"1h\"},\"network\":{\"mode\":\"blocked\"}");
	p = load();
	ok(p && p->limits.timeout_ms == 3600000 && p->net.mode == AB_NET_BLOCKED && !notes.len &&
		   !p->attempts.len && p->net.fixed,
	   "without a wish nothing is said");
	ab_policy_free(p);
	input.profile = "development";
	p = load();
	ok(p && p->net.mode == AB_NET_BLOCKED, "a profile does not widen it");
	ab_policy_free(p);
	reset();

	/* What is not managed is as free as ever. */
	manage("\"limits\":{\"timeout\":\"1h\"}");
	add_flag("network.mode", "allowed", "--net");
	p = load();
	ok(p && p->net.mode == AB_NET_ALLOWED && !notes.len && !p->net.bounded,
	   "other keys are free");
	ab_policy_free(p);
	reset();
}

/* A link that the user made must not lead out of a managed folder. */
static void test_links(void)
{
	struct ab_policy *p;
	ab_autofree char *managed =
		ab_printf("\"filesystem\":{\"write\":{\"only\":[\"%s\"]}}", at("home/work"));

	manage(managed);
	if (symlink("/", at("home/work/out")) < 0)
		abort();
	add_flag("filesystem.write", at("home/work/out"), "--write");
	add_flag("filesystem.write", at("home/work/sub"), "--write");
	p = load();
	ok(p && ab_strv_has(&p->fs.write, at("home/work")) &&
		   ab_strv_has(&p->fs.write, at("home/work/sub")) &&
		   !ab_strv_has(&p->fs.write, at("home/work/out")),
	   "a link in a managed folder does not lead out of it");
	ab_policy_free(p);
	unlink(at("home/work/out"));
	reset();
}

static enum ab_access access_to(const struct ab_policy *p, const char *name, bool granted)
{
	struct ab_filter *filter = ab_filter_new(p);
	struct ab_own none = { 0 };
	struct ab_verdict verdict;
	struct ab_host host;

	ab_host_parse(name, strlen(name), &host, NULL);
	ab_filter_judge(filter, &none, &host, 443, &verdict);
	if (granted && verdict.basis != AB_BASIS_DENY && verdict.basis != AB_BASIS_BOUND)
		verdict.access = AB_ACCESS_ALLOW;
	ab_filter_free(filter);
	return verdict.access;
}

/* Answers during the run do not reach further than the list. */
static void test_hosts(void)
{
	struct ab_policy *p;

	manage("\"network\":{\"allow\":{\"only\":[\"*.a.org\"]},\"deny\":[\"no.a.org\"]}");
	put_file(USER_FILE, "{\"network\":{\"allow\":[\"x.a.org\"],\"unknown\":\"ask\"},"
			    "\"secrets\":{\"T\":{\"from\":\"env\",\"hosts\":[\"evil.org\"]}}}");
	p = load();
	ok(p && p->net.bounded && access_to(p, "x.a.org", false) == AB_ACCESS_ALLOW,
	   "an allowed host is allowed");
	ok(access_to(p, "y.a.org", false) == AB_ACCESS_ASK &&
		   access_to(p, "y.a.org", true) == AB_ACCESS_ALLOW,
	   "a permitted one can be asked about, and granted");
	ok(access_to(p, "evil.org", false) == AB_ACCESS_DENY &&
		   access_to(p, "evil.org", true) == AB_ACCESS_DENY,
	   "another one is neither asked about nor granted, not even for a secret");
	ok(access_to(p, "no.a.org", true) == AB_ACCESS_DENY, "and a denied one is denied");
	ab_policy_free(p);
	reset();
}

/* The user's registries are not part of a managed group. */
static void test_groups(void)
{
	struct ab_policy *p;

	manage("\"network\":{\"allow\":{\"only\":[\"@npm\",\"mirror.org\"]}}");
	put_file("home/.npmrc",
		 "registry=https://file.example/\n@a:registry=https://mirror.org/\n");
	set_env("npm_config_registry", "https://evil.example");
	add_flag("network.allow", "@npm", "--allow");
	add_flag("network.allow", "evil.example", "--allow");
	p = load();
	is_str(p ? value_of(p, "network.allow") : error.text,
	       "mirror.org *.npmjs.org registry.yarnpkg.com",
	       "a variable and a file of the user do not widen a managed group");
	ok(p && access_to(p, "evil.example", true) == AB_ACCESS_DENY &&
		   access_to(p, "file.example", true) == AB_ACCESS_DENY,
	   "nor does an answer allow such a host");
	ok(p && access_to(p, "registry.npmjs.org", false) == AB_ACCESS_ALLOW &&
		   access_to(p, "mirror.org", false) == AB_ACCESS_ALLOW,
	   "the group's own hosts are allowed, and a mirror that is managed by name");
	ab_policy_free(p);
	reset();
	add_flag("network.allow", "@npm", "--allow");
	p = load();
	ok(p && ab_strv_has(&p->net.allow, "file.example"), "elsewhere a group has the mirror");
	ab_policy_free(p);
	remove_file("home/.npmrc");
	reset();
}

/* A preset that is left out adds nothing. */
static void test_presets(void)
{
	struct ab_policy *p;

	manage("\"with\":[\"go\"]");
	add_flag("with", "node,go", "--with");
	p = load();
	is_str(p ? value_of(p, "with") : error.text, "go", "a preset is left out");
	ok(p && !ab_strv_has(&p->net.allow, "nodejs.org") &&
		   !strstr(value_of(p, "env.set"), "npm_config"),
	   "and so are its hosts and variables");
	ok(p && ab_strv_has(&p->net.allow, "go.dev"), "another one has its hosts");
	is_str(p ? joined(&p->attempts) : "", "with leaves out node (--with)",
	       "which is said once");
	ab_policy_free(p);
	reset();

	put_file("home/work/go.mod", "");
	put_file("home/work/package.json", "");
	manage("\"with\":[\"go\"]");
	add_flag("with", "auto", "--with");
	p = load();
	ok(p && !ab_strv_has(&p->net.allow, "nodejs.org") && ab_strv_has(&p->net.allow, "go.dev"),
	   "the same if files select them: %s", p ? value_of(p, "with") : error.text);
	ab_policy_free(p);
	manage("\"with\":[\"auto\"]");
	p = load();
	is_str(p ? value_of(p, "with") : error.text, "go node",
	       "those alone can be permitted, too");
	ab_policy_free(p);
	remove_file("home/work/go.mod");
	remove_file("home/work/package.json");
	reset();
}

/* A stricter wish does not make learning possible. */
static void test_learning(void)
{
	static const struct {
		const char *managed, *key, *value;
		bool fixed;
	} rows[] = {
		{ "\"network\":{\"unknown\":\"ask\"}", "network.unknown", "deny", true },
		{ "\"network\":{\"unknown\":\"ask\"}", "network.unknown", "ask", true },
		{ "\"network\":{\"unknown\":\"deny\"}", "network.mode", "blocked", true },
		{ "\"network\":{\"mode\":\"blocked\"}", "network.mode", "blocked", true },
		{ "\"network\":{\"mode\":\"filtered\"}", "network.mode", "blocked", false },
		{ "\"limits\":{\"timeout\":\"1h\"}", "network.unknown", "deny", false },
	};

	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		struct ab_policy *p;

		manage(rows[i].managed);
		add_flag(rows[i].key, rows[i].value, "--option");
		p = load();
		ok(p && p->net.fixed == rows[i].fixed, "{%s} with %s %s: learning is %s",
		   rows[i].managed, rows[i].key, rows[i].value,
		   rows[i].fixed ? "refused" : "possible");
		ab_policy_free(p);
		reset();
	}
}

/* A port that an active run is asked to publish. */
static void test_late_ports(void)
{
	static const struct {
		struct ab_publish one;
		const char *wrong; /* NULL: it is published */
	} rows[] = {
		{ { 8081, 3001 }, NULL },
		{ { 8081, 3002 }, "the managed settings do not permit to publish 8081:3002" },
		{ { 3001, 3001 }, "the managed settings do not permit to publish 3001:3001" },
		{ { 8082, 61080 }, "\"8082:61080\" is used by agentbox inside the box" },
		{ { 8083, 5432 }, "port 5432 is also in network.hostPorts" },
		{ { 8080, 3001 }, "host port 8080 is published twice" },
	};
	struct ab_complaint why;
	struct ab_policy *p;

	manage("\"network\":{\"publish\":{\"only\":[\"8080:3000\",\"8081:3001\"]}}");
	add_flag("network.publish", "8080:3000", "--publish");
	p = load();
	for (size_t i = 0; i < 3; i++) {
		int r = p ? ab_publish_check_late(p, &rows[i].one, &why) : -2;

		ok(rows[i].wrong ? r == -1 && !strcmp(why.wrong, rows[i].wrong) : r == 0,
		   "managed: %u:%u is %s", rows[i].one.host, rows[i].one.port,
		   rows[i].wrong ? "refused" : "published");
	}
	ab_policy_free(p);
	manage("\"network\":{\"publish\":[]}");
	p = load();
	ok(p && ab_publish_check_late(p, &rows[0].one, &why) < 0, "an empty list permits none");
	ab_policy_free(p);
	reset();

	add_flag("network.publish", "8080:3000", "--publish");
	add_flag("network.hostPorts", "5432", "--host-port");
	p = load();
	ok(p && ab_publish_check_late(p, &rows[1].one, &why) == 0, "without them a port is");
	for (size_t i = 3; i < AB_COUNT(rows); i++)
		ok(p && ab_publish_check_late(p, &rows[i].one, &why) < 0 &&
			   !strcmp(why.wrong, rows[i].wrong),
		   "refused: %s", rows[i].wrong);
	ab_policy_free(p);
	reset();
}

/* "~" is not what HOME says. */
static void test_home(void)
{
	struct ab_policy *p;

	manage("\"filesystem\":{\"denyRead\":[\"~/hidden\"],\"denyWrite\":[\"~/ro\"],"
	       "\"write\":{\"only\":[\"~/work\"]}}");
	make_dir("account/work");
	input.account_home = at("account");
	add_flag("filesystem.write", at("home/work"), "--write");
	add_flag("filesystem.write", at("account/work"), "--write");
	p = load();
	ok(p && ab_strv_has(&p->fs.deny_read, at("account/hidden")) &&
		   ab_strv_has(&p->fs.deny_write, at("account/ro")),
	   "another HOME does not move what is denied: %s", error.text);
	ok(p && ab_strv_has(&p->fs.deny_read, at("home/hidden")) &&
		   ab_strv_has(&p->fs.deny_write, at("home/ro")),
	   "and there it is denied, too");
	is_str(p ? value_of(p, "filesystem.write") : "", at("account/work"),
	       "what can be allowed does not move with it");
	ab_policy_free(p);
	reset();
	manage("\"filesystem\":{\"denyRead\":[\"~/hidden\"],\"write\":{\"only\":[\"~/work\"]}}");
	input.account_home = at("home");
	p = load();
	is_str(p ? value_of(p, "filesystem.write") : error.text, at("home/work"),
	       "with the account's own home it is allowed");
	ab_policy_free(p);
	reset();
}

static void test_environment(void)
{
	ab_autostrv struct ab_strv caller = { 0 }, env = { 0 };
	struct ab_policy *p;

	manage("\"env\":{\"strip\":[\"FOO\"]}");
	add_flag("env.pass", "FO*", "--pass-env");
	add_flag("env.set", "FOO=3", "--env");
	add_flag("env.set", "BAR=4", "--env");
	p = load();
	ab_env_set(&caller, "FOO", "1");
	ab_env_set(&caller, "FOX", "2");
	ab_environment_build(p, caller.v, &env, NULL);
	ok(!ab_strv_has(&env, "FOO=1") && !ab_strv_has(&env, "FOO=3"),
	   "a stripped variable is neither passed nor set");
	ok(ab_strv_has(&env, "FOX=2") && ab_strv_has(&env, "BAR=4"), "others are");
	ab_policy_free(p);
	reset();
}

static enum ab_decision judge(const struct ab_policy *p, const char *text)
{
	struct ab_scene scene = { .home = p->home,
				  .cwd = p->workspace,
				  .workspace = p->workspace,
				  .ruling = p->commands.ruling };
	struct ab_arena arena = { 0 };
	struct ab_judgement j;

	ab_judge_text(&arena, &scene, (struct ab_text){ text, (uint32_t)strlen(text) }, &j);
	ab_arena_fini(&arena);
	return j.decision;
}

static void test_commands(void)
{
	struct ab_policy *p;

	manage("\"commands\":{\"override\":{\"sudo\":\"escalated\",\"git-publish\":\"forbidden\","
	       "\"recursive-delete-root\":\"forbidden\"},"
	       "\"rules\":[{\"regex\":\"^deploy\",\"decision\":\"forbidden\"},"
	       "{\"prefix\":[\"kubectl\"],\"decision\":\"escalated\"}]}");
	put_file(USER_FILE,
		 "{\"commands\":{\"override\":{\"sudo\":\"allow\",\"git-publish\":\"allow\"},"
		 "\"rules\":[{\"match\":\"*\",\"decision\":\"allow\"}]}}");
	put_file(PROJECT_FILE, "{\"commands\":{\"rules\":[{\"prefix\":[\"deploy\"],"
			       "\"decision\":\"sandboxed\"}]}}");
	add_flag("filesystem.review", "true", "--review");
	p = load();
	ok(p, "rules are loaded: %s", error.text);
	ab_policy_review_commands(p);
	ok(judge(p, "sudo ls") == AB_ESCALATED && judge(p, "git push") == AB_FORBIDDEN &&
		   judge(p, "deploy now") == AB_FORBIDDEN && judge(p, "kubectl x") == AB_ESCALATED,
	   "neither rules nor overrides make a verdict milder");
	ok(judge(p, "rm -rf /") == AB_FORBIDDEN, "nor does a review");
	ok(judge(p, "make") == AB_ALLOW, "what is not managed follows the user's rules");
	ok(strstr(joined(&p->attempts), "commands.override: sudo=escalated, not sudo=allow"),
	   "which is said: %s", joined(&p->attempts));
	ab_policy_free(p);
	/* And they may be stricter. */
	put_file(USER_FILE, "{\"commands\":{\"override\":{\"sudo\":\"forbidden\"},"
			    "\"rules\":[{\"prefix\":[\"kubectl\"],\"decision\":\"forbidden\"}]}}");
	p = load();
	ok(p && judge(p, "sudo ls") == AB_FORBIDDEN && judge(p, "kubectl x") == AB_FORBIDDEN &&
		   !p->attempts.len,
	   "a stricter rule counts");
	ab_policy_free(p);
	reset();
}

static bool permits(const struct ab_policy *p, const char *method, const char *path)
{
	const struct ab_http_rule *rule;
	struct ab_host host;

	ab_host_parse("a.org", 5, &host, NULL);
	return ab_http_rules_judge(&p->net.http, &host, 443, method, strlen(method), path,
				   strlen(path), &rule);
}

static void test_http(void)
{
	struct ab_policy *p;

	manage("\"network\":{\"http\":[{\"host\":\"a.org\",\"methods\":[\"GET\"]}]}");
	put_file(USER_FILE, "{\"network\":{\"http\":[{\"host\":\"a.org\",\"paths\":[\"/x\"]}]}}");
	/* The rules of an untrusted file are no way around those of the system. */
	put_file(PROJECT_FILE, "{\"network\":{\"http\":[{\"host\":\"a.org\"}]}}");
	p = load();
	ok(p && permits(p, "GET", "/x"), "what all lists permit is permitted");
	ok(!permits(p, "POST", "/x"), "what the managed rules do not permit is not");
	ok(!permits(p, "GET", "/y"), "nor what the user's do not");
	ab_policy_free(p);
	reset();
}

static void test_origins(void)
{
	struct ab_policy *p;

	put_file(SYSTEM_FILE, "{\"limits\":{\"files\":100},\n"
			      "\"managed\":{\"limits\":{\"timeout\":\"1h\"}}}");
	p = load();
	{
		const struct ab_config *c = &p->store->config;
		ab_autofree char *managed = ab_origin_text(c->v[AB_KEY_TIMEOUT].from);
		ab_autofree char *plain = ab_origin_text(c->v[AB_KEY_FILES].from);

		ok(strstr(managed, "system.json:2 (managed)"), "a managed value is marked: %s",
		   managed);
		ok(strstr(plain, "system.json:1") && !strstr(plain, "managed"), "others are not");
	}
	ab_policy_free(p);
	reset();
}

static void test_mistakes(void)
{
	static const char *const wrong[][2] = {
		{ "\"extends\":\"ci\"", "extends: cannot be managed" },
		{ "\"secrets\":{\"T\":{\"from\":\"env\",\"hosts\":[\"a.org\"]}}",
		  "secrets: cannot be managed" },
		{ "\"network\":{\"allow\":[\"a.org\"]}",
		  "managed.network.allow: a managed list is the most that is allowed" },
		{ "\"filesystem\":{\"denyRead\":[\"!~/x\"]}",
		  "managed.filesystem.denyRead[0]: a managed list takes nothing back" },
		{ "\"commands\":{\"rules\":[{\"match\":\"x\",\"decision\":\"allow\"}]}",
		  "a managed rule can only make a verdict stricter" },
		{ "\"managed\":{}", "managed.managed: is only for the system's settings" },
		{ "\"limits\":{\"time\":\"1h\"}", "managed.limits.time: unknown key" },
	};
	struct ab_policy *p;

	for (size_t i = 0; i < AB_COUNT(wrong); i++) {
		manage(wrong[i][0]);
		p = load();
		ok(!p && strstr(error.text, wrong[i][1]), "refused: %s", error.text);
		ab_policy_free(p);
	}
	reset();
	for (int way = 0; way < WAYS; way++) {
		wish(way, "{\"managed\":{\"limits\":{\"timeout\":\"none\"}}}");
		p = load();
		ok(!p && strstr(error.text, "managed: is only for the system's settings"),
		   "another file has no such section: %s", error.text);
		ab_policy_free(p);
		reset();
	}
}

int main(void)
{
	world_init();
	set_env("T", "secret");
	test_every_way();
	test_flags();
	test_links();
	test_hosts();
	test_groups();
	test_presets();
	test_learning();
	test_late_ports();
	test_home();
	test_environment();
	test_commands();
	test_http();
	test_origins();
	test_mistakes();
	world_fini();
	return done();
}
