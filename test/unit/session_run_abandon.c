/* A run that fails before its command begins. Real ones: residue.bats. */
#include "session/run/run_state.h"

#include "broker/cleanup/leftovers.h"
#include "session/run/prepare.h"
#include "workspace_help.h"

static bool exists(const char *rel)
{
	ab_autofree char *path = at(rel);

	return access(path, F_OK) == 0;
}

int main(void)
{
	struct ab_request request = { .argc = 0 };
	struct ab_prepared prepared = { .next = { .claim = -1 } };
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_error err = { 0 };
	struct run r;

	start();
	ab_autofree char *path = at("state");
	ab_run_init(&r, &request, &prepared);
	if (ab_state_open(path, &prepared.state, &err) < 0 ||
	    ab_run_create(&prepared.state, "aaaaa", &r.dir, &err) < 0)
		abort();
	/* Locked in, it can remove nothing. */
	r.locked = true;
	r.cgroup.path = at("agentbox-aaaaa");
	sh("mkdir $T/agentbox-aaaaa; echo '{\"kind\":\"start\"}' >$T/state/live/aaaaa/audit.jsonl");
	ab_run_abandon(&r, &err);
	ok(exists("state/runs/aaaaa"), "it is retired, though its cgroup is left");
	ab_run_release(&r);
	ab_leftovers_stale(&prepared.state, &notes);
	ok(notes.len == 0, "no start sweeps it");
	ab_state_fini(&prepared.state);
	finish();
	return done();
}
