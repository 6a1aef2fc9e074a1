/* Dead runs at the next start: which of them stay, and that none is swept twice. */
#include "broker/cleanup/leftovers.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/system/clock.h"
#include "state/state.h"
#include "workspace/quarantine/journal.h"
#include "workspace_help.h"

static struct ab_state state;
static struct ab_survey noted;

/* In the place of a cgroup file system, where a process stays in the cgroup of a run. */
static size_t tries;

int statfs(const char *path, struct statfs *fs)
{
	int r = (int)syscall(SYS_statfs, path, fs);

	fs->f_type = CGROUP2_SUPER_MAGIC;
	return r;
}

int rmdir(const char *path)
{
	(void)path;
	tries++;
	errno = EBUSY;
	return -1;
}

/* Its processes are all dead. `file`: where its start record is. */
static void record_run(const char *id, const char *file, const char *end)
{
	ab_autofree char *dir = ab_printf("%s/live/%s", state.path, id);
	ab_autofree char *path = ab_path_join(dir, file), *watch = NULL;
	FILE *f;

	clock_gettime(CLOCK_REALTIME_COARSE, &noted.started);
	watch = ab_journal_write(&noted);
	if (mkdir(dir, 0700) < 0 || !(f = fopen(path, "we")))
		abort();
	fprintf(f, "{\"kind\":\"start\",\"cgroup\":\"%s/agentbox-%s\",\"watch\":%s}\n%s", top, id,
		watch, end);
	fclose(f);
	sh("mkdir $T/agentbox-%s", id);
}

/* The protected file stays. */
static bool starts(bool stays)
{
	ab_autostrv struct ab_strv notes = { 0 };
	ab_autofree char *file = at("w/.envrc");

	tries = 0;
	sh("echo x >$T/w/.envrc");
	ab_leftovers_stale(&state, &notes);
	return (access(file, F_OK) == 0) == stays;
}

static bool is_in(const char *folder, const char *id)
{
	ab_autofree char *path = ab_printf("%s/%s/%s", state.path, folder, id);

	return access(path, F_OK) == 0;
}

static void ended(void)
{
	record_run("aaaaa", "audit.jsonl", "{\"kind\":\"end\"}\n");
	ok(starts(true) && is_in("live", "aaaaa"),
	   "a run with a cgroup stays, and nothing is swept");
	ok(tries == 1, "no start waits for it: %zu", tries);
	sh("rmdir $T/agentbox-aaaaa");
	ok(starts(true) && is_in("runs", "aaaaa"), "without the cgroup it is retired");
}

static void killed(void)
{
	record_run("bbbbb", "audit.jsonl", "");
	ok(starts(false) && is_in("live", "bbbbb"), "a run that was killed is swept, and stays");
	ok(tries > 1, "after its cgroup was waited for");
	ok(starts(true) && tries == 1, "once");
	sh("rmdir $T/agentbox-bbbbb");
	ok(starts(true) && is_in("runs", "bbbbb"), "without the cgroup it is retired");
}

static void unreadable(void)
{
	record_run("ccccc", "audit.1.jsonl", "");
	sh("mkdir $T/state/live/ccccc/audit.jsonl");
	ok(starts(false) && is_in("runs", "ccccc"),
	   "one whose record cannot get an end does not stay for its cgroup");
	ok(starts(true), "and is not swept again");
}

int main(void)
{
	struct ab_error err;

	start();
	ab_autofree char *path = at("state");
	if (ab_state_open(path, &state, &err) < 0)
		abort();
	sh("mkdir $T/w");
	noted = survey("w", NULL);
	ended();
	killed();
	unreadable();
	ab_survey_fini(&noted);
	ab_state_fini(&state);
	finish();
	return done();
}
