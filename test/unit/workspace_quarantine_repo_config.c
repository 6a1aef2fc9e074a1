/* A repository of the run's making, in which git changes the configuration all the time. */
#include "workspace/quarantine/quarantine.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/data/buf.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "workspace/tree/dir.h"
#include "workspace_help.h"

enum { CHANGES = 1000, EVERY = 50, FOUND = CHANGES / EVERY };

/* The settings of the file, and which change of the test was the last one in it; -1: none. */
static int read_count(int gitdir, char **ret, size_t *ret_len)
{
	char *at;

	if (ab_read_small(gitdir, "config", 1 << 20, ret, ret_len) < 0)
		return -1;
	at = strstr(*ret, "name = ");
	return at ? atoi(at + 7) : -1;
}

static bool has_alias(const char *text, int n)
{
	ab_autofree char *line = ab_printf("\ta%d = ", n);

	return strstr(text, line) != NULL;
}

/* As git does it: write the whole file anew under another name, and rename it. Settings that run a
 * program stay as they are found. `last`: what the change before wrote, and now what this one did.
 * A change that comes between two system calls may be lost: `lost` gets the programs of `last` if
 * the file is an older one. Returns the number of the change before this one, or -1. */
static int change_config(int gitdir, int n, struct ab_buf *last, bool lost[])
{
	ab_autofree char *data = NULL;
	ab_autoclose int fd = -1;
	size_t len = 0;
	int before = read_count(gitdir, &data, &len);
	char *rest = data ? strstr(data, "[alias]") : NULL;

	for (int i = 1; i <= FOUND && before != n - 1; i++)
		lost[i] |= has_alias(last->data, i);
	last->len = 0;
	ab_buf_printf(last, "[user]\n\tname = %d\n%s", n, rest ? rest : "[alias]\n");
	if (n % EVERY == 0)
		ab_buf_printf(last, "\ta%d = !evil\n", n / EVERY);
	fd = openat(gitdir, "config.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ab_write_all(fd, last->data, last->len) < 0 ||
	    renameat(gitdir, "config.lock", gitdir, "config") < 0)
		abort();
	return before;
}

/* Returns whether there was a complete file every time. */
static bool change_all(int gitdir, bool lost[])
{
	ab_autobuf struct ab_buf last = { 0 };

	ab_buf_puts(&last, "");
	for (int n = 1; n <= CHANGES; n++)
		if (change_config(gitdir, n, &last, lost) < 0)
			return false;
	return true;
}

static bool is_told(const struct ab_quarantine *q, int n)
{
	const struct ab_quarantine_report *r = ab_quarantine_report(q);
	ab_autofree char *key = ab_printf("alias.a%d", n);

	for (size_t i = 0; i < r->nmoved; i++) {
		const char *found = r->moved[i].keys ? strstr(r->moved[i].keys, key) : NULL;

		if (found && strcspn(found, ", ") == strlen(key))
			return true;
	}
	return false;
}

int main(void)
{
	ab_autofree char *data = NULL;
	struct ab_quarantine *q;
	struct ab_error err;
	struct ab_survey s;
	int gitdir, dir, status = -1, named = 0, last;
	bool *lost;
	size_t len;
	pid_t git;

	start();
	sh("mkdir $T/w $T/q");
	s = survey("w", NULL);
	dir = open(at("q"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(ab_quarantine_open(&s, dir, &q, &err) == 0, "open");
	ab_quarantine_look(q);
	sh("cd $T/w && git init -q new && printf '[user]\\n\\tname = 0\\n' > new/.git/config");
	gitdir = open(at("w/new/.git"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lost = mmap(NULL, FOUND + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ok(lost != MAP_FAILED, "memory of both");
	git = fork();
	if (git == 0)
		_exit(change_all(gitdir, lost) ? 0 : 1);
	while (waitpid(git, &status, WNOHANG) == 0) {
		ab_quarantine_events(q);
		ab_quarantine_look(q);
	}
	ab_quarantine_sweep(q);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "git finds a complete file every time");
	last = read_count(gitdir, &data, &len);
	ok(last == CHANGES, "the last one stays: %d", last);
	ok(data && !strstr(data, "evil"), "no program stays");
	for (int n = 1; n <= FOUND; n++)
		named += lost[n] || is_told(q, n);
	ok(named == FOUND, "each program that was not lost is named: %d of %d", named, FOUND);
	ok(sh("! ls -A $T/w/new/.git | grep -q agentbox") == 0, "nothing is left over");
	ab_quarantine_close(q);
	ab_survey_fini(&s);
	close(dir);
	close(gitdir);
	finish();
	return done();
}
