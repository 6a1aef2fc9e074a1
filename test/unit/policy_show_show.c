#include "policy/show/show.h"

#include <jansson.h>

#include "policy_help.h"
#include "tap.h"

static const char *value_at(const json_t *o, const char *key, size_t i, const char *what)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_array(v))
		v = json_array_get(v, i);
	return json_string_value(json_object_get(v, what));
}

static void test_origins(void)
{
	struct ab_policy *p;
	char *text;
	json_t *o;

	put_file(SYSTEM_FILE, "{\n\n\"limits\": {\"files\": 64}}");
	put_file(USER_FILE,
		 "{\"network\": {\n\"mode\": \"filtered\",\n\"allow\": [\n\"a.example\"]}}");
	put_file(PROJECT_FILE, "{\n\"filesystem\": {\"denyRead\": [\"p\"]}}");
	add_flag("network.allow", "@npm", "--allow");
	add_flag("network.deny", "evil.example", "--deny");
	set_env("AGENTBOX_NET", "blocked");
	p = load();
	ok(p, "loaded");
	text = ab_policy_show(p, true);
	o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	ok(o, "shown as JSON");
	is_str(value_at(o, "network.mode", 0, "value"), "blocked", "a value");
	is_str(value_at(o, "network.mode", 0, "from"), "AGENTBOX_NET", "from a variable");
	is_str(value_at(o, "network.allow", 0, "from"), "~/.config/agentbox/config.json:4",
	       "from a line of a file");
	is_str(value_at(o, "network.allow", 1, "from"), "@npm in --allow",
	       "from a group in a flag");
	is_str(value_at(o, "network.deny", 0, "from"), "--deny", "from a flag");
	ok(json_integer_value(json_object_get(json_object_get(o, "limits.files"), "value")) == 64,
	   "a number stays one");
	is_str(value_at(o, "filesystem.write", 0, "from"), "profile default", "from a profile");
	is_str(value_at(o, "filesystem.home", 0, "value"), "layered", "a word as it is written");
	json_decref(o);

	text = ab_policy_show(p, false);
	ok(strstr(text, "\nnetwork.mode             blocked ") && strstr(text, "AGENTBOX_NET\n"),
	   "shown as a table");
	ok(strstr(text, ".agentbox.json:2\n") && strstr(text, "  always\n"),
	   "with the project's lines and what is always so");
	free(text);
	ab_policy_free(p);
	remove_file(SYSTEM_FILE);
	remove_file(USER_FILE);
	remove_file(PROJECT_FILE);
	reset_input();
}

static void test_record(void)
{
	struct ab_policy *p;
	char *text, a[65], b[65];
	json_t *o;

	add_flag("env.set", "MY_TOKEN=hunter2", "--env");
	p = load();
	text = ab_policy_json(p);
	o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ok(o && !strchr(text, '\n'), "the record is one line of JSON");
	ok(strstr(text, "MY_TOKEN") && !strstr(text, "hunter2"),
	   "with names of variables, not their values");
	is_str(json_string_value(json_object_get(json_object_get(o, "network"), "mode")),
	       "filtered", "grouped as in a file");
	is_str(json_string_value(json_object_get(json_object_get(o, "limits"), "timeout")), "none",
	       "limits as people write them");
	json_decref(o);
	free(text);
	ab_policy_digest(p, a);
	ab_policy_free(p);
	p = load();
	ab_policy_digest(p, b);
	is_str(a, b, "the same policy has the same digest");
	ab_policy_free(p);
	add_flag("network.allow", "a.example", "--allow");
	p = load();
	ab_policy_digest(p, b);
	ok(strcmp(a, b) != 0 && strlen(b) == 64, "another has another");
	ab_policy_free(p);
	reset_input();
	add_flag("env.set", "MY_TOKEN=hunter3", "--env");
	p = load();
	ab_policy_digest(p, b);
	ok(strcmp(a, b) != 0, "also when only the value of a variable differs");
	ab_policy_free(p);
	reset_input();
}

static void test_escaping(void)
{
	struct ab_policy *p;
	char *text;

	add_flag("filesystem.denyRead", "a\033[2Jb\"c", "--deny-read");
	p = load();
	text = ab_policy_show(p, false);
	ok(!strchr(text, '\033') && strstr(text, "\\x1b[2Jb"),
	   "what is shown cannot write to the terminal");
	free(text);
	text = ab_policy_json(p);
	ok(strstr(text, "a\\u001b[2Jb\\\"c"), "nor break the record");
	free(text);
	ab_policy_free(p);
	reset_input();
}

static void test_paths(void)
{
	struct ab_policy_paths paths;

	put_file(USER_FILE, "{}");
	ok(ab_policy_paths(&input, &paths, &error) == 0 && paths.len == 4,
	   "four places are looked at");
	is_str(paths.v[1].path, at(USER_FILE), "the user file");
	ok(paths.v[1].exists && !paths.v[2].exists, "and whether they exist");
	is_str(paths.v[2].path, at(PROJECT_FILE), "the project file");
	ab_policy_paths_fini(&paths);
	remove_file(USER_FILE);
}

static void test_one(void)
{
	struct ab_policy *p;

	put_file(USER_FILE, "{\"network\":{\"mode\":\"allowed\"}}");
	ok(ab_policy_load_one(&input, "ci", &p, &error) == 0 && p->net.mode == AB_NET_BLOCKED,
	   "a profile alone has no other layer");
	ab_policy_free(p);
	put_file("home/work/f.json", "{\"extends\":\"ci\",\"limits\":{\"files\":99}}");
	ok(ab_policy_load_one(&input, "f.json", &p, &error) == 0 && p->net.mode == AB_NET_BLOCKED &&
		   p->limits.files == 99,
	   "a file alone has its profile");
	ab_policy_free(p);
	ok(ab_policy_load_one(&input, "none.json", &p, &error) < 0 &&
		   ab_policy_load_one(&input, "none", &p, &error) < 0,
	   "what is not there is an error");
	input.cwd = at("home");
	ok(ab_policy_load_one(&input, "default", &p, &error) == 0,
	   "a profile can be looked at anywhere");
	ab_policy_free(p);
	remove_file(USER_FILE);
	reset_input();
}

int main(void)
{
	world_init();
	test_origins();
	test_record();
	test_escaping();
	test_paths();
	test_one();
	world_fini();
	return done();
}
