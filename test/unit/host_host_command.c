/* Commands of the user that run on the host: what they may name, and what they inherit. */
#include "host/host_command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "policy/model/policy.h"
#include "tap.h"

static char top[] = "/tmp/agentbox-command-XXXXXX";

/* In each text, %W is the workspace, %H the home above it, %O a folder that no box can write. */
static const struct {
	const char *text;
	const char *refused; /* a part of the message; NULL: accepted */
} texts[] = {
	{ "echo '{\"answer\":\"once\"}'", NULL },
	{ "exit 1", NULL },
	{ "cat >>%O/log; exit 3", NULL },
	{ "%O/tool --flag -x", NULL },
	{ "tool", NULL },
	{ "jq -r .host | grep -q '^a/b$' && echo '{\"answer\":\"no\"}' || false", NULL },
	{ "if grep -q x; then tool \"$(cat)\"; else kill -KILL $$; fi", NULL },
	{ "python3 -c 'print(1/2)'", NULL },
	{ "curl -d @- https://hooks.test/a/b", NULL },
	{ "sh -c 'cat >/dev/null'", NULL },
	{ "cd %O && tool x", NULL },
	{ "%O/near", NULL },

	{ "%W/tool", "%W/tool" },
	{ "./tool", "relative" },
	{ "../tool", "relative" },
	{ "sh %W/tool", "%W/tool" },
	{ "%O/link", "%O/link" },
	{ "%W/out/tool", "%W/out/tool" },
	{ "%W/later", "%W/later" },
	{ "cat >%W/log", "%W/log" },
	{ "cat <%W/log", "%W/log" },
	{ "cat | (cd %H; sh work/tool)", "%W/tool" },
	{ "cd \"$X\"; tool", "folder" },
	{ "$X", "not known" },
	{ "\"$X/tool\"", "not known" },
	{ "PATH=%W:$PATH tool", "%W" },
	{ "PATH=%O:%W; tool", "%W" },
	{ "PATH=~/work:$PATH; tool", "%W" },
	{ "x() { X=$HOME/work/tool; }; x", "%W/tool" },
	{ "LD_PRELOAD=%W/x.so tool", "%W/x.so" },
	{ "tool --config=%W/c", "%W/c" },
	{ "tool -c%W/c", "%W/c" },
	{ "tool %W/$X", "%W" },
	{ "tool file://%W/c", "%W/c" },
	{ "sh -c 'cat >%W/log'", "%W/log" },
	{ "sudo env A=b nice %W/tool", "%W/tool" },
	{ "only", "%W/bin/only" },
	{ "echo 'open quote", "cannot be read" },
};

static char *fill_in(const char *text)
{
	char *s = ab_strdup(text);
	const struct {
		const char *mark, *to;
	} marks[] = { { "%W", "/work" }, { "%H", "" }, { "%O", "/own" } };

	for (size_t i = 0; i < AB_COUNT(marks); i++) {
		char *at;

		while ((at = strstr(s, marks[i].mark)) != NULL) {
			char *next;

			*at = '\0';
			next = ab_printf("%s%s%s%s", s, top, marks[i].to, at + 2);
			free(s);
			s = next;
		}
	}
	return s;
}

static void check_texts(const struct ab_policy *policy, char *const *env)
{
	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		ab_autofree char *text = fill_in(texts[i].text);
		ab_autofree char *want = texts[i].refused ? fill_in(texts[i].refused) : NULL;
		struct ab_error err = { 0 };
		int r = ab_host_command_check("--approver", text, policy, env, &err);

		ok(want ? r < 0 && strstr(err.text, want) && err.hint[0] : r == 0, "%s (%s)",
		   texts[i].text, err.text);
	}
}

static bool has(char **list, const char *entry)
{
	for (; *list; list++)
		if (strcmp(*list, entry) == 0)
			return true;
	return false;
}

static void check_environ(const struct ab_policy *policy, char *const *env)
{
	ab_autofree char *path = NULL;
	ab_autofree char **list = ab_host_command_environ(&policy->fs.touched, env, &path);
	ab_autofree char *want = fill_in("PATH=%O:/usr/bin:/bin"), *home = fill_in("HOME=%H");

	is_str(path, want, "PATH has no folder of the box, and no relative one");
	ok(has(list, want), "and is passed on");
	ok(has(list, home) && has(list, "LANG=C") && has(list, "X=a/b:c"), "so are others");
	for (char **e = list; *e; e++)
		ok(!strstr(*e, "/work"), "nothing leads to the workspace: %s", *e);
}

int main(void)
{
	struct ab_policy policy = { .workspace = "" };
	ab_autofree char *path = NULL, *home = NULL, *lib = NULL, *opts = NULL, *clean = NULL;

	if (!mkdtemp(top) || chdir(top) < 0 ||
	    system("mkdir -p work/bin own && printf '#!/bin/sh\n' >own/tool && chmod +x own/tool &&"
		   "cp own/tool work/bin/only && cp own/tool work/tool &&"
		   "ln -s ../work/tool own/link && ln -s tool own/near &&"
		   "ln -s ../own work/out && ln -s work/bin bin") != 0)
		return 1;
	ab_strv_addf(&policy.fs.touched, "%s/work", top);
	policy.home = top;
	path = fill_in("PATH=.::%W/bin:%O:%H/bin:%W/none:/usr/bin:/bin");
	home = fill_in("HOME=%H");
	lib = fill_in("PYTHONPATH=/usr/lib:%W/lib");
	opts = fill_in("NODE_OPTIONS=--require=%W/x.js");
	char *const env[] = { path, home, lib, opts, (char *)"LANG=C", (char *)"X=a/b:c", NULL };

	check_texts(&policy, env);
	check_environ(&policy, env);
	ab_strv_fini(&policy.fs.touched);
	clean = ab_printf("rm -rf %s", top);
	if (chdir("/") < 0 || system(clean) != 0)
		return 1;
	return done();
}
