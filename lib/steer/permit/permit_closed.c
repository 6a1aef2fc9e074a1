#include "steer/permit/permit_closed.h"

#include "policy/layers/layers.h"
#include "workspace/survey/survey.h"

int ab_permit_closed(const struct ab_policy_input *in, const struct ab_policy *policy,
		     const char *path, struct ab_error *err)
{
	const struct ab_survey_limits limits = { AB_SURVEY_USUAL, .look_only = true };
	struct ab_survey survey = { 0 };
	bool closed = false;

	if (ab_survey_make(policy, in->environ, &limits, &survey, err) < 0)
		return -1;
	for (size_t i = 0; i < survey.nclosed; i++)
		closed |= ab_path_within(path, survey.closed[i].path);
	ab_survey_fini(&survey);
	if (!closed)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: it is protected in this folder", path);
	return ab_hint(err, "change it outside, or let the command change a copy that you review: "
			    "agentbox run --review");
}
