#include "policy/model/commands.h"

#include <time.h>

#include "base/data/buf.h"
#include "policy/model/policy.h"
#include "policy/show/show.h"
#include "policy/values/complaint.h"
#include "policy_help.h"
#include "shell/judge/ruling.h"
#include "tap.h"

#define USER(text) put_file(USER_FILE, "{\"commands\":{" text "}}")
#define PROJECT(text) put_file(PROJECT_FILE, "{\"commands\":{" text "}}")

static void fresh(void)
{
	reset_input();
	remove_file(USER_FILE);
	remove_file(PROJECT_FILE);
	remove_file(SYSTEM_FILE);
	set_env("AGENTBOX_STATE", at("state"));
}

static void test_nothing(void)
{
	struct ab_policy *p;

	fresh();
	p = load();
	ok(p && !p->commands.ruling, "nothing was said: no ruling");
	ok(p && p->commands.enforce == AB_ENFORCE_START, "the command that is started is judged");
	ab_policy_free(p);
	USER("\"rules\":[],\"override\":{},\"enforce\":\"children\"");
	p = load();
	ok(p && !p->commands.ruling, "nor where the lists are empty");
	ok(p && p->commands.enforce == AB_ENFORCE_CHILDREN, "or its children");
	ab_policy_free(p);
}

static void test_rules(void)
{
	const struct ab_ruling *r;
	struct ab_policy *p;

	fresh();
	USER("\"rules\":["
	     "{\"match\":\"git push *\",\"decision\":\"escalated\",\"reason\":\"Ask.\"},"
	     "{\"prefix\":[\"git\",\"a b\"],\"decision\":\"allow\"},"
	     "{\"decision\":\"forbidden\",\"regex\":\"^npm (publish|x{2,3})\"}]");
	p = load();
	r = p ? p->commands.ruling : NULL;
	ok(r && r->nrules == 3, "three rules");
	if (!r)
		return;
	ok(r->rules[0].kind == AB_MATCH_GLOB && r->rules[0].decision == AB_ESCALATED &&
		   !r->rules[0].tighten,
	   "a pattern");
	is_str(r->rules[0].text, "git push *", "as written");
	is_str(r->rules[0].reason, "Ask.", "with its reason");
	ok(r->rules[1].kind == AB_MATCH_PREFIX && r->rules[1].nwords == 2 && !r->rules[1].reason,
	   "first words");
	is_str(r->rules[1].words[1], "a b", "each as it is");
	is_str(r->rules[1].text, "git 'a b'", "quoted in lists");
	ok(r->rules[2].kind == AB_MATCH_REGEX && r->rules[2].regex, "an expression, compiled");
	ab_policy_free(p);
}

static void test_order(void)
{
	struct ab_policy *p;

	fresh();
	put_file(SYSTEM_FILE,
		 "{\"commands\":{\"rules\":[{\"match\":\"s\",\"decision\":\"allow\"}]}}");
	USER("\"rules\":[{\"match\":\"u1\",\"decision\":\"allow\"},"
	     "{\"match\":\"u2\",\"decision\":\"allow\"}]");
	p = load();
	ok(p && p->commands.ruling && p->commands.ruling->nrules == 3, "the rules of all files");
	if (p && p->commands.ruling) {
		const struct ab_user_rule *v = p->commands.ruling->rules;

		ok(!strcmp(v[0].text, "u1") && !strcmp(v[1].text, "u2") && !strcmp(v[2].text, "s"),
		   "those of a later file stand before");
	}
	ab_policy_free(p);
}

static void test_overrides(void)
{
	struct ab_policy *p;

	fresh();
	put_file(
		SYSTEM_FILE,
		"{\"commands\":{\"override\":{\"sudo\":\"forbidden\",\"git-publish\":\"sandboxed\"}}}");
	USER("\"override\":{\"sudo\":\"allow\",\"fork-bomb\":\"escalated\"}");
	p = load();
	ok(p && p->commands.ruling, "there is a ruling");
	if (p && p->commands.ruling) {
		const struct ab_ruling *r = p->commands.ruling;

		ok(r->overrides[AB_RULE_SUDO].changed &&
			   r->overrides[AB_RULE_SUDO].decision == AB_ALLOW,
		   "a later file replaces by name");
		ok(r->overrides[AB_RULE_GIT_PUBLISH].decision == AB_SANDBOXED, "others stay");
		ok(r->overrides[AB_RULE_FORK_BOMB].decision == AB_ESCALATED &&
			   !r->overrides[AB_RULE_FORK_BOMB].tighten,
		   "what is forbidden can be lifted by name");
		ok(!r->overrides[AB_RULE_DISK_WIPE].changed, "what was not named is not changed");
	}
	ab_policy_free(p);
}

static void test_untrusted(void)
{
	const struct ab_ruling *r;
	struct ab_policy *p;

	fresh();
	USER("\"rules\":[{\"match\":\"make\",\"decision\":\"forbidden\"}],"
	     "\"override\":{\"git-publish\":\"allow\",\"sudo\":\"forbidden\"}");
	PROJECT("\"rules\":[{\"match\":\"*\",\"decision\":\"allow\"},"
		"{\"match\":\"*\",\"decision\":\"sandboxed\"},"
		"{\"regex\":\"((((((x\",\"decision\":\"forbidden\"}],"
		"\"override\":{\"git-publish\":\"sandboxed\",\"sudo\":\"allow\","
		"\"ssh-command\":\"forbidden\",\"fork-bomb\":\"allow\","
		"\"destructive-find\":\"forbidden\"},\"enforce\":\"children\"");
	p = load();
	r = p ? p->commands.ruling : NULL;
	ok(r, "a project that is not trusted is read");
	if (!r) {
		printf("# %s\n", error.text);
		return;
	}
	ok(r->nrules == 2 && !strcmp(r->rules[0].text, "make") && !r->rules[0].tighten &&
		   r->rules[1].tighten,
	   "its rules are marked, and hide none of the user's");
	ok(r->overrides[AB_RULE_GIT_PUBLISH].decision == AB_SANDBOXED &&
		   !r->overrides[AB_RULE_GIT_PUBLISH].tighten,
	   "it makes the user's override stricter");
	ok(r->overrides[AB_RULE_SUDO].decision == AB_FORBIDDEN, "and not less strict");
	ok(r->overrides[AB_RULE_SSH_COMMAND].decision == AB_FORBIDDEN &&
		   r->overrides[AB_RULE_SSH_COMMAND].tighten,
	   "and built-in rules");
	ok(!r->overrides[AB_RULE_FORK_BOMB].changed, "but lifts none");
	ok(r->overrides[AB_RULE_DESTRUCTIVE_FIND].decision == AB_FORBIDDEN,
	   "a rule with two decisions gets the stricter for both");
	ok(p->commands.enforce == AB_ENFORCE_CHILDREN, "more is judged");
	ok(notes.len == 3, "what was left out is said");
	is_str(notes.len ? notes.v[1] : NULL, ".agentbox.json: commands.rules: 2 entries ignored",
	       "for the rules");
	ab_policy_free(p);

	USER("\"enforce\":\"children\"");
	PROJECT("\"enforce\":\"start\"");
	p = load();
	ok(p && p->commands.enforce == AB_ENFORCE_CHILDREN && notes.len == 2,
	   "less cannot be judged");
	ab_policy_free(p);
}

#define RULE(members) "{\"commands\":{\"rules\":[\n{" members "}]}}"

/* All on the second line. */
static const struct {
	const char *file, *wrong, *right;
} mistakes[] = {
	{ RULE("\"match\":\"x\",\"decision\":\"maybe\""),
	  "14: commands.rules[0].decision: invalid value \"maybe\"",
	  "use allow, sandboxed, escalated or forbidden" },
	{ RULE("\"match\":\"x\""), "1: commands.rules[0].decision: is missing",
	  "use allow, sandboxed, escalated or forbidden" },
	{ RULE("\"decision\":\"allow\""),
	  "1: commands.rules[0]: has none of match, prefix and regex", "add one of them" },
	{ RULE("\"match\":\"x\",\"regex\":\"x\",\"decision\":\"allow\""),
	  "1: commands.rules[0]: has more than one of match, prefix and regex",
	  "keep one of them" },
	{ RULE("\"mach\":\"x\",\"match\":\"x\",\"decision\":\"allow\""),
	  "2: commands.rules[0].mach: unknown key", "did you mean match?" },
	{ RULE("\"match\":1,\"decision\":\"allow\""),
	  "2: commands.rules[0].match: expected a string, got a number", "put it in quotes" },
	{ RULE("\"match\":\"\",\"decision\":\"allow\""), "2: commands.rules[0].match: is empty",
	  "give it a value, or remove it" },
	{ RULE("\"match\":\"a\\u001b\",\"decision\":\"allow\""),
	  "2: commands.rules[0].match: is too long or contains control characters",
	  "at most 1024 bytes of printable text" },
	{ RULE("\"prefix\":\"git\",\"decision\":\"allow\""),
	  "2: commands.rules[0].prefix: expected a list of strings, got a string",
	  "use one like [\"git\", \"push\"]" },
	{ RULE("\"prefix\":[],\"decision\":\"allow\""), "2: commands.rules[0].prefix: is empty",
	  "use one like [\"git\", \"push\"]" },
	{ RULE("\"prefix\":[1],\"decision\":\"allow\""),
	  "12: commands.rules[0].prefix[0]: expected a string, got a number", "put it in quotes" },
	{ RULE("\"match\":\"x\",\"decision\":\"allow\",\"reason\":[]"),
	  "33: commands.rules[0].reason: expected a string, got a list", "put it in quotes" },
	{ RULE("\"regex\":\"(a)\\\\1\",\"decision\":\"allow\""),
	  "2: commands.rules[0].regex: \"(a)\\1\" uses a back-reference",
	  "rewrite it without \\1 to \\9" },
	{ RULE("\"regex\":\"((a{99}){99}){99}\",\"decision\":\"allow\""),
	  "2: commands.rules[0].regex: \"((a{99}){99}){99}\" repeats too often",
	  "use + or * instead of large numbers" },
	{ "{\"commands\":{\n\"rules\":\"git\"}}",
	  "1: commands.rules: expected a list, got a string",
	  "use [{ \"match\": \"git push *\", \"decision\": \"escalated\" }]" },
	{ "{\"commands\":{\"rules\":[\n\"git\"]}}",
	  "1: commands.rules[0]: expected an object, got a string",
	  "use { \"match\": \"git push *\", \"decision\": \"escalated\" }" },
	{ "{\"commands\":{\"override\":{\n\"sudoo\":\"allow\"}}}",
	  "1: commands.override.sudoo: unknown rule", "did you mean sudo?" },
	{ "{\"commands\":{\"override\":{\n\"nothing-like-it\":\"allow\"}}}",
	  "1: commands.override.nothing-like-it: unknown rule",
	  "list them with: agentbox rules list" },
	{ "{\"commands\":{\"override\":{\n\"sudo=x\":\"allow\"}}}",
	  "1: commands.override.sudo=x: unknown rule", "list them with: agentbox rules list" },
	{ "{\"commands\":{\"override\":{\n\"sudo\":\"no\"}}}",
	  "1: commands.override.sudo: invalid value \"no\"",
	  "use allow, sandboxed, escalated or forbidden" },
	{ "{\"commands\":{\n\"enforce\":\"never\"}}",
	  "1: commands.enforce: invalid value \"never\"", "use children or start" },
	{ "{\"commands\":{\n\"rule\":[]}}", "1: commands.rule: unknown key",
	  "did you mean commands.rules?" },
};

static void test_mistakes(void)
{
	for (size_t i = 0; i < AB_COUNT(mistakes); i++) {
		ab_autofree char *wrong =
			ab_printf("~/.config/agentbox/config.json:2:%s", mistakes[i].wrong);
		struct ab_policy *p;

		fresh();
		put_file(USER_FILE, mistakes[i].file);
		p = load();
		ok(!p && error.code == AB_ECONFIG, "refused");
		is_str(error.text, wrong, mistakes[i].wrong);
		is_str(error.hint, mistakes[i].right, "and what is right");
		ab_policy_free(p);
	}
}

static void test_bounds(void)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_policy *p;

	for (int n = 256; n <= 257; n++) {
		fresh();
		b.len = 0;
		ab_buf_puts(&b, "{\"commands\":{\"rules\":[");
		for (int i = 0; i < n; i++)
			ab_buf_printf(&b, "%s{\"match\":\"%d\",\"decision\":\"allow\"}",
				      i ? "," : "", i);
		ab_buf_puts(&b, "]}}");
		put_file(USER_FILE, b.data);
		p = load();
		ok(!!p == (n == 256), "%d rules", n);
		ab_policy_free(p);
	}
	for (int n = 1024; n <= 1025; n++) {
		fresh();
		b.len = 0;
		ab_buf_printf(
			&b,
			"{\"commands\":{\"rules\":[{\"match\":\"%0*d\",\"decision\":\"allow\"}]}}",
			n, 0);
		put_file(USER_FILE, b.data);
		p = load();
		ok(!!p == (n == 1024), "a pattern of %d bytes", n);
		ab_policy_free(p);
	}
}

static void test_regex(void)
{
	static const struct {
		const char *pattern;
		bool good;
	} cases[] = {
		{ "^git (push|pull)( |$)", true },
		{ "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}", true },
		{ "[\\1]", true },
		{ "[]\\1]", true },
		{ "[[:digit:]\\1]", true },
		{ "\\\\1", true },
		{ "\\{1,99999999}", true },
		{ "a{2,}", true },
		{ "\\1", false },
		{ "(a)[[:alpha:]]\\1", false },
		{ "(", false },
		{ "[", false },
		{ "[[:nothing:]]", false },
		{ "a{9999999999}", false },
		{ "(((((a{60}){60}){60}){60}){60})", false },
		{ "\\", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_complaint why;

		ok((ab_regex_check(cases[i].pattern, true, &why) == 0) == cases[i].good, "%s",
		   cases[i].pattern);
	}
	ok(ab_regex_check("(", false, NULL) == 0, "what is not trusted is not compiled");
}

/* Does the user's expression, as the policy keeps it, find this command? */
static bool finds(const char *pattern, const char *word, size_t len)
{
	ab_autofree char *file =
		ab_printf("{\"commands\":{\"rules\":[{\"regex\":\"%s\",\"decision\":"
			  "\"escalated\"}]}}",
			  pattern);
	struct ab_field argv[2] = { { .text = { "echo", 4 } },
				    { .text = { word, (uint32_t)len } } };
	struct ab_simple command = { .name = { "echo", 4 }, .argv = argv, .argc = 2 };
	struct ab_policy *p;
	bool found;

	fresh();
	put_file(USER_FILE, file);
	p = load();
	found = p && ab_ruling_match(p->commands.ruling, &command);
	ab_policy_free(p);
	return found;
}

static void test_found(void)
{
	enum { LONG = 1 << 20 };
	ab_autofree char *word = ab_alloc(LONG);
	clock_t begin;

	ok(finds("^echo x", "xy", 2) && !finds("^x", "xy", 2),
	   "the beginning is that of the command");
	ok(finds("xy$", "xy", 2) && !finds("x$", "xy", 2), "so is the end");
	ok(finds("o x", "xy", 2) && finds("y|z", "xy", 2) && finds("^z|y", "xy", 2) &&
		   finds("(x)(y)", "xy", 2) && finds("x.", "x\n", 2) && finds("xy{1,2}", "xyy", 3),
	   "anything else is found anywhere");
	ok(!finds("x.*z", "xy", 2), "or is not");
	memset(word, 'a', LONG);
	begin = clock();
	ok(!finds("a.*b.*c", word, LONG) && !finds("(a|aa)+b", word, LONG), "in a long word, too");
	ok(clock() - begin < 2 * CLOCKS_PER_SEC, "and soon");
}

static void test_shown(void)
{
	ab_autofree char *text = NULL, *json = NULL, *record = NULL;
	ab_autofree char *list = NULL;
	struct ab_policy *p;

	fresh();
	USER("\"rules\":[{\"reason\":\"R.\",\"decision\":\"allow\",\"prefix\":[\"a\"]}],"
	     "\"override\":{\"sudo\":\"forbidden\"}");
	p = load();
	if (!p)
		return;
	text = ab_policy_show(p, false);
	json = ab_policy_show(p, true);
	record = ab_policy_json(p);
	list = ab_policy_rules(p, false);
	ok(strstr(text,
		  "commands.rules           {\"prefix\":[\"a\"],\"decision\":\"allow\",\"reason\":\"R.\"}"),
	   "a rule is shown as a file has it");
	ok(strstr(text, "commands.override        sudo=forbidden"), "an override by name");
	ok(strstr(json,
		  "\"commands.rules\":[{\"value\":{\"prefix\":[\"a\"],\"decision\":\"allow\",\"reason\":\"R.\"},\"from\":"),
	   "as JSON it is an object");
	ok(strstr(record, "\"commands\":{\"rules\":[{\"prefix\":[\"a\"]"), "in the record too");
	ok(strstr(list, "user                     allow      a ...") &&
		   strstr(list, "(built in: escalated; ~/.config/agentbox/config.json:1)"),
	   "the list has both");
	ab_policy_free(p);
}

int main(void)
{
	world_init();
	test_nothing();
	test_rules();
	test_order();
	test_overrides();
	test_untrusted();
	test_mistakes();
	test_bounds();
	test_regex();
	test_found();
	test_shown();
	world_fini();
	return done();
}
