/*
 * The end of a run. The broker has its part: it sweeps the workspace, retires the run's folder and
 * exits, while the supervisor waits for init. Then the box is gone, or nothing is left of it but an init
 * that is ending, which takes a while, and for which ab_run_conclude() waits: the last messages of guard, proxy,
 * filters and broker, the quarantine, what the user reads about it, the last record, the result.
 */
#include "session/run/run_state.h"

#include <sys/wait.h>

#include "base/text/units.h"
#include "broker/broker.h"
#include "broker/cleanup/moved_files.h"
#include "containers/container_watch.h"
#include "containers/left_containers.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/refused_programs.h"
#include "hosttools/tool_watch.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "sandbox/plan/engine.h"
#include "session/control/box_network.h"
#include "session/control/steering.h"
#include "session/control/violation_tap.h"
#include "session/run/caller.h"
#include "session/run/prepare.h"
#include "session/run/run.h"
#include "session/supervise/guard_watch.h"
#include "terminal/columns.h"
#include "terminal/tty.h"

enum { FIRST_MS = 2 }; /* how long the broker may go first */

/* The next run may want them when this one has ended. */
static bool keeps_layers(const struct run *r)
{
	int locks[AB_KEPT_LOCKS];

	ab_kept_layers_locks(&r->prepared->kept, locks);
	return r->prepared->review || locks[0] >= 0 || locks[1] >= 0;
}

bool ab_run_ask_for_sweep(void *arg, bool alone)
{
	struct run *r = arg;
	/* A cgroup can be removed, and a layer is free, only when init is gone too. */
	bool empty = alone && !r->cgroup.path && !keeps_layers(r);
	/*
	 * The guard ends with the broker, and the hook gets the last violations: then it must wait. So
	 * it must where the reader of the output may keep us: if we are killed then, the broker finishes
	 * the run.
	 */
	bool early = !r->children->begun && !r->request->on_violation && !r->terminal &&
		     r->streams.nrelays == 0;

	ab_cgroup_look(&r->cgroup);
	if (!early || ab_broker_sweep(r->broker, empty, &(struct ab_error){ 0 }) < 0)
		return false;
	r->asked = true;
	/*
	 * The broker has more to do than we have. Woken together with it by init's end, on one
	 * processor, we would go first; woken by its answer, we get another processor.
	 */
	(void)ab_poll(ab_broker_fd(r->broker), POLLIN, FIRST_MS);
	return empty;
}

/* Its end takes a while: it holds the box's mounts. Without layers that it keeps locked nobody depends
 * on that, and the caller cleans up meanwhile. */
static void end_broker(struct run *r)
{
	if (keeps_layers(r))
		ab_broker_end(ab_take(r->broker));
	else
		ab_broker_dismiss(r->broker);
}

/* The box failed before the command started: keep the rules for the next run. */
static void return_rules(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error err = { 0 };

	if (ab_next_run_return(p->state.root, time(NULL), &p->next, &err) < 0)
		ab_run_say(r, AB_SAY_WARNING, "cannot keep what you allowed for the next run: %s",
			   err.text);
}

/* A shell reports the end of its child this way. */
static bool ended_by(int status, int sig)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) == sig : WEXITSTATUS(status) == 128 + sig;
}

static bool is_shortened(const struct run *r)
{
	uint64_t ms = r->request->time_ms, limit = r->prepared->policy->limits.timeout_ms;

	return ms && (!limit || ms < limit);
}

uint64_t ab_run_time_limit(const struct run *r)
{
	return is_shortened(r) ? r->request->time_ms : r->prepared->policy->limits.timeout_ms;
}

/* The kernel does not limit root's processes without a cgroup (sandbox/start/limits.c). */
static bool was_crowded(const struct run *r)
{
	if (r->cgroup.processes)
		return r->outcome.status != 0 && r->cgroup.was_full;
	return r->outcome.crowded && geteuid() != 0;
}

/* A command that a limit ended would otherwise end without a reason. */
static void explain_end(struct run *r)
{
	const struct ab_outcome *o = &r->outcome;
	const struct ab_limits *limits = &r->prepared->spec.limits;
	char limit[48], used[24];

	if (o->timed_out) {
		ab_fail(&r->ended, AB_ESYSTEM, 0, "the command was ended after its time limit (%s)",
			ab_format_duration(ab_run_time_limit(r), limit));
		if (!is_shortened(r))
			ab_hint(&r->ended, "raise it with --timeout or limits.timeout");
	} else if (o->memory_used) {
		ab_fail(&r->ended, AB_ESYSTEM, 0,
			"the command was ended: the box used %s of memory, its limit is %s",
			ab_format_size(o->memory_used, used),
			ab_format_size(limits->memory, limit));
		ab_hint(&r->ended, "raise it with --memory or limits.memory");
	} else if (limits->cpu_ms && ended_by(o->status, SIGXCPU)) {
		ab_fail(&r->ended, AB_ESYSTEM, 0,
			"a process was ended after its limit of processor time (%s)",
			ab_format_duration(limits->cpu_ms, limit));
		ab_hint(&r->ended, "raise it with limits.cpu");
	} else if (o->stopped) {
		ab_fail(&r->ended, AB_ESYSTEM, 0, "the command was ended by agentbox stop");
	} else if (o->killed) {
		ab_fail(&r->ended, AB_ESYSTEM, 0,
			"the box was ended: its first process was killed by signal %d", o->killed);
		ab_hint(&r->ended, "if nobody did that, the machine may be out of memory");
	} else if (was_crowded(r)) {
		ab_fail(&r->ended, AB_ESYSTEM, 0, "the limit of %llu processes was reached",
			(unsigned long long)limits->processes);
		ab_hint(&r->ended, "raise it with --processes or limits.processes");
	} else {
		return;
	}
	ab_run_say(r, AB_SAY_NOTE, "%s%s%s", r->ended.text, r->ended.hint[0] ? "; " : "",
		   r->ended.hint);
}

/* The command says only that it could not resolve a name. */
static void explain_blocked_network(const struct run *r)
{
	const struct ab_policy *policy = r->prepared->policy;
	const struct ab_origin *from = policy->store->config.v[AB_KEY_NET_MODE].from;
	ab_autofree char *where = from ? ab_origin_text(from) : NULL;

	if (!r->outcome.unrouted || policy->net.mode != AB_NET_BLOCKED)
		return;
	if (from && from->layer == AB_LAYER_FLAG)
		ab_run_say(r, AB_SAY_NOTE, "the network is blocked (%s blocked)", where);
	else
		ab_run_say(r, AB_SAY_NOTE, "the network is blocked (network.mode%s%s)",
			   where ? ", " : "", where ? where : "");
}

static int exit_status_of(const struct ab_outcome *outcome)
{
	if (outcome->timed_out)
		return 124;
	return WIFSIGNALED(outcome->status) ? 128 + WTERMSIG(outcome->status)
					    : WEXITSTATUS(outcome->status);
}

/* Only the first of several failures is reported. */
static void prefer_first(int done, const struct ab_error *late, int *result, struct ab_error *err)
{
	if (done >= 0)
		return;
	if (*result == 0)
		*err = *late;
	*result = -1;
}

/* The box and its listener are gone: read the guard's last messages. */
static int drain_guard(struct run *r, struct ab_error *err)
{
	struct ab_note note;

	if (!r->children->begun)
		return 0;
	ab_guard_link_dismiss(r->children);
	/* Take each message at once: the guard may be waiting for room. */
	while (ab_guard_link_await(r->children) &&
	       ab_guard_link_hear(r->children, &note, &(struct ab_error){ 0 }) > 0) {
		if (ab_refused_programs_take(r->refusals, &note, err) < 0)
			return -1;
		ab_guard_watch_say(r->request, r->refusals, &note);
	}
	ab_refused_programs_summary(r->refusals,
				    r->prepared->spec.traced || r->outcome.status != 0 ||
					    r->outcome.timed_out,
				    &r->refused);
	return 0;
}

/* Take what the proxy sent before the box was gone. */
static void close_network(struct run *r, int *result, struct ab_error *err)
{
	ab_autostrv struct ab_strv alarms = { 0 };
	struct ab_error late = { 0 };

	if (!r->box_network)
		return;
	r->had_network = true;
	prefer_first(ab_box_network_close(ab_take(r->box_network), &r->report, &alarms, &late),
		     &late, result, err);
	ab_run_say_all(r, AB_SAY_WARNING, &alarms);
}

/* The box is gone; so are its containers, once the filter has ended. */
static void close_containers(struct run *r, int *result, struct ab_error *err)
{
	ab_autofree char *left = NULL;
	struct ab_error late = { 0 };

	if (!r->containers)
		return;
	prefer_first(ab_container_watch_ended(ab_take(r->containers), &r->refused, &left, &late),
		     &late, result, err);
	if (left)
		ab_run_say(r, AB_SAY_WARNING,
			   "containers of this run may be left: %s; the next run with containers "
			   "removes them, or agentbox gc",
			   left);
	else
		ab_left_containers_forget(r->prepared->state.root, r->dir.id);
}

/* The steering is closed: count the violations that are left, and pass them to the hook while the
 * broker still takes them. */
void ab_run_drain_violations(struct run *r, bool hook)
{
	char *line;

	while (r->violations && (line = ab_violations_take(r->violations)) != NULL) {
		if (hook)
			(void)ab_broker_violation(r->broker, line, strlen(line));
		ab_steering_tell_denied(r->request, line);
		free(line);
	}
}

/* Only with -v: many commands, such as grep and diff, exit with a status other than 0 without a
 * failure. */
static void suggest_trace(const struct run *r, int result)
{
	if (result == 0 && r->outcome.status != 0 && r->request->verbose > 0 &&
	    !r->prepared->spec.traced && !r->report.lines.len && !r->refused.len)
		ab_run_say(
			r, AB_SAY_DETAIL,
			"to see what was denied for reading: agentbox run --trace-denials -- ...");
}

/* "git worktree remove", as words or in a text for a shell. */
static bool removes_worktree(const struct ab_strv *argv)
{
	for (size_t i = 0; i < argv->len; i++)
		if (strstr(argv->v[i], "worktree remove") ||
		    (strcmp(argv->v[i], "worktree") == 0 && i + 1 < argv->len &&
		     strcmp(argv->v[i + 1], "remove") == 0))
			return true;
	return false;
}

/* Removals are not recorded, and git says only that something is busy. */
static void explain_worktree(const struct run *r)
{
	const struct ab_strv *repos = &r->prepared->host.survey.repos;
	bool old = false;

	for (size_t i = 0; i < repos->len; i++)
		old |= strstr(repos->v[i], "/worktrees/") != NULL;
	if (r->outcome.status != 0 && old && removes_worktree(&r->prepared->spec.argv))
		ab_run_say(r, AB_SAY_NOTE,
			   "a box cannot remove a worktree that existed before: its .git is "
			   "protected; remove it outside: git worktree remove PATH");
}

static void report_streams(const struct run *r)
{
	char buf[32];

	for (size_t i = 0; i < r->streams.nrelays; i++)
		if (r->streams.relays[i].errnum)
			ab_run_say(r, AB_SAY_WARNING, "cannot write the command's %s: %s",
				   ab_name_fd(r->streams.relays[i].fd, buf),
				   strerror(r->streams.relays[i].errnum));
}

/* What the box writes to a kept layer goes to the disk of the state folder. */
static void say_full(const struct run *r)
{
	const struct ab_prepared *p = r->prepared;
	ab_autofree char *full = r->held ? ab_kept_layers_full(&p->kept, p->review) : NULL;

	if (full)
		ab_run_say(r, AB_SAY_WARNING, "%s", full);
}

/* A row is cut where the terminal ends; a command to copy is not. */
static void say_denials(const struct run *r, const struct ab_strv *lines)
{
	size_t width = ab_tty_columns(STDERR_FILENO, 0);

	for (size_t i = 0; i < lines->len; i++) {
		const char *line = lines->v[i];
		bool row = strncmp(line, "  ", 2) == 0 && line[2] != ' ';
		ab_autobuf struct ab_buf cut = { 0 };

		if (row && width)
			ab_columns_head(&cut, line, width);
		ab_run_say(r, AB_SAY_NOTE, "%s", cut.len ? cut.data : line);
	}
}

/* -v: the totals that the record has, too. */
static void say_totals(const struct run *r)
{
	const struct ab_ledger_totals *n = &r->report.totals;
	char up[24], down[24];

	if (r->request->verbose < 1 || !(n->allowed + n->denied + n->failed))
		return;
	ab_run_say(
		r, AB_SAY_DETAIL,
		"network: %llu request%s allowed, %llu denied, %llu failed; %s sent, %s received",
		(unsigned long long)n->allowed, n->allowed == 1 ? "" : "s",
		(unsigned long long)n->denied, (unsigned long long)n->failed,
		ab_round_size(n->bytes_up, up), ab_round_size(n->bytes_down, down));
}

/* What a killed command left may be half done. A shell reports its own killed command, and timeout(1)
 * that the time was up, with a status. */
static bool ended_by_itself(const struct run *r, int result)
{
	int status = exit_status_of(&r->outcome);

	return result == 0 && status != 124 && (status <= 128 || status > 128 + NSIG);
}

/* The box is gone: count the changes that wait, and with "auto" apply the safe ones. A failure is not
 * the command's, and loses nothing. */
static void review_changes(struct run *r, int result)
{
	struct ab_error late = { 0 };

	if (!r->reviewer.pid || !r->held ||
	    ab_reviewer_count(&r->reviewer, ended_by_itself(r, result), &r->review, &late) == 0)
		return;
	ab_run_say(r, AB_SAY_WARNING, "%s%s%s", late.text, late.hint[0] ? ". " : "", late.hint);
	ab_run_say(r, AB_SAY_WARNING, "          see them with: agentbox diff %s",
		   r->prepared->review->key);
}

/* Everything is on record, and the terminal is ours again: ask, or say how to go on. */
static void ask_about_changes(struct run *r)
{
	ab_autostrv struct ab_strv lines = { 0 };
	bool automatic = r->prepared->policy->fs.review == AB_REVIEW_AUTO;

	if (!r->review.json)
		return;
	/* Standard input and output: in a pipeline others may use the terminal. */
	if ((r->prepared->spec.tty_fds & 3) == 3 && r->review.waiting &&
	    ab_reviewer_ask(&r->reviewer))
		return;
	ab_review_text_lines(&r->review, r->prepared->review->key, automatic, &lines);
	ab_run_say_all(r, AB_SAY_NOTE, &lines);
}

/* After the box: quarantine, the last record, the run's folder. */
int ab_run_finish(struct run *r, int supervised, int *ret_status, struct ab_error *err)
{
	ab_autostrv struct ab_strv moved = { 0 }, notes = { 0 };
	struct ab_error late = { 0 };
	int result = supervised, asked;

	/* It says more than what fails because of it. */
	if (result == 0 && r->outcome.failed.code != AB_ENONE) {
		*err = r->outcome.failed;
		/* The box does not know why it has no namespaces. */
		if (r->prepared->no_namespaces && strcmp(err->step, "proof") == 0)
			ab_hint(err,
				"for another engine: %s; to run without it, use --fallback warn",
				ab_run_remedy(r, &ab_box_engines[AB_ENGINE_NO_NAMESPACES]));
		ab_share_explain(&r->prepared->shares, err);
		result = -1;
	}
	/* The guard ends with the broker. */
	prefer_first(drain_guard(r, &late), &late, &result, err);
	if (r->containers)
		ab_container_watch_end(r->containers);
	if (r->tools)
		ab_tool_watch_end(r->tools);
	/* The hook gets the last violations too. */
	if (r->request->on_violation) {
		close_network(r, &result, err);
		ab_run_drain_violations(r, true);
	}
	asked = r->asked ? 0 : ab_broker_sweep(r->broker, false, &late);
	prefer_first(asked, &late, &result, err);
	/* While the broker sweeps. */
	close_network(r, &result, err);
	close_containers(r, &result, err);
	if (r->tools)
		prefer_first(ab_tool_watch_ended(ab_take(r->tools), &r->refused, &late), &late,
			     &result, err);
	/* A run that was not swept stays live: the next start sweeps it. */
	/* A command that never started has created nothing. */
	r->unswept = asked < 0 && r->held;
	if (asked == 0 && ab_broker_swept(r->broker, &moved, &notes, &late) < 0) {
		r->unswept = r->held && !ab_broker_has_swept(r->broker);
		prefer_first(-1, &late, &result, err);
	}
	if (r->held && moved.len)
		prefer_first(ab_moved_record(&r->dir, &r->log, &late), &late, &result, err);
	ab_run_drain_violations(r, false);
	report_streams(r);
	/* Without a command there was nobody to create a file. */
	for (size_t i = 0; r->held && i < moved.len; i++)
		if (!ab_strv_has(&r->outcome.told, moved.v[i]))
			ab_run_say(r, AB_SAY_WARNING, "%s", moved.v[i]);
	say_denials(r, &r->report.lines);
	if (r->unasked && r->report.totals.unasked)
		ab_run_say(r, AB_SAY_NOTE,
			   "nobody was asked: %s; with --unknown ask you can answer from another "
			   "terminal: agentbox watch",
			   r->unasked);
	say_denials(r, &r->refused);
	ab_run_say_all(r, AB_SAY_NOTE, &notes);
	say_full(r);
	say_totals(r);
	review_changes(r, result);
	if (result == 0)
		explain_end(r);
	if (result == 0)
		explain_blocked_network(r);
	suggest_trace(r, result);
	explain_worktree(r);
	if (r->outcome.failed.code != AB_ENONE)
		return_rules(r);
	if (result < 0)
		ab_box_explain(err);
	if (result == 0)
		*ret_status = exit_status_of(&r->outcome);
	prefer_first(ab_run_write_end(r, result < 0 ? ab_exit_status(err) : *ret_status, &moved,
				      &late),
		     &late, &result, err);
	/* While the broker ends. */
	prefer_first(ab_run_write_result(r, result, *ret_status, &moved, err, &late), &late,
		     &result, err);
	end_broker(r);
	ask_about_changes(r);
	return result;
}
