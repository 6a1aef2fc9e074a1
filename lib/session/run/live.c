/* A run from `go` to the end of its box: messages when the command starts, and the supervision. */
#include "session/run/run_state.h"

#include <sys/wait.h>

#include "guard/notify/guard_link.h"
#include "host/home/home.h"
#include "policy/model/policy.h"
#include "sandbox/plan/engine.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/run/prepare.h"
#include "session/run/run.h"
#include "session/stay/detach.h"
#include "session/stay/stay.h"
#include "terminal/terminal.h"

void ab_run_say_all(const struct run *r, enum ab_level level, const struct ab_strv *lines)
{
	for (size_t i = 0; i < lines->len; i++)
		ab_run_say(r, level, "%s", lines->v[i]);
}

void ab_run_say_guarantees(const struct run *r, const char *who, const struct ab_strv *held)
{
	ab_autofree char *names = ab_strv_join(held, " ");

	ab_run_say(r, AB_SAY_DETAIL, "%s, " AB_RUN_GUARANTEES "%s", who, names);
}

/* -vv: the time of each step. The plan is made during init's first steps. */
static void say_steps(const struct run *r, const struct ab_holds *holds)
{
	bool early = r->launched_ns < r->loaded_ns;
	uint64_t last = r->planned_ns;
	const struct {
		const char *name;
		uint64_t from, to;
	} ours[] = {
		{ "policy", early ? r->launched_ns : r->begun_ns, r->loaded_ns },
		{ "namespaces, identity", early ? r->begun_ns : r->loaded_ns, r->launched_ns },
		{ "plan", early ? r->loaded_ns : r->launched_ns, r->planned_ns },
	};

	for (size_t i = 0; i < AB_COUNT(ours); i++)
		ab_run_say(r, AB_SAY_DETAIL, "%8.0f us  %s",
			   (double)(ours[i].to - ours[i].from) / 1000, ours[i].name);
	for (size_t i = 0; i < holds->nmarks && i < AB_MARKS_MAX; i++) {
		ab_run_say(r, AB_SAY_DETAIL, "%8.0f us  %.*s",
			   ((double)holds->marks[i].ns - (double)last) / 1000,
			   (int)sizeof(holds->marks[i].name), holds->marks[i].name);
		last = holds->marks[i].ns;
	}
	ab_run_say(r, AB_SAY_DETAIL, "%8.0f us  until the command starts",
		   (double)(last - r->begun_ns) / 1000);
}

int ab_run_go(struct run *r, struct ab_error *err)
{
	if (ab_box_tell(&r->box, AB_MSG_GO, 0) == 0 || errno == EPIPE || errno == ECONNRESET)
		return 0;
	return ab_fail_step(err, "go", errno, "start the command");
}

/* Remove the rules that were granted for this run only. */
static void use_up_rules(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error err = { 0 };

	if (ab_next_run_use(p->state.root, time(NULL), &p->next, &err) < 0)
		ab_run_say(r, AB_SAY_WARNING,
			   "what you allowed for this run will apply to the next one too: %s",
			   err.text);
}

/* The walls are the same without a listener. */
static void say_unasked(const struct run *r, int errnum)
{
	const struct ab_spec *spec = &r->prepared->spec;

	ab_run_say(r, spec->children || spec->traced ? AB_SAY_WARNING : AB_SAY_DETAIL,
		   "%s: cannot get a seccomp listener: %s",
		   spec->children ? "programs that the command starts are not judged"
		   : spec->traced ? "denials are not traced"
				  : "denied writes are not recorded",
		   strerror(errnum));
}

/* Did the caller set this on the command line, and not in a file? */
static bool asked_for(const struct run *r, const char *key)
{
	const struct ab_policy_input *input = &r->request->policy;

	return ab_find_row(input->settings, input->nsettings, key, key) != NULL;
}

static void say_home(const struct run *r, const struct ab_holds *holds)
{
	const struct ab_prepared *p = r->prepared;
	ab_autostrv struct ab_strv details = { 0 }, warnings = { 0 };

	ab_home_report(p->policy, p->host.home, &p->spec, holds, &details, &warnings);
	ab_run_say_all(r, AB_SAY_WARNING, &warnings);
	ab_run_say_all(r, AB_SAY_DETAIL, &details);
}

/* The first box of an engine that lacks something says what that means; then only -v does. */
static bool is_first_of_engine(const struct run *r)
{
	ab_autofree char *name = ab_printf("told-%s", r->engine->name);
	ab_autoclose int fd = openat(r->prepared->state.root, name,
				     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd >= 0;
}

const char *ab_run_remedy(const struct run *r, const struct ab_box_engine_traits *engine)
{
	const char *hint = r->box.refused.hint;

	if (r->prepared->policy->assurance.engine != AB_ENGINE_AUTO)
		return "use --engine auto";
	return !engine->namespaces && hint[0] ? hint : engine->better;
}

static void say_engine(const struct run *r)
{
	bool chosen = r->prepared->policy->assurance.engine == AB_ENGINE_AUTO;
	ab_autostrv struct ab_strv lacks = { 0 };
	ab_autofree char *list = NULL;

	if (!r->engine->lacks)
		return;
	ab_property_list(r->missing, &lacks);
	list = ab_strv_join(&lacks, ", ");
	if (chosen && is_first_of_engine(r))
		ab_run_say(r, AB_SAY_NOTE, "engine %s: %s; for a full box%s %s (this is said once)",
			   r->engine->name, r->engine->without, r->engine->namespaces ? "," : ":",
			   ab_run_remedy(r, r->engine));
	else if (r->request->verbose == 0 && isatty(STDERR_FILENO))
		ab_run_say(r, AB_SAY_NOTE, "engine %s: without %s", r->engine->name, list);
	else
		ab_run_say(r, AB_SAY_DETAIL, "engine %s: %s", r->engine->name, r->engine->without);
}

static int begin_command(void *arg, const struct ab_holds *holds, struct ab_error *err)
{
	struct run *r = arg;
	ab_autostrv struct ab_strv held = { 0 };
	uint32_t lacking;

	r->held = holds->properties;
	r->engine = &ab_box_engines[holds->engine];
	r->missing = ab_box_engine_tells(holds->engine, &r->prepared->spec) & ~r->held;
	/* What the engine lacks everywhere is told below. */
	lacking = r->missing & (r->prepared->spec.require | ~r->engine->lacks);
	r->home = ab_home_describe(r->prepared->policy, r->prepared->host.home, &r->prepared->spec,
				   holds);
	ab_property_list(holds->properties, &held);
	if (ab_run_write_holds(r, holds, &held, err) < 0)
		return -1;
	/* Everything is proved; the command waits for `go`. In a prepared box it has it. */
	if (!r->warm && r->cgroup.processes &&
	    (ab_cgroup_release(&r->cgroup, err) < 0 || ab_run_go(r, err) < 0))
		return -1;
	use_up_rules(r);
	if (r->request->watch)
		r->request->watch->began(r->request->watch->arg, r->dir.id, r->warm);
	if (lacking)
		ab_run_say(r, AB_SAY_WARNING, "guarantees not in force: %s", holds->missing);
	if (holds->unasked)
		say_unasked(r, holds->unasked);
	say_engine(r);
	say_home(r, holds);
	if (r->request->verbose > 0) {
		ab_autofree char *box =
			ab_printf("box %s" AB_RUN_ENGINE "%s", r->dir.id, r->engine->name);
		ab_autofree char *given_up = ab_policy_given_up(r->prepared->policy);

		ab_run_say_guarantees(r, box, &held);
		if (given_up[0])
			ab_run_say(r, AB_SAY_DETAIL, "guarantees given up: %s", given_up);
		if (ab_run_has_upstream(r))
			ab_run_say(
				r, AB_SAY_DETAIL,
				"the upstream proxy checks the addresses of hosts, not agentbox");
	}
	if (r->prepared->spec.limits.memory && !r->cgroup.memory)
		ab_run_say(r, asked_for(r, "limits.memory") ? AB_SAY_NOTE : AB_SAY_DETAIL,
			   "no cgroup is delegated: the kernel holds each process to the memory "
			   "limit, and the sum of all processes is only sampled");
	if (r->prepared->spec.uncounted)
		ab_run_say(r, asked_for(r, "limits.processes") ? AB_SAY_NOTE : AB_SAY_DETAIL,
			   "no cgroup is delegated, and the kernel does not count the processes of "
			   "root: the limit of processes has no effect");
	if (r->request->verbose > 1)
		say_steps(r, holds);
	return 0;
}

/* Clients find it from now on. */
static int tell_ready(void *arg, struct ab_error *err)
{
	struct run *r = arg;
	int sent;

	if (r->starter < 0)
		return 0;
	if (ab_control_name(r->control, err) < 0)
		return -1;
	sent = ab_detach_ready(r->starter, r->dir.id);
	close(ab_take_fd(&r->starter));
	return sent < 0 ? ab_fail(err, AB_ESYSTEM, 0, "the caller has gone") : 0;
}

int ab_run_supervise(struct run *r, int *ret_status, struct ab_error *err)
{
	struct ab_steering_setup steering = {
		.request = r->request,
		.policy = r->prepared->policy,
		.spec = &r->prepared->spec,
		.run_id = r->dir.id,
		.home = &r->home,
		.dir = r->dir.dir,
		.broker = r->broker,
		.log = &r->log,
		.control = r->control,
		.prompt = r->prompt,
		.violations = r->violations,
		.bell = r->bell,
	};
	struct ab_stay_setup stay = {
		.run = &steering,
		.consent = &r->consent,
		.rows = r->rows,
		.cols = r->cols,
	};
	struct ab_supervision what = {
		.box = &r->box,
		.heard = &r->heard,
		.children = r->children,
		.refusals = r->refusals,
		.containers = r->containers,
		.tools = r->tools,
		.terminal = r->terminal,
		.streams = &r->streams,
		.timeout_ms = ab_run_time_limit(r),
		.holds = begin_command,
		.arg = r,
		.box_network = r->box_network,
		.network = &r->network,
		.steering = &steering,
		.stay = r->apart ? &stay : NULL,
		.stay_at = &r->stay,
		.ready = tell_ready,
		.ending = ab_run_ask_for_sweep,
	};
	int result;

	result = ab_supervise(&what, &r->outcome, err);
	if (result < 0)
		ab_step(err, "supervision");
	ab_cgroup_look(&r->cgroup);
	ab_network_fini(&r->network);
	ab_closep(&r->to_proxy);
	if (r->request->interrupted && r->terminal && result == 0 && !r->outcome.timed_out)
		*r->request->interrupted =
			WIFSIGNALED(r->outcome.status) && WTERMSIG(r->outcome.status) == SIGINT;
	return ab_run_finish(r, result, ret_status, err);
}
