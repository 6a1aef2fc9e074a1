#include "policy/layers/compare.h"

#include "base/data/arena.h"
#include "policy/layers/trust.h"
#include "policy/model/config.h"
#include "policy_help.h"
#include "shell/judge/judge.h"
#include "tap.h"

static uint32_t seed = 7;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Elements for each key that meet, miss, widen and narrow each other. */
static const char *const paths[] = {
	"\".\"",      "\"sub\"",  "\"./sub/deep\"", "\"~\"",	"\"~/.claude\"",   "\"~/other\"",
	"\"/opt/x\"", "\"/opt\"", "\"..\"",	    "\"link\"", "\"sub/link2/x\"",
};
static const char *const reads[] = {
	"\".\"", "\"@system\"", "\"/usr/lib\"", "\"~\"", "\"/srv\"", "\"link\"",
};
static const char *const patterns[] = {
	"\"~/.ssh\"", "\"!~/.ssh/id_rsa\"", "\"!~/.aws\"",	"\"priv*\"",
	"\"~/.aws\"", "\"/etc/hosts\"",	    "\"!/etc/shadow\"", "\"~\"",
};
static const char *const names[] = {
	"\".git/hooks\"", "\"!.git/hooks\"", "\"!.agentbox.json\"",
	"\"Makefile\"",	  "\"./build\"",     "\"!.vscode\"",
};
static const char *const sockets[] = {
	"\"/run/a.sock\"",
	"\"/run/docker.sock\"",
	"\"/run\"",
};
static const char *const hosts[] = {
	"\"github.com\"",	"\"*.github.com\"",
	"\"api.github.com\"",	"\"github.com:443\"",
	"\"github.com:8080\"",	"\"*.test\"",
	"\"10.0.0.1\"",		"\"evil.example\"",
	"\"@github\"",		"\"*.api.github.com:22\"",
	"\"10.0.0.0/8\"",	"\"10.0.0.0/31:443\"",
	"\"0.0.0.0/0\"",	"\"2001:db8::/32\"",
	"\"[2001:db8::1]:22\"",
};
static const char *const ranges[] = {
	"\"10.0.0.0/8\"", "\"10.1.0.0/16\"", "\"10.1.0.0/16:22\"",
	"\"0.0.0.0/0\"",  "\"fd00::/8\"",    "\"10.1.2.3:22\"",
};
static const char *const ports[] = { "5432", "6379", "9" };
static const char *const published[] = { "3000", "\"8080:3000\"", "\"9000:22\"" };
static const char *const upstreams[] = {
	"\"none\"",
	"\"env\"",
	"\"http://proxy.example:3128\"",
	"\"http://u:p@evil.example:1\"",
};
static const char *const variables[] = {
	"\"LANG\"", "\"*\"", "\"GITHUB_TOKEN\"", "\"LC_ALL\"", "\"LC_*\"", "\"PATH\"", "\"AWS_*\"",
};
static const char *const assignments[] = {
	"\"LD_PRELOAD\":\"/x\"",
	"\"PATH\":\"/evil\"",
	"\"CI\":\"1\"",
};
static const char *const properties[] = {
	"\"limits\"",
	"\"user-ns\"",
	"\"transparent\"",
	"\"net-fence\"",
};
static const char *const sizes[] = { "\"1M\"", "\"512M\"", "\"1G\"", "\"2T\"" };
static const char *const limits[] = { "\"1M\"", "\"1G\"", "\"none\"" };
static const char *const times[] = { "\"1s\"", "\"1h\"", "\"none\"" };
static const char *const counts[] = { "16", "4096", "100000", "\"none\"" };

static const char *const waits[] = { "\"1s\"", "\"1m\"", "\"1h\"" };
static const char *const alarms[] = { "0", "1", "100", "5000", "\"none\"" };
static const char *const uploads[] = { "\"0\"", "\"1M\"", "\"1G\"", "\"none\"" };
static const char *const kept[] = { "\"1\"", "\"10M\"", "\"1G\"" };
static const char *const ages[] = { "\"1d\"", "\"90d\"", "\"none\"" };

static const char *const rules[] = {
	"{\"match\":\"git push *\",\"decision\":\"forbidden\"}",
	"{\"match\":\"*\",\"decision\":\"allow\"}",
	"{\"match\":\"*\",\"decision\":\"sandboxed\"}",
	"{\"prefix\":[\"git\"],\"decision\":\"escalated\",\"reason\":\"x\"}",
	"{\"regex\":\"^make\",\"decision\":\"allow\"}",
	"{\"regex\":\"x+\",\"decision\":\"forbidden\"}",
	"{\"match\":\"*push*\",\"decision\":\"sandboxed\"}",
	"{\"prefix\":[\"make\",\"x\"],\"decision\":\"forbidden\"}",
	"{\"match\":\"rm *\",\"decision\":\"escalated\"}",
	"{\"match\":\"sudo *\",\"decision\":\"allow\"}",
};
static const char *const overrides[] = {
	"\"sudo\":\"allow\"",
	"\"destructive-find\":\"escalated\"",
	"\"fork-bomb\":\"sandboxed\"",
	"\"git-publish\":\"forbidden\"",
	"\"safe-read\":\"sandboxed\"",
	"\"git-read\":\"escalated\"",
	"\"recursive-delete-root\":\"allow\"",
	"\"unparsed\":\"allow\"",
};

static const char *const tools[] = {
	"\"mcp__*\":\"deny\"",
	"\"mcp__a__b\":\"allow\"",
	"\"WebFetch\":\"ask\"",
	"\"*\":\"allow\"",
};
static const char *const https[] = {
	"{\"host\":\"github.com\"}",
	"{\"host\":\"*.github.com\",\"methods\":[\"GET\"]}",
	"{\"host\":\"api.github.com\",\"methods\":[\"GET\",\"POST\"],\"paths\":[\"/a*\"]}",
	"{\"host\":\"api.github.com\",\"paths\":[\"/a/b\",\"/c\"]}",
	"{\"host\":\"api.github.com:443\",\"paths\":[\"/*\"]}",
};
static const char *const ssh_hosts[] = { "\"github.com\"", "\"evil.example:2222\"",
					 "\"10.0.0.1\"" };
static const char *const ssh_keys[] = {
	"\"SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
	"\"SHA256:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\"",
};
static const char *const ssh_users[] = { "\"git\"", "\"root\"" };
static const char *const ssh_sign[] = { "\"git\"" };
static const char *const images[] = { "\"postgres:*\"", "\"postgres:16\"", "\"*\"" };
static const char *const notices[] = { "\"bell\"", "\"tmux\"" };
static const char *const presets[] = { "\"node\"", "\"auto\"", "\"go\"" };
static const char *const roots[] = { "\"/etc/a.pem\"", "\"b.pem\"" };
static const char *const secrets[] = {
	"\"OPENAI_API_KEY\":{}",
	"\"GITHUB_TOKEN\":{\"hosts\":[\"evil.example\"]}",
	"\"X\":{\"hosts\":[\"x.org\"],\"from\":\"command\",\"command\":[\"evil\"]}",
};

static const char *const host_tools[] = {
	"\"gh\":{\"program\":\"/usr/bin/gh\",\"allow\":[\"*\"]}",
	"\"hub\":{\"program\":\"/usr/bin/gh\",\"unconfined\":true}",
	"\"git\":{\"program\":\"/usr/bin/git\",\"network\":{\"mode\":\"allowed\"}}",
};

static const struct pool {
	const char *const *v;
	size_t n;
} pools[AB_KEY_COUNT] = {
#define POOL(list)                   \
	{                            \
		list, AB_COUNT(list) \
	}
	[AB_KEY_WITH] = POOL(presets),
	[AB_KEY_WRITE] = POOL(paths),
	[AB_KEY_READ] = POOL(reads),
	[AB_KEY_DENY_READ] = POOL(patterns),
	[AB_KEY_DENY_WRITE] = POOL(names),
	[AB_KEY_SHARE] = POOL(paths),
	[AB_KEY_RETURN] = POOL(sockets),
	[AB_KEY_UNIX] = POOL(sockets),
	[AB_KEY_TMP_SIZE] = POOL(sizes),
	[AB_KEY_NET_ALLOW] = POOL(hosts),
	[AB_KEY_NOTIFY] = POOL(notices),
	[AB_KEY_NET_WAIT] = POOL(waits),
	[AB_KEY_NET_DENY] = POOL(hosts),
	[AB_KEY_ALLOW_PRIVATE] = POOL(ranges),
	[AB_KEY_NET_QUIET] = POOL(hosts),
	[AB_KEY_HOST_PORTS] = POOL(ports),
	[AB_KEY_PUBLISH] = POOL(published),
	[AB_KEY_UPSTREAM] = POOL(upstreams),
	[AB_KEY_HTTP] = POOL(https),
	[AB_KEY_ROOTS] = POOL(roots),
	[AB_KEY_SECRETS] = POOL(secrets),
	[AB_KEY_ENV_PASS] = POOL(variables),
	[AB_KEY_ENV_STRIP] = POOL(variables),
	[AB_KEY_ENV_SET] = POOL(assignments),
	[AB_KEY_RULES] = POOL(rules),
	[AB_KEY_OVERRIDE] = POOL(overrides),
	[AB_KEY_TIMEOUT] = POOL(times),
	[AB_KEY_MEMORY] = POOL(limits),
	[AB_KEY_PROCESSES] = POOL(counts),
	[AB_KEY_FILES] = POOL(counts),
	[AB_KEY_CPU] = POOL(times),
	[AB_KEY_FILE_SIZE] = POOL(limits),
	[AB_KEY_OUTPUT] = POOL(kept),
	[AB_KEY_DENIALS] = POOL(alarms),
	[AB_KEY_UPLOAD_HOST] = POOL(uploads),
	[AB_KEY_UPLOAD_RUN] = POOL(uploads),
	[AB_KEY_REQUEST_BODY] = POOL(limits),
	[AB_KEY_NEW_HOSTS] = POOL(alarms),
	[AB_KEY_KEEP_FOR] = POOL(ages),
	[AB_KEY_KEEP_RUNS] = POOL(counts),
	[AB_KEY_LAYERS_AGE] = POOL(ages),
	[AB_KEY_LAYERS_SIZE] = POOL(limits),
	[AB_KEY_REQUIRE] = POOL(properties),
	[AB_KEY_TOOLS] = POOL(tools),
	[AB_KEY_SSH_HOSTS] = POOL(ssh_hosts),
	[AB_KEY_SSH_KEYS] = POOL(ssh_keys),
	[AB_KEY_SSH_USERS] = POOL(ssh_users),
	[AB_KEY_SSH_SIGN] = POOL(ssh_sign),
	[AB_KEY_SSH_COUNT] = POOL(counts),
	[AB_KEY_SSH_TIME] = POOL(times),
	[AB_KEY_DOCKER_IMAGES] = POOL(images),
	[AB_KEY_DOCKER_MOUNTS] = POOL(paths),
	[AB_KEY_DOCKER_SOCKET] = POOL(sockets),
	[AB_KEY_HOST_TOOLS] = POOL(host_tools),
};

static void random_value(FILE *f, enum ab_key_id id)
{
	static const char *const profiles[] = { "default", "read-only", "development", "claude" };
	const struct ab_key *key = &ab_keys[id];
	bool object = key->type == AB_TYPE_ASSIGNMENTS || key->type == AB_TYPE_OVERRIDES ||
		      key->type == AB_TYPE_TOOLS || key->type == AB_TYPE_SECRETS ||
		      key->type == AB_TYPE_HOST_TOOLS;
	/* Each at most once: keys and ports must not repeat. */
	bool once = object || key->type == AB_TYPE_PORTS || key->type == AB_TYPE_PUBLISH;
	uint32_t n, first;

	if (key->type == AB_TYPE_PROFILE) {
		fprintf(f, "\"%s\"", profiles[rnd(4)]);
	} else if (key->type == AB_TYPE_WORD) {
		const char *word = key->words[rnd((uint32_t)key->nwords)].name;
		bool plain = strcmp(word, "true") == 0 || strcmp(word, "false") == 0;

		fprintf(f, plain ? "%s" : "\"%s\"", word);
	} else if (!ab_key_is_list(key)) {
		fputs(pools[id].v[rnd((uint32_t)pools[id].n)], f);
	} else if ((id == AB_KEY_READ || id == AB_KEY_SSH_KEYS || id == AB_KEY_SSH_USERS) &&
		   rnd(2)) {
		fputs("\"all\"", f);
	} else {
		bool only = key->merge == AB_MERGE_ADD && rnd(2);

		n = once ? rnd((uint32_t)pools[id].n + 1) : rnd(5);
		first = rnd((uint32_t)pools[id].n);
		fputs(only ? "{\"only\":[" : object ? "{" : "[", f);
		for (uint32_t i = 0; i < n; i++)
			fprintf(f, "%s%s", i ? "," : "",
				pools[id].v[once ? (first + i) % pools[id].n
						 : rnd((uint32_t)pools[id].n)]);
		fputs(only ? "]}" : object ? "}" : "]", f);
	}
}

static void random_file(const char *name, uint32_t one_in)
{
	FILE *f;
	const char *group = "";
	bool first = true, filtered = false;

	remove_file(name);
	f = fopen(at(name), "w");
	fputs("{\"$schema\":\"x\"", f);
	for (int id = 0; id < AB_KEY_COUNT; id++) {
		const char *path = ab_keys[id].path;
		size_t n = strcspn(path, ".");

		if (path[n] && strncmp(group, path, n + 1) != 0) {
			fprintf(f, "%s,\"%.*s\":{", group[0] ? "}" : "", (int)n, path);
			group = path;
			first = true;
		}
		if (!path[n] && group[0]) {
			fputs("}", f);
			group = "";
		}
		/* These need a mode that has a place for them. */
		if ((id == AB_KEY_HOST_PORTS || id == AB_KEY_PUBLISH || id == AB_KEY_HTTP) &&
		    !filtered)
			continue;
		if (rnd(one_in))
			continue;
		fprintf(f, "%s\"%s\":", path[n] && first ? "" : ",", path[n] ? path + n + 1 : path);
		first = first && !path[n];
		filtered |= id == AB_KEY_NET_MODE && rnd(2);
		if (id == AB_KEY_NET_MODE && filtered)
			fputs("\"filtered\"", f);
		else
			random_value(f, id);
	}
	fputs(group[0] ? "}}" : "}", f);
	fclose(f);
}

/* Commands of every decision, alone and together. */
static const char *const commands[] = {
	"ls",
	"git status",
	"make x",
	"npm test",
	"sudo ls",
	"git push",
	"git push origin x",
	"git pull",
	"find . -delete",
	"find / -delete",
	"rm -rf /",
	":(){ :|:& };:",
	"cat ~/.ssh/id_rsa",
	"ls && git push x",
	"sudo make x | cat",
	"$x y",
	"cd a",
	"(",
	"sh -c 'git push x'",
	"curl x | sh",
};

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

/* How many commands are judged less strictly, and more. */
static void compare_judges(const struct ab_policy *without, const struct ab_policy *with,
			   size_t *milder, size_t *stricter)
{
	for (size_t i = 0; i < AB_COUNT(commands); i++) {
		enum ab_decision a = judge(without, commands[i]);
		enum ab_decision b = judge(with, commands[i]);

		*milder += b < a;
		*stricter += b > a;
		if (b < a)
			printf("# milder: %s\n", commands[i]);
	}
}

enum { ROUNDS = SANITIZED ? 150 : 1500 };

static void test_random(void)
{
	size_t milder = 0, stricter = 0;
	size_t wider = 0, loaded = 0, noted = 0, tighter = 0, trusted_wider = 0;

	input.workspace = ".";
	for (int i = 0; i < ROUNDS; i++) {
		struct ab_policy *with, *without, *trusted = NULL;
		struct ab_strv lines = { 0 }, less = { 0 }, more = { 0 };
		struct ab_trust_review review;

		random_file(USER_FILE, 3);
		remove_file(PROJECT_FILE);
		input.nsettings = 0;
		if (rnd(3) == 0)
			add_flag("network.mode", "filtered", "--net");
		if (rnd(3) == 0)
			add_flag("network.allow", "evil.example", "--allow");
		if (rnd(3) == 0)
			add_flag("filesystem.write", "/opt", "--write");
		without = load();
		random_file(PROJECT_FILE, 2);
		with = load();
		noted += notes.len > 0;
		if (!with || !without) {
			printf("# %d: %s %s\n", i, error.text, error.hint);
			break;
		}
		loaded++;
		ab_policy_wider(without, with, &lines);
		ab_policy_wider(with, without, &less);
		compare_judges(without, with, &milder, &stricter);
		wider += lines.len > 0;
		tighter += less.len > 0;
		for (size_t k = 0; k < lines.len && wider < 5; k++)
			printf("# %d wider: %s\n", i, lines.v[k]);

		/* The same file, trusted, is often wider: the comparison sees
		 * what the tightening took away. */
		if (i % 50 == 0 && ab_trust_review(&input, NULL, &review, &error) == 0) {
			ab_trust_record(&input, &review, &error);
			ab_trust_review_fini(&review);
			trusted = load();
		}
		if (trusted)
			ab_policy_wider(without, trusted, &more);
		trusted_wider += more.len > 0;
		ab_policy_free(trusted);
		ab_policy_free(with);
		ab_policy_free(without);
		ab_strv_fini(&lines);
		ab_strv_fini(&less);
		ab_strv_fini(&more);
	}
	ok(loaded == ROUNDS, "%zu random project files were loaded", loaded);
	ok(wider == 0, "none made the policy wider");
	ok(milder == 0, "none made a verdict milder");
	ok(stricter > ROUNDS / 3, "%zu verdicts became stricter", stricter);
	ok(tighter > ROUNDS / 3, "%zu made it tighter", tighter);
	ok(noted > ROUNDS * 2 / 3, "%zu were told what was left out", noted);
	ok(trusted_wider > ROUNDS / 75, "%zu of %d are wider when trusted", trusted_wider,
	   ROUNDS / 50);
	remove_file(USER_FILE);
	remove_file(PROJECT_FILE);
	reset_input();
}

static void test_notes(void)
{
	struct ab_policy *p;

	put_file(USER_FILE, "{\"network\":{\"allow\":[\"*.github.com\"]}}");
	put_file(PROJECT_FILE, "{\"extends\":\"development\",\"network\":{\"mode\":\"allowed\","
			       "\"allow\":[\"api.github.com\",\"evil.example\",\"x.example\"]},"
			       "\"env\":{\"set\":{\"PATH\":\"/evil\"}},"
			       "\"filesystem\":{\"denyRead\":[\"!~/.ssh/id_rsa\",\"secret\"]},"
			       "\"limits\":{\"timeout\":\"1m\"}}");
	p = load();
	ok(p && p->net.mode == AB_NET_FILTERED && p->env.set.len == 0, "what widens is left out");
	is_str(joined(&p->net.allow), "*.github.com", "what was permitted anyway stays");
	ok(p->limits.timeout_ms == 60000 && ab_strv_has(&p->fs.deny_read, at("home/work/secret")),
	   "what tightens counts");
	is_str(p->profile, "default", "the profile stays");
	is_str(notes.v[0],
	       ".agentbox.json is not trusted and asks for more (5 keys): agentbox trust",
	       "one line for all keys");
	ok(notes.len == 6, "and, on request, one for each of the five keys");
	is_str(notes.v[1], ".agentbox.json: extends stays default instead of development",
	       "a note for a word");
	is_str(notes.v[4], ".agentbox.json: network.allow: 2 entries ignored", "a note for a list");
	ab_policy_free(p);

	put_file(PROJECT_FILE,
		 "{\"filesystem\":{\"write\":{\"only\":[\"sub\",\"link\",\"new\"]}}}");
	p = load();
	is_str(joined(&p->fs.write), at("home/work/sub"),
	       "a narrower root stays, one that is a link or not there does not");
	ab_policy_free(p);
	put_file(PROJECT_FILE, "{\"filesystem\":{\"write\":[]},\"network\":{\"allow\":[]}}");
	p = load();
	ok(p && p->fs.write.len == 0 && p->net.allow.len == 0 && !notes.len,
	   "an empty list tightens to nothing, silently");
	ab_policy_free(p);
	put_file(PROJECT_FILE, "{\"filesystem\":{\"read\":[\"@system\",\".\"]}}");
	p = load();
	ok(p && !p->fs.read_all && p->fs.read.len > 1 && !notes.len,
	   "reading everything tightens to a list");
	ab_policy_free(p);
	put_file(PROJECT_FILE,
		 "{\"monitor\":{\"denialsPerMinute\":200,\"uploadPerRun\":\"1G\","
		 "\"action\":\"cut\"},\"records\":{\"keepFor\":\"1d\",\"keepRuns\":1},"
		 "\"layers\":{\"keepFor\":\"1d\",\"maxSize\":\"1M\"}}");
	p = load();
	ok(p && p->monitor.denials == 100 && p->monitor.upload_run == 1 << 30 &&
		   p->monitor.action == AB_ALARM_CUT && notes.len == 6,
	   "a threshold can be lowered or added, an action made stricter");
	ok(p->records.keep_ms == 30ULL * 86400000 && p->records.keep_runs == 1000,
	   "and what becomes of records is not a project's to say");
	ok(p->layers.keep_ms == 90ULL * 86400000 && p->layers.max_size == 20ULL << 30,
	   "nor what becomes of layers");
	ab_policy_free(p);
	remove_file(USER_FILE);
	remove_file(PROJECT_FILE);
}

static bool is_wider(const char *a, const char *b)
{
	struct ab_policy *x, *y;
	struct ab_strv lines = { 0 };
	bool wider;

	put_file("a.json", a);
	put_file("b.json", b);
	if (ab_policy_load_one(&input, at("a.json"), &x, &error) < 0 ||
	    ab_policy_load_one(&input, at("b.json"), &y, &error) < 0) {
		printf("# %s\n", error.text);
		return false;
	}
	ab_policy_wider(x, y, &lines);
	wider = lines.len > 0;
	ab_policy_free(x);
	ab_policy_free(y);
	ab_strv_fini(&lines);
	return wider;
}

static void test_compare(void)
{
	static const struct {
		const char *narrow, *wide, *name;
	} pairs[] = {
		{ "{\"network\":{\"mode\":\"blocked\"}}", "{\"network\":{\"mode\":\"filtered\"}}",
		  "mode" },
		{ "{\"network\":{\"allow\":[\"a.b.c\"]}}", "{\"network\":{\"allow\":[\"*.b.c\"]}}",
		  "wildcard" },
		{ "{\"network\":{\"allow\":[\"203.0.113.0/25:443\"]}}",
		  "{\"network\":{\"allow\":[\"203.0.113.0/24\"]}}", "range of a list" },
		{ "{\"network\":{\"deny\":[\"203.0.113.0/24\"]}}",
		  "{\"network\":{\"deny\":[\"203.0.113.0/25\"]}}", "denied range" },
		{ "{\"network\":{\"deny\":[\"a.b\"]}}", "{}", "deny" },
		{ "{\"network\":{\"deny\":[\"a.b\"]}}", "{\"network\":{\"deny\":[\"a.b:22\"]}}",
		  "denied port" },
		{ "{\"filesystem\":{\"write\":[\"/a/b\"]}}",
		  "{\"filesystem\":{\"write\":[\"/a\"]}}", "root" },
		{ "{\"filesystem\":{\"read\":[\"/a\"]}}", "{}", "read" },
		{ "{}", "{\"filesystem\":{\"denyRead\":[\"!~/.aws\"]}}", "taken back" },
		{ "{\"filesystem\":{\"denyRead\":[\"!~/.aws\",\"~/.aws\"]}}",
		  "{\"filesystem\":{\"denyRead\":[\"~/.aws\",\"!~/.aws\"]}}",
		  "order of taking back" },
		{ "{}", "{\"filesystem\":{\"denyWrite\":[\"!.vscode\"]}}", "protected name" },
		{ "{\"filesystem\":{\"home\":\"private\"}}", "{}", "home" },
		{ "{\"limits\":{\"memory\":\"1G\"}}", "{\"limits\":{\"memory\":\"none\"}}",
		  "limit" },
		{ "{\"limits\":{\"output\":\"1M\"}}", "{}", "output" },
		{ "{}", "{\"monitor\":{\"denialsPerMinute\":0}}", "no threshold" },
		{ "{\"monitor\":{\"uploadPerHost\":\"1G\"}}", "{}",
		  "a threshold that was not there" },
		{ "{\"monitor\":{\"newHosts\":3}}", "{\"monitor\":{\"newHosts\":4}}", "hosts" },
		{ "{\"monitor\":{\"action\":\"hold\"}}", "{}", "action" },
		{ "{\"monitor\":{\"action\":\"stop\"}}", "{\"monitor\":{\"action\":\"cut\"}}",
		  "stricter action" },
		{ "{\"env\":{\"mode\":\"listed\"}}", "{}", "listed" },
		{ "{}", "{\"env\":{\"set\":{\"A\":\"1\"}}}", "set" },
		{ "{\"env\":{\"strip\":[\"FOO\"]}}", "{}", "strip" },
		{ "{\"assurance\":{\"require\":[\"net-fence\",\"limits\"]}}",
		  "{\"assurance\":{\"require\":[\"net-fence\"]}}", "require" },
		{ "{}", "{\"assurance\":{\"fallback\":\"warn\"}}", "fallback" },
		{ "{\"filesystem\":{\"unix\":[]}}", "{\"filesystem\":{\"unix\":[\"/x\"]}}",
		  "socket" },
		{ "{}", "{\"network\":{\"hostPorts\":[5432]}}", "host port" },
		{ "{}", "{\"network\":{\"publish\":[3000]}}", "published" },
		{ "{\"network\":{\"publish\":[3000]}}",
		  "{\"network\":{\"publish\":[\"3000\",\"8080:3000\"]}}", "published elsewhere" },
		{ "{\"network\":{\"allowPrivate\":[\"10.1.0.0/16\"]}}",
		  "{\"network\":{\"allowPrivate\":[\"10.0.0.0/8\"]}}", "range" },
	};

	for (size_t i = 0; i < AB_COUNT(pairs); i++) {
		ok(is_wider(pairs[i].narrow, pairs[i].wide), "wider: %s", pairs[i].name);
		ok(!is_wider(pairs[i].wide, pairs[i].narrow) ||
			   !strcmp(pairs[i].name, "order of taking back"),
		   "and not the reverse: %s", pairs[i].name);
		ok(!is_wider(pairs[i].wide, pairs[i].wide), "nor than itself: %s", pairs[i].name);
	}
}

static void test_diff(void)
{
	struct ab_policy *a, *b;
	char *text;

	if (ab_policy_load_one(&input, "workspace-write", &a, &error) < 0 ||
	    ab_policy_load_one(&input, "workspace-write-whitelist", &b, &error) < 0)
		return;
	text = ab_policy_diff(a, "A", b, "B", false);
	is_str(text, "allowed by B, not by A:\n  network.mode: filtered, not blocked\n",
	       "a diff names what one allows and the other does not");
	free(text);
	text = ab_policy_diff(a, "A", b, "B", true);
	is_str(text,
	       "{\"a\":\"A\",\"b\":\"B\",\"aAllows\":[],\"bAllows\":[{\"key\":\"network.mode\",\"value\":\"filtered, not blocked\"}]}\n",
	       "as JSON too");
	free(text);
	text = ab_policy_diff(a, "A", a, "A", false);
	is_str(text, "both allow the same\n", "or says there is none");
	free(text);
	ab_policy_free(a);
	ab_policy_free(b);
}

int main(void)
{
	world_init();
	make_dir("home/other");
	make_dir("home/work/sub/deep");
	if (symlink("/etc", at("home/work/link")) < 0 ||
	    symlink("/", at("home/work/sub/link2")) < 0)
		return 1;
	test_notes();
	test_compare();
	test_diff();
	test_random();
	world_fini();
	return done();
}
