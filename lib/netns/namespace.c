#include "netns/namespace.h"

#include <sched.h>

int ab_netns_enter_new(struct ab_error *err)
{
	int errnum;

	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	errnum = errno;
	ab_fail(err, AB_ESYSTEM, errnum, "create a network namespace");
	if (errnum == ENOSPC)
		return ab_hint(err, "there are too many; as root: "
				    "sysctl user.max_net_namespaces=15000");
	return ab_hint(err, "run agentbox doctor to find the cause");
}
