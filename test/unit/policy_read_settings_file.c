#include "policy/read/settings_file.h"

#include "policy_help.h"
#include "tap.h"

/* Each text and the one line that `config check` says about it. */
static const struct {
	const char *text, *line;
} cases[] = {
	{ "{\n\"network\": {\n\"allow\": [\"a.b\",\n\"c.d\",\n\"https://github.com\"]}}",
	  "x.json:5:1: network.allow[2]: \"https://github.com\" is not a host; use \"github.com\"" },
	{ "{\"network\": {\n\"modes\": \"blocked\"}}",
	  "x.json:2:1: network.modes: unknown key; did you mean network.mode?" },
	{ "{\"netwrok\": {}}", "x.json:1:2: netwrok: unknown key; did you mean network?" },
	{ "{\"mode\": \"blocked\"}", "x.json:1:2: mode: unknown key; did you mean network.mode?" },
	{ "{\"network.mode\": \"blocked\"}",
	  "x.json:1:2: network.mode: unknown key; use { \"network\": { \"mode\": ... } }" },
	{ "{\"zzzzzzzzzzz\": 1}", "x.json:1:2: zzzzzzzzzzz: unknown key" },
	{ "{\"zebras\": {}}", "x.json:1:2: zebras: unknown key" },
	{ "{\"network\": []}", "x.json:1:2: network: expected an object, got a list; use { ... }" },
	{ "{\"network\": {\"mode\": 1}}",
	  "x.json:1:14: network.mode: expected a string, got a number; put it in quotes" },
	{ "{\"network\": {\"mode\": \"open\"}}",
	  "x.json:1:14: network.mode: invalid value \"open\"; use blocked, filtered or allowed" },
	{ "{\"network\": {\"allow\": \"github.com\"}}",
	  "x.json:1:14: network.allow: expected a list, got a string; use [\"github.com\"]" },
	{ "{\"network\": {\"allow\": [1]}}",
	  "x.json:1:24: network.allow[0]: expected a string, got a number; put it in quotes" },
	{ "{\"network\": {\"allow\": null}}",
	  "x.json:1:14: network.allow: expected a list, got null; use [\"...\"]" },
	{ "{\"filesystem\": {\"read\": \"some\"}}",
	  "x.json:1:17: filesystem.read: expected \"all\" or a list, got a string; use [\"some\"]" },
	{ "{\"filesystem\": {\"read\": [\"@sys\"]}}",
	  "x.json:1:26: filesystem.read[0]: \"@sys\" is not a folder group; use @system" },
	{ "{\"filesystem\": {\"write\": [\"\"]}}",
	  "x.json:1:27: filesystem.write[0]: \"\" is not a path; use \".\" for the workspace" },
	{ "{\"filesystem\": {\"tmpSize\": \"0\"}}",
	  "x.json:1:17: filesystem.tmpSize: \"0\" is out of range; use 1M to 1024T" },
	{ "{\"limits\": {\"processes\": \"12\"}}",
	  "x.json:1:13: limits.processes: expected a whole number, got a string; use one like 100, or \"none\"" },
	{ "{\"limits\": {\"processes\": 1.5}}",
	  "x.json:1:13: limits.processes: expected a whole number, got a fraction; use one like 100, or \"none\"" },
	{ "{\"limits\": {\"processes\": -1}}",
	  "x.json:1:13: limits.processes: \"-1\" is not a number; use one from 1 to 4194304" },
	{ "{\"limits\": {\"memory\": 4096}}",
	  "x.json:1:13: limits.memory: expected a string, got a number; use one like \"512M\"" },
	{ "{\"env\": {\"set\": {\"A\": 1}}}",
	  "x.json:1:18: env.set.A: expected a string, got a number; put it in quotes" },
	{ "{\"env\": {\"set\": {\"A=B\": \"1\"}}}",
	  "x.json:1:18: env.set.A=B: is not a valid variable name; use letters, digits and _" },
	{ "{\"env\": {\"set\": [\"A=1\"]}}",
	  "x.json:1:10: env.set: expected an object, got a list; use { \"NAME\": \"value\" }" },
	{ "{\"assurance\": {\"require\": [\"netfence\"]}}",
	  "x.json:1:28: assurance.require[0]: \"netfence\" is not a guarantee; did you mean \"net-fence\"?" },
	{ "{\"assurance\": {\"require\": [\"net-fence,dns-fence\"]}}",
	  "x.json:1:28: assurance.require[0]: \"net-fence,dns-fence\" is not a guarantee; use one like \"net-fence\" or \"write-fence\"" },
	{ "{\"extends\": \"a/b\"}",
	  "x.json:1:2: extends: \"a/b\" is not a valid profile name; use letters, digits, - and _" },
	{ "{\"extends\": \"cii\"}",
	  "x.json:1:2: extends: unknown profile \"cii\"; did you mean \"ci\"?" },
	{ "{\"network\": {\"reason\": 1}}",
	  "x.json:1:14: network.reason: expected a string or an object of strings, got a number; use \"...\", or { \"entry\": \"...\" }" },
	{ "{\"env\": {\"reason\": {\"A\": \"b\", \"C\": []}}}",
	  "x.json:1:31: env.reason.C: expected a string, got a list; use \"...\", or { \"entry\": \"...\" }" },
	{ "{\"reason\": \"at the top\"}", "x.json:1:2: reason: unknown key" },
	{ "{\"network\": {\"reason\": \"x\", \"modes\": \"blocked\"},\n\"env\": {\"reason\": {\"A\": \"b\"}}}",
	  "x.json:1:29: network.modes: unknown key; did you mean network.mode?" },
	{ "{\"$schema\": 1}",
	  "x.json:1:2: $schema: expected a string, got a number; put it in quotes" },
	{ "[]", "x.json:1:1: expected an object, got a list; use { ... }" },
	{ "{\n\"a\": 1\n\"b\": 2}",
	  "x.json:3:1: expected a comma or }; is a comma missing before this?" },
	{ "", "x.json:1:1: unexpected end of file; is a \", ] or } missing?" },
	{ "{\n\"\\u001b[31m\": 1}", "x.json:2:1: \\x1b[31m: unknown key" },
	{ "{\"network\":{\"mode\":\"\\u202eopen\"}}",
	  "x.json:1:13: network.mode: invalid value \"\\xe2\\x80\\xaeopen\"; use blocked, filtered or allowed" },
};

static void check(struct ab_strv *problems)
{
	memset(&error, 0, sizeof(error));
	ab_strv_fini(problems);
	if (ab_policy_check_file(&input, "x.json", problems, &error) < 0)
		ab_strv_addf(problems, "cannot: %s", error.text);
}

static void test_cases(void)
{
	struct ab_strv problems = { 0 };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		put_file("home/work/x.json", cases[i].text);
		check(&problems);
		is_str(joined(&problems), cases[i].line,
		       "a mistake with its line, its key and the way out");
	}
	put_file(
		"home/work/x.json",
		"{\"$schema\":\"s\",\"extends\":\"ci\",\"limits\":{\"processes\":\"none\",\"timeout\":\"none\"}}");
	check(&problems);
	ok(problems.len == 0, "a good file has no problem");

	put_file("home/work/x.json", "{\"a\":1,\n\"network\":{\"mode\":2,\n\"allow\":[\"*\"]}}");
	check(&problems);
	ok(problems.len == 3 && !strncmp(problems.v[2], "x.json:3:", 9),
	   "all problems of a file are found");

	put_file("home/work/x.json", "{\"network\":{\"mode\":\"blocked\",\n\"mode\":\"allowed\"}}");
	check(&problems);
	is_str(joined(&problems), "x.json:2:1: mode: duplicate key; remove one of them",
	       "a key given twice is an error at its place");
	put_file("home/work/x.json", "{\"limits\":{\"files\":99999999999999999999999}}");
	check(&problems);
	is_str(joined(&problems),
	       "x.json:1:20: the number is too large; the largest is 9223372036854775807",
	       "a number that fits nowhere is an error");
	ab_strv_fini(&problems);
}

static void test_many(void)
{
	struct ab_strv problems = { 0 };
	FILE *f = fopen(at("home/work/x.json"), "w");

	fputs("{", f);
	for (int i = 0; i < 3000; i++)
		fprintf(f, "%s\"k%d\":1", i ? "," : "", i);
	fputs("}", f);
	fclose(f);
	check(&problems);
	ok(problems.len == 100, "very many problems are cut at a hundred");

	f = fopen(at("home/work/x.json"), "w");
	fputs("{\"network\":{\"deny\":[", f);
	for (int i = 0; i < 1030; i++)
		fprintf(f, "%s\"h%d.example\"", i ? "," : "", i);
	fputs("]}}", f);
	fclose(f);
	check(&problems);
	ok(problems.len == 6 && strstr(problems.v[0], "network.deny[1024]: more than 1024 entries"),
	   "a list is bounded");
	ab_strv_fini(&problems);
}

static void test_files(void)
{
	struct ab_strv problems = { 0 };
	struct ab_policy *p = NULL;
	char *big = malloc((1 << 20) + 2);

	remove_file("home/work/x.json");
	check(&problems);
	is_str(joined(&problems), "cannot: x.json does not exist",
	       "a missing file is said to be missing");

	memset(big, ' ', (1 << 20) + 1);
	big[(1 << 20) + 1] = '\0';
	put_file("home/work/x.json", big);
	check(&problems);
	is_str(joined(&problems), "cannot: x.json is larger than 1 MiB", "a file is bounded");
	free(big);

	remove_file("home/work/x.json");
	mkfifo(at("home/work/x.json"), 0600);
	check(&problems);
	is_str(joined(&problems), "cannot: x.json is not a file", "a pipe is not waited for");

	put_file("real.json", "{}");
	ok(symlink(at("real.json"), at(PROJECT_FILE)) == 0 && !load() && error.code == AB_ECONFIG,
	   "a project file that is a link is refused");
	is_str(error.text, ".agentbox.json is a symbolic link, and links are not followed here",
	       "and called by its name");
	remove_file(PROJECT_FILE);
	mkfifo(at(PROJECT_FILE), 0600);
	ok(!load() && strstr(error.text, "not a file"), "so is one that is a pipe");
	remove_file(PROJECT_FILE);
	put_file(PROJECT_FILE, "{\"network\":{\"mode\":\"x\"}}");
	ok(!load() && error.code == AB_ECONFIG, "a bad one stops the run");
	is_str(error.text, ".agentbox.json:1:13: network.mode: invalid value \"x\"",
	       "with file, line and key");
	remove_file(PROJECT_FILE);
	ok(symlink(at("real.json"), at(USER_FILE)) == 0 && (p = load()),
	   "the user's own file may be a link");
	ab_policy_free(p);
	remove_file(USER_FILE);
	put_file(USER_FILE, "{");
	ok(!load() && strstr(error.text, "~/.config/agentbox/config.json:1:"),
	   "a file under home is called so");
	remove_file(USER_FILE);
	ab_strv_fini(&problems);
}

int main(void)
{
	world_init();
	test_cases();
	test_many();
	test_files();
	world_fini();
	return done();
}
