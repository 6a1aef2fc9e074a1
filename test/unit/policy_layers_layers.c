#include "policy/layers/layers.h"

#include "agents/agents.h"
#include "policy/layers/compare.h"
#include "policy/layers/profiles.h"
#include "policy/layers/trust.h"
#include "policy/model/config.h"
#include "policy_help.h"
#include "tap.h"

static void test_default(void)
{
	struct ab_policy *p = load();

	ok(p, "without any file there is a policy");
	if (!p)
		return;
	is_str(p->profile, "default", "the profile is default");
	is_str(p->workspace, at("home/work"), "the workspace is cwd");
	is_str(joined(&p->fs.write), at("home/work"), "which is writable");
	ok(p->fs.read_all && p->fs.home == AB_HOME_LAYERED, "everything is readable");
	ok(ab_strv_has(&p->fs.deny_read, at("home/.ssh/*")) &&
		   ab_strv_has(&p->fs.deny_read, "/etc/shadow"),
	   "but not keys");
	ok(ab_strv_has(&p->fs.deny_write, ".git/hooks"), "hooks are protected");
	ok(p->net.mode == AB_NET_FILTERED && p->net.allow.len == 0,
	   "the network is filtered, with an empty list");
	ok(p->net.unknown == AB_UNKNOWN_ASK && !p->net.ask_anywhere,
	   "unknown hosts are asked for, on a terminal only");
	ok(!p->env.only_listed && ab_strv_has(&p->env.strip, "*TOKEN"), "tokens are stripped");
	ok(p->assurance.fallback == AB_FALLBACK_STRICT &&
		   (p->assurance.require & AB_PROP_BIT(AB_PROP_NET_FENCE)) &&
		   !(p->assurance.require & AB_PROP_BIT(AB_PROP_LIMITS)),
	   "strict, fences required, limits not");
	ok(p->limits.timeout_ms == 0 && p->fs.tmp_size == 1ULL << 30,
	   "no timeout; a gigabyte of /tmp");
	ok(ab_strv_has(&p->fs.deny_read, at("home/.local/state/agentbox")) &&
		   ab_strv_has(&p->fs.deny_write, at("home/.config/agentbox")) &&
		   ab_strv_has(&p->fs.deny_write, at("home/work/.agentbox.json")),
	   "our own state and configuration are closed");
	ab_policy_free(p);
}

static void test_profiles(void)
{
	static const struct {
		const char *name;
		enum ab_net_mode net;
		size_t writable;
		enum ab_unknown unknown;
		enum ab_fallback fallback;
	} want[] = {
		{ "default", AB_NET_FILTERED, 1, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
		{ "read-only", AB_NET_BLOCKED, 0, AB_UNKNOWN_DENY, AB_FALLBACK_STRICT },
		{ "workspace-write", AB_NET_BLOCKED, 1, AB_UNKNOWN_DENY, AB_FALLBACK_STRICT },
		{ "workspace-write-whitelist", AB_NET_FILTERED, 1, AB_UNKNOWN_DENY,
		  AB_FALLBACK_STRICT },
		{ "development", AB_NET_ALLOWED, 1, AB_UNKNOWN_ASK, AB_FALLBACK_WARN },
		{ "ci", AB_NET_BLOCKED, 1, AB_UNKNOWN_DENY, AB_FALLBACK_STRICT },
		{ "claude", AB_NET_FILTERED, 3, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
		{ "codex", AB_NET_FILTERED, 2, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
		{ "gemini", AB_NET_FILTERED, 1, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
		{ "opencode", AB_NET_FILTERED, 1, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
		{ "copilot", AB_NET_FILTERED, 1, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
		{ "qwen", AB_NET_FILTERED, 1, AB_UNKNOWN_ASK, AB_FALLBACK_STRICT },
	};
	struct ab_strv names = { 0 }, docs = { 0 };
	struct ab_profile profile;

	ab_policy_profiles(&input, &names, &docs);
	ok(names.len == AB_COUNT(want) && docs.len == names.len,
	   "the profiles are the twelve of the manual");
	for (size_t i = 0; i < AB_COUNT(want); i++) {
		struct ab_policy *p;

		input.profile = want[i].name;
		p = load();
		ok(p && ab_strv_has(&names, want[i].name) && p->net.mode == want[i].net &&
			   p->fs.write.len == want[i].writable &&
			   p->net.unknown == want[i].unknown &&
			   p->assurance.fallback == want[i].fallback &&
			   ab_strv_has(&p->fs.deny_read, "/etc/shadow"),
		   "profile %s", want[i].name);
		ab_policy_free(p);
	}
	input.profile = "gemini";
	{
		struct ab_policy *p = load();

		ok(ab_strv_has(&p->env.set, "GEMINI_SANDBOX=false"), "gemini's own sandbox is off");
		ok(ab_strv_has(&p->net.allow, "generativelanguage.googleapis.com") &&
			   ab_strv_has(&p->env.pass, "GEMINI_API_KEY"),
		   "its service and its key are there");
		ab_policy_free(p);
	}
	/* Every agent keeps its home, and what it runs is judged. */
	for (size_t i = 0; ab_profile_at(i, &profile); i++) {
		bool agent = profile.agent;
		struct ab_policy *p;

		input.profile = profile.name;
		p = load();
		ok(p && agent == (p->fs.home == AB_HOME_KEPT) &&
			   agent == (p->commands.enforce == AB_ENFORCE_CHILDREN),
		   "profile %s is an agent's, or not", profile.name);
		ab_policy_free(p);
	}
	is_str(ab_agent_of_program("/usr/bin/claude")->name, "claude", "an agent by its path");
	ok(!ab_agent_of_program("ci") && !ab_agent_of_program("claude/x"),
	   "other profiles are not an agent's");
	ab_strv_fini(&names);
	ab_strv_fini(&docs);
	reset_input();
}

static void test_order(void)
{
	struct ab_policy *p;

	put_file(SYSTEM_FILE, "{\"network\":{\"mode\":\"blocked\",\"allow\":[\"s.example\"],"
			      "\"deny\":[\"ds.example\"]},\"limits\":{\"files\":100}}");
	p = load();
	ok(p && p->net.mode == AB_NET_BLOCKED && p->limits.files == 100, "the system file counts");
	ab_policy_free(p);

	put_file(USER_FILE,
		 "{\"network\":{\"mode\":\"allowed\",\"allow\":[\"u.example\"],"
		 "\"deny\":[\"du.example\"]},\"env\":{\"set\":{\"A\":\"1\",\"B\":\"2\"}}}");
	p = load();
	ok(p && p->net.mode == AB_NET_ALLOWED && p->limits.files == 100,
	   "the user file wins, key by key");
	is_str(joined(&p->net.allow), "s.example u.example", "lists that permit add up");
	is_str(joined(&p->net.deny), "ds.example du.example", "one that forbids grows");
	ab_policy_free(p);

	set_env("AGENTBOX_NET", "blocked");
	add_flag("network.allow", "f.example:8080", "--allow");
	add_flag("env.set", "B=3", "--env");
	p = load();
	ok(p && p->net.mode == AB_NET_BLOCKED, "a variable beats files");
	is_str(joined(&p->net.allow), "s.example u.example f.example:8080", "flags add to lists");
	is_str(joined(&p->env.set), "A=1 B=3", "an assignment replaces that of its name");
	ab_policy_free(p);
	add_flag("network.mode", "filtered", "--net");
	p = load();
	ok(p && p->net.mode == AB_NET_FILTERED, "a flag beats all");
	ab_policy_free(p);

	add_flag("network.unknown", "ask", "--unknown");
	p = load();
	ok(p && p->net.ask_anywhere, "asking that was asked for is for anywhere");
	ab_policy_free(p);

	reset_input();
	add_flag("filesystem.write", at("home/other"), "--write");
	add_flag("filesystem.write", NULL, "--read-only");
	p = load();
	is_str(joined(&p->fs.write), at("home/other"),
	       "an emptied list keeps what flags add, in any order");
	ab_policy_free(p);

	put_file(USER_FILE, "{\"filesystem\":{\"write\":[]}}");
	reset_input();
	p = load();
	ok(p && p->fs.write.len == 0, "an empty list means nothing");
	ab_policy_free(p);
	remove_file(USER_FILE);
	remove_file(SYSTEM_FILE);
	reset_input();
}

static void trust_project(void)
{
	struct ab_trust_review review;

	if (ab_trust_review(&input, NULL, &review, &error) == 0) {
		ab_trust_record(&input, &review, &error);
		ab_trust_review_fini(&review);
	}
}

/* Every list that does not forbid adds up, and { "only": [...] } replaces. */
static void test_every_list(void)
{
	static const struct {
		const char *path, *first, *second;
	} lists[] = {
		{ "filesystem.write", "\"/a\"", "\"/b\"" },
		{ "filesystem.share", "\"~/a\"", "\"~/b\"" },
		{ "filesystem.return", "\"~/a\"", "\"~/b\"" },
		{ "filesystem.unix", "\"/a\"", "\"/b\"" },
		{ "network.allow", "\"a.org\"", "\"b.org\"" },
		{ "network.allowPrivate", "\"10.0.0.0/8\"", "\"fd00::/8\"" },
		{ "network.hostPorts", "1000", "2000" },
		{ "network.publish", "3000", "4000" },
		{ "network.http", "{\"host\":\"a.org\"}", "{\"host\":\"b.org\"}" },
		{ "network.roots", "\"/a.pem\"", "\"/b.pem\"" },
		{ "env.pass", "\"A\"", "\"B\"" },
		{ "assurance.require", "\"limits\"", "\"transparent\"" },
	};

	for (size_t i = 0; i < AB_COUNT(lists); i++) {
		const struct ab_key *key = ab_key_find(lists[i].path, strlen(lists[i].path));
		int group = (int)strcspn(lists[i].path, ".");
		const char *name = lists[i].path + group + 1;
		size_t len[3] = { 0 };

		for (int k = 0; k < 3; k++) {
			ab_autofree char *one = ab_printf("{\"%.*s\":{\"%s\":[%s]}}", group,
							  lists[i].path, name, lists[i].first);
			ab_autofree char *two =
				ab_printf("{\"%.*s\":{\"%s\":%s[%s]%s}}", group, lists[i].path,
					  name, k == 2 ? "{\"only\":" : "", lists[i].second,
					  k == 2 ? "}" : "");
			struct ab_policy *p;

			put_file(SYSTEM_FILE, one);
			put_file(USER_FILE, k ? two : "{}");
			p = load();
			len[k] = p ? p->store->config.v[key - ab_keys].len : 0;
			ab_policy_free(p);
		}
		ok(len[0] && len[1] == len[0] + 1 && len[2] == 1, "%s adds up, or replaces",
		   lists[i].path);
	}
	put_file(SYSTEM_FILE, "{\"filesystem\":{\"read\":[\"/a\"]}}");
	put_file(USER_FILE, "{\"filesystem\":{\"read\":[\"/b\"]}}");
	{
		struct ab_policy *p = load();

		is_str(joined(&p->fs.read), "/a /b",
		       "a list of readable folders restricts \"all\", and adds to a list");
		ab_policy_free(p);
	}
	remove_file(USER_FILE);
	remove_file(SYSTEM_FILE);
	reset_input();
}

/* Lists of all layers, and those that replace. */
static void test_added(void)
{
	struct ab_policy *p;

	put_file(SYSTEM_FILE, "{\"network\":{\"allow\":[\"s.example\"]}}");
	put_file(USER_FILE, "{\"network\":{\"allow\":[\"u.example\"]},"
			    "\"filesystem\":{\"write\":[\"~/data\"]}}");
	input.profile = "codex";
	p = load();
	ok(p && ab_strv_has(&p->net.allow, "api.openai.com") &&
		   ab_strv_has(&p->net.allow, "s.example") &&
		   ab_strv_has(&p->net.allow, "u.example"),
	   "the lists of profile, system and user add up");
	ok(p->fs.write.len > 1 && strcmp(p->fs.write.v[1], at("home/data")) == 0, "so do folders");
	ab_policy_free(p);
	input.profile = NULL;

	put_file(PROJECT_FILE, "{\"network\":{\"allow\":[\"u.example\",\"evil.example\"]},"
			       "\"filesystem\":{\"write\":[\"~\"]}}");
	p = load();
	is_str(joined(&p->net.allow), "s.example u.example",
	       "an untrusted project adds nothing, and takes nothing away");
	ok(p->fs.write.len == 2, "nor a folder");
	ok(notes.len == 3, "which is said");
	ab_policy_free(p);

	put_file(PROJECT_FILE,
		 "{\"network\":{\"allow\":{\"only\":[\"u.example\",\"evil.example\"]}}}");
	p = load();
	is_str(joined(&p->net.allow), "u.example", "with \"only\" it reduces the list");
	ab_policy_free(p);

	put_file(PROJECT_FILE, "{\"network\":{\"allow\":[\"p.example\"]}}");
	trust_project();
	p = load();
	is_str(joined(&p->net.allow), "s.example u.example p.example", "a trusted one adds");
	ab_policy_free(p);

	put_file(PROJECT_FILE, "{\"network\":{\"allow\":{\"only\":[\"p.example\"]}}}");
	trust_project();
	p = load();
	is_str(joined(&p->net.allow), "p.example", "or replaces");
	ab_policy_free(p);

	add_flag("filesystem.write", NULL, "--read-only");
	p = load();
	ok(p && p->fs.write.len == 0, "an emptied list is empty");
	ab_policy_free(p);
	remove_file(PROJECT_FILE);
	remove_file(USER_FILE);
	remove_file(SYSTEM_FILE);
	reset_input();
}

static void test_extends(void)
{
	struct ab_policy *p;

	put_file(SYSTEM_FILE, "{\"extends\":\"read-only\"}");
	p = load();
	is_str(p->profile, "read-only", "a file can choose the profile");
	ok(p->fs.write.len == 0, "and has it");
	ab_policy_free(p);
	put_file(USER_FILE, "{\"extends\":\"ci\"}");
	p = load();
	is_str(p->profile, "ci", "the later file wins");
	ab_policy_free(p);
	set_env("AGENTBOX_PROFILE", "development");
	p = load();
	is_str(p->profile, "development", "then the variable");
	ab_policy_free(p);
	input.profile = "workspace-write";
	p = load();
	is_str(p->profile, "workspace-write", "then the flag");
	ab_policy_free(p);

	put_file(PROFILE_FILE("mine"),
		 "{\"extends\":\"base\",\"network\":{\"allow\":[\"m.example\"]}}");
	put_file(PROFILE_FILE("base"), "{\"extends\":\"ci\",\"limits\":{\"processes\":7}}");
	input.profile = "mine";
	p = load();
	ok(p && p->limits.processes == 7 && p->net.mode == AB_NET_BLOCKED,
	   "a profile of the user's builds on what it extends");
	is_str(joined(&p->net.allow), "m.example", "and adds its own");
	ab_policy_free(p);

	put_file(PROFILE_FILE("base"), "{\"extends\":\"mine\"}");
	p = load();
	ok(!p && error.code == AB_ECONFIG && strstr(error.text, "circle") &&
		   strstr(error.text, ".json:1"),
	   "a circle is an error with its place");
	ab_policy_free(p);
	input.profile = "clade";
	ok(!load() && error.code == AB_EUSAGE, "an unknown profile is an error");
	is_str(error.text, "--profile: unknown profile \"clade\"", "named");
	is_str(error.hint, "did you mean \"claude\"?", "with a guess");
	input.profile = "../../etc/x";
	ok(!load(), "a profile is a name, not a path");
	remove_file(PROFILE_FILE("mine"));
	remove_file(PROFILE_FILE("base"));
	remove_file(USER_FILE);
	remove_file(SYSTEM_FILE);
	reset_input();
}

static void test_config_flag(void)
{
	struct ab_policy *p;

	put_file(USER_FILE, "{\"limits\":{\"files\":77}}");
	put_file("home/other.json", "{\"limits\":{\"files\":88}}");
	input.config = "../other.json";
	p = load();
	ok(p && p->limits.files == 88, "--config replaces the user file");
	ok(p && ab_strv_has(&p->fs.deny_write, at("home/other.json")), "and is protected like it");
	ab_policy_free(p);
	input.config = "~/none.json";
	ok(!load() && error.code == AB_EUSAGE && strstr(error.text, "none.json"),
	   "one that does not exist is an error");
	input.config = NULL;
	set_env("AGENTBOX_CONFIG", at("home/other.json"));
	p = load();
	ok(p && p->limits.files == 88, "AGENTBOX_CONFIG does the same");
	ab_policy_free(p);
	reset_input();
	set_env("XDG_CONFIG_HOME", at("home/xdg"));
	p = load();
	ok(p && p->limits.files == 0, "XDG_CONFIG_HOME moves the user file");
	ab_policy_free(p);
	remove_file(USER_FILE);
	reset_input();
}

static void test_paths(void)
{
	struct ab_policy *p;

	put_file(USER_FILE,
		 "{\"filesystem\":{\"write\":[\".\",\"~/out\",\"sub/../sub2\",\"/opt//x/\"],"
		 "\"read\":[\"@system\",\"~\"],\"denyRead\":[\"priv*\",\"!priv-ok\"],"
		 "\"denyWrite\":[\"Makefile\",\"./build\",\"~/x\",\"a//b/\",\"!.vscode\"],"
		 "\"unix\":[\"/run/x.sock\"]}}");
	add_flag("filesystem.write", "here", "--write");
	input.cwd = at("home/work/sub");
	input.workspace = "..";
	p = load();
	ok(p, "paths of all kinds are taken");
	if (!p)
		return;
	{
		char want[5 * 4200];

		snprintf(want, sizeof(want),
			 "%s/home/work %s/home/out %s/home/work/sub2 /opt/x %s/home/work/sub/here",
			 top, top, top, top);
		is_str(joined(&p->fs.write), want,
		       "files are relative to the workspace, flags to cwd, ~ is home");
	}
	ok(!p->fs.read_all && ab_strv_has(&p->fs.read, "/usr") &&
		   ab_strv_has(&p->fs.read, at("home")),
	   "@system stands for its trees");
	is_str(p->fs.deny_read.v[p->fs.deny_read.len - 3], at("home/work/priv*"), "patterns stay");
	ok(p->fs.deny_read.v[p->fs.deny_read.len - 2][0] == '!', "and so does what takes back");
	ok(ab_strv_has(&p->fs.deny_write, "Makefile") && ab_strv_has(&p->fs.deny_write, "a/b") &&
		   ab_strv_has(&p->fs.deny_write, at("home/work/build")) &&
		   ab_strv_has(&p->fs.deny_write, at("home/x")),
	   "names stay names, ./ and ~ are paths");
	ok(!ab_strv_has(&p->fs.deny_write, ".vscode") &&
		   !ab_strv_has(&p->fs.deny_write, "!.vscode") &&
		   ab_strv_has(&p->fs.deny_write, ".idea"),
	   "a protected name can be taken back, that one only");
	ab_policy_free(p);
	put_file(USER_FILE,
		 "{\"filesystem\":{\"denyWrite\":[\"!~/.config/agentbox\",\"!.agentbox.json\"]}}");
	p = load();
	ok(p && ab_strv_has(&p->fs.deny_write, at("home/.config/agentbox")) &&
		   ab_strv_has(&p->fs.deny_write, at("home/work/.agentbox.json")),
	   "our own files cannot be taken back");
	ab_policy_free(p);
	remove_file(USER_FILE);
	reset_input();
}

static void test_workspace(void)
{
	struct ab_policy *p;

	input.cwd = at("home");
	ok(!load() && error.code == AB_EUSAGE, "home is no implicit workspace");
	is_str(error.text, "your home folder would be the writable workspace", "it says why");
	is_str(error.hint, "cd into a project, or pass --workspace DIR", "and what to do");
	input.profile = "read-only";
	p = load();
	ok(p && !p->workspace[0], "read-only needs no workspace");
	ab_policy_free(p);
	input.profile = NULL;
	input.workspace = ".";
	p = load();
	ok(p && !strcmp(p->workspace, at("home")), "home that was asked for is one");
	ab_policy_free(p);
	reset_input();
	input.cwd = top;
	ok(!load() && strstr(error.text, "which contains your home folder"),
	   "nor is what holds home");
	input.cwd = "/";
	ok(!load() && strstr(error.text, "whole file system"), "nor is /");
	input.workspace = "/";
	ok(!load() && error.code == AB_EUSAGE, "/ is none even when asked for");
	reset_input();
	if (symlink(at("home"), at("link")) == 0) {
		input.home = at("link");
		input.cwd = at("home");
		ok(!load() && strstr(error.text, "home folder"),
		   "a home by another name is still home");
	}
	reset_input();
	input.workspace = "sub";
	p = load();
	ok(p && !strcmp(p->workspace, at("home/work/sub")), "--workspace is relative to cwd");
	ab_policy_free(p);
	input.workspace = "none";
	ok(!load() && strstr(error.text, "No such file"), "and must exist");
	put_file("home/work/file", "");
	input.workspace = "file";
	ok(!load() && strstr(error.text, "not a folder"), "and be a folder");
	reset_input();
	add_flag("filesystem.write", "/", "--write");
	ok(!load() && strstr(error.text, "--write"), "/ is never writable");
	reset_input();
	set_env("AGENTBOX_STATE", at("home"));
	ok(!load() && strstr(error.text, "state folder"),
	   "a workspace inside our state is refused");
	reset_input();
	input.home = NULL;
	p = load();
	ok(p && !p->home && ab_strv_has(&p->fs.deny_read, "/etc/shadow"),
	   "without a home there is still a policy");
	ab_policy_free(p);
	reset_input();
}

static void test_flags(void)
{
	static const struct {
		const char *key, *value, *origin, *text, *hint;
	} bad[] = {
		{ "network.allow", "https://github.com", "--allow",
		  "--allow: \"https://github.com\" is not a host", "use \"github.com\"" },
		{ "network.mode", "open", "--net", "--net: invalid value \"open\"",
		  "use blocked, filtered or allowed" },
		{ "limits.memory", "4X", "--memory", "--memory: \"4X\" is not a size",
		  "use one like \"512M\" or \"4G\"" },
		{ "limits.processes", "0", "--processes", "--processes: \"0\" is out of range",
		  "use 1 to 4194304, or \"none\"" },
		{ "limits.timeout", "soon", "--timeout", "--timeout: \"soon\" is not a duration",
		  "use one like \"90s\" or \"1h30m\"" },
		{ "assurance.require", "net-fence,write-fense", "--require",
		  "--require: \"write-fense\" is not a guarantee",
		  "did you mean \"write-fence\"?" },
		{ "env.set", "FOO", "--env", "--env: \"FOO\" has no value", "use NAME=VALUE" },
		{ "env.set", "AGENTBOX_STATE=x", "--env",
		  "--env: \"AGENTBOX_STATE\" is reserved for agentbox", "choose another name" },
		{ "filesystem.write", "*.c", "--write", "--write: \"*.c\" is a pattern",
		  "name the folder" },
		{ "network.allow", "@nmp", "--allow", "--allow: \"@nmp\" is not a host group",
		  "did you mean \"@npm\"?" },
		{ "network.allowPrivate", "10.0.0.1/8", "--allow-private",
		  "--allow-private: \"10.0.0.1/8\" has address bits after its prefix",
		  "use \"10.0.0.0/8\"" },
		{ "filesystem.denyRead", "~root/x", "--deny-read",
		  "--deny-read: \"~root/x\" names another user's home", "use its full path" },
		{ "env.pass", "A-B", "--pass-env",
		  "--pass-env: \"A-B\" is not a valid variable name",
		  "use one like LANG or *_TOKEN" },
	};
	struct ab_policy *p;

	for (size_t i = 0; i < AB_COUNT(bad); i++) {
		reset_input();
		add_flag(bad[i].key, bad[i].value, bad[i].origin);
		ok(!load() && error.code == AB_EUSAGE, "bad %s", bad[i].origin);
		is_str(error.text, bad[i].text, "what is wrong");
		is_str(error.hint, bad[i].hint, "what would be right");
	}
	reset_input();
	add_flag("assurance.require", "limits,transparent", "--require");
	add_flag("limits.timeout", "1h30m", "--timeout");
	add_flag("limits.memory", "4G", "--memory");
	add_flag("limits.processes", "none", "--processes");
	add_flag("network.allowPrivate", "10.1.2.3:5432", "--allow-private");
	p = load();
	ok(p && (p->assurance.require & AB_PROP_BIT(AB_PROP_LIMITS)) &&
		   (p->assurance.require & AB_PROP_BIT(AB_PROP_TRANSPARENT)) &&
		   (p->assurance.require & AB_PROP_BIT(AB_PROP_USER_NS)),
	   "required properties add up");
	ok(p && p->limits.timeout_ms == 5400000 && p->limits.memory == 4ULL << 30 &&
		   p->limits.processes == 0,
	   "limits are read, none is no limit");
	is_str(joined(&p->net.allow_private), "10.1.2.3/32:5432", "ranges are canonical");
	ab_policy_free(p);
	reset_input();
	set_env("AGENTBOX_NET", "offen");
	ok(!load() && strstr(error.text, "AGENTBOX_NET"), "a bad variable is named");
	reset_input();
}

/* Is a policy that is loaded now the same as `p`? */
static bool same_now(const struct ab_policy *p)
{
	struct ab_policy *now = load();
	bool same = now && ab_policy_same(p, now) && ab_policy_same(now, p);

	ab_policy_free(now);
	return same;
}

static void test_same(void)
{
	static const char *const files[] = {
		"{\"network\": {\"allow\": [\"a.example.com\", \"b.example.com\"]}}",
		"{\"network\":\n {\"allow\": [\"a.example.com\"]}}",
		"{\"limits\": {\"timeout\": \"1h\"}, \"network\": {\"allow\": [\"a.example.com\"]}}",
		"{\"network\": {\"allow\": {\"only\": [\"a.example.com\"]}}}",
		"{\"commands\": {\"rules\": [{\"match\": \"x\", \"decision\": \"forbidden\"}]}}",
		"{\"network\": {\"upstream\": \"http://u:p@proxy.example.com:3128\"}}",
		"{\"network\": {\"upstream\": \"http://u:q@proxy.example.com:3128\"}}",
	};
	const char *before = "{\"network\": {\"allow\": [\"a.example.com\"]}}";

	reset_input();
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		struct ab_policy *p;

		put_file(USER_FILE, before);
		p = load();
		ok(p && same_now(p), "loaded twice, a policy is the same");
		put_file(USER_FILE, files[i]);
		ok(p && !same_now(p), "another one is not: %s", files[i]);
		ab_policy_free(p);
		before = files[i];
	}
	remove_file(USER_FILE);
	reset_input();
}

int main(void)
{
	world_init();
	test_same();
	test_default();
	test_profiles();
	test_order();
	test_every_list();
	test_added();
	test_extends();
	test_config_flag();
	test_paths();
	test_workspace();
	test_flags();
	world_fini();
	return done();
}
