/* What a shared folder had before: by the notes of other runs, or by a look that nothing disturbs. */
#include "state/shared_modes.h"

#include <stdio.h>

#include "base/system/clock.h"
#include "state/state.h"
#include "workspace/quarantine/journal.h"
#include "workspace_help.h"

static struct ab_state state;
static struct ab_survey own;

/* File times may be ahead of the coarse clock, which starts are read from. */
static void tick(void)
{
	struct timespec first, now;

	clock_gettime(CLOCK_REALTIME, &first);
	do {
		usleep(1000);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (!ab_time_later(now, first));
}

/* Look at the shared folder and at one in it, as a survey does. */
static void look(const char *inner)
{
	char *const paths[] = { at("shared"), ab_printf("%s/shared/%s", top, inner) };

	ab_survey_fini(&own);
	ab_strv_add(&own.shared, paths[0]);
	for (size_t i = 0; i < AB_COUNT(paths); i++) {
		struct ab_folder_mode m = { .path = paths[i] };

		ab_folder_mode_read(m.path, &m);
		*ab_append(own.modes, own.nmodes) = m;
	}
}

/* The look of now is in the start record of a run, whose processes are all dead. */
static void record_run(const char *id)
{
	ab_autofree char *dir = ab_printf("%s/live/%s", state.path, id);
	ab_autofree char *path = ab_printf("%s/audit.jsonl", dir), *watch = NULL;
	FILE *f;

	clock_gettime(CLOCK_REALTIME_COARSE, &own.started);
	watch = ab_journal_write(&own);
	if (mkdir(dir, 0700) < 0 || !(f = fopen(path, "we")))
		abort();
	fprintf(f, "{\"kind\":\"start\",\"watch\":%s}\n", watch);
	fclose(f);
}

static bool settles(mode_t shared, mode_t old)
{
	ab_shared_modes_settle(&state, &own);
	if (own.modes[0].mode == shared && own.modes[1].mode == old)
		return true;
	printf("# %o %o\n", own.modes[0].mode, own.modes[1].mode);
	return false;
}

static void alone(void)
{
	sh("mkdir -p $T/shared/old; chmod 777 $T/shared; chmod 2775 $T/shared/old");
	look("old");
	ok(settles(0777, 02775), "without another run a folder has its own permissions");
	sh("chmod 750 $T/shared; chmod 00700 $T/shared/old");
	ok(settles(0750, 0700), "also if they changed since the first look");
}

static void beside(void)
{
	sh("chmod 750 $T/shared; chmod 2775 $T/shared/old");
	look("old");
	record_run("aaaaa");
	tick();
	sh("chmod 00777 $T/shared $T/shared/old");
	look("old");
	ok(settles(0750, 0775),
	   "what another run noted counts, and what is closed since is closed");
	record_run("bbbbb");
	sh("rm -r $T/state/live/aaaaa");
	look("old");
	ok(settles(0750, 0775), "the note is handed on");
	tick();
	sh("mkdir -m 777 $T/shared/new");
	look("new");
	ok(settles(0750, 0755), "a folder that no run has noted is not open for others");
	sh("chmod 00000 $T/shared/old");
	look("old");
	ok(settles(0750, 0700), "the owner's rights come back");
}

/* Its folder may stay for long: its cgroup cannot be removed. */
static void ended(void)
{
	sh("rm -r $T/state/live/*; chmod 750 $T/shared; chmod 00700 $T/shared/old");
	look("old");
	record_run("eeeee");
	tick();
	sh("chmod 00777 $T/shared $T/shared/old");
	sh("echo '{\"kind\":\"end\",\"swept\":false}' >>$T/state/live/eeeee/audit.jsonl");
	look("old");
	ok(settles(0750, 0700), "the note of a run counts until it is swept");
	sh("echo '{\"kind\":\"end\"}' >>$T/state/live/eeeee/audit.jsonl");
	look("old");
	ok(settles(0777, 0777), "and not when it has ended");
}

static void unread(void)
{
	sh("rm -r $T/state/live/*; mkdir $T/state/live/ccccc $T/state/live/.ddddd;"
	   "echo '{\"watch\":7}' >$T/state/live/ccccc/audit.jsonl; chmod 755 $T/shared; chmod 00777 $T/shared/old");
	look("old");
	ok(settles(0755, 0777), "a run that has not begun changes nothing");
}

int main(void)
{
	struct ab_error err;

	start();
	ab_autofree char *path = at("state");
	if (ab_state_open(path, &state, &err) < 0)
		abort();
	alone();
	beside();
	ended();
	unread();
	ab_survey_fini(&own);
	ab_state_fini(&state);
	finish();
	return done();
}
