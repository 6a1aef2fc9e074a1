/*
 * One run, from the request to the exit status:
 *
 *	launch -> policy -> begin, consent -> plan, specification -> record,
 *	broker, lock -> go -> supervise -> sweep -> end record
 *
 * The launch comes before everything else, and the record and the broker after
 * the specification, because init works on its own meanwhile; the command does
 * nothing before `go`. Any failure on the way kills the box. A command that
 * needs approval or has secrets gets another box after the consent.
 */
#include "session/run/run.h"

#include <sys/ioctl.h>
#include <sys/wait.h>

#include "broker/broker.h"
#include "broker/cleanup/shared_folders.h"
#include "consent/ask/host_prompt.h"
#include "export/exporter.h"
#include "guard/engine/engine_fit.h"
#include "guard/engine/tmp_folder.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/refused_programs.h"
#include "host/host_command.h"
#include "host/lock/lockdown.h"
#include "policy/layers/environment.h"
#include "policy/model/config.h"
#include "policy/model/keys.h"
#include "policy/model/policy.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/plan/engine.h"
#include "sandbox/start/limits.h"
#include "session/control/box_network.h"
#include "session/control/control_socket.h"
#include "session/control/violation_tap.h"
#include "session/run/nested.h"
#include "session/run/prepare.h"
#include "session/run/run_state.h"
#include "session/stay/detach.h"
#include "session/stay/stay.h"
#include "terminal/terminal.h"

/* An error that the box has already sent says more than ours. */
static void prefer_box_error(struct run *r, struct ab_error *err)
{
	struct ab_msg msg;
	struct ab_fds fds;
	int got;

	/* One with more descriptors than we may open is read, too, and not the last. */
	while ((got = ab_box_hear(&r->box, &msg, &fds, MSG_DONTWAIT)) > 0 ||
	       (got < 0 && errno == EMFILE)) {
		ab_fds_close(&fds);
		if (got > 0 && msg.type == AB_MSG_FAILED)
			*err = msg.u.error;
	}
}

void ab_run_drop_box(struct run *r)
{
	ab_box_kill(&r->box);
	ab_box_fini(&r->box);
}

const char *ab_run_find_pipe(void)
{
	static const char *const names[] = { "standard input is a pipe",
					     "standard output is a pipe",
					     "standard error is a pipe" };
	struct stat st;

	for (int fd = 0; fd < 3; fd++)
		if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
			return names[fd];
	return NULL;
}

/* Looking all the time is not worth it for a limit that nobody set. */
static bool must_count_processes(const struct run *r)
{
	const struct ab_origin *from = r->prepared->policy->store->config.v[AB_KEY_PROCESSES].from;

	return r->prepared->spec.limits.processes && !r->cgroup.processes && geteuid() != 0 &&
	       from && from->layer != AB_LAYER_PROFILE;
}

/* The launch has found out whether there are namespaces. */
static int fit_engine(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	const struct ab_box_engine_traits *engine = &ab_box_engines[AB_ENGINE_NO_NAMESPACES];
	struct ab_engine_wish wish = { .policy = p->policy,
				       .stays = r->apart,
				       .learns = r->request->learn,
				       .traces = r->request->trace_denials,
				       .covered = p->safe.nfiles,
				       .remedy = ab_run_remedy(r, engine) };

	p->no_namespaces = !r->box.namespaces;
	return p->no_namespaces ? ab_engine_fit(&wish, &p->notes, &p->details, err) : 0;
}

int ab_run_make_spec(struct run *r, struct ab_error *err)
{
	struct ab_spec *spec = &r->prepared->spec;

	if (fit_engine(r, err) < 0)
		return -1;
	if (ab_prepare_spec(r->request, r->prepared, err) < 0 ||
	    ab_pick_run_id(r->prepared, err) < 0)
		return -1;
	ab_env_set(&spec->env, "AGENTBOX", spec->run_id);
	if (r->request->mark_shell)
		ab_environment_mark_shell(&spec->env, spec->argv.v[0]);
	ab_run_say_all(r, AB_SAY_NOTE, &r->prepared->notes);
	ab_run_say_all(r, AB_SAY_DETAIL, &r->prepared->safe.details);
	ab_run_say_all(r, AB_SAY_DETAIL, &r->prepared->details);
	ab_run_say_all(r, AB_SAY_DETAIL, &r->prepared->host.survey.notes);
	if (ab_terminal_open(&r->terminal, &spec->tty_fds, &spec->rows, &spec->cols, err) < 0)
		return -1;
	spec->tty = r->terminal != NULL;
	spec->stay = r->apart;
	if (spec->tty) {
		if (r->prepared->policy->raw_terminal)
			ab_terminal_unfilter(r->terminal);
		spec->tty_behind = ab_terminal_behind(r->terminal);
		spec->tty_settings = *ab_terminal_settings(r->terminal);
	}
	if (ab_cgroup_make(spec->run_id, spec->limits.memory, spec->limits.processes, &r->cgroup,
			   err) < 0 ||
	    ab_cgroup_enter(&r->cgroup, r->box.pid, err) < 0)
		return -1;
	spec->memory_cgroup = r->cgroup.memory;
	spec->pids_cgroup = r->cgroup.processes;
	spec->uncounted = spec->limits.processes && !spec->pids_cgroup && ab_limits_uncounted();
	spec->count_processes = must_count_processes(r);
	r->planned_ns = ab_run_now_ns();
	return 0;
}

/* Plan the box while init starts. */
static int plan_box(struct run *r, struct ab_error *err)
{
	if (ab_run_make_spec(r, err) < 0 || ab_box_specify(&r->box, &r->prepared->spec, err) < 0)
		return -1;
	r->piped = ab_run_find_pipe();
	return 0;
}

static void remove_traces(const struct run *r)
{
	struct ab_prepared *p = r->prepared;

	if (r->cgroup.path)
		(void)ab_cgroup_remove(r->cgroup.path, p->spec.run_id);
	ab_shared_folders_remove(&p->state, p->spec.run_id, &p->shares);
	ab_tmp_folder_remove(p->tmp);
}

void ab_run_abandon(struct run *r, struct ab_error *err)
{
	prefer_box_error(r, err);
	ab_share_explain(&r->prepared->shares, err);
	ab_run_drop_box(r);
	if (WIFEXITED(r->box.end) && WEXITSTATUS(r->box.end) >= AB_INIT_UNTOLD)
		ab_box_explain_end(&r->box, err);
	ab_host_prompt_close(r->prompt);
	ab_terminal_close(r->terminal);
	ab_run_abandon_services(r);
	/* Where we are locked in, the broker removes what is left. */
	if (r->broker)
		ab_broker_end(ab_take(r->broker));
	if (!r->locked)
		remove_traces(r);
	/* Its command has not begun, so there is nothing to sweep. A cgroup that is left: ab_cgroup_remove_left(). */
	if (r->dir.dir >= 0)
		ab_run_retire(&r->dir);
}

/* What init needs first. */
static int begin_box(struct run *r, struct ab_error *err)
{
	static const enum ab_box_net nets[] = {
		[AB_NET_ALLOWED] = AB_BOX_NET_HOST,
		[AB_NET_BLOCKED] = AB_BOX_NET_NONE,
		[AB_NET_FILTERED] = AB_BOX_NET_DOOR,
	};
	const struct ab_policy *policy = r->prepared->policy;
	struct ab_begin begin = { .engine = policy->assurance.engine,
				  .net = nets[policy->net.mode],
				  .tmp_size = policy->fs.tmp_size };

	for (size_t i = 0; i < policy->net.host_ports.len && i < AB_HOST_PORTS_MAX; i++)
		begin.ports[begin.nports++] = policy->net.host_ports.v[i];
	return ab_box_begin(&r->box, &begin, err);
}

/* From the launch on: if a signal ended us then, init would be left to a process that may not wait for
 * it. */
static int block_signals(struct run *r, struct ab_error *err)
{
	if (!r->blocked && ab_supervise_prepare(err) < 0)
		return -1;
	r->blocked = true;
	return 0;
}

static void unblock_signals(struct run *r)
{
	if (r->blocked)
		ab_supervise_release();
	r->blocked = false;
}

/* Once: those of a launch that is dropped are those of the next. */
static int open_streams(struct run *r, struct ab_error *err)
{
	if (r->streams_open)
		return 0;
	r->streams_open = ab_streams_open(&r->streams, err) == 0;
	if (!r->streams_open)
		ab_streams_close(&r->streams);
	return r->streams_open ? 0 : -1;
}

/*
 * The launch needs nothing of the policy, and init's first steps take as long as reading it does.
 * Until it is told how to begin, init does nothing for the box; a run that needs another box, or none,
 * drops this one. A failure is not reported here: the launch is tried again when the policy is read.
 */
static void launch_early(struct run *r)
{
	const struct ab_request *rq = r->request;
	struct ab_error late = { 0 };

	/* With "--audit -" the streams are still to change. */
	if (r->stayed || (rq->audit && strcmp(rq->audit, "-") == 0) || ab_furniture_boxed() ||
	    open_streams(r, &late) < 0 || block_signals(r, &late) < 0)
		return;
	(void)ab_box_launch(AB_ENGINE_AUTO, r->streams.box, &r->box, &late);
	r->launched_ns = ab_run_now_ns();
}

/* The engine that the policy names is not always the one that a launch without a policy finds. */
static bool is_launched(struct run *r)
{
	enum ab_box_engine engine = r->prepared->policy->assurance.engine;

	if (r->box.pidfd < 0)
		return false;
	if (engine == AB_ENGINE_AUTO || (r->box.namespaces && engine != AB_ENGINE_NO_NAMESPACES))
		return true;
	ab_run_drop_box(r);
	return false;
}

int ab_run_launch(struct run *r, struct ab_error *err)
{
	bool launched = is_launched(r);

	if (block_signals(r, err) < 0)
		return -1;
	r->loaded_ns = ab_run_now_ns();
	if (!launched) {
		if (ab_box_launch(r->prepared->policy->assurance.engine, r->streams.box, &r->box,
				  err) < 0)
			return -1;
		r->launched_ns = ab_run_now_ns();
	}
	if (begin_box(r, err) == 0)
		return 0;
	ab_run_drop_box(r);
	return -1;
}

/*
 * The judge works while init takes its first steps, which need nothing of the command, so it costs
 * no time. Without consent the box is discarded, and the question or the refusal comes without one.
 * Sources of secrets are not read for a command that may be refused, and may take long: the mounts of
 * a box that waited for them would be old.
 */
static int start_ahead(struct run *r, bool *ret_started, struct ab_error *err)
{
	int started;

	*ret_started = false;
	if (ab_safe_needed(r->prepared->policy)) {
		if (r->box.pidfd >= 0)
			ab_run_drop_box(r);
		unblock_signals(r);
		return 0;
	}
	started = ab_run_launch(r, err);
	ab_policy_protect_registries(r->prepared->policy, &r->request->policy);
	if (ab_consent_given(r->request, r->prepared->policy, &r->consent)) {
		*ret_started = started == 0;
		return started;
	}
	if (started == 0)
		ab_run_drop_box(r);
	unblock_signals(r);
	return 0;
}

static int supervise_box(struct run *r, int *ret_status, struct ab_error *err)
{
	ab_streams_launched(&r->streams);
	if (plan_box(r, err) < 0 || ab_run_set_up_host(r, err) < 0) {
		ab_run_abandon(r, err);
		return -1;
	}
	return ab_run_supervise(r, ret_status, err);
}

/* Write a record of one line for a run that was refused. */
static void record_refusal(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error late = { 0 };

	if (ab_prepare_record(r->request, p, &late) == 0 && ab_pick_run_id(p, &late) == 0 &&
	    ab_run_open_record(r, false, &late) == 0 &&
	    ab_seal_load(p->state.root, &r->seal, &late) == 0)
		ab_run_write_refused(r, &late);
	ab_run_drain_violations(r, false);
	if (r->dir.dir >= 0)
		ab_run_retire(&r->dir);
	if (late.code != AB_ENONE)
		ab_run_say(r, AB_SAY_WARNING, "cannot record the refusal: %s", late.text);
}

/* Descriptors that the caller names. If one is closed, the next file that we open would get its number. */
static int check_named(const struct ab_request *rq, struct ab_error *err)
{
	for (size_t i = 0; i < rq->nfds; i++)
		if (fcntl(rq->fds[i], F_GETFD) < 0) {
			ab_fail(err, AB_EUSAGE, 0, "--fd %d: this descriptor is not open",
				rq->fds[i]);
			return ab_hint(err,
				       "open it for agentbox: agentbox run --fd %d ... %d<FILE",
				       rq->fds[i], rq->fds[i]);
		}
	if (rq->audit && ab_copy_is_fd(rq->audit) &&
	    fcntl((int)strtol(rq->audit, NULL, 10), F_GETFD) < 0) {
		ab_fail(err, AB_EUSAGE, 0, "--audit %s: this descriptor is not open", rq->audit);
		return ab_step(err, "record");
	}
	return 0;
}

/*
 * --audit -: the record has standard output for itself, and the command's own output goes to
 * standard error. So no line of a command can pass for a record, nor can a record get into the
 * middle of what the command writes.
 */
static int divert_output(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;

	if (!r->request->audit || strcmp(r->request->audit, "-") != 0 || p->nested)
		return 0;
	if (r->stayed)
		return ab_fail(err, AB_EUSAGE, 0,
			       "--audit - needs standard output until the box ends, so it cannot "
			       "be combined with --keep or --detach");
	if (isatty(STDOUT_FILENO)) {
		ab_fail(err, AB_EUSAGE, 0, "--audit -: standard output is a terminal");
		return ab_hint(err, "redirect it; the command's output goes to standard error: "
				    "--audit - >FILE");
	}
	p->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (p->output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "--audit -: standard output");
	return 0;
}

/* Before anything starts: a box can make these commands run. */
static int check_host_commands(const struct run *r, struct ab_error *err)
{
	const struct ab_request *rq = r->request;
	const struct {
		const char *option, *text;
	} commands[] = {
		{ "--approver", rq->approver },
		{ "--on-violation", rq->on_violation },
	};

	for (size_t i = 0; i < AB_COUNT(commands); i++)
		if (commands[i].text &&
		    ab_host_command_check(commands[i].option, commands[i].text, r->prepared->policy,
					  rq->policy.environ, err) < 0)
			return -1;
	return 0;
}

static int run_boxed(struct run *r, int *ret_status, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	bool started;

	if (check_host_commands(r, err) < 0 || open_streams(r, err) < 0)
		return -1;
	if (start_ahead(r, &started, err) < 0)
		return -1;
	if (started)
		return supervise_box(r, ret_status, err);
	ab_policy_protect_registries(p->policy, &r->request->policy);
	if (ab_consent_get(r->request, p->policy, false, &r->consent, err) < 0) {
		record_refusal(r);
		return -1;
	}
	/* Before signals are blocked: the user may want to interrupt a command that is a source. */
	if (ab_prepare_secrets(r->request, p, err) < 0 || ab_run_launch(r, err) < 0)
		return -1;
	return supervise_box(r, ret_status, err);
}

/* The process that started us prints it; later the clients do. */
static void say_apart(void *arg, enum ab_level level, const char *text)
{
	struct run *r = arg;

	if (r->starter >= 0)
		(void)ab_detach_say(r->starter, level, text);
	else if (r->stay && level != AB_SAY_DETAIL)
		ab_stay_say(r->stay, level == AB_SAY_NOTE, text);
}

/* The size of the caller's terminal, if there is one. */
static void note_terminal(struct run *r)
{
	struct winsize size;

	for (int fd = 2; fd >= 0; fd--)
		if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0) {
			r->rows = size.ws_row ? size.ws_row : 24;
			r->cols = size.ws_col ? size.ws_col : 80;
		}
}

/* The caller's other files would stay open for as long as the box does. */
static int close_callers(const struct run *r, struct ab_error *err)
{
	const char *audit = r->request->audit;
	bool digits = audit && *audit && !audit[strspn(audit, "0123456789")];
	const int keep[] = { r->starter, r->result.fd, r->prepared->next.claim,
			     digits ? (int)strtol(audit, NULL, 10) : -1 };

	if (ab_close_others(keep, AB_COUNT(keep)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "close inherited file descriptors");
	return 0;
}

/* In the supervisor: sources of secrets are read here, because their values stay in one process. */
static int run_apart(struct run *r, int *ret_status, struct ab_error *err)
{
	r->apart = true;
	r->apart_request = *r->request;
	r->apart_request.say = say_apart;
	r->apart_request.arg = r;
	r->request = &r->apart_request;
	if (close_callers(r, err) < 0 || ab_streams_open(&r->streams, err) < 0 ||
	    ab_prepare_secrets(r->request, r->prepared, err) < 0 || ab_run_launch(r, err) < 0)
		return -1;
	return supervise_box(r, ret_status, err);
}

/* A box that stays. What a person may be asked is asked here, where the terminal is. */
static int run_staying(struct run *r, int *ret_status, struct ab_error *err)
{
	int result;
	pid_t pid;

	if (r->prepared->nested)
		return ab_fail(err, AB_EUSAGE, 0, "inside a box, no other box can stay");
	if (check_host_commands(r, err) < 0)
		return -1;
	if (ab_consent_get(r->request, r->prepared->policy, false, &r->consent, err) < 0) {
		record_refusal(r);
		return -1;
	}
	note_terminal(r);
	pid = ab_detach(&r->starter, err);
	if (pid < 0)
		return -1;
	if (pid == 0)
		return run_apart(r, ret_status, err);
	/* The supervisor writes it. */
	r->result_written = true;
	r->stayed->approved = r->consent.approved;
	result = ab_detach_wait(r->starter, r->request->say, r->request->arg, r->stayed->id, err);
	close(ab_take_fd(&r->starter));
	return result;
}

static void describe_nested(void *arg, const struct ab_holds *holds)
{
	struct run *r = arg;
	ab_autostrv struct ab_strv held = { 0 };

	r->held = holds->properties;
	r->missing = r->prepared->spec.require & ~r->held;
	ab_run_describe(r);
	if (r->request->verbose == 0)
		return;
	ab_property_list(r->held, &held);
	ab_run_say_guarantees(r, "nested run", &held);
}

/* Already in a box: add a layer, keep no record. */
static int run_nested(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;

	if (ab_consent_get(r->request, p->policy, true, &r->consent, err) < 0 ||
	    ab_prepare_secrets(r->request, p, err) < 0 || ab_prepare_spec(r->request, p, err) < 0)
		return -1;
	ab_run_say_all(r, AB_SAY_NOTE, &p->notes);
	ab_run_say_all(r, AB_SAY_DETAIL, &p->details);
	return ab_nested_run(r->request, p, describe_nested, r, err);
}

/* If both the run and its result file failed, the run's failure is the error; the other is a
 * warning. */
static void write_failure(struct run *r, const struct ab_error *err)
{
	struct ab_error late = { 0 };

	/* Of a nested run that got this far, the caller has a description. */
	if (!r->held)
		ab_run_describe(r);
	if (ab_run_write_result(r, -1, 0, NULL, err, &late) < 0)
		ab_run_say(r, AB_SAY_WARNING, "%s", late.text);
	if (r->request->result && r->result.fd < 0 && strcmp(err->step, "record") != 0)
		ab_run_say(r, AB_SAY_WARNING,
			   "--result %s was not written: its path leads through a link, which the "
			   "run failed too early to judge",
			   r->request->result);
}

/* A command that never started has changed nothing: a set with the run's own id is of no use. */
static void end_review(struct run *r)
{
	struct ab_prepared *p = r->prepared;

	ab_reviewer_end(&r->reviewer);
	if (p->review && !r->held && strcmp(p->review->key, p->spec.run_id) == 0)
		(void)ab_layers_remove(AB_LAYER_STORE(&p->state), p->review,
				       &(struct ab_error){ 0 });
}

static int run_prepared(struct run *r, int *ret_status, struct ab_error *err)
{
	if (!r->stayed && !r->prepared->nested)
		return run_boxed(r, ret_status, err);
	ab_policy_protect_registries(r->prepared->policy, &r->request->policy);
	return r->stayed ? run_staying(r, ret_status, err) : run_nested(r, err);
}

/* The collector gets a moment for the rest; the record itself is complete. */
static void end_export(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_export_counts n;
	uint64_t lost;

	if (!p->exporter || p->audit.fd < 0)
		return;
	ab_exporter_end(p->exporter, &p->audit, &n);
	lost = n.dropped + n.refused + n.unsent;
	if (lost) {
		ab_autofree char *why = ab_escape(n.why);

		ab_run_say(
			r, AB_SAY_WARNING,
			"--audit otlp: %llu of %llu records did not get there (%llu dropped, %llu "
			"rejected, %llu not sent in time)%s%s; agentbox log has all of them",
			(unsigned long long)lost, (unsigned long long)(lost + n.sent),
			(unsigned long long)n.dropped, (unsigned long long)n.refused,
			(unsigned long long)n.unsent, why[0] ? ": " : "", why);
	}
}

void ab_run_init(struct run *ret, const struct ab_request *request, struct ab_prepared *prepared)
{
	*ret = (struct run){ .request = request,
			     .prepared = prepared,
			     .dir = { .dir = -1 },
			     .log = AB_LOG_NONE,
			     .result = AB_COPY_NONE,
			     .box = { .pidfd = -1, .sock = -1 },
			     .streams = AB_STREAMS_NONE,
			     .cgroup = AB_CGROUP_NONE,
			     .starter = -1,
			     .to_proxy = -1,
			     .begun_ns = ab_run_now_ns() };
	clock_gettime(CLOCK_REALTIME, &ret->started);
}

void ab_run_release(struct run *r)
{
	ab_heard_fini(&r->heard);
	ab_guard_link_free(r->children);
	free(r->movable);
	ab_review_sum_fini(&r->review);
	ab_refused_programs_free(r->refusals);
	ab_strv_fini_all(&r->refused, &r->outcome.told, &r->report.lines);
	ab_log_fini(&r->log);
	ab_seal_wipe(&r->seal);
	ab_violations_free(r->violations);
	ab_free_all(r->policy_text, r->origins_text, r->process_text, r->watch_text);
	ab_control_close(r->control);
	ab_copy_fini(&r->result);
	ab_streams_close(&r->streams);
	ab_run_fini(&r->dir);
	ab_cgroup_fini(&r->cgroup);
}

int ab_run_conclude(struct run *r, int result, struct ab_error *err)
{
	if (result < 0)
		ab_box_explain(err);
	if (result < 0 && r->box.pidfd >= 0)
		ab_run_drop_box(r);
	end_review(r);
	if (result < 0 && !r->result_written)
		write_failure(r, err);
	if (r->apart && result < 0 && r->starter >= 0)
		ab_detach_failed(r->starter, err);
	end_export(r);
	ab_run_release(r);
	/* The process ends next, and its memory with it, in less time. */
	ab_prepared_close(r->prepared);
	/* Init, if it had nothing to do any more but to end: ab_run_ask_for_sweep(). */
	if (r->box.pidfd >= 0)
		ab_run_drop_box(r);
	if (r->broker)
		ab_broker_end(r->broker);
	return result;
}

static int run_request(const struct ab_request *request, struct ab_stayed *stayed, int *ret_status,
		       struct ab_error *err)
{
	struct ab_prepared prepared;
	struct ab_error unnamed = { 0 };
	struct run r;
	int result, named;

	ab_run_init(&r, request, &prepared);
	r.stayed = stayed;
	if (ab_occupy_stdio(err) < 0)
		return -1;
	named = check_named(request, &unnamed);
	if (ab_run_open_result(&r, err) < 0)
		return -1;
	launch_early(&r);
	result = ab_prepare(request, &prepared, err);
	if (result == 0 && named < 0) {
		*err = unnamed;
		result = -1;
	}
	if (result == 0) {
		prepared.result = &r.result;
		result = divert_output(&r, err);
	}
	if (result == 0)
		result = run_prepared(&r, ret_status, err);
	result = ab_run_conclude(&r, result, err);
	/* The rest of the program belongs to the process that started us. */
	if (r.apart)
		_exit(0);
	return result;
}

int ab_run(const struct ab_request *request, int *ret_status, struct ab_error *err)
{
	return run_request(request, NULL, ret_status, err);
}

int ab_run_stay(const struct ab_request *request, struct ab_stayed *ret, struct ab_error *err)
{
	int status = 0;

	*ret = (struct ab_stayed){ .id = "" };
	return run_request(request, ret, &status, err);
}
