#include "session/run/nested.h"

#include <sys/prctl.h>

#include "base/data/addr.h"
#include "consent/request.h"
#include "landlock/landlock.h"
#include "netns/capture.h"
#include "netns/loopback.h"
#include "policy/model/policy.h"
#include "sandbox/plan/engine.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/start/box_wire.h"
#include "sandbox/start/target.h"
#include "session/run/prepare.h"

/* Does the outer run have a proxy? If so, its port is taken. */
static bool outer_run_has_proxy(void)
{
	struct ab_sockaddr at = ab_sockaddr_loopback(false, AB_PORT_DOOR);
	ab_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && bind(fd, &at.any, at.len) < 0;
}

/* A nested run cannot narrow the host lists: the outer run's proxy decides. It gets no internet
 * sockets if its policy blocks the network, or filters it where the outer run does not. */
static bool must_be_cut_off(const struct ab_policy *policy)
{
	switch (policy->net.mode) {
	case AB_NET_ALLOWED:
		break;
	case AB_NET_FILTERED:
		return !ab_loopback_alone();
	case AB_NET_BLOCKED:
		return !ab_loopback_alone() || outer_run_has_proxy();
	}
	return false;
}

static int make_ruleset(const struct ab_spec *spec, struct ab_error *err)
{
	ab_autoclose int ruleset = ab_landlock_open(spec->landlock_abi,
						    AB_LL_SCOPE_SIGNAL | AB_LL_SCOPE_ABSTRACT, err);

	if (ruleset < 0)
		return -1;
	for (size_t i = 0; i < spec->nrules; i++) {
		ab_autoclose int fd = open(spec->rules[i].path, O_PATH | O_CLOEXEC);

		if (fd >= 0 && ab_landlock_allow_fd(ruleset, spec->landlock_abi, fd,
						    spec->rules[i].rights, err) < 0)
			return -1;
	}
	return ab_take_fd(&ruleset);
}

int ab_nested_run(const struct ab_request *request, struct ab_prepared *prepared,
		  void (*proved)(void *arg, const struct ab_holds *holds), void *arg,
		  struct ab_error *err)
{
	struct ab_spec *spec = &prepared->spec;
	struct ab_holds holds = { 0 };
	struct ab_target target = {
		.spec = spec, .sock = -1, .ruleset = -1, .tty = -1, .holds = &holds
	};
	ab_autofree int *keep = ab_alloc((request->nfds + 2) * sizeof(keep[0]));

	spec->nested = true;
	/* The outer box has no namespaces: what it lacks is lacking here too. */
	if (ab_seccomp_marked()) {
		holds.engine = AB_ENGINE_NO_NAMESPACES;
		spec->require &= ~ab_box_engine_reports(AB_ENGINE_NO_NAMESPACES) |
				 prepared->policy->assurance.firm;
	}
	spec->no_sockets = must_be_cut_off(prepared->policy);
	/* The sockets visible here are the box's own. */
	ab_strv_fini(&spec->sockets);
	memset(spec->host_ns, 0, sizeof(spec->host_ns));
	if (prepared->policy->limits.timeout_ms || request->time_ms)
		request->say(request->arg, AB_SAY_NOTE,
			     "inside a box, only the outer run's time limit applies");
	if (prepared->policy->commands.enforce == AB_ENFORCE_CHILDREN)
		request->say(request->arg, AB_SAY_WARNING,
			     "inside a box, only the command itself is judged; the outer run's "
			     "policy applies to what it executes");
	if (request->trace_denials || request->learn)
		request->say(request->arg, AB_SAY_WARNING,
			     "cannot trace denials inside a box: the kernel allows one listener, "
			     "and the outer run has it; pass --trace-denials to the outer run");
	if (request->nfds)
		memcpy(keep, request->fds, request->nfds * sizeof(keep[0]));
	target.ruleset = make_ruleset(spec, err);
	if (target.ruleset < 0)
		return -1;
	keep[request->nfds] = target.ruleset;
	/* Closed by the exec. */
	keep[request->nfds + 1] =
		request->description ? (int)strtol(request->description, NULL, 10) : -1;
	if (ab_close_others(keep, request->nfds + 2) < 0 || chdir(spec->cwd) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "restrict the nested run");
	if (ab_target_lock(&target, err) < 0)
		return -1;
	if (spec->require & ~holds.properties) {
		if (spec->strict) {
			ab_fail(err, AB_EPROPERTY, 0, "cannot guarantee inside this box: %s",
				holds.missing);
			return ab_hint(err,
				       "a nested run adds Landlock and seccomp, but no mounts; "
				       "require it in the outer run, or use --fallback warn");
		}
		request->say(request->arg, AB_SAY_WARNING, holds.missing);
	}
	proved(arg, &holds);
	return ab_target_exec(spec, err);
}
