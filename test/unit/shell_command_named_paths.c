/* The paths that words name, and the files that a policy closes. */
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "shell/match/closed_paths.h"
#include "shell/command/name_index.h"
#include "shell/command/named_paths.h"

#include "tap.h"

static const struct {
	const char *word, *paths; /* separated by blanks */
} cases[] = {
	{ "/etc/shadow", "/etc/shadow" },
	{ "--file=/etc/shadow", "/etc/shadow" },
	{ "-f/etc/shadow", "/etc/shadow" },
	{ "@/etc/shadow", "/etc/shadow" },
	{ "f=@/etc/shadow;type=x", "/etc/shadow" },
	{ "file:///etc/shadow", "/etc/shadow" },
	{ "~/.ssh/id_rsa", "~/.ssh/id_rsa" },
	{ "key=~/.ssh/id_rsa", "~/.ssh/id_rsa" },
	{ "open(\"/etc/shadow\").read()", "/etc/shadow" },
	{ "a:/b/c,/d/e", "/b/c /d/e" },
	{ "cat </etc/a >/etc/b", "/etc/a /etc/b" },
	{ "https://example.com/etc/shadow", "" },
	{ "see https://example.com/etc/shadow, /etc/hosts", "/etc/hosts" },
	{ "src/etc/shadow", "" },
	{ "a@b/etc", "" },
	{ "1/2", "" },
	{ "", "" },
};

static void test_words(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char all[256] = "";

		for (struct ab_named_paths n = ab_named_begin(ab_text_of(cases[i].word));
		     ab_named_next(&n);) {
			if (all[0])
				strcat(all, " ");
			strncat(all, n.path.s, n.path.len);
		}
		ok(strcmp(all, cases[i].paths) == 0, "%s names \"%s\" (%s)", cases[i].word,
		   cases[i].paths, all);
	}
}

static bool is_closed(const struct ab_closed *closed, const char *name)
{
	const struct ab_scene scene = { .home = "/home/me", .cwd = "/home/me/project" };
	const struct ab_simple command = { .scene = &scene, .cwd = { "/home/me/project", 16 } };
	const struct ab_field field = { .text = { name, (uint32_t)strlen(name) } };
	struct ab_path path;

	ab_path_read(&command, &field, &path);
	return ab_closed_has(closed, &path);
}

static void test_closed(void)
{
	ab_autostrv struct ab_strv list = { 0 };
	struct ab_closed closed;

	ab_strv_add(&list, "/home/me/.mozilla");
	ab_strv_add(&list, "/etc/ssh/ssh_host_*_key");
	ab_strv_add(&list, "/home/me/project/secret");
	ab_strv_add(&list, "!/home/me/project/secret/open");
	ab_closed_init(&closed, &list, "/home/me/project");
	ok(is_closed(&closed, "/home/me/.mozilla"), "the entry itself");
	ok(is_closed(&closed, "/home/me/.mozilla/a/b"), "what is below it");
	ok(is_closed(&closed, "../.mozilla/a"), "by a relative name");
	ok(is_closed(&closed, "secret/x"), "in the folder");
	ok(is_closed(&closed, "/etc/ssh/ssh_host_rsa_key"), "a pattern");
	ok(!is_closed(&closed, "/etc/ssh/ssh_host_rsa_key.pub"), "what the pattern does not match");
	ok(!is_closed(&closed, "secret/open"), "what was taken back");
	ok(!is_closed(&closed, "/home/me/.mozillax"), "a longer name");
	ok(!is_closed(&closed, "/home/me"), "the folder above");
	ok(!is_closed(&closed, "/home/me/project/x"), "another file");
}

static unsigned get_tables(const char *name)
{
	struct ab_simple command = { .name = { name, (uint32_t)strlen(name) } };

	ab_command_look_up(&command);
	return command.tables;
}

static void test_index(void)
{
	ok(get_tables("sudo") & AB_TABLE_WRAPPERS, "sudo is a wrapper");
	ok(get_tables("sudo") & AB_TABLE_SYSTEM, "and a tool of the system");
	ok(get_tables("cat") & AB_TABLE_READS, "cat reads");
	ok(get_tables("python3.11") & AB_TABLE_LANGUAGES, "a version is ignored");
	ok(get_tables("cd") & AB_TABLE_BUILTINS, "cd is a builtin");
	ok(get_tables("curl") & AB_TABLE_REMEMBERED, "the files of curl are followed");
	ok(get_tables("newtool") == 0, "no table knows newtool");
	ok(get_tables("") == 0, "nor nothing");
}

int main(void)
{
	test_words();
	test_closed();
	test_index();
	return done();
}
