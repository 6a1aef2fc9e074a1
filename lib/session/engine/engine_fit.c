#include "session/engine/engine_fit.h"

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "policy/model/policy.h"

static bool wants_review(const struct ab_engine_wish *w)
{
	return w->policy->fs.review != AB_REVIEW_NONE;
}

static bool wants_stay(const struct ab_engine_wish *w)
{
	return w->stays;
}

static bool wants_learning(const struct ab_engine_wish *w)
{
	return w->learns;
}

static bool wants_covered_files(const struct ab_engine_wish *w)
{
	return w->covered > 0;
}

static bool wants_kept_home(const struct ab_engine_wish *w)
{
	return w->policy->fs.home == AB_HOME_KEPT;
}

static bool wants_layered_home(const struct ab_engine_wish *w)
{
	return w->policy->fs.home == AB_HOME_LAYERED;
}

static bool wants_keys(const struct ab_engine_wish *w)
{
	return ab_policy_lends_keys(w->policy);
}

static bool wants_containers(const struct ab_engine_wish *w)
{
	return w->policy->docker.images.len > 0;
}

static bool wants_tools(const struct ab_engine_wish *w)
{
	return w->policy->host_tools.len > 0;
}

static bool wants_trace(const struct ab_engine_wish *w)
{
	return w->traces;
}

static bool wants_user_namespaces(const struct ab_engine_wish *w)
{
	return w->policy->userns;
}

static void make_home_readonly(struct ab_policy *policy)
{
	policy->fs.home = AB_HOME_READONLY;
}

static void deny_user_namespaces(struct ab_policy *policy)
{
	policy->userns = false;
}

enum outcome { REFUSED, NOTED, DETAIL };

/* In any order: each is about something else. */
static const struct {
	bool (*wanted)(const struct ab_engine_wish *wish);
	enum outcome outcome;
	const char *text;
	void (*change)(struct ab_policy *policy);
} rows[] = {
	{ wants_review, REFUSED, "a review needs a layer above the workspace", NULL },
	{ wants_stay, REFUSED, "a box that stays (--keep, --detach) needs a pid namespace", NULL },
	{ wants_learning, REFUSED, "learning needs the calls of the filter for itself", NULL },
	{ wants_covered_files, REFUSED,
	  "a file with a secret in it can be shown without the secret only by a mount", NULL },
	{ wants_keys, REFUSED, "keys of the ssh agent are lent in a private folder, which needs a mount",
	  NULL },
	{ wants_containers, REFUSED,
	  "the filter of a container engine listens in a private folder, which needs a mount",
	  NULL },
	{ wants_tools, REFUSED,
	  "commands for tools of the host are in a private folder, which needs a mount", NULL },
	{ wants_kept_home, NOTED,
	  "the home folder is read-only: there is no layer to keep; an agent can write to folders "
	  "that you name with --write",
	  make_home_readonly },
	{ wants_layered_home, DETAIL,
	  "the home folder is read-only: there is no layer; tools that write to it are pointed to "
	  "TMPDIR",
	  make_home_readonly },
	{ wants_trace, NOTED, "denials are not traced: the filter asks about other calls", NULL },
	{ wants_user_namespaces, NOTED, "user namespaces cannot be created", deny_user_namespaces },
};

int ab_engine_fit(const struct ab_engine_wish *wish, struct ab_strv *notes, struct ab_strv *details,
		  struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		if (!rows[i].wanted(wish))
			continue;
		if (rows[i].outcome == REFUSED) {
			ab_fail(err, AB_EUSAGE, 0, "engine no-namespaces: %s", rows[i].text);
			ab_hint(err, "run without it; for another engine: %s", wish->remedy);
			return ab_step(err, "engine");
		}
		ab_strv_addf(rows[i].outcome == NOTED ? notes : details, "engine no-namespaces: %s",
			     rows[i].text);
		if (rows[i].change)
			rows[i].change(wish->policy);
	}
	return 0;
}
