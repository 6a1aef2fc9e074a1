#include "session/host/plan_links.h"

#include <errno.h>

#include "base/system/linkwalk.h"
#include "sandbox/plan/plan.h"

static bool is_writable(const struct ab_plan *plan, const char *folder)
{
	const struct ab_mount *m = ab_plan_find(plan, folder);

	return m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN);
}

bool ab_plan_links_is_open(const struct ab_plan *plan, const char *path)
{
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;

	ab_linkwalk_init(&w, "/", path);
	while ((step = ab_linkwalk_step(&w)) <= AB_LINKWALK_LINK)
		if (step == AB_LINKWALK_LINK && is_writable(plan, w.at))
			return true;
	/* The file is already open, so a name can only be missing behind a link of /proc, whose
	 * text is not a path. */
	return step == AB_LINKWALK_FAILED && errno != ENOENT && errno != ENOTDIR && errno != EACCES;
}
