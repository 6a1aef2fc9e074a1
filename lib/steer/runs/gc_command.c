#include "steer/runs/gc_command.h"

#include "base/text/units.h"
#include "broker/cleanup/leftovers.h"
#include "containers/left_containers.h"
#include "layer/store/store.h"
#include "policy/layers/layers.h"
#include "state/state.h"
#include "steer/client/steer.h"

static int read_settings(const struct ab_policy_input *input, struct ab_gc_rule *rule,
			 struct ab_gc_layers_rule *layers, struct ab_error *err)
{
	/* Records and layers belong to the user, so the current project has no say. */
	struct ab_policy_input own = *input;
	ab_autopolicy struct ab_policy *policy = NULL;
	struct ab_gc_rule kept;

	own.no_project = true;
	own.judging = true;
	if (ab_policy_load(&own, &policy, NULL, err) < 0)
		return -1;
	kept = ab_gc_rule_of(policy);
	rule->keep_ms = kept.keep_ms;
	rule->keep_runs = kept.keep_runs;
	layers->keep_ms = policy->layers.keep_ms ? policy->layers.keep_ms : AB_GC_ALL;
	layers->max_size = policy->layers.max_size ? policy->layers.max_size : AB_GC_ALL;
	return 0;
}

static int read_request(const struct ab_gc_request *request, struct ab_gc_rule *rule,
			struct ab_error *err)
{
	if (request->older && ab_parse_duration(request->older, &rule->keep_ms) < 0) {
		ab_fail(err, AB_EUSAGE, 0, "--older: invalid duration %s", request->older);
		return ab_hint(err, "use a duration such as 30d or 12h");
	}
	if (request->keep && (strspn(request->keep, "0123456789") != strlen(request->keep) ||
			      ab_parse_size(request->keep, &rule->keep_runs) < 0))
		return ab_fail(err, AB_EUSAGE, 0, "--keep: invalid number %s", request->keep);
	return 0;
}

int ab_gc_run(const struct ab_policy_input *input, const struct ab_gc_request *request,
	      struct ab_gc_done *ret, struct ab_strv *notes, struct ab_error *err)
{
	struct ab_gc_rule rule = { .quarantine = request->quarantine, .dry = request->dry };
	struct ab_gc_layers_rule layers = { .entries = UINT64_MAX,
					    .waiting = request->layers,
					    .dry = request->dry };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;

	if (ab_steer_state(input, &state, err) < 0 ||
	    read_settings(input, &rule, &layers, err) < 0 || read_request(request, &rule, err) < 0)
		return -1;
	if (!request->dry) {
		ab_leftovers_stale(&state, notes);
		ab_left_containers_sweep(state.root, notes);
	}
	ab_gc(state.runs, &rule, &ret->runs);
	ab_gc_layers(AB_LAYER_STORE(&state), &layers, &ret->layers);
	return 0;
}

void ab_gc_done_fini(struct ab_gc_done *done)
{
	ab_gc_report_fini(&done->runs);
	ab_gc_layers_report_fini(&done->layers);
}
