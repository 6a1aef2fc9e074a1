/* What is told about namespaces that the box denies. The filter decides (ab_check_namespaces and
 * ab_check_namespaces_inner in sandbox/seccomp/checks.c). */
#include <sched.h>

#include "guard/notify/trace.h"

/* --allow-userns gives these, and no others. */
#define INNER ((uint64_t)(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET))
#define OTHERS ((uint64_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC))

/* Rules of a record, and what the user can do. Order does not matter. */
static const struct {
	const char *rule, *advice;
} rules[] = {
	{ "userNamespaces",
	  "a sandbox of its own is not needed in the box: switch it off, or use --allow-userns" },
	{ "namespaces",
	  "a sandbox of its own is not needed in the box, and cannot work there: switch "
	  "it off" },
};

bool ab_namespace_denied(uint64_t flags, bool userns, struct ab_denied *ret)
{
	/* Without a user namespace of its own it would need root. */
	if (!userns && !(flags & CLONE_NEWUSER))
		return false;
	*ret = (struct ab_denied){ .access = "", .path = "", .rule = "namespaces", .hint = "" };
	if (flags & CLONE_NEWNS) {
		ret->reason = "the box denies mount namespaces";
	} else if (flags & OTHERS) {
		ret->reason = "the box denies IPC, hostname and cgroup namespaces";
	} else if (!userns && (flags & INNER)) {
		ret->rule = "userNamespaces";
		ret->reason = "the box denies user namespaces";
		ret->hint = "agentbox run --allow-userns -- ...";
	} else {
		return false;
	}
	return true;
}

char *ab_namespace_notice(const char *by, int pid, const char *id, const char *rule,
			  const char *reason)
{
	for (size_t i = 0; i < AB_COUNT(rules); i++)
		if (strcmp(rule, rules[i].rule) == 0) {
			ab_autofree char *name = ab_escape(by);

			return ab_printf("%s (pid %d) wanted a new namespace: %s (%s); %s", name,
					 pid, reason, id, rules[i].advice);
		}
	return NULL;
}
