/*
 * One run, from the request to the exit status:
 *
 *	policy -> launch, consent -> plan, specification -> record, broker,
 *	lock -> go -> supervise -> sweep -> end record
 *
 * The launch comes before the consent and the plan, and the record and the
 * broker after it, because init works on its own meanwhile; the command does
 * nothing before `go`. Any failure on the way kills the box. A command that
 * needs approval or has secrets is launched after the consent.
 */
#include "session/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/write/log.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/environment.h"
#include "policy/model/config.h"
#include "policy/model/keys.h"
#include "policy/model/policy.h"
#include "sandbox/plan/engine.h"
#include "sandbox/start/bridge.h"
#include "sandbox/start/launch.h"
#include "session/ask/host_prompt.h"
#include "session/broker/broker.h"
#include "session/cleanup/shared_folders.h"
#include "session/consent/consent.h"
#include "session/consent/request.h"
#include "session/containers/container_filter.h"
#include "session/containers/container_watch.h"
#include "session/containers/left_containers.h"
#include "session/control/box_network.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/control/violation_tap.h"
#include "session/engine/attributes.h"
#include "session/engine/engine_fit.h"
#include "session/engine/peers.h"
#include "session/engine/tmp_folder.h"
#include "session/export/exporter.h"
#include "session/host/cgroup.h"
#include "session/notify/judge_process.h"
#include "session/host/host_command.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_programs.h"
#include "session/review/reviewer.h"
#include "session/lock/lockdown.h"
#include "session/run/nested.h"
#include "session/run/prepare.h"
#include "session/run/run_state.h"
#include "session/run/supervisor.h"
#include "session/stay/detach.h"
#include "session/stay/stay.h"
#include "session/terminal/terminal.h"
#include "session/terminal/tty.h"
#include "session/tools/tool_broker.h"
#include "session/tools/tool_watch.h"
#include "session/writes/writes.h"

/* The caller's pipes must reach EOF when the command closes them; our own messages go to standard
 * error. */
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

static int open_record(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_log_setup setup = { .run_id = r->dir.id };

	if (ab_violations_new(&r->violations, err) < 0 ||
	    ab_run_create(&p->state, p->spec.run_id, &r->dir, err) < 0)
		return -1;
	setup.dir = r->dir.dir;
	setup.copy = p->audit.fd >= 0 ? &p->audit : NULL;
	setup.seal = &r->seal;
	setup.tap = ab_violations_tap;
	setup.tap_arg = r->violations;
	return ab_log_open(&setup, &r->log, err);
}

static void add_handlers_without_namespaces(struct run *r, struct ab_judge_duty *ret)
{
	const struct ab_prepared *p = r->prepared;

	r->sockets = (struct ab_socket_terms){
		.connects = r->connects,
		.inet = { .filtered = p->spec.door,
			  .host_ports = p->policy->net.host_ports.v,
			  .nhost_ports = p->policy->net.host_ports.len },
	};
	ret->sockets = true;
	ret->proxy = r->to_proxy;
	ret->handlers[ret->nhandlers++] = ab_sockets_handler(&r->sockets);
	ret->handlers[ret->nhandlers++] = ab_attributes_handler();
	ret->handlers[ret->nhandlers++] = ab_peers_handler(&r->box.pid);
}

/* The judge is forked later, by the broker, with what is known now. */
static int prepare_judge(struct run *r, struct ab_judge_duty *ret, struct ab_error *err)
{
	const struct ab_prepared *p = r->prepared;

	r->connects = (struct ab_connect_terms){ .plan = &p->spec.plan,
						 .allowed = &p->host.open_sockets,
						 .own_mounts = !p->no_namespaces,
						 .own_net = p->spec.own_net,
						 .datagrams = p->spec.datagrams };
	if (p->no_namespaces)
		r->connects.nmovable = ab_connect_find_movable(&p->spec.plan, &r->movable);
	r->connects.movable = r->movable;
	*ret = (struct ab_judge_duty){
		.terms = { .policy = p->policy,
			   .cwd = p->spec.cwd,
			   .yes = r->request->yes,
			   .approved = r->consent.approved ? r->consent.rule : NULL,
			   .approved_user = r->consent.user_rule },
		.trace = { .policy = p->policy,
			   .plan = &p->spec.plan,
			   .sockets = &p->host.sockets,
			   .state = p->state.path,
			   .home = p->policy->home,
			   .uid = geteuid(),
			   .all = p->spec.traced,
			   .judged = p->spec.children,
			   .learn = r->request->learn,
			   .userns = p->spec.userns,
			   .no_mounts = p->no_namespaces },
	};
	if (p->no_namespaces)
		add_handlers_without_namespaces(r, ret);
	else if (p->spec.connects) /* Landlock does it where it can. */
		ret->handlers[ret->nhandlers++] = ab_connect_handler(&r->connects);
	ret->handlers[ret->nhandlers++] = ab_writes_handler(&p->host.survey);
	r->refusals = ab_refused_programs_new(r->dir.id, &r->log, p->spec.strict);
	return ab_program_judge_open(&r->children, err);
}

/* Without a network of its own the judge hands the box's connections to the proxy. */
static int make_handover(struct run *r, struct ab_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a socket for the proxy");
	r->network = (struct ab_network){ .listeners[0] = { .kind = AB_LISTENER_HANDED,
							    .fd = pair[0] },
					  .n = 1 };
	r->to_proxy = pair[1];
	return 0;
}

static bool asks_about_hosts(const struct ab_policy *policy)
{
	return policy->net.mode == AB_NET_FILTERED && policy->net.unknown == AB_UNKNOWN_ASK;
}

/* Are there questions that a person could answer while the box runs? */
static bool has_questions(const struct run *r)
{
	const struct ab_policy *policy = r->prepared->policy;

	for (size_t i = 0; i < policy->host_tools.len; i++)
		if (policy->host_tools.v[i]->ask.len)
			return true;
	return asks_about_hosts(policy) ||
	       (r->prepared->agent.socket && policy->ssh.ask != AB_SSH_ASK_NEVER);
}

/* A terminal that the prompt opened itself must be restored as well. */
static int open_prompt(struct run *r, struct ab_terminal_rescue *ret, struct ab_error *err)
{
	if (has_questions(r) && !r->request->approver && !r->request->tool_of &&
	    !r->request->controller_asks &&
	    ab_host_prompt_open(r->terminal, &r->prompt, err) < 0)
		return -1;
	r->bell = isatty(STDERR_FILENO);
	if (r->prompt)
		ab_host_prompt_rescue_get(r->prompt, ret);
	else
		ab_terminal_rescue_get(r->terminal, ret);
	return 0;
}

/* The control socket; and without anybody to ask about hosts, unknown hosts are denied. */
static int open_control(struct run *r, struct ab_error *err)
{
	struct ab_policy *policy = r->prepared->policy;
	bool asks = asks_about_hosts(policy);
	struct ab_steering_setup setup = { .policy = policy };

	if (ab_control_open(&r->control, err) < 0)
		return -1;
	setup.approver = r->request->approver != NULL;
	setup.controller_asks = r->request->controller_asks;
	setup.prompt = r->prompt;
	/* The clients of a box that stays show what it asks, if it was started on a terminal. */
	if (asks && !ab_steering_asks(&setup) && !r->rows) {
		policy->net.unknown = AB_UNKNOWN_DENY;
		r->unasked = ab_tty_dumb() ? "TERM is dumb"
			     : r->piped	   ? r->piped
					   : "there is no terminal";
	}
	return 0;
}

/* For the end of the run, when the supervisor can no longer do it. */
static int start_reviewer(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_reviewer_setup setup = { .store = AB_LAYER_STORE(&p->state),
					   .set = p->review,
					   .state = &p->state,
					   .run = p->spec.run_id,
					   .workspace = p->host.survey.reviewed,
					   .automatic = p->policy->fs.review == AB_REVIEW_AUTO };

	return p->review ? ab_reviewer_start(&setup, &r->reviewer, err) : 0;
}

/* It stays able to reach the engine, which the supervisor is not. */
static int start_container_filter(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_container_filter_setup setup = { .engine = &p->engine,
						   .policy = p->policy,
						   .run = p->spec.run_id };

	ab_autostrv struct ab_strv notes = { 0 };

	if (!p->engine.socket)
		return 0;
	ab_left_containers_sweep(p->state.root, &notes);
	ab_run_say_all(r, AB_SAY_NOTE, &notes);
	setup.claim =
		ab_left_containers_claim(p->state.root, p->spec.run_id, p->engine.socket, err);
	if (setup.claim < 0)
		return ab_step(err, "containers");
	return ab_container_watch_start(&setup, &r->log, p->spec.strict, &r->containers, err);
}

static int start_tool_broker(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_tool_broker_setup setup = { .policy = p->policy,
					      .env = r->request->policy.environ,
					      .run = p->spec.run_id };

	return p->spec.tools.len
		       ? ab_tool_watch_start(&setup, &r->log, p->spec.strict, &r->tools, err)
		       : 0;
}

/* The run ends before its command. */
static void abandon_tools(struct run *r)
{
	ab_autostrv struct ab_strv unused = { 0 };

	if (!r->tools)
		return;
	ab_tool_watch_end(r->tools);
	(void)ab_tool_watch_ended(ab_take(r->tools), &unused, &(struct ab_error){ 0 });
}

/* Leave it behind: the run ends before its command. */
static void abandon_containers(struct run *r)
{
	ab_autostrv struct ab_strv unused = { 0 };
	ab_autofree char *left = NULL;

	if (!r->containers)
		return;
	ab_container_watch_end(r->containers);
	(void)ab_container_watch_ended(ab_take(r->containers), &unused, &left,
				       &(struct ab_error){ 0 });
	if (!left)
		ab_left_containers_forget(r->prepared->state.root, r->prepared->spec.run_id);
}

/* Set up what the run needs on the host while init builds the box. */
static int set_up_host(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_judge_duty judge;
	struct ab_broker_duty duty = { .input = &r->request->policy,
				       .survey = &p->host.survey,
				       .run = &r->dir,
				       .log = &r->log.setup,
				       .init = r->box.pidfd,
				       .cgroup = r->cgroup.path,
				       .memory = r->cgroup.memory ? 0 : p->spec.limits.memory,
				       .init_pid = r->box.pid,
				       .spec = &p->spec,
				       .deny_read = &p->policy->fs.deny_read,
				       .home = p->host.home,
				       .returns = &p->returns,
				       .shares = &p->shares,
				       .tmp = p->tmp,
				       .strict = p->spec.strict,
				       .secrets = &p->policy->secrets,
				       .environ = ab_safe_environ(&p->safe, &r->request->policy),
				       .stamps = p->safe.stamps,
				       .expires = p->safe.expires,
				       .policy = p->policy,
				       .held = p->safe.held,
				       .hidden = &p->safe.hidden,
				       .approver = r->request->approver,
				       .on_violation = r->request->on_violation,
				       .agent = p->agent.socket,
				       .notify = p->policy->net.notify &
						 ~AB_NOTICE_BIT(AB_NOTICE_BELL),
				       .judge = &judge,
				       .touched = &p->policy->fs.touched,
				       .workspace = p->policy->workspace,
				       .reload = p->policy->net.mode == AB_NET_FILTERED };

	ab_kept_layers_locks(&p->kept, duty.locks);
	/* First: init has sent its sockets, and waits for the answer when its mounts are made. The
	 * broker closes what it inherits. */
	if (p->spec.door && !p->no_namespaces && ab_bridge_raise(&r->box, &r->network, err) < 0)
		return -1;
	if (p->spec.door && p->no_namespaces && make_handover(r, err) < 0)
		return -1;
	if (open_record(r, err) < 0 || ab_run_write_start(r, err) < 0 ||
	    ab_claim_check(&p->state, &p->host.survey.write, p->claims, err) < 0 ||
	    ab_share_check(&p->shares, err) < 0 || ab_prepare_layers(r->request, p, err) < 0)
		return -1;
	release_stdio(r);
	if (open_prompt(r, &duty.rescue, err) < 0 || prepare_judge(r, &judge, err) < 0)
		return -1;
	duty.judge_sock = ab_program_judge_seat(r->children);
	if (ab_broker_start(&duty, &r->broker, err) < 0)
		return -1;
	ab_safe_forget_held(&p->safe);
	ab_program_judge_leave_seat(r->children);
	if (ab_box_network_open(p->policy, r->request->policy.environ, &p->safe,
				ab_take(p->agent.terms), &r->box_network, err) < 0)
		return -1;
	if (r->terminal && r->box_network)
		ab_box_network_watch_ports(r->box_network, r->box.pid);
	if (start_reviewer(r, err) < 0 || start_container_filter(r, err) < 0 ||
	    start_tool_broker(r, err) < 0)
		return -1;
	/* The key of the record: the broker and the judge, which it forks, do without it. */
	if (ab_seal_load(p->state.root, &r->seal, err) < 0)
		return -1;
	if (open_control(r, err) < 0 || ab_lock_supervisor(p->state.root, err) < 0)
		return -1;
	if (!r->cgroup.processes && ab_run_go(r, err) < 0)
		return -1;
	/* While the box starts the command. */
	ab_log_settle(&r->log);
	return 0;
}

/* An error that the box has already sent says more than ours. */
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

/* A pipe's other end may use the terminal, so questions are not asked there. */
static const char *find_pipe(void)
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

/* Plan the box while init starts. */
static int plan_box(struct run *r, struct ab_error *err)
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
	r->piped = find_pipe();
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
	spec->count_processes = must_count_processes(r);
	r->planned_ns = ab_run_now_ns();
	return ab_box_specify(&r->box, spec, err);
}

/* Undo a launch that does not become a run. Not inlined: scripts/check-calls looks for it. */
static __attribute__((noinline)) void abandon_box(struct run *r, struct ab_error *err)
{
	prefer_box_error(r, err);
	ab_share_explain(&r->prepared->shares, err);
	ab_box_kill(&r->box);
	ab_box_fini(&r->box);
	abandon_containers(r);
	abandon_tools(r);
	ab_host_prompt_close(r->prompt);
	ab_terminal_close(r->terminal);
	ab_network_fini(&r->network);
	if (r->box_network)
		ab_box_network_close(r->box_network, &r->report, &(struct ab_strv){ 0 },
				     &(struct ab_error){ 0 });
	if (r->cgroup.path)
		ab_cgroup_remove(r->cgroup.path, r->prepared->spec.run_id);
	/* The broker removes them at its own end. Without one, the supervisor is not locked yet. */
	if (r->broker)
		ab_broker_end(ab_take(r->broker));
	else
		ab_shared_folders_remove(&r->prepared->state, r->prepared->spec.run_id,
					 &r->prepared->shares);
	if (!r->broker)
		ab_tmp_folder_remove(r->prepared->tmp);
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

	if (ab_supervise_prepare(err) < 0)
		return -1;
	r->loaded_ns = ab_run_now_ns();
	if (ab_box_launch(&net, p->policy->assurance.engine, p->policy->fs.tmp_size, r->streams.box,
			  &r->box, err) < 0)
		return -1;
	r->launched_ns = ab_run_now_ns();
	return 0;
}

/*
 * The judge works while init takes its first steps, which need nothing of the command, so it costs
 * no time. Without consent the box is discarded, and the question or the refusal comes without one.
 * Sources of secrets are not read for a command that may be refused.
 */
static int start_ahead(struct run *r, bool *ret_started, struct ab_error *err)
{
	int started;

	*ret_started = false;
	if (ab_safe_needed(r->prepared->policy))
		return 0;
	started = start_box(r, err);
	ab_policy_protect_registries(r->prepared->policy, &r->request->policy);
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

static int supervise_box(struct run *r, int *ret_status, struct ab_error *err)
{
	ab_streams_launched(&r->streams);
	if (plan_box(r, err) < 0 || set_up_host(r, err) < 0) {
		abandon_box(r, err);
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
	    open_record(r, &late) == 0 && ab_seal_load(p->state.root, &r->seal, &late) == 0)
		ab_run_write_refused(r, &late);
	ab_run_drain_violations(r, false);
	if (r->dir.dir >= 0)
		ab_run_retire(&r->dir);
	if (late.code != AB_ENONE)
		ab_run_say(r, AB_SAY_WARNING, "cannot record the refusal: %s", late.text);
}

/* If the caller closed one of 0-2, the next file that we open would get its number, and the command
 * would inherit it. */
static int occupy_stdio(struct ab_error *err)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return ab_fail(err, AB_ESYSTEM, errno, "open /dev/null");
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

	if (check_host_commands(r, err) < 0 || ab_streams_open(&r->streams, err) < 0)
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
	if (ab_prepare_secrets(r->request, p, err) < 0 || start_box(r, err) < 0)
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
	    ab_prepare_secrets(r->request, r->prepared, err) < 0 || start_box(r, err) < 0)
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
	ab_run_properties(r->held, &held);
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

	ab_reviewer_end(ab_take(r->reviewer));
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

static int run_request(const struct ab_request *request, struct ab_stayed *stayed, int *ret_status,
		       struct ab_error *err)
{
	struct ab_prepared prepared;
	struct run r = { .request = request,
			 .prepared = &prepared,
			 .dir = { .dir = -1 },
			 .log = AB_LOG_NONE,
			 .result = AB_COPY_NONE,
			 .streams = AB_STREAMS_NONE,
			 .cgroup = { .procs = -1, .pids_max = -1 },
			 .starter = -1,
			 .to_proxy = -1,
			 .stayed = stayed,
			 .begun_ns = ab_run_now_ns() };
	int result;

	clock_gettime(CLOCK_REALTIME, &r.started);
	if (occupy_stdio(err) < 0 || ab_run_open_result(&r, err) < 0)
		return -1;
	result = ab_prepare(request, &prepared, err);
	if (result == 0) {
		prepared.result = &r.result;
		result = divert_output(&r, err);
	}
	if (result == 0) {
		result = run_prepared(&r, ret_status, err);
	}
	if (result < 0)
		ab_box_explain(err);
	end_review(&r);
	if (result < 0 && !r.result_written)
		write_failure(&r, err);
	if (r.apart && result < 0 && r.starter >= 0)
		ab_detach_failed(r.starter, err);
	end_export(&r);
	ab_program_judge_free(r.children);
	free(r.movable);
	ab_review_sum_fini(&r.review);
	ab_refused_programs_free(r.refusals);
	ab_strv_fini(&r.refused);
	ab_strv_fini(&r.told);
	ab_strv_fini(&r.report.lines);
	ab_log_fini(&r.log);
	ab_seal_wipe(&r.seal);
	ab_violations_free(r.violations);
	ab_control_close(r.control);
	ab_copy_fini(&r.result);
	ab_streams_close(&r.streams);
	ab_run_fini(&r.dir);
	ab_cgroup_fini(&r.cgroup);
	ab_prepared_fini(&prepared);
	if (r.broker)
		ab_broker_end(r.broker);
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
