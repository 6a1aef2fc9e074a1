#include "serve/child.h"

#include "base/process/helper.h"
#include "policy/layers/layers.h"
#include "serve/request.h"
#include "session/run/caller.h"

static void use_environment(const struct ab_serve_policy *p)
{
	static char *none[] = { NULL };

	if (p->has_env)
		environ = p->env.len ? p->env.v : none;
}

int ab_child_enter(const int *stdio, const struct ab_serve_policy *p, struct ab_policy_input *ret,
		   struct ab_error *err)
{
	if (stdio && ab_arrange_stdio(stdio) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "arrange the descriptors");
	for (int fd = 0; stdio && fd < 3; fd++)
		close(stdio[fd]);
	use_environment(p);
	if (p->cwd && chdir(p->cwd) < 0)
		return ab_fail(err, AB_EUSAGE, errno, "\"cwd\": %s", p->cwd);
	*ret = (struct ab_policy_input){ .workspace = p->workspace,
					 .profile = p->profile,
					 .config = p->config,
					 .no_project = p->no_project,
					 .settings = p->settings,
					 .nsettings = p->nsettings };
	return ab_caller_init(ret, err);
}
