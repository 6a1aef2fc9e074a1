/* A repository of the run's making, in which git changes the configuration all the time. */
#include "workspace/quarantine/quarantine.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/data/buf.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "workspace/tree/dir.h"
#include "workspace_help.h"

enum { CHANGES = 1000, EVERY = 50, FOUND = CHANGES / EVERY, MISSING = 99 };

/* The settings of the file, and which change of the test was the last one in it; -1: none. */
static int read_count(int gitdir, char **ret, size_t *ret_len)
{
	char *at;

	if (ab_read_small(gitdir, "config", 1 << 20, ret, ret_len) < 0)
		return -1;
	at = strstr(*ret, "count = ");
	return at ? atoi(at + 8) : -1;
}

/* As git does it: write the whole file anew under another name, and rename it. Settings that run a
 * program stay as they are found. Returns the number of the change before this one, or -1. */
static int change_config(int gitdir, int n)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *data = NULL;
	ab_autoclose int fd = -1;
	size_t len = 0;
	int before = read_count(gitdir, &data, &len);
	char *rest = data ? strstr(data, "[alias]") : NULL;

	ab_buf_printf(&b, "[user]\n\tcount = %d\n%s", n, rest ? rest : "[alias]\n");
	if (n % EVERY == 0)
		ab_buf_printf(&b, "\ta%d = !evil\n", n / EVERY);
	fd = openat(gitdir, "config.lock", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ab_write_all(fd, b.data, b.len) < 0 ||
	    renameat(gitdir, "config.lock", gitdir, "config") < 0)
		abort();
	return before;
}

/* Returns how many changes were lost; MISSING: there was no complete file. */
static int change_all(int gitdir)
{
	int lost = 0;

	for (int n = 1; n <= CHANGES; n++) {
		int before = change_config(gitdir, n);

		if (before < 0)
			return MISSING;
		lost += before != n - 1;
	}
	return lost < MISSING ? lost : MISSING - 1;
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
	int gitdir, dir, status = -1, told = 0, lost;
	size_t len;
	pid_t git;

	start();
	sh("mkdir $T/w $T/q");
	s = survey("w", NULL);
	dir = open(at("q"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(ab_quarantine_open(&s, dir, &q, &err) == 0, "open");
	ab_quarantine_look(q);
	sh("cd $T/w && git init -q new && printf '[user]\\n\\tcount = 0\\n' > new/.git/config");
	gitdir = open(at("w/new/.git"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	git = fork();
	if (git == 0)
		_exit(change_all(gitdir));
	while (waitpid(git, &status, WNOHANG) == 0) {
		ab_quarantine_events(q);
		ab_quarantine_look(q);
	}
	ab_quarantine_sweep(q);
	lost = WIFEXITED(status) ? WEXITSTATUS(status) : MISSING;
	ok(lost != MISSING, "git finds a complete file every time");
	ok(read_count(gitdir, &data, &len) == CHANGES && !strstr(data, "evil"),
	   "the last one stays, and no program");
	for (int n = 1; n <= FOUND; n++)
		told += is_told(q, n);
	/* A change that comes between two system calls may be lost, with the program in it. */
	ok(told + lost >= FOUND, "%d of %d programs are named", told, FOUND);
	ok(sh("! ls -A $T/w/new/.git | grep -q agentbox") == 0, "nothing is left over");
	ab_quarantine_close(q);
	ab_survey_fini(&s);
	close(dir);
	close(gitdir);
	finish();
	return done();
}
