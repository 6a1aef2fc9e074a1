#include "serve/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/layers.h"
#include "serve/request.h"
#include "session/run/caller.h"

/* Ours are all above 2, so none is overwritten. */
static int arrange_stdio(const int stdio[3])
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(stdio[fd], fd) < 0)
			return -1;
	return 0;
}

static void use_environment(const struct ab_serve_policy *p)
{
	static char *none[] = { NULL };

	if (p->has_env)
		environ = p->env.len ? p->env.v : none;
}

static int fill_input(const struct ab_serve_policy *p, struct ab_policy_input *ret,
		      struct ab_error *err)
{
	*ret = (struct ab_policy_input){ 0 };
	if (!p)
		return ab_caller_init(ret, err);
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

int ab_child_enter(const struct ab_child_setup *setup, pid_t parent, struct ab_policy_input *ret,
		   struct ab_error *err)
{
	const struct ab_serve_policy *p = setup->policy;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	sigprocmask(SIG_SETMASK, &setup->before, NULL);
	if (arrange_stdio(setup->stdio) < 0 || ab_close_others(setup->keep, setup->nkeep) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "arrange the descriptors");
	return fill_input(p, ret, err);
}

int ab_child_take(const int stdio[3], const struct ab_serve_policy *policy,
		  struct ab_policy_input *ret, struct ab_error *err)
{
	if (arrange_stdio(stdio) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "arrange the descriptors");
	for (int fd = 0; fd < 3; fd++)
		close(stdio[fd]);
	return fill_input(policy, ret, err);
}
