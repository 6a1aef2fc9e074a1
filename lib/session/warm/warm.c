/*
 * Theory of operation.
 *
 *	prepare		as a run, up to `go`: launch, plan, network, proof, record, broker
 *	wake		the broker looks at the host
 *	take		we look at the settings and the files, and judge the command; the box gets it,
 *			the record appears; then we hear the broker
 *	begin		services start, `go`
 *	lock		as every supervisor; before, nothing of the box is read. The broker begins its
 *			work
 *
 * Until `begin` the box can be discarded with its record, and the same process can start a run without
 * it. Messages that the box sent meanwhile (its sockets, its proof) are kept for the supervisor's loop.
 *
 * Both looks are rehearsed: what a process needs for them is then in its own memory.
 */
#include "session/warm/warm.h"

#include <sched.h>
#include <sys/eventfd.h>

#include "broker/broker.h"
#include "consent/consent.h"
#include "host/facts.h"
#include "host/lock/lockdown.h"
#include "policy/model/policy.h"
#include "sandbox/start/bridge.h"
#include "secrets/ssh_agent.h"
#include "session/control/box_network.h"
#include "session/run/run_state.h"
#include "session/warm/fresh.h"

struct ab_warm {
	struct ab_request request;
	struct ab_prepared prepared;
	struct run run;
	struct ab_fresh fresh;
	struct ab_broker_wait wait;
	size_t npolicy;	       /* so many notes are about the policy: the run has its own */
	bool alive;	       /* there is a box */
	bool waking;	       /* the broker was asked */
	int go;		       /* an eventfd, for the box */
	struct timespec woken; /* before it looks at the workspace */
};

/* ---- preparing ---- */

/* What a run gets anew each time, or holds a lock on, cannot be prepared. */
static int check_policy(const struct ab_policy *policy, struct ab_error *err)
{
	const struct {
		bool there;
		const char *what;
	} obstacles[] = {
		{ ab_safe_needed(policy), "secrets, path rules or intercepted hosts" },
		{ policy->fs.review != AB_REVIEW_NONE, "a review of its changes" },
		{ policy->fs.home == AB_HOME_KEPT, "a home folder that is kept" },
		{ policy->fs.share.len > 0, "shared folders" },
	};

	for (size_t i = 0; i < AB_COUNT(obstacles); i++)
		if (obstacles[i].there) {
			ab_fail(err, AB_EUSAGE, 0,
				"a box with %s cannot be prepared before its command is known",
				obstacles[i].what);
			ab_hint(err, "run its commands without a pool");
			return ab_step(err, "pool");
		}
	return 0;
}

static int check_engine(const struct run *r, struct ab_error *err)
{
	if (r->box.namespaces)
		return 0;
	ab_fail(err, AB_EPROPERTY, 0,
		"without namespaces there is nothing that could be prepared before the command is "
		"known");
	ab_hint(err, "%s; or run commands without a pool",
		r->box.refused.hint[0] ? r->box.refused.hint : "use --engine auto");
	return ab_step(err, "pool");
}

static int keep_message(struct ab_heard *heard, uint32_t type, int *fd, struct ab_error *err)
{
	if (heard->len == AB_COUNT(heard->v))
		return ab_fail(err, AB_ESYSTEM, 0, "the box sent too many messages");
	heard->v[heard->len++] =
		(struct ab_heard_message){ .type = type, .fd = fd ? ab_take_fd(fd) : -1 };
	return 0;
}

static int keep_proof(struct ab_warm *w, const struct ab_holds *holds, struct ab_fds *fds,
		      struct ab_error *err)
{
	if (!fds->len)
		return ab_fail(err, AB_ESYSTEM, 0, "the box sent no mounts");
	w->fresh.mounts[1] = ab_take_fd(&fds->v[0]);
	w->run.heard.holds = *holds;
	return keep_message(&w->run.heard, AB_MSG_HOLDS, fds->len > 1 ? &fds->v[1] : NULL, err);
}

static int await_ready(struct ab_warm *w, struct ab_error *err)
{
	for (;;) {
		struct ab_msg msg;
		ab_autofds struct ab_fds fds = { .len = 0 };
		int n = ab_box_hear(&w->run.box, &msg, &fds, 0);

		if (n < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "receive from the box");
		if (n == 0)
			return ab_fail(err, AB_ESYSTEM, 0, "the box ended before it was ready");
		if (msg.type == AB_MSG_READY)
			return keep_proof(w, &msg.u.holds, &fds, err);
		if (msg.type == AB_MSG_FAILED) {
			*err = msg.u.error;
			return -1;
		}
		if (keep_message(&w->run.heard, msg.type, fds.len ? &fds.v[0] : NULL, err) < 0)
			return -1;
	}
}

static int build_box(struct ab_warm *w, struct ab_error *err)
{
	struct run *r = &w->run;
	struct ab_spec *spec = &w->prepared.spec;

	if (ab_run_launch(r, err) < 0 || check_engine(r, err) < 0)
		return -1;
	ab_policy_protect_registries(w->prepared.policy, &w->request.policy);
	if (ab_fresh_begin(&w->fresh, &w->request, &w->prepared, err) < 0 ||
	    ab_run_make_spec(r, err) < 0 || ab_fresh_note(&w->fresh, err) < 0)
		return -1;
	spec->waits = true;
	if (ab_box_specify(&r->box, spec, err) < 0)
		return -1;
	if (spec->door && ab_bridge_raise(&r->box, &r->network, err) < 0)
		return -1;
	if (await_ready(w, err) < 0)
		return -1;
	return r->cgroup.processes ? ab_cgroup_release(&r->cgroup, err) : 0;
}

/* The broker is about to answer: to sleep and to be woken takes longer than to wait for it. */
static void expect_broker(const struct ab_warm *w)
{
	enum { TRIES = 300 };

	for (int i = 0; i < TRIES && ab_poll(ab_broker_fd(w->run.broker), POLLIN, 0) == 0; i++)
		sched_yield();
}

/* NULL: the broker, too, has found that a run would get the same box. Free it. */
static char *hear_broker(struct ab_warm *w)
{
	struct ab_error err = { 0 };
	char *why = NULL;

	expect_broker(w);
	w->waking = false;
	return ab_broker_checked(w->run.broker, &w->prepared.claims, &why, &err) < 0
		       ? ab_strdup(err.text)
		       : why;
}

static bool has_environment(char *const *env, char *const *other)
{
	for (; *env && *other; env++, other++)
		if (strcmp(*env, *other) != 0)
			return false;
	return !*env && !*other;
}

/* What the request has that others have not. */
static const char *find_difference(const struct ab_warm *w, const struct ab_request *rq)
{
	const struct {
		bool there;
		const char *what;
	} differences[] = {
		{ rq->name != NULL, "the run has a name" },
		{ rq->require_covered, "the run is only started if all credentials are covered" },
		{ rq->trace_denials || rq->learn, "the run is traced" },
		{ rq->audit && !ab_copy_is_fd(rq->audit), "there is a copy of the record" },
		{ rq->nfds > 0 || rq->approver || rq->on_violation || rq->tool_of ||
			  rq->mark_shell || rq->keep || rq->detach,
		  "the run needs more than a box" },
		{ !has_environment(rq->policy.environ, w->request.policy.environ),
		  "the environment is another one" },
		{ !ab_host_facts_show(&w->prepared.host, rq->argv[0]),
		  "a private folder hides the program" },
		{ !ab_box_takes((const int[]){ 0, 1, 2 }),
		  "a standard stream is neither a pipe nor a socket nor /dev/null" },
	};

	for (size_t i = 0; i < AB_COUNT(differences); i++)
		if (differences[i].there)
			return differences[i].what;
	return NULL;
}

static int rehearse(struct ab_warm *w, struct ab_error *err)
{
	ab_autofree char *theirs = NULL;
	const char *ours;
	struct ab_prepared now;

	ab_warm_wake(w);
	if (ab_prepare(&w->request, &now, err) < 0)
		return -1;
	ab_policy_protect_registries(now.policy, &w->request.policy);
	ours = ab_fresh_ours(&w->fresh, &now);
	(void)find_difference(w, &w->request);
	(void)ab_consent_given(&w->request, now.policy, &(struct ab_consent){ 0 });
	ab_prepared_fini(&now);
	theirs = hear_broker(w);
	if (!ours && !theirs)
		return 0;
	return ab_fail_step(err, AB_WARM_UNFIT, 0, "while the box was prepared: %s",
			    ours ? ours : theirs);
}

static int prepare_host(struct ab_warm *w, struct ab_error *err)
{
	struct run *r = &w->run;
	const struct ab_policy *policy = w->prepared.policy;

	w->go = eventfd(0, EFD_CLOEXEC);
	if (w->go < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create an eventfd");
	if (ab_run_open_record(r, true, err) < 0)
		return -1;
	ab_run_prepare_start(r);
	w->wait = (struct ab_broker_wait){ .check = ab_fresh_theirs,
					   .forget = ab_fresh_forget_theirs,
					   .arg = &w->fresh };
	if (ab_run_start_broker(r, &w->wait, err) < 0)
		return -1;
	/* Published ports belong to the run, and keys are looked up for it. */
	return policy->net.publish.len || ab_policy_lends_keys(policy)
		       ? 0
		       : ab_run_open_network(r, err);
}

static int prepare(struct ab_warm *w, struct ab_error *err)
{
	if (w->prepared.nested)
		return ab_fail(err, AB_EUSAGE, 0, "inside a box, no box is prepared");
	if (check_policy(w->prepared.policy, err) < 0 || build_box(w, err) < 0 ||
	    prepare_host(w, err) < 0)
		return -1;
	return rehearse(w, err);
}

/* Nothing is left that a run could take. */
static void discard(struct ab_warm *w)
{
	struct run *r = &w->run;

	if (!w->alive)
		return;
	w->alive = false;
	if (r->box.sock >= 0)
		ab_run_drop_box(r);
	if (r->broker)
		ab_broker_end(ab_take(r->broker));
	ab_run_abandon_services(r);
	if (r->cgroup.path)
		(void)ab_cgroup_remove(r->cgroup.path, w->prepared.spec.run_id);
	if (r->dir.dir >= 0)
		ab_run_forget(&r->dir);
	ab_run_release(r);
	ab_fresh_fini(&w->fresh);
	ab_closep(&w->go);
	ab_prepared_fini(&w->prepared);
	ab_supervise_release();
}

int ab_warm_prepare(const struct ab_request *request, struct ab_warm **ret, struct ab_error *err)
{
	struct ab_warm *w = ab_alloc(sizeof(*w));

	*w = (struct ab_warm){ .request = *request, .fresh = AB_FRESH_NONE, .go = -1 };
	ab_run_init(&w->run, &w->request, &w->prepared);
	if (ab_prepare(&w->request, &w->prepared, err) < 0) {
		free(w);
		return -1;
	}
	w->alive = true;
	w->prepared.result = &w->run.result;
	w->npolicy = w->prepared.notes.len;
	if (prepare(w, err) == 0) {
		*ret = w;
		return 0;
	}
	ab_box_explain(err);
	ab_warm_free(w);
	return -1;
}

int ab_warm_fd(const struct ab_warm *warm)
{
	return warm->run.box.sock;
}

void ab_warm_free(struct ab_warm *w)
{
	if (!w)
		return;
	discard(w);
	free(w);
}

/* ---- taking ---- */

void ab_warm_wake(struct ab_warm *w)
{
	clock_gettime(CLOCK_REALTIME_COARSE, &w->woken);
	w->waking = ab_broker_check(w->run.broker) == 0;
}

/* Keys and hosts may be others by now. */
static int renew_agent(struct ab_prepared *p, const struct ab_request *rq, struct ab_error *err)
{
	struct ab_spec unused = { 0 };
	ab_autostrv struct ab_strv notes = { 0 };
	int result;

	if (!ab_policy_lends_keys(p->policy))
		return 0;
	ab_ssh_agent_fini(&p->agent);
	result = ab_ssh_agent_prepare(p->policy, rq->policy.environ, false, &unused, &p->agent,
				      &notes, err);
	ab_spec_fini(&unused);
	return result;
}

/* The process that waits is confined: it may enter fewer folders than init. */
static int check_folder(const struct ab_prepared *p, const char *folder, struct ab_error *err)
{
	const struct ab_mount *m = ab_plan_find(&p->spec.plan, p->spec.cwd);

	if (strcmp(p->spec.cwd, folder) == 0 ||
	    (m && m->op == AB_MOUNT_WRITE && access(p->spec.cwd, X_OK) == 0))
		return 0;
	return ab_fail(err, AB_EUSAGE, 0, "the command starts outside of what it may write");
}

/* The run is this request's from here on. */
static int adopt(struct ab_warm *w, const struct ab_request *rq, struct ab_prepared *now,
		 struct ab_error *err)
{
	struct run *r = &w->run;
	struct ab_prepared *p = &w->prepared;
	ab_autofree char *folder = ab_strdup(p->spec.cwd);

	r->request = rq;
	r->warm = true;
	r->piped = ab_run_find_pipe();
	clock_gettime(CLOCK_REALTIME, &r->started);
	r->begun_ns = r->loaded_ns = r->launched_ns = r->planned_ns = ab_run_now_ns();
	p->host.survey.started = w->woken;
	p->next = now->next;
	now->next = (struct ab_next_run)AB_NEXT_NONE;
	ab_prepare_argv(rq, p);
	if (ab_run_open_result(r, err) < 0 || ab_prepare_record(rq, p, err) < 0 ||
	    ab_prepare_cwd(rq, p, err) < 0 || check_folder(p, folder, err) < 0 ||
	    ab_streams_open(&r->streams, err) < 0)
		return -1;
	r->streams_open = true;
	if (p->audit.fd >= 0)
		r->log.setup.copy = &p->audit;
	return renew_agent(p, rq, err);
}

/* The record is not final before the broker is heard: a copy could not be taken back. */
static int write_record(struct ab_warm *w, bool early, struct ab_error *err)
{
	if (early != (w->prepared.audit.fd < 0))
		return 0;
	return ab_run_appear(&w->run.dir, err) < 0 || ab_run_write_start(&w->run, err) < 0 ? -1 : 0;
}

/* What can be done before the broker is heard, and taken back. */
static int get_ready(struct ab_warm *w, const struct ab_request *rq, struct ab_prepared *now,
		     struct ab_error *err)
{
	int handed;

	if (adopt(w, rq, now, err) < 0)
		return -1;
	handed = ab_box_hand(&w->run.box, &w->prepared.spec, w->run.streams.box, w->go, err);
	if (handed > 0)
		ab_fail(err, AB_ESYSTEM, 0, "it has ended");
	return handed || write_record(w, true, err) < 0 ? -1 : 0;
}

/* NULL: the box is this run's. Free it. */
static char *take(struct ab_warm *w, const struct ab_request *rq, struct ab_prepared *now)
{
	struct ab_error err = { 0 };
	const char *ours = w->waking ? find_difference(w, rq) : "its broker has ended";
	struct ab_request quiet = *rq; /* the verdict is told when the box is taken */
	char *theirs;

	ab_policy_protect_registries(now->policy, &rq->policy);
	if (!ours)
		ours = ab_fresh_ours(&w->fresh, now);
	quiet.verbose = 0;
	if (!ours && !ab_consent_given(&quiet, w->prepared.policy, &w->run.consent))
		ours = "the command is not simply allowed";
	if (!ours && get_ready(w, rq, now, &err) < 0)
		ours = err.text;
	if (ours)
		return ab_strdup(ours);
	theirs = hear_broker(w);
	if (theirs)
		return theirs;
	if (ab_poll(w->run.box.sock, POLLIN, 0) != 0)
		return ab_strdup("it has ended");
	return write_record(w, false, &err) < 0 ? ab_strdup(err.text) : NULL;
}

/* From here on a failure is the run's. */
static int begin(struct ab_warm *w, struct ab_error *err)
{
	struct run *r = &w->run;
	struct ab_prepared *p = &w->prepared;

	if (ab_claim_check(&p->state, &p->host.survey.write, p->claims, err) < 0 ||
	    ab_run_start_services(r, err) < 0)
		return -1;
	if (eventfd_write(w->go, 1) == 0)
		return 0;
	return ab_fail_step(err, "go", errno, "start the command");
}

/* The command starts meanwhile: the broker, which has work to do now, would take its processor. */
static int lock_in(struct ab_warm *w, struct ab_error *err)
{
	struct run *r = &w->run;
	struct ab_prepared *p = &w->prepared;

	ab_run_release_stdio(r);
	if (ab_run_lock(r, err) < 0)
		return -1;
	if (ab_broker_begin(r->broker, p->spec.cwd, r->request->yes, p->audit.fd) == 0)
		return 0;
	return ab_fail_step(err, "broker", errno, "begin the run");
}

static int run_in_box(struct ab_warm *w, const struct ab_prepared *now, int *ret_status,
		      struct ab_error *err)
{
	struct run *r = &w->run;
	const struct ab_prepared *p = &w->prepared;

	if (begin(w, err) < 0) {
		ab_run_abandon(r, err);
		return -1;
	}
	if (lock_in(w, err) < 0) {
		/* The command may have begun: the broker looks at what it did, and ends the run. We
		 * may be locked in already. */
		ab_run_drop_box(r);
		ab_broker_abandon(ab_take(r->broker));
		ab_run_abandon_services(r);
		return -1;
	}
	ab_streams_launched(&r->streams);
	if (r->request->verbose > 0)
		(void)ab_consent_given(r->request, p->policy, &r->consent);
	ab_run_say_all(r, AB_SAY_NOTE, &now->notes);
	for (size_t i = w->npolicy; i < p->notes.len; i++)
		ab_run_say(r, AB_SAY_NOTE, "%s", p->notes.v[i]);
	ab_run_say_all(r, AB_SAY_DETAIL, &p->details);
	ab_run_say_all(r, AB_SAY_DETAIL, &p->host.survey.notes);
	ab_log_settle(&r->log);
	return ab_run_supervise(r, ret_status, err);
}

int ab_warm_run(struct ab_warm *w, const struct ab_request *rq, int *ret_status,
		struct ab_error *err)
{
	struct ab_prepared now;
	ab_autofree char *why = NULL;
	int result;

	/* The run without the box reports the error. */
	if (!w->alive || ab_prepare(rq, &now, err) < 0) {
		*err = (struct ab_error){ 0 };
		discard(w);
		return 1;
	}
	why = take(w, rq, &now);
	if (why) {
		ab_request_say(rq, AB_SAY_DETAIL, "the prepared box is not used: %s", why);
		ab_prepared_fini(&now);
		discard(w);
		return 1;
	}
	w->alive = false;
	result = run_in_box(w, &now, ret_status, err);
	return ab_run_conclude(&w->run, result, err);
}
