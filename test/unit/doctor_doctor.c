/* The doctor's pure parts, and the invariants of its tables. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "attack/attack.h"
#include "doctor/doctor.h"
#include "tap.h"

static void profile_is(const char *name, const char *path, const char *quoted)
{
	ab_autofree char *got = ab_apparmor_profile("agentbox", path, false);
	ab_autofree char *want = quoted ? ab_printf("include <tunables/global>\n\n"
						    "profile agentbox %s flags=(unconfined) {\n"
						    "  userns,\n}\n",
						    quoted)
					: NULL;

	is_str(got, want, name);
}

static void test_profile(void)
{
	ab_autofree char *abi4 = ab_apparmor_profile("agentbox", "/usr/bin/agentbox", true);

	profile_is("a plain path", "/usr/bin/agentbox", "\"/usr/bin/agentbox\"");
	profile_is("a space", "/opt/my tools/agentbox", "\"/opt/my tools/agentbox\"");
	profile_is("a quote", "/x/a\"b", "\"/x/a\\\"b\"");
	profile_is("a backslash", "/x/a\\b", "\"/x/a\\\\b\"");
	profile_is("patterns", "/x/*/{a,b}/[c]?^@{H}",
		   "\"/x/\\*/\\{a\\,b\\}/\\[c\\]\\?\\^\\@\\{H\\}\"");
	profile_is("a new line", "/x/a\nb", NULL);
	profile_is("a control character", "/x/a\x7f", NULL);
	profile_is("not absolute", "relative", NULL);
	ok(strncmp(abi4, "abi <abi/4.0>,\ninclude ", 23) == 0,
	   "the features of version 4 come first where they exist");
}

/* Which profiles are for /usr/bin/agentbox: "path", "name" (ours, for another), both. */
static void test_profiles(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "profile agentbox /usr/bin/agentbox flags=(unconfined) {\n userns,\n}\n",
		  "path" },
		{ "profile agentbox \"/usr/bin/agentbox\" {\n}\n", "path" },
		{ "profile box /usr/bin/agentbox {\n}\n", "path" },
		{ "profile /usr/bin/agentbox {}\n", "path" },
		{ "/usr/bin/agentbox {\n}\n", "path" },
		{ "\"/usr/bin/agentbox\" flags=(complain, attach_disconnected) {\n}", "path" },
		{ "abi <abi/4.0>,\ninclude <tunables/global>\n/usr/bin/agentbox {\n}\n", "path" },
		{ "@{X}=/a /b\nprofile x\n /usr/bin/agentbox\n{\n}\n", "path" },
		{ "profile x /usr/bin/agent\\box {}", "path" },
		{ "profile agentbox /opt/agentbox {\n}\n", "name" },
		{ "profile agentbox {\n}\n", "name" },
		{ "profile agentbox /opt/agentbox { }\n/usr/bin/agentbox { }\n", "path name" },
		{ "profile x /usr/bin/agentbox2 {\n}\n", "" },
		{ "profile x /usr/bin/{agentbox,other} {\n}\n", "" },
		{ "profile x @{bin}/agentbox {\n}\n", "" },
		{ "# profile x /usr/bin/agentbox {\n", "" },
		{ "profile x /bin/x {\n  /usr/bin/agentbox ix,\n}\n", "" },
		{ "profile x /bin/x {\n  profile y /usr/bin/agentbox {\n  }\n}\n", "" },
		{ "profile x /bin/x {\n  @{HOME}/** r,\n}\n/usr/bin/agentbox {\n}\n", "path" },
		{ "include <x> /usr/bin/agentbox\n{", "" },
		{ "}}}\n/usr/bin/agentbox {", "path" },
		{ "profile \"unclosed /usr/bin/agentbox {", "" },
		{ "a b c d e f /usr/bin/agentbox {", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].text);
		ab_autofree char *name = ab_printf("profiles, case %zu", i);
		struct ab_apparmor_seen seen = { 0 };
		const char *got;

		ab_apparmor_read(cases[i].text, len, "/usr/bin/agentbox", &seen);
		got = seen.path && seen.name ? "path name"
		      : seen.path	     ? "path"
		      : seen.name	     ? "name"
					     : "";
		is_str(got, cases[i].want, name);
		for (size_t cut = 0; cut < len; cut++) { /* on the heap: ASan sees the end */
			ab_autofree char *part = memcpy(ab_alloc(cut + 1), cases[i].text, cut);

			ab_apparmor_read(part, cut, "/usr/bin/agentbox", &seen);
		}
	}
}

static void test_profile_name(void)
{
	ab_autofree char *usual = ab_apparmor_name("/usr/bin/agentbox", false);
	ab_autofree char *other = ab_apparmor_name("/opt/my {tools}/agentbox", true);

	is_str(usual, "agentbox", "the usual name of a profile");
	is_str(other, "opt.my__tools_.agentbox", "that of the path where the usual one is taken");
}

static void dies(struct ab_verdict *v)
{
	ab_verdict_set(v, AB_HEALTH_OK, "never seen");
	raise(SIGKILL);
}

static void answers(struct ab_verdict *v)
{
	ab_verdict_set(v, AB_HEALTH_WARN, "pid %d", getpid());
	ab_verdict_remedy(v, "do %s", "this");
}

static void test_verdict(void)
{
	struct ab_verdict v = { 0 };

	ab_verdict_set(&v, AB_HEALTH_FAIL, "a\nb %s\nc", "x");
	is_str(v.seen, "a", "the first line is what was seen");
	is_str(v.remedy, "b x\nc", "the others are the remedy");
	ab_verdict_set(&v, AB_HEALTH_FAIL, "%s\n%s", "a\nb", "c");
	is_str(v.seen, "a\nb", "a value may have a line break");
	is_str(v.remedy, "c", "which does not end the line");
}

static void test_run(void)
{
	const struct ab_check bad = { .name = "bad", .run = dies };
	const struct ab_check good = { .name = "good", .run = answers };
	ab_autofree char *mine = ab_printf("pid %d", getpid());
	struct ab_verdict v;

	ab_check_run(&bad, NULL, &v);
	ok(v.health == AB_HEALTH_FAIL, "a check that dies has failed");
	ok(strstr(v.seen, "did not report") != NULL, "and that is said");
	ab_check_run(&good, NULL, &v);
	ok(v.health == AB_HEALTH_WARN, "a check's answer arrives");
	is_str(v.remedy, "do this", "with its remedy");
	ok(strncmp(v.seen, "pid ", 4) == 0 && strcmp(v.seen, mine) != 0,
	   "and it ran in a process of its own");
}

static void test_tables(void)
{
	size_t n = 0, twins = 0, unnamed = 0, wide = 0, twice = 0;
	const struct ab_tries *table, *other;
	const struct ab_try *t;

	for (; (t = ab_try_at(n, &table)) != NULL; n++) {
		unnamed += !table->wall || !t->name || !t->run;
		wide += strlen(t->name) > 46;
		twins += t->twin != NULL;
		for (size_t i = 0; i < n; i++)
			twice += strcmp(ab_try_at(i, &other)->name, t->name) == 0 &&
				 strcmp(other->wall, table->wall) == 0;
	}
	ok(n >= 250, "there are %zu attempts", n);
	ok(twins >= 15, "%zu of them have an allowed twin", twins);
	ok(unnamed == 0, "each has a wall, a name and something to do");
	ok(wide == 0, "every name fits its column");
	ok(twice == 0, "no name is there twice");
	ok(ab_try_at(n + 1, &other) == NULL, "nothing lies behind the last one");
	wide = 0;
	for (size_t i = 0; i < ab_check_count; i++)
		wide += strlen(ab_checks[i].name) > 19;
	ok(wide == 0, "every check's name fits its column");
	ok(ab_checks[0].run == ab_check_userns, "user namespaces come before what needs them");
}

static void test_diagnosis(void)
{
	struct ab_finding rows[] = {
		{ "one", AB_HEALTH_OK, (char *)"fine", (char *)"" },
		{ "two", AB_HEALTH_FAIL, (char *)"a \x1b[31m\"red\" word",
		  (char *)"first\nsecond" },
	};
	struct ab_diagnosis d = { .v = rows,
				  .len = 2,
				  .summary = (char *)"sum",
				  .better = (char *)"words",
				  .failed = true };
	ab_autofree char *text = ab_diagnosis_text(&d);
	ab_autofree char *json = ab_diagnosis_json(&d);

	is_str(text,
	       "ok    one                 fine\n"
	       "fail  two                 a \\x1b[31m\"red\" word\n"
	       "                          first\n"
	       "                          second\n"
	       "sum\n"
	       "to run boxes here, words\n",
	       "a diagnosis as text, control characters harmless");
	is_str(json,
	       "{\"checks\":[{\"name\":\"one\",\"result\":\"ok\","
	       "\"seen\":\"fine\",\"remedy\":null},"
	       "{\"name\":\"two\",\"result\":\"fail\","
	       "\"seen\":\"a \\u001b[31m\\\"red\\\" word\","
	       "\"remedy\":\"first\\u000asecond\"}],"
	       "\"summary\":\"sum\",\"engine\":null,\"better\":\"words\",\"ok\":false}\n",
	       "and as JSON");
}

static void test_attack(void)
{
	struct ab_attempt rows[] = {
		{ "files", "one", AB_HOLD_HELD, (char *)"no\x07" },
		{ "files", "two", AB_HOLD_BROKEN, (char *)"yes" },
		{ "users", "three", AB_HOLD_UNTRIED, (char *)"why" },
	};
	struct ab_attack attack = {
		.v = rows, .len = 3, .summary = (char *)"3 attempts, 1 BROKEN", .broken = true
	};
	ab_autofree char *text = ab_attack_text(&attack);
	ab_autofree char *json = ab_attack_json(&attack);

	ok(strstr(text, "files\n  stopped    one ") == text, "an attack is grouped by wall");
	ok(strstr(text, "\n  BROKEN     two ") != NULL, "broken is loud");
	ok(strstr(text, "\nusers\n  not tried  three ") != NULL, "what was not tried says so");
	ok(strchr(text, '\x07') == NULL, "control characters are harmless");
	ok(strstr(json, "\"result\":\"broken\"") != NULL && strstr(json, "\"ok\":false") != NULL,
	   "and as JSON");
}

static void test_place(void)
{
	static struct ab_attacker a = { .base = "/b", .home = "/h" };

	is_str(ab_attacker_path(&a, "~/.ssh"), "/b/home/.ssh", "the planted home");
	is_str(ab_attacker_path(&a, "@state"), "/b/state", "the trial's folder");
	is_str(ab_attacker_path(&a, "./x"), "/b/home/project/x", "the workspace");
	is_str(ab_attacker_path(&a, "!"), "/h", "the real home");
	is_str(ab_attacker_path(&a, "/etc"), "/etc", "anything else as it is");
}

int main(void)
{
	test_profile();
	test_profiles();
	test_profile_name();
	test_verdict();
	test_run();
	test_tables();
	test_diagnosis();
	test_attack();
	test_place();
	return done();
}
