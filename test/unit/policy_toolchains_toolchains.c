#include "policy/toolchains/toolchains.h"

#include "base/text/words.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/toolchains/host_groups.h"
#include "policy/values/host.h"
#include "policy_help.h"
#include "tap.h"

static bool is_host(const char *entry)
{
	struct ab_host_entry e;

	for (size_t i = 0; entry[0] == '@' && i < ab_group_count; i++)
		if (strcmp(entry + 1, ab_group_names[i]) == 0)
			return true;
	return ab_host_entry_parse(entry, strlen(entry), &e, NULL) == 0;
}

/* The next word of a list, terminated. */
static bool next_word(const char **list, char ret[80])
{
	size_t n;
	const char *word = ab_word_next(list, &n);

	if (word)
		snprintf(ret, 80, "%.*s", (int)n, word);
	return word;
}

static void test_table(void)
{
	for (size_t i = 0; i < ab_toolchain_count; i++) {
		const struct ab_toolchain *t = &ab_toolchains[i];
		char word[80];
		size_t bad = 0;

		ok(i == 0 || strcmp(ab_toolchains[i - 1].name, t->name) < 0, "%s: sorted", t->name);
		for (const char *list = t->hosts; next_word(&list, word);)
			bad += !is_host(word);
		for (const char *list = t->env; next_word(&list, word);)
			bad += !strchr(word, '=');
		for (const char *list = t->files; next_word(&list, word);)
			bad += !ab_toolchain_has(t, word);
		/* A text that fills its array would have no end. */
		bad += !memchr(t->name, 0, sizeof(t->name)) || !memchr(t->doc, 0, sizeof(t->doc)) ||
		       !memchr(t->also, 0, sizeof(t->also)) ||
		       !memchr(t->files, 0, sizeof(t->files)) ||
		       !memchr(t->hosts, 0, sizeof(t->hosts)) ||
		       !memchr(t->env, 0, sizeof(t->env)) || !memchr(t->forge, 0, sizeof(t->forge));
		ok(bad == 0 && t->hosts[0] && (t->files[0] || t->forge[0]), "and well formed");
	}
	ok(ab_toolchain_find("node") && !ab_toolchain_find("auto") && !ab_toolchain_find(""),
	   "presets are found by name");
	is_str(ab_toolchain_guess("npm"), "node", "a tool is a word for its preset");
	is_str(ab_toolchain_guess("pyton"), "python", "a typing mistake too");
	is_str(ab_toolchain_guess("aut"), "auto", "also in auto");
	ok(!ab_toolchain_guess("xxxxxxxx"), "but not everything");
	ok(ab_toolchain_has(ab_toolchain_find("dotnet"), "x.csproj") &&
		   !ab_toolchain_has(ab_toolchain_find("dotnet"), ".csproj") &&
		   !ab_toolchain_has(ab_toolchain_find("node"), "package.jsonx"),
	   "files are matched by name or ending");
}

static void test_remote(void)
{
	static const struct {
		const char *config, *preset;
	} cases[] = {
		{ "[remote \"origin\"]\n\turl = git@github.com:o/r.git\n", "github" },
		{ "[remote \"origin\"]\n\turl = https://me@gitlab.com/o/r\n", "gitlab" },
		{ "[remote \"origin\"]\n\turl = ssh://git@codeberg.org:22/o/r\n", "codeberg" },
		{ "[remote \"origin\"]\n\turl = https://evil.example/github.com\n", NULL },
		{ "[remote \"origin\"]\n\turl = https://github.com.evil.example/\n", NULL },
		{ "[remote \"origin\"]\n\turl = https://xgithub.com/\n", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const struct ab_toolchain *t = ab_toolchain_of_remote(cases[i].config);

		is_str(t ? t->name : "", cases[i].preset ? cases[i].preset : "",
		       cases[i].preset ? cases[i].preset : "no known host");
	}
}

static const char *with(const struct ab_policy *p)
{
	static struct ab_strv names;
	const struct ab_value *v = &p->store->config.v[AB_KEY_WITH];

	ab_strv_fini(&names);
	for (size_t i = 0; i < v->len; i++)
		ab_strv_add(&names, v->items[i].text);
	return names.len ? joined(&names) : "";
}

static void test_option(void)
{
	struct ab_policy *p;

	add_flag("with", "node,python", "--with");
	add_flag("with", "node", "--with");
	p = load();
	ok(p && ab_strv_has(&p->net.allow, "*.npmjs.org") && ab_strv_has(&p->net.allow, "pypi.org"),
	   "an option takes several");
	is_str(p ? with(p) : "", "node python", "each once");
	ok(p && ab_strv_has(&p->env.set, "npm_config_update_notifier=false"), "with variables");
	ab_policy_free(p);
	reset_input();

	set_env("npm_config_update_notifier", "true");
	add_flag("env.set", "COREPACK_ENABLE_DOWNLOAD_PROMPT=1", "--env");
	add_flag("with", "node", "--with");
	p = load();
	ok(p && p->env.set.len == 1 &&
		   ab_strv_has(&p->env.set, "COREPACK_ENABLE_DOWNLOAD_PROMPT=1"),
	   "a variable of the caller or of a setting wins");
	ab_policy_free(p);
	reset_input();

	add_flag("with", "node,npm", "--with");
	p = load();
	ok(!p && strstr(error.hint, "did you mean \"node\"?") && strstr(error.hint, "rust"),
	   "an unknown one is refused with a suggestion and the list: %s", error.hint);
	ab_policy_free(p);
	reset_input();
}

static void test_files(void)
{
	struct ab_policy *p;

	put_file("home/.config/agentbox/config.json", "{\"with\": [\"go\"]}");
	put_file("home/work/Cargo.lock", "");
	make_dir("home/work/package.json");
	p = load();
	is_str(p ? with(p) : "", "go", "a lock file selects nothing by itself");
	ok(p && !ab_strv_has(&p->net.allow, "crates.io"), "nor its hosts");
	ab_policy_free(p);

	put_file("home/.config/agentbox/config.json", "{\"with\": \"auto\"}");
	p = load();
	is_str(p ? with(p) : "", "rust", "auto selects by lock files, and a folder is none");
	ok(p && ab_strv_has(&p->net.allow, "crates.io"), "and brings the hosts");
	ab_policy_free(p);

	put_file("home/work/.agentbox.json", "{\"with\": [\"auto\", \"java\"]}");
	put_file("home/.config/agentbox/config.json", "{}");
	p = load();
	is_str(p ? with(p) : "x", "", "an untrusted project cannot say auto");
	ok(p && p->net.allow.len == 0 && notes.len == 2 && strstr(notes.v[1], "with: 2 entries"),
	   "and it is said: %s", joined(&notes));
	ab_policy_free(p);

	put_file("home/.config/agentbox/config.json", "{\"with\": \"node\"}");
	ok(!load() && strstr(error.text, "\"auto\" or a list"), "another string is a mistake: %s",
	   error.text);
	remove_file("home/.config/agentbox/config.json");
	remove_file("home/work/.agentbox.json");
}

int main(void)
{
	world_init();
	make_dir("home/.config/agentbox");
	test_table();
	test_remote();
	test_option();
	test_files();
	world_fini();
	return done();
}
