/*
 * The host's part of one run (run.c): everything that serves the box from outside is started here,
 * in the order in which each still may do what it needs: the record, the guard's terms, the broker,
 * the proxy, the processes for layers, containers and host tools, the control socket. Then the
 * supervisor locks itself in and lets the command start.
 */
#include "session/run/run_state.h"

#include "broker/broker.h"
#include "consent/ask/host_prompt.h"
#include "containers/container_filter.h"
#include "containers/container_watch.h"
#include "containers/left_containers.h"
#include "guard/engine/attributes.h"
#include "guard/engine/peers.h"
#include "guard/notify/guard_process.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/refused_programs.h"
#include "guard/writes/writes.h"
#include "host/lock/lockdown.h"
#include "hosttools/tool_broker.h"
#include "hosttools/tool_watch.h"
#include "policy/model/policy.h"
#include "session/control/box_network.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/control/violation_tap.h"
#include "session/run/prepare.h"
#include "terminal/terminal.h"
#include "terminal/tty.h"

/* The caller's pipes must reach EOF when the command closes them; our own messages go to standard
 * error. */
void ab_run_release_stdio(const struct run *r)
{
	int null;

	if (r->terminal)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd < 2; fd++)
		dup2(null, fd);
	ab_closep(&null);
}

int ab_run_open_record(struct run *r, bool reserve, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_log_setup setup = { .run_id = r->dir.id };

	if (ab_violations_new(&r->violations, err) < 0 ||
	    (reserve ? ab_run_reserve(&p->state, p->spec.run_id, &r->dir, err)
		     : ab_run_create(&p->state, p->spec.run_id, &r->dir, err)) < 0)
		return -1;
	setup.dir = r->dir.dir;
	setup.copy = p->audit.fd >= 0 ? &p->audit : NULL;
	setup.seal = &r->seal;
	setup.tap = ab_violations_tap;
	setup.tap_arg = r->violations;
	return ab_log_open(&setup, &r->log, err);
}

static void add_handlers_without_namespaces(struct run *r, struct ab_guard_duty *ret)
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

/* The guard is forked later, by the broker, with what is known now. */
static int prepare_guard(struct run *r, struct ab_guard_duty *ret, struct ab_error *err)
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
	*ret = (struct ab_guard_duty){
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
	return ab_guard_link_open(&r->children, err);
}

/* Without a network of its own the guard hands the box's connections to the proxy. */
static int make_handover(struct run *r, struct ab_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a socket for the proxy");
	r->network =
		(struct ab_network){ .listeners[0] = { .kind = AB_LISTENER_HANDED, .fd = pair[0] },
				     .n = 1 };
	r->to_proxy = pair[1];
	return 0;
}

/* Are there questions that a person could answer while the box runs? */
static bool has_questions(const struct run *r)
{
	const struct ab_policy *policy = r->prepared->policy;

	for (size_t i = 0; i < policy->host_tools.len; i++)
		if (policy->host_tools.v[i]->ask.len)
			return true;
	return ab_steering_has_questions(policy) ||
	       (r->prepared->agent.socket && policy->ssh.ask != AB_SSH_ASK_NEVER);
}

/* A terminal that the prompt opened itself must be restored as well. */
static int open_prompt(struct run *r, struct ab_terminal_rescue *ret, struct ab_error *err)
{
	if (has_questions(r) && !r->request->approver && !r->request->tool_of &&
	    !r->request->controller_asks && ab_host_prompt_open(r->terminal, &r->prompt, err) < 0)
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
	bool asks = ab_steering_has_questions(policy);
	struct ab_steering_setup setup = { .request = r->request,
					   .policy = policy,
					   .prompt = r->prompt };

	if (ab_control_open(&r->control, err) < 0)
		return -1;
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

void ab_run_abandon_services(struct run *r)
{
	ab_autostrv struct ab_strv unused = { 0 };
	ab_autofree char *left = NULL;
	struct ab_error late = { 0 };

	if (r->containers) {
		ab_container_watch_end(r->containers);
		(void)ab_container_watch_ended(ab_take(r->containers), &unused, &left, &late);
		if (!left)
			ab_left_containers_forget(r->prepared->state.root,
						  r->prepared->spec.run_id);
	}
	if (r->tools) {
		ab_tool_watch_end(r->tools);
		(void)ab_tool_watch_ended(ab_take(r->tools), &unused, &late);
	}
	ab_network_fini(&r->network);
	if (r->box_network)
		(void)ab_box_network_close(ab_take(r->box_network), &r->report, &unused, &late);
}

int ab_run_start_broker(struct run *r, const struct ab_broker_wait *wait, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;
	struct ab_guard_duty guard;
	struct ab_broker_duty duty = { .wait = wait,
				       .input = &r->request->policy,
				       .survey = &p->host.survey,
				       .run = &r->dir,
				       .log = &r->log.setup,
				       .init = r->box.pidfd,
				       .cgroup = r->cgroup.path,
				       .memory = r->cgroup.memory ? 0 : p->spec.limits.memory,
				       .init_pid = r->box.pid,
				       .spec = &p->spec,
				       .home = p->host.home,
				       .returns = &p->returns,
				       .shares = &p->shares,
				       .tmp = p->tmp,
				       .containers = p->engine.socket,
				       .safe = &p->safe,
				       .environ = ab_safe_environ(&p->safe, &r->request->policy),
				       .policy = p->policy,
				       .approver = r->request->approver,
				       .on_violation = r->request->on_violation,
				       .agent = p->agent.socket,
				       .notify = p->policy->net.notify &
						 ~AB_NOTICE_BIT(AB_NOTICE_BELL),
				       .guard = &guard,
				       .keep = ab_gc_rule_of(p->policy) };

	ab_kept_layers_locks(&p->kept, duty.locks);
	/* Nobody is asked before there is a run; then its controller is. */
	if (wait)
		ab_terminal_rescue_get(NULL, &duty.rescue);
	else if (open_prompt(r, &duty.rescue, err) < 0)
		return -1;
	if (prepare_guard(r, &guard, err) < 0)
		return -1;
	duty.guard_sock = r->children->seat;
	if (ab_broker_start(&duty, &r->broker, err) < 0)
		return -1;
	ab_safe_forget_held(&p->safe);
	ab_guard_link_leave_seat(r->children);
	return 0;
}

int ab_run_open_network(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;

	return ab_box_network_open(p->policy, r->request->policy.environ, &p->safe,
				   ab_take(p->agent.terms), &r->box_network, err);
}

int ab_run_start_services(struct run *r, struct ab_error *err)
{
	if (!r->box_network && ab_run_open_network(r, err) < 0)
		return -1;
	if (r->terminal && r->box_network)
		ab_box_network_watch_ports(r->box_network, r->box.pid);
	if (start_reviewer(r, err) < 0 || start_container_filter(r, err) < 0)
		return -1;
	return start_tool_broker(r, err);
}

int ab_run_lock(struct run *r, struct ab_error *err)
{
	int state = r->prepared->state.root;

	/* The key of the record: the broker and the guard, which it forks, do without it. */
	if (ab_seal_load(state, &r->seal, err) < 0 || open_control(r, err) < 0)
		return -1;
	r->locked = true;
	return ab_lock_supervisor(state, err);
}

int ab_run_set_up_host(struct run *r, struct ab_error *err)
{
	struct ab_prepared *p = r->prepared;

	/* First: init has sent its sockets, and waits for the answer when its mounts are made. The
	 * broker closes what it inherits. */
	if (p->spec.door && !p->no_namespaces && ab_bridge_raise(&r->box, &r->network, err) < 0)
		return -1;
	if (p->spec.door && p->no_namespaces && make_handover(r, err) < 0)
		return -1;
	if (p->spec.door && !p->no_namespaces && !r->network.logs)
		ab_run_say(r, AB_SAY_DETAIL,
			   "denied UDP packets are only counted: the kernel gives no log of them");
	if (ab_run_open_record(r, false, err) < 0 || ab_run_write_start(r, err) < 0 ||
	    ab_claim_check(&p->state, &p->host.survey.write, p->claims, err) < 0 ||
	    ab_safe_check(p->state.root, &p->policy->secrets, p->safe.vault, err) < 0 ||
	    ab_share_check(&p->shares, err) < 0 || ab_prepare_layers(r->request, p, err) < 0)
		return -1;
	ab_run_release_stdio(r);
	if (ab_run_start_broker(r, NULL, err) < 0 || ab_run_start_services(r, err) < 0 ||
	    ab_run_lock(r, err) < 0)
		return -1;
	if (!r->cgroup.processes && ab_run_go(r, err) < 0)
		return -1;
	/* While the box starts the command. */
	ab_log_settle(&r->log);
	return 0;
}
