#include "guard/engine/engine_fit.h"

#include "policy/model/policy.h"

enum outcome { REFUSED, NOTED, DETAIL };

int ab_engine_fit(const struct ab_engine_wish *wish, struct ab_strv *notes, struct ab_strv *details,
		  struct ab_error *err)
{
	struct ab_policy *policy = wish->policy;
	enum ab_home_mode home = policy->fs.home;
	/* In any order: each is about something else. */
	const struct {
		bool wanted;
		enum outcome outcome;
		const char *text;
	} rows[] = {
		{ policy->fs.review != AB_REVIEW_NONE, REFUSED,
		  "a review needs a layer above the workspace" },
		{ wish->stays, REFUSED,
		  "a box that stays (--keep, --detach) needs a pid namespace" },
		{ wish->learns, REFUSED, "learning needs the calls of the filter for itself" },
		{ wish->covered > 0, REFUSED,
		  "a file with a secret in it can be shown without the secret only by a mount" },
		{ ab_policy_lends_keys(policy), REFUSED,
		  "keys of the ssh agent are lent in a private folder, which needs a mount" },
		{ policy->docker.images.len > 0, REFUSED,
		  "the filter of a container engine listens in a private folder, which needs a "
		  "mount" },
		{ policy->host_tools.len > 0, REFUSED,
		  "commands for tools of the host are in a private folder, which needs a mount" },
		{ home == AB_HOME_KEPT, NOTED,
		  "the home folder is read-only: there is no layer to keep; an agent can write to "
		  "folders that you name with --write" },
		{ home == AB_HOME_LAYERED, DETAIL,
		  "the home folder is read-only: there is no layer; tools that write to it are "
		  "pointed to TMPDIR" },
		{ wish->traces, NOTED,
		  "denials are not traced: the filter asks about other calls" },
		{ policy->userns, NOTED, "user namespaces cannot be created" },
	};

	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		if (rows[i].wanted && rows[i].outcome == REFUSED) {
			ab_fail(err, AB_EUSAGE, 0, "engine no-namespaces: %s", rows[i].text);
			ab_hint(err, "run without it; for another engine: %s", wish->remedy);
			return ab_step(err, "engine");
		}
		if (rows[i].wanted)
			ab_strv_addf(rows[i].outcome == NOTED ? notes : details,
				     "engine no-namespaces: %s", rows[i].text);
	}
	if (home == AB_HOME_KEPT || home == AB_HOME_LAYERED)
		policy->fs.home = AB_HOME_READONLY;
	policy->userns = false;
	return 0;
}
