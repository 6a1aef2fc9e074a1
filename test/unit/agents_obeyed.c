#include "agents/obeyed.h"

#include <string.h>

#include "tap.h"

/* A name is in one list, so it is clear what happens to it; lists have clean names. */
static void test_lists(void)
{
	size_t twice = 0, bad = 0;

	for (int list = 0; list < AB_OBEYED_LIKE; list++) {
		size_t n, others;
		const struct ab_obeyed_name *v = ab_obeyed_names(list, &n);

		ok(n > 30, "list %d has names", list);
		for (size_t i = 0; i < n; i++) {
			const char *name = v[i].pattern;

			bad += !name[0] || name[0] == '/' || name[0] == '~' || strstr(name, "//") ||
			       name[strlen(name) - 1] == '/' || !v[i].by->who[0];
			/* A file that is reported is looked up by its name. */
			bad += list == AB_OBEYED_REPORTED && strchr(name, '*');
			for (int k = list; k < AB_OBEYED_LIKE; k++) {
				const struct ab_obeyed_name *o = ab_obeyed_names(k, &others);

				for (size_t m = k == list ? i + 1 : 0; m < others; m++)
					twice += strcmp(name, o[m].pattern) == 0;
			}
		}
	}
	ok(twice == 0, "no name is listed twice");
	ok(bad == 0, "every name is clean and has a program");
}

static void test_clauses(void)
{
	const char *unknown = ab_obeyed_by("my-own-name");
	size_t n;
	const struct ab_obeyed_name *names = ab_obeyed_names(AB_OBEYED_CLOSED, &n);

	for (size_t i = 0; i < n; i++)
		ok(strcmp(ab_obeyed_by(names[i].pattern), unknown) != 0, "somebody obeys %s",
		   names[i].pattern);
	is_str(ab_obeyed_by(".envrc"), "direnv runs it when you enter the folder", "direnv");
	is_str(ab_obeyed_by(".git/hooks/pre-commit"), "git runs it as a hook",
	       "a file in a folder");
	is_str(ab_obeyed_by(".git/config"), "git runs programs that it names", "beside it");
	is_str(ab_obeyed_by(".envrc.bak"), unknown, "no prefix match");
	is_str(ab_obeyed_by(""), unknown, "an empty name");
	is_str(ab_obeyed_by(".bash_functions"), "a shell runs it when it starts",
	       "a name of the user's own");
}

int main(void)
{
	test_lists();
	test_clauses();
	return done();
}
