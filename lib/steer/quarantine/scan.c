#include "audit/read/find.h"
#include "broker/cleanup/leftovers.h"
#include "steer/client/steer.h"
#include "steer/quarantine/quarantined_state.h"

int ab_quarantined_scan(const struct ab_policy_input *input, const char *name,
			struct ab_scanned *ret, struct ab_error *err)
{
	ab_auto(ab_found_run_fini) struct ab_found_run found = { .dir = -1 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct ab_scanned s = { 0 };
	struct ab_run run;

	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_find_run(state.live, state.runs, name, &found, err) < 0)
		return -1;
	if (found.live) {
		ab_fail(err, AB_EREFUSED, 0, "the run %s is active", found.id);
		return ab_hint(err, "its workspace is searched when it ends: agentbox stop %s",
			       found.id);
	}
	run = (struct ab_run){ .state = &state, .dir = found.dir };
	memcpy(run.id, found.id, sizeof(run.id));
	memcpy(s.run, found.id, sizeof(s.run));
	if (ab_leftovers_scan(&run, &s.findings, &s.complete, err) < 0) {
		ab_scanned_fini(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void ab_scanned_fini(struct ab_scanned *scanned)
{
	ab_strv_fini(&scanned->findings);
}
