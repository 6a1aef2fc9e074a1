/*
 * A run from `go` to its end: what is told when the command starts, the
 * supervision, and what is left to do when the box is gone.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "session/broker/broker.h"
#include "session/consent/request.h"
#include "session/control/box_network.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/control/violation_tap.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_programs.h"
#include "session/run/prepare.h"
#include "session/run/run.h"
#include "session/run/run_state.h"

void ab_run_say(const struct run *r, enum ab_level level, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	r->request->say(r->request->arg, level, text);
}

void ab_run_say_all(const struct run *r, enum ab_level level, const struct ab_strv *lines)
{
	for (size_t i = 0; i < lines->len; i++)
		ab_run_say(r, level, "%s", lines->v[i]);
}

static char *join(const struct ab_strv *words)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < words->len; i++)
		ab_buf_printf(&b, "%s%s", i ? " " : "", words->v[i]);
	return ab_buf_take(&b);
}

/* -vv: what each step took. The plan is made beside init's first steps. */
static void say_steps(const struct run *r, const struct ab_holds *holds)
{
	uint64_t last = r->planned_ns;
	const struct {
		const char *name;
		uint64_t from, to;
	} ours[] = {
		{ "policy", r->begun_ns, r->loaded_ns },
		{ "namespaces, identity", r->loaded_ns, r->launched_ns },
		{ "plan", r->launched_ns, r->planned_ns },
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

/* A box that is gone already has said why: that is heard later. */
int ab_run_go(struct run *r, struct ab_error *err)
{
	if (ab_box_tell(&r->box, AB_MSG_GO, 0) == 0 || errno == EPIPE || errno == ECONNRESET)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "let the command start");
	return ab_step(err, "go");
}

/* What was allowed for this run only is used up. */
static void use_rules(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error err = { 0 };

	if (ab_next_run_use(p->state.root, time(NULL), &p->next, &err) < 0)
		ab_run_say(r, AB_SAY_WARNING,
			   "what you allowed for this run will hold in the "
			   "next one as well: %s",
			   err.text);
}

/* The box has failed before anything of the command happened. */
static void return_rules(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error err = { 0 };

	if (ab_next_run_return(p->state.root, time(NULL), &p->next, &err) < 0)
		ab_run_say(r, AB_SAY_WARNING, "what you allowed for this run is lost: %s",
			   err.text);
}

static int command_starts(void *arg, const struct ab_holds *holds, struct ab_error *err)
{
	struct run *r = arg;
	uint32_t lacking = r->prepared->spec.require & ~holds->properties;
	ab_autostrv struct ab_strv held = { 0 };

	r->held = holds->properties;
	ab_run_properties(holds->properties, &held);
	if (ab_run_write_holds(r, holds, &held, err) < 0)
		return -1;
	/* The proof is over, the command waits for us. */
	if (r->cgroup.processes &&
	    (ab_cgroup_release(&r->cgroup, err) < 0 || ab_run_go(r, err) < 0))
		return -1;
	use_rules(r);
	if (lacking)
		ab_run_say(r, AB_SAY_WARNING, "this box does not hold: %s", holds->missing);
	if (r->children && holds->unasked)
		ab_run_say(r, AB_SAY_WARNING, "%s: the kernel has no listener for us: %s",
			   r->prepared->spec.children ? "what the command executes is not judged"
						      : "what the box refuses is not seen",
			   strerror(holds->unasked));
	if (r->request->verbose > 0) {
		ab_autofree char *names = join(&held);

		ab_run_say(r, AB_SAY_DETAIL, "box %s holds: %s", r->dir.id, names);
		if (ab_run_has_upstream(r))
			ab_run_say(r, AB_SAY_DETAIL,
				   "what names lead to is checked by the upstream "
				   "proxy, not here");
		if (r->prepared->spec.limits.memory && !r->cgroup.memory)
			ab_run_say(r, AB_SAY_DETAIL,
				   "the memory limit is that of each process by "
				   "itself: no cgroup is delegated to us");
	}
	if (r->request->verbose > 1)
		say_steps(r, holds);
	return 0;
}

static int status_of(const struct ab_outcome *outcome)
{
	if (outcome->timed_out)
		return 124;
	return WIFSIGNALED(outcome->status) ? 128 + WTERMSIG(outcome->status)
					    : WEXITSTATUS(outcome->status);
}

/* Of several failures the first one is told. */
static void prefer_first(int *result, struct ab_error *err, const struct ab_error *late)
{
	if (*result == 0)
		*err = *late;
	*result = -1;
}

/* The box is gone, and so is its listener: what the judge has left to say. */
static int hear_last(struct run *r, struct ab_error *err)
{
	struct ab_note note;

	if (!r->children || r->heard)
		return 0;
	r->heard = true;
	ab_program_judge_dismiss(r->children);
	/* While it is heard: it may wait for room. */
	while (ab_program_judge_await(r->children) &&
	       ab_program_judge_hear(r->children, &note, &(struct ab_error){ 0 }) > 0)
		if (ab_refused_programs_take(r->refusals, &note, err) < 0)
			return -1;
	ab_refused_programs_summary(r->refusals, &r->refused);
	return 0;
}

/* What was still on its way when the box was gone. */
static void end_network(struct run *r, int *result, struct ab_error *err)
{
	struct ab_error late = { 0 };

	if (hear_last(r, &late) < 0)
		prefer_first(result, err, &late);
	if (!r->gate)
		return;
	r->gated = true;
	if (ab_box_network_close(ab_take(r->gate), &r->report, &late) < 0)
		prefer_first(result, err, &late);
}

/* The steering is closed: what nobody has seen yet is counted, and goes to the
 * hook while the broker still takes it. */
static void take_violations(struct run *r, bool hook)
{
	char *line;

	while ((line = ab_violations_take(r->violations)) != NULL) {
		if (hook)
			(void)ab_broker_violation(r->broker, line, strlen(line));
		free(line);
	}
}

/*
 * Only for who asked for more: a status other than 0 is how grep and diff say
 * no, and how every test fails that finds something.
 */
static void say_unseen(const struct run *r, int result)
{
	if (result == 0 && r->outcome.status != 0 && r->request->verbose > 0 &&
	    !r->prepared->spec.traced && !r->report.lines.len && !r->refused.len)
		ab_run_say(r, AB_SAY_DETAIL,
			   "if a file could not be read or written: agentbox "
			   "run --trace-denials -- ... tells which");
}

/* After the box: what was found, the last record, the run's folder. */
static int wind_up(struct run *r, int supervised, int *ret_status, struct ab_error *err)
{
	ab_autostrv struct ab_strv moved = { 0 };
	struct ab_error late = { 0 };
	int result = supervised, asked;

	/* The last violations are the hook's as well. */
	if (r->request->on_violation) {
		end_network(r, &result, err);
		take_violations(r, true);
	}
	asked = ab_broker_sweep(r->broker, &late);
	if (asked < 0)
		prefer_first(&result, err, &late);
	/* Beside the broker's work. */
	end_network(r, &result, err);
	take_violations(r, false);
	/* A run that was not looked at stays live: the next start sweeps. */
	if (asked == 0 && ab_broker_swept(r->broker, &moved, &late) < 0)
		prefer_first(&result, err, &late);
	ab_run_say_all(r, AB_SAY_WARNING, &moved);
	ab_run_say_all(r, AB_SAY_WARNING, &r->report.lines);
	ab_run_say_all(r, AB_SAY_WARNING, &r->refused);
	say_unseen(r, result);
	if (r->outcome.failed.code != AB_ENONE)
		return_rules(r);
	if (result == 0 && r->outcome.failed.code != AB_ENONE) {
		*err = r->outcome.failed;
		result = -1;
	}
	if (result == 0)
		*ret_status = status_of(&r->outcome);
	if (ab_run_write_end(r, result < 0 ? ab_exit_status(err) : *ret_status, &moved, &late) < 0)
		prefer_first(&result, err, &late);
	/* Beside the broker's leaving. */
	if (ab_run_write_result(r, result, *ret_status, &moved, err, &late) < 0)
		prefer_first(&result, err, &late);
	ab_broker_end(r->broker);
	return result;
}

static void secret_unread(void *arg, const char *name, const char *why)
{
	const struct run *r = arg;

	ab_run_say(r, AB_SAY_WARNING, "%s cannot be read again, and stays what it was: %s", name,
		   why);
}

static void desk_says(void *arg, bool note, const char *text)
{
	const struct run *r = arg;

	ab_run_say(r, note ? AB_SAY_NOTE : AB_SAY_WARNING, "%s", text);
}

int ab_run_supervise(struct run *r, int *ret_status, struct ab_error *err)
{
	struct ab_steering_setup steering = {
		.policy = r->prepared->policy,
		.run_id = r->dir.id,
		.dir = r->dir.dir,
		.name = r->request->name,
		.cwd = r->prepared->spec.cwd,
		.command = &r->prepared->spec.argv,
		.broker = r->broker,
		.log = &r->log,
		.control = r->control,
		.prompt = r->prompt,
		.violations = r->violations,
		.approver = r->request->approver != NULL,
		.hook = r->request->on_violation != NULL,
		.say = desk_says,
		.arg = r,
	};
	struct ab_supervision what = {
		.box = &r->box,
		.broker = r->broker,
		.children = r->children,
		.refusals = r->refusals,
		.terminal = r->terminal,
		.timeout_ms = r->prepared->policy->limits.timeout_ms,
		.holds = command_starts,
		.arg = r,
		.gate = r->gate,
		.network = &r->network,
		.run_id = r->dir.id,
		.log = &r->log,
		.secrets = &r->prepared->policy->secrets,
		.steering = &steering,
		.unread = secret_unread,
	};
	int result;

	result = ab_supervise(&what, &r->outcome, err);
	if (result < 0)
		ab_step(err, "supervision");
	ab_network_fini(&r->network);
	return wind_up(r, result, ret_status, err);
}
