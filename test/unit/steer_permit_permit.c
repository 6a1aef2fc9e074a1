/*
 * What a word of `allow` and `deny` means, what can be done about a denial,
 * what may become writable, and the words for all of it.
 */
#include "steer/permit/permit_state.h"

#include "base/data/mem.h"
#include "policy/edit/list_origin.h"
#include "policy_help.h"
#include "tap.h"

/* Freed at the end. */
static const char *keep(char *text)
{
	ab_strv_give(&texts, text);
	return text;
}

static const char *const kinds[] = { "denial", "host", "group", "path" };

/* "kind value", or "! why" */
static const char *read_word(const char *what)
{
	static char buf[8192];
	struct ab_meant meant;

	error = (struct ab_error){ 0 };
	if (ab_permit_read(&input, what, &meant, &error) < 0) {
		snprintf(buf, sizeof(buf), "! %s; %s", error.text, error.hint);
		return buf;
	}
	snprintf(buf, sizeof(buf), "%s %s", kinds[meant.kind],
		 meant.kind == AB_MEANT_DENIAL ? meant.denial.run
		 : meant.kind == AB_MEANT_PATH ? meant.path
					       : meant.entry);
	ab_meant_fini(&meant);
	return buf;
}

static void check_read(void)
{
	static const struct {
		const char *what, *means;
	} cases[] = {
		{ "7kq2x-1", "denial 7kq2x" },
		{ "7kq2x-e12", "denial 7kq2x" },
		{ "7kq2x-f3", "denial 7kq2x" },
		{ "7kq2x-1.", "host 7kq2x-1" },
		{ "7kq2x-01",
		  "! 7kq2x-01 is not a denial id; an id looks like 7kq2x-1; list denials with agentbox log --denied\nif it is a host, add a "
		  "dot: 7kq2x-01." },
		{ "7kq-f1",
		  "! 7kq-f1 is not a denial id; an id looks like 7kq2x-1; list denials with agentbox log --denied\nif it is a host, add a "
		  "dot: 7kq-f1." },
		{ "7kq-1.", "host 7kq-1" },
		{ "db-1.x.y", "host db-1.x.y" },
		{ "db-one", "host db-one" },
		{ "database-1", "host database-1" },
		{ "db-1:5432", "host db-1:5432" },
		{ "github.com", "host github.com" },
		{ "GitHub.com.:8080", "host github.com:8080" },
		{ "*.x.y", "host *.x.y" },
		{ "10.1", "host 10.0.0.1" },
		{ "203.0.113.0/24:443", "host 203.0.113.0/24:443" },
		{ "[::1]:80", "host [::1]:80" },
		{ "@npm", "group @npm" },
		{ "@nmp",
		  "! unknown group @nmp; groups: @github @npm "
		  "@pypi @crates @go @maven @rubygems @packagist @nuget @hex @debian @llm" },
		{ "https://github.com/x", "! \"https://github.com/x\" is not a host; use "
					  "\"github.com\"" },
		{ "*", "! \"*\" is not a host; for an open network use "
		       "\"mode\": \"allowed\"" },
		{ "", "! \"\" is not a host; " },
		{ "/data/../x", "path /x" },
		{ "sub", "! sub could be a host or a file; use ./sub for the "
			 "file, sub. for the host" },
		{ "sub.", "host sub" },
		{ "sub:443", "host sub:443" },
		{ "other", "host other" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		is_str(read_word(cases[i].what), cases[i].means, cases[i].what);
	is_str(read_word("."), keep(ab_printf("path %s", input.cwd)), ".");
	is_str(read_word("./sub"), keep(ab_printf("path %s/sub", input.cwd)), "./sub");
	is_str(read_word("~/x"), keep(ab_printf("path %s/x", input.home)), "~/x");
	is_str(read_word("a b/c"),
	       "! \"a b/c\" is not a host; use a name (github.com), *.name, "
	       "or an address",
	       "neither");
}

static const char start_text[] = "{\"command\":[\"make\",\"a b\"],\"cwd\":\"/w\",\"policy\":"
				 "{\"profile\":\"default\",\"workspace\":\"/w\"}}";

/* "host ENTRY", "path PATH", or "! why; what instead" */
static const char *judge(const char *record, bool deny)
{
	static char buf[4096];
	json_t *json = json_loads(record, 0, NULL);
	json_t *start = json_loads(start_text, 0, NULL);
	struct ab_again again = { .start = start, .cwd = "/w" };
	struct ab_lift lift;

	error = (struct ab_error){ 0 };
	if (ab_permit_judge("7kq2x-1", json, deny, &again, &lift, &error) < 0)
		snprintf(buf, sizeof(buf), "! %s; %s", error.text, error.hint);
	else
		snprintf(buf, sizeof(buf), "%s %s", lift.path ? "path" : "host",
			 lift.path ? lift.path : lift.entry);
	json_decref(json);
	json_decref(start);
	return buf;
}

#define NET(domain, port, rule)                                                                \
	"{\"kind\":\"violation\",\"domain\":\"" domain "\",\"port\":" port ",\"rule\":\"" rule \
	"\",\"reason\":\"so\"}"

static void check_hosts(void)
{
	static const struct {
		const char *record, *allow, *deny;
	} cases[] = {
		{ NET("x.y", "443", "network.allow"), "host x.y", "host x.y" },
		{ NET("x.y", "22", "network.allow"), "host x.y", "host x.y" },
		{ NET("x.y", "8080", "network.allow"), "host x.y:8080", "host x.y" },
		{ NET("x.y", "null", "network.allow"), "host x.y", "host x.y" },
		{ NET("::1", "8080", "network.allow"), "host [::1]:8080", "host ::1" },
		{ NET("x.y", "443", "grant"), "host x.y", "host x.y" },
		/* As a question is told: no rule, no kind. */
		{ "{\"domain\":\"x.y\",\"port\":81}", "host x.y:81", "host x.y" },
		{ NET("\\u001b[2Jx", "443", "network.allow"), "! 7kq2x-1 is not about a host; ",
		  "! 7kq2x-1 is not about a host; " },
		{ NET("x.y", "70000", "network.allow"), "! 7kq2x-1 is not about a host; ",
		  "! 7kq2x-1 is not about a host; " },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		is_str(judge(cases[i].record, false), cases[i].allow, cases[i].record);
		is_str(judge(cases[i].record, true), cases[i].deny, "denied");
	}
}

static void check_unliftable(void)
{
	static const char *const rules[] = {
		"network.allowPrivate",
		"network.deny",
		"network.hostPorts",
		"network.publish",
		"network.http",
		"network.mode",
		"tls-name",
		"http-host",
		"http2-clear",
		"http1-only",
		"protocol",
		"name-limit",
		"secret-tripwire",
		"secret-rotated",
		"secret-place",
		"secret-require",
		"secret-source",
		"secret-body",
		"monitor",
		"filesystem.denyRead",
		"filesystem.unix",
		"filesystem.read",
		"filesystem.denyWrite",
		"something-new",
	};

	for (size_t i = 0; i < AB_COUNT(rules); i++) {
		ab_autofree char *record = ab_printf("{\"kind\":\"violation\",\"domain\":\"x.y\","
						     "\"port\":443,\"rule\":\"%s\",\"reason\":"
						     "\"for a reason\"}",
						     rules[i]);
		const char *seen = judge(record, false);

		ok(strstr(seen, "! 7kq2x-1 cannot be allowed: for a reason; ") && error.hint[0] &&
			   error.code == AB_EREFUSED,
		   "%s says why, and what instead", rules[i]);
	}
	is_str(judge("{\"kind\":\"violation\",\"domain\":\"10.0.0.1\",\"port\":"
		     "80,\"rule\":\"network.allowPrivate\",\"reason\":\"an "
		     "address in 10.0.0.0/8\",\"hint\":\"agentbox run "
		     "--allow-private 10.0.0.1:80 --allow 10.0.0.1 -- ...\"}",
		     false),
	       "! 7kq2x-1 cannot be allowed: an address in 10.0.0.0/8; "
	       "private addresses can only be allowed when a run starts\n"
	       "in a new run:  agentbox run --allow-private 10.0.0.1:80 --allow "
	       "10.0.0.1 -- make 'a b'",
	       "the record's own hint, with the run's command");
	is_str(judge("{\"kind\":\"violation\",\"door\":\"file\",\"path\":"
		     "\"/h/.ssh/id_x\",\"rule\":\"filesystem.denyRead\","
		     "\"reason\":\"hidden\"}",
		     false),
	       "! 7kq2x-1 cannot be allowed: hidden; hidden files can only be "
	       "shown when a run starts\n"
	       "in a new run:  agentbox run --read /h/.ssh/id_x -- "
	       "make 'a b'",
	       "a file that is hidden");
	ok(!strstr(judge("{\"kind\":\"violation\",\"path\":\"/h/x\\nrun: "
			 "this\",\"rule\":\"filesystem.denyRead\",\"reason\":"
			 "\"hidden\"}",
			 false),
		   "run: this"),
	   "a path cannot write lines of its own");
	is_str(judge("{\"kind\":\"violation\",\"path\":\"/data/x\",\"rule\":"
		     "\"filesystem.write\",\"access\":\"write\"}",
		     false),
	       "path /data/x", "a file that could not be written");
}

static void check_programs(void)
{
	is_str(judge("{\"kind\":\"exec\",\"id\":\"7kq2x-e1\",\"decision\":"
		     "\"escalated\",\"rule\":\"git-publish\"}",
		     false),
	       "! 7kq2x-1 cannot be allowed: the rules for programs cannot change during a run; in a new run:  agentbox run --yes -- "
	       "make 'a b'\n"
	       "in every run:   agentbox config set commands.override.git-publish sandboxed",
	       "a program that would be asked about");
	ok(!strstr(judge("{\"kind\":\"exec\",\"decision\":\"forbidden\","
			 "\"rule\":\"mine\"}",
			 false),
		   "--yes") &&
		   strstr(error.hint, "commands.rules"),
	   "one that is forbidden by a rule of one's own: %s", error.hint);
	ok(strstr(judge("{\"kind\":\"exec\",\"decision\":\"forbidden\"}", true), "stays denied"),
	   "and to deny it says nothing new");
}

static const char *again(const char *start, const char *flags)
{
	json_t *json = start ? json_loads(start, 0, NULL) : NULL;
	struct ab_again a = { .start = json, .cwd = "/w" };
	const char *text = keep(ab_permit_again(&a, flags));

	json_decref(json);
	return text;
}

static void check_again(void)
{
	ab_autofree char *lengthy = ab_alloc(2000);

	is_str(again(start_text, "--yes"), "agentbox run --yes -- make 'a b'", "the command again");
	is_str(again(NULL, "--yes"), "agentbox run --yes -- ...", "one that is not known");
	is_str(again("{\"command\":[\"x\"],\"cwd\":\"/w/sub\",\"policy\":{"
		     "\"profile\":\"claude\",\"workspace\":\"/w\"}}",
		     "--yes"),
	       "cd /w/sub && agentbox run --profile claude --workspace /w "
	       "--yes -- x",
	       "where and how it was");
	is_str(again("{\"command\":[\"x\",\"\\u001b[31m\"],\"cwd\":\"/w\"}", "--yes"),
	       "agentbox run --yes -- ...", "one that cannot be shown");
	memset(lengthy, 'x', 1000);
	is_str(again(keep(ab_printf("{\"command\":[\"%s\"],\"cwd\":\"/w\"}", lengthy)), "--yes"),
	       "agentbox run --yes -- ...", "one that is too long");
}

static void check_sentence(void)
{
	is_str(keep(ab_permit_sentence("7kq2x", "x.y", false, 0, 0, 0)),
	       "7kq2x: x.y is allowed for this run", "nobody waited");
	is_str(keep(ab_permit_sentence("7kq2x", "x.y", false, 0, 1, 0)),
	       "7kq2x: x.y is allowed for this run; 1 waiting request released", "one waited");
	is_str(keep(ab_permit_sentence("7kq2x", "x.y", true, 600000, 0, 2)),
	       "7kq2x: x.y is denied for 10m; 2 open connections closed", "a no for a while");
}

/* "" when it may become writable, with what was noted. */
static const char *place(const char *path)
{
	static char buf[4096];
	static char profile[] = "/h/.profile", hooks[] = ".git/hooks", env[] = ".env*",
		    conf[] = ".conf/run";
	char *deny[] = { profile, hooks, env, conf, NULL };
	struct ab_strv names = { .v = deny, .len = 4 };
	struct ab_place p = { .home = "/h/me",
			      .state = "/h/me/.local/state/agentbox",
			      .config = "/h/me/.config/agentbox",
			      .deny_write = &names };

	ab_strv_fini(&notes);
	error = (struct ab_error){ 0 };
	snprintf(buf, sizeof(buf), "%s",
		 ab_permit_place(&p, path, &notes, &error) < 0 ? error.text : joined(&notes));
	return buf;
}

static void check_place(void)
{
	static const struct {
		const char *path, *seen;
	} cases[] = {
		{ "/data", "" },
		{ "/h/me/work", "" },
		{ "/h/me/.config", "" },
		{ "/h/me2", "" },
		{ "/w/git/hooks", "" },
		{ "/w/.git", "" },
		{ "/w/.conf/tool", "" },
		{ "/w/.conf",
		  "/w/.conf cannot be allowed: it contains .conf/run, which is "
		  "protected, because programs outside the box run or trust it (filesystem.denyWrite)" },
		{ "/usr/local/lib", "/usr/local/lib contains programs and libraries of this "
				    "machine" },
		{ "/", "/ cannot be allowed: it is the whole file system" },
		{ "/h", "/h cannot be allowed: your home folder is in it" },
		{ "/h/me", "/h/me cannot be allowed: it is your home folder" },
		{ "/h/me/.config/agentbox/profiles",
		  "/h/me/.config/agentbox/profiles cannot be allowed: it belongs to agentbox" },
		{ "/h/me/.local/state/agentbox",
		  "/h/me/.local/state/agentbox cannot be allowed: it belongs to agentbox" },
		{ "/etc/agentbox/x", "/etc/agentbox/x cannot be allowed: it belongs to agentbox" },
		{ "/proc/sys",
		  "/proc/sys cannot be allowed: a box has its own folder of that name" },
		{ "/w/.git/hooks",
		  "/w/.git/hooks cannot be allowed: .git/hooks is protected, "
		  "because programs outside the box run or trust it (filesystem.denyWrite)" },
		{ "/w/a/.git/hooks/pre-commit",
		  "/w/a/.git/hooks/pre-commit cannot be allowed: .git/hooks is "
		  "protected, because programs outside the box run or trust it (filesystem.denyWrite)" },
		{ "/w/.envrc", "/w/.envrc cannot be allowed: .env* is "
			       "protected, because programs outside the box "
			       "run or trust it (filesystem.denyWrite)" },
		{ "/h/.profile", "/h/.profile cannot be allowed: /h/.profile "
				 "is protected, because programs outside the "
				 "box run or trust it (filesystem.denyWrite)" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		is_str(place(cases[i].path), cases[i].seen, cases[i].path);
}

static void check_origin(void)
{
	struct ab_policy *policy;

	put_file(SYSTEM_FILE, "{\"network\":{\"allow\":[\"sys.example\"]}}");
	put_file(USER_FILE, "{\"network\":{\"allow\":[\"user.example\",\n"
			    "\"more.example\"]}}");
	policy = load();
	is_str(keep(ab_policy_origin(policy, "network.allow", "user.example")),
	       "~/.config/agentbox/config.json:1", "where an element is from");
	is_str(keep(ab_policy_origin(policy, "network.allow", "more.example")),
	       "~/.config/agentbox/config.json:2", "in its line");
	is_str(keep(ab_policy_origin(policy, "network.allow", NULL)),
	       "~/.config/agentbox/config.json:2", "where a list is from");
	ok(strstr(keep(ab_policy_origin(policy, "network.allow", "sys.example")), "system.json:1"),
	   "where one of an earlier layer is from");
	ok(!ab_policy_origin(policy, "network.allow", "not.example"), "one that is not there");
	ab_policy_free(policy);
}

int main(void)
{
	world_init();
	check_read();
	check_hosts();
	check_unliftable();
	check_programs();
	check_again();
	check_sentence();
	check_place();
	check_origin();
	world_fini();
	return done();
}
