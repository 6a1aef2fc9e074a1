/*
 * One run, from the request to the exit status:
 *
 *	policy -> launch, consent -> plan, specification -> record, broker,
 *	lock -> go -> supervise -> sweep -> end record
 *
 * The launch comes before the consent and the plan, and the record and the
 * broker after it, because init works on its own meanwhile; nothing of the
 * command happens before `go`. Any failure on the way kills the box, which has
 * done nothing yet. What somebody is to be asked about, and what has secrets,
 * is launched afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agentbox.h"
#include "audit/audit.h"
#include "audit/log.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/policy.h"
#include "policy/show.h"
#include "sandbox/bridge.h"
#include "sandbox/launch.h"
#include "session/broker.h"
#include "session/cgroup.h"
#include "session/children.h"
#include "session/consent.h"
#include "session/gate.h"
#include "session/lock.h"
#include "session/nested.h"
#include "session/ports.h"
#include "session/prepare.h"
#include "session/refusals.h"
#include "session/run_state.h"
#include "session/supervisor.h"
#include "session/terminal.h"
#include "workspace/journal.h"

__attribute__((format(printf, 3, 4))) static void
say(const struct run *r, enum ab_level level, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		r->request->say(r->request->arg, level, text);
	va_end(ap);
}

static void say_all(const struct run *r, enum ab_level level,
		    const struct ab_strv *lines)
{
	for (size_t i = 0; i < lines->len; i++)
		say(r, level, "%s", lines->v[i]);
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
		say(r, AB_SAY_DETAIL, "%8.0f us  %s",
		    (double)(ours[i].to - ours[i].from) / 1000, ours[i].name);
	for (size_t i = 0; i < holds->nmarks && i < AB_MARKS_MAX; i++) {
		say(r, AB_SAY_DETAIL, "%8.0f us  %.*s",
		    ((double)holds->marks[i].ns - (double)last) / 1000,
		    (int)sizeof(holds->marks[i].name), holds->marks[i].name);
		last = holds->marks[i].ns;
	}
	say(r, AB_SAY_DETAIL, "%8.0f us  until the command starts",
	    (double)(last - r->begun_ns) / 1000);
}

/* A box that is gone already has said why: that is heard later. */
static int say_go(struct run *r, struct ab_error *err)
{
	if (ab_box_tell(&r->box, AB_MSG_GO, 0) == 0 || errno == EPIPE ||
	    errno == ECONNRESET)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "let the command start");
	return ab_step(err, "go");
}

static int command_starts(void *arg, const struct ab_holds *holds,
			  struct ab_error *err)
{
	struct run *r = arg;
	uint32_t lacking = r->prepared->spec.require & ~holds->properties;
	ab_autostrv struct ab_strv held = { 0 };

	ab_run_properties(holds->properties, &held);
	if (ab_run_write_holds(r, holds, &held, err) < 0)
		return -1;
	/* The proof is over, the command waits for us. */
	if (r->cgroup.processes &&
	    (ab_cgroup_release(&r->cgroup, err) < 0 || say_go(r, err) < 0))
		return -1;
	if (lacking)
		say(r, AB_SAY_WARNING, "this box does not hold: %s",
		    holds->missing);
	if (r->children && holds->unasked)
		say(r, AB_SAY_WARNING,
		    "what the command executes is not judged: the kernel has "
		    "no listener for us: %s",
		    strerror(holds->unasked));
	if (r->request->verbose > 0) {
		ab_autofree char *names = join(&held);

		say(r, AB_SAY_DETAIL, "box %s holds: %s", r->dir.id, names);
		if (ab_run_has_upstream(r))
			say(r, AB_SAY_DETAIL,
			    "what names lead to is checked by the upstream "
			    "proxy, not here");
		if (r->prepared->spec.limits.memory && !r->cgroup.memory)
			say(r, AB_SAY_DETAIL,
			    "the memory limit is that of each process by "
			    "itself: no cgroup is delegated to us");
	}
	if (r->request->verbose > 1)
		say_steps(r, holds);
	return 0;
}

/* The caller's pipes must see their end when the command closes them; our own
 * words go to standard error. */
static void release_stdio(const struct run *r)
{
	int null;

	if (r->terminal)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd < 2; fd++)
		dup2(null, fd);
	ab_closep(&null);
}

/* The run's folder and its record. */
static int open_record(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_log_setup setup = { .run_id = r->dir.id };

	if (ab_run_create(&p->state, p->spec.run_id, &r->dir, err) < 0)
		return -1;
	setup.dir = r->dir.dir;
	setup.copy = p->audit.fd >= 0 ? &p->audit : NULL;
	return ab_log_open(&setup, &r->log, err);
}

static int start_judge(struct run *r, struct ab_error *err)
{
	struct ab_terms terms = { .policy = r->prepared->policy,
				  .cwd = r->prepared->spec.cwd,
				  .yes = r->request->yes,
				  .approved = r->consent.approved
						      ? r->consent.rule
						      : NULL,
				  .approved_user = r->consent.user_rule };

	if (!r->prepared->spec.children)
		return 0;
	r->refusals = ab_refusals_new(r->dir.id, &r->log,
				      r->prepared->spec.strict);
	return ab_children_start(&terms, &r->children, err);
}

/* While the box is being built: what the run needs on the host. */
static int settle_in(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_broker_duty duty = { .input = &r->request->policy,
				       .survey = &p->site.survey,
				       .run = &r->dir,
				       .log = &r->log.setup,
				       .init = r->box.pidfd,
				       .cgroup = r->cgroup.path,
				       .plan = &p->spec.plan,
				       .strict = p->spec.strict,
				       .secrets = &p->policy->secrets,
				       .environ = ab_safe_environ(
					       &p->safe, &r->request->policy),
				       .stamps = p->safe.stamps,
				       .hidden = &p->safe.hidden };

	if (open_record(r, err) < 0 || ab_run_write_start(r, err) < 0)
		return -1;
	/* By now init has its sockets, and it will wait for their answer. The
	 * broker closes what it inherits. */
	if (p->spec.door && ab_bridge_raise(&r->box, &r->network, err) < 0)
		return -1;
	release_stdio(r);
	ab_terminal_rescue_get(r->terminal, &duty.rescue);
	if (ab_broker_start(&duty, &r->broker, err) < 0 ||
	    start_judge(r, err) < 0)
		return -1;
	if (ab_gate_open(p->policy, r->request->policy.environ, &p->safe,
			 &r->gate, err) < 0)
		return -1;
	if (ab_lock_supervisor(p->state.root, err) < 0)
		return -1;
	return r->cgroup.processes ? 0 : say_go(r, err);
}

static int status_of(const struct ab_outcome *outcome)
{
	if (outcome->timed_out)
		return 124;
	return WIFSIGNALED(outcome->status) ? 128 + WTERMSIG(outcome->status) :
					      WEXITSTATUS(outcome->status);
}

/* Of several failures the first one is told. */
static void prefer_first(int *result, struct ab_error *err,
			 const struct ab_error *late)
{
	if (*result == 0)
		*err = *late;
	*result = -1;
}

/* The box is gone, and so is its listener: what the judge has left to say. */
static int hear_last(struct run *r, struct ab_error *err)
{
	struct ab_note note;

	if (!r->children)
		return 0;
	ab_children_dismiss(r->children);
	/* While it is heard: it may wait for room. */
	while (ab_children_await(r->children) &&
	       ab_children_hear(r->children, &note, &(struct ab_error){ 0 }) >
		       0)
		if (ab_refusals_take(r->refusals, &note, err) < 0)
			return -1;
	ab_refusals_summary(r->refusals, &r->refused);
	return 0;
}

/* After the box: what was found, the last record, the run's folder. */
static int wind_up(struct run *r, int supervised, int *ret_status,
		   struct ab_error *err)
{
	ab_autostrv struct ab_strv moved = { 0 };
	struct ab_error late = { 0 };
	int result = supervised, asked;

	asked = ab_broker_sweep(r->broker, &late);
	if (asked < 0)
		prefer_first(&result, err, &late);
	/* Beside the broker's work. */
	if (hear_last(r, &late) < 0)
		prefer_first(&result, err, &late);
	if (r->gate) {
		r->gated = true;
		if (ab_gate_close(ab_take(r->gate), &r->report, &late) < 0)
			prefer_first(&result, err, &late);
	}
	/* A run that was not looked at stays live: the next start sweeps. */
	if (asked == 0 && ab_broker_swept(r->broker, &moved, &late) < 0)
		prefer_first(&result, err, &late);
	say_all(r, AB_SAY_WARNING, &moved);
	say_all(r, AB_SAY_WARNING, &r->report.lines);
	say_all(r, AB_SAY_WARNING, &r->refused);
	if (result == 0 && r->outcome.failed.code != AB_ENONE) {
		*err = r->outcome.failed;
		result = -1;
	}
	if (result == 0)
		*ret_status = status_of(&r->outcome);
	if (ab_run_write_end(r, result < 0 ? 125 : *ret_status, &moved, &late) < 0)
		prefer_first(&result, err, &late);
	ab_broker_end(r->broker);
	return result;
}

static void secret_unread(void *arg, const char *name, const char *why)
{
	const struct run *r = arg;

	say(r, AB_SAY_WARNING,
	    "%s cannot be read again, and stays what it was: %s", name, why);
}

static int supervise(struct run *r, int *ret_status, struct ab_error *err)
{
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
		.unread = secret_unread,
	};
	int result;

	result = ab_supervise(&what, &r->outcome, err);
	if (result < 0)
		ab_step(err, "supervision");
	ab_network_fini(&r->network);
	return wind_up(r, result, ret_status, err);
}

/* An error of the box that is already on its way says more than ours. */
static void prefer_box_error(struct run *r, struct ab_error *err)
{
	struct ab_msg msg;
	struct ab_fds fds;

	while (ab_box_hear(&r->box, &msg, &fds, MSG_DONTWAIT) > 0) {
		ab_fds_close(&fds);
		if (msg.type == AB_MSG_FAILED)
			*err = msg.u.error;
	}
}

/* While init gets going: what its box is to be. */
static int plan_box(struct run *r, struct ab_error *err)
{
	struct ab_spec *spec = &r->prepared->spec;

	if (ab_prepare_spec(r->request, r->prepared, err) < 0)
		return -1;
	say_all(r, AB_SAY_NOTE, &r->prepared->notes);
	say_all(r, AB_SAY_DETAIL, &r->prepared->safe.details);
	say_all(r, AB_SAY_DETAIL, &r->prepared->site.survey.notes);
	if (ab_terminal_open(&r->terminal, &spec->tty_fds, &spec->rows,
			     &spec->cols, err) < 0)
		return -1;
	spec->tty = r->terminal != NULL;
	if (spec->tty) {
		spec->tty_behind = ab_terminal_behind(r->terminal);
		spec->tty_settings = *ab_terminal_settings(r->terminal);
	}
	if (ab_cgroup_make(spec->run_id, spec->limits.memory,
			   spec->limits.processes, &r->cgroup, err) < 0 ||
	    ab_cgroup_enter(&r->cgroup, r->box.pid, err) < 0)
		return -1;
	spec->memory_cgroup = r->cgroup.memory;
	spec->pids_cgroup = r->cgroup.processes;
	r->planned_ns = ab_run_now_ns();
	return ab_box_specify(&r->box, spec, err);
}

/* Undo a launch that will not become a run. */
static void abandon(struct run *r, struct ab_error *err)
{
	prefer_box_error(r, err);
	ab_box_kill(&r->box);
	ab_box_fini(&r->box);
	ab_terminal_close(r->terminal);
	ab_network_fini(&r->network);
	if (r->gate)
		ab_gate_close(r->gate, &r->report, &(struct ab_error){ 0 });
	if (r->cgroup.path)
		ab_cgroup_remove(r->cgroup.path, r->prepared->spec.run_id);
	if (r->broker)
		ab_broker_end(r->broker);
	if (r->dir.dir >= 0)
		ab_run_retire(&r->dir);
}

static int start_box(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_box_net net = {
		.own = p->policy->net.mode != AB_NET_ALLOWED,
		.door = p->policy->net.mode == AB_NET_FILTERED,
		.host_ports = p->policy->net.host_ports.v,
		.nhost_ports = p->policy->net.host_ports.len,
	};
	char id[8];

	if (ab_run_pick_id(id, err) < 0 || ab_supervise_prepare(err) < 0)
		return -1;
	free(p->spec.run_id);
	p->spec.run_id = ab_strdup(id);
	r->loaded_ns = ab_run_now_ns();
	if (ab_box_launch(&net, p->policy->fs.tmp_size, &r->box, err) < 0)
		return -1;
	r->launched_ns = ab_run_now_ns();
	return 0;
}

/*
 * The judge works beside init's first steps, which need nothing of the
 * command: so it costs no time. Where it says anything but yes, the box is
 * undone, and what is to be asked or told is so without one. Sources of
 * secrets are not read for what may be refused.
 */
static int start_ahead(struct run *r, bool *ret_started, struct ab_error *err)
{
	int started;

	*ret_started = false;
	if (ab_safe_needed(r->prepared->policy))
		return 0;
	started = start_box(r, err);
	if (ab_consent_given(r->request, r->prepared->policy, &r->consent)) {
		*ret_started = started == 0;
		return started;
	}
	if (started == 0) {
		ab_box_kill(&r->box);
		ab_box_fini(&r->box);
	}
	ab_supervise_release();
	return 0;
}

static int go_on(struct run *r, int *ret_status, struct ab_error *err)
{
	if (plan_box(r, err) < 0 || settle_in(r, err) < 0) {
		abandon(r, err);
		return -1;
	}
	return supervise(r, ret_status, err);
}

/* There was no run, but somebody wanted one: a record of one line. */
static void record_refusal(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error late = { 0 };
	char id[8];

	if (ab_run_pick_id(id, &late) == 0 &&
	    ab_prepare_record(r->request, p, &late) == 0) {
		free(p->spec.run_id);
		p->spec.run_id = ab_strdup(id);
		if (open_record(r, &late) == 0)
			ab_run_write_refused(r, &late);
	}
	if (r->dir.dir >= 0)
		ab_run_retire(&r->dir);
	if (late.code != AB_ENONE)
		say(r, AB_SAY_WARNING, "the refusal is not on record: %s",
		    late.text);
}

/* One of 0-2 that the caller closed would be the next file that we open
 * ourselves, and the command would get that. */
static int occupy_stdio(struct ab_error *err)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return ab_fail(err, AB_ESYSTEM, errno,
				       "open /dev/null");
	return 0;
}

static int run_boxed(struct run *r, int *ret_status, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	bool started;

	if (start_ahead(r, &started, err) < 0)
		return -1;
	if (started)
		return go_on(r, ret_status, err);
	if (ab_consent_get(r->request, p->policy, false, &r->consent, err) <
	    0) {
		record_refusal(r);
		return -1;
	}
	/* Before signals are blocked: a source may be a command that somebody
	 * wants to interrupt. */
	if (ab_prepare_secrets(r->request, p, err) < 0 ||
	    start_box(r, err) < 0)
		return -1;
	return go_on(r, ret_status, err);
}

/* In a box already: another layer, and no record of its own. */
static int run_nested(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;

	if (ab_consent_get(r->request, p->policy, true, &r->consent, err) < 0 ||
	    ab_prepare_secrets(r->request, p, err) < 0 ||
	    ab_prepare_spec(r->request, p, err) < 0)
		return -1;
	say_all(r, AB_SAY_NOTE, &p->notes);
	return ab_nested_run(r->request, p, err);
}

int ab_run(const struct ab_request *request, int *ret_status,
	   struct ab_error *err)
{
	struct ab_prepared prepared;
	struct run r = { .request = request,
			 .prepared = &prepared,
			 .dir = { .dir = -1 },
			 .log = AB_LOG_NONE,
			 .cgroup = { .procs = -1, .pids_max = -1 },
			 .begun_ns = ab_run_now_ns() };
	int result;

	if (occupy_stdio(err) < 0 || ab_prepare(request, &prepared, err) < 0)
		return -1;
	result = prepared.nested ? run_nested(&r, err)
				 : run_boxed(&r, ret_status, err);
	ab_children_free(r.children);
	ab_refusals_free(r.refusals);
	ab_strv_fini(&r.refused);
	ab_strv_fini(&r.report.lines);
	ab_log_fini(&r.log);
	ab_run_fini(&r.dir);
	ab_cgroup_fini(&r.cgroup);
	ab_prepared_fini(&prepared);
	return result;
}
