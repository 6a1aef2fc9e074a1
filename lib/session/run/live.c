/* A run from `go` to its end: messages when the command starts, the supervision, and what remains
 * to be done when the box is gone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/text/units.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "sandbox/plan/engine.h"
#include "session/broker/broker.h"
#include "session/cleanup/moved_files.h"
#include "session/consent/request.h"
#include "session/containers/container_watch.h"
#include "session/containers/left_containers.h"
#include "session/control/box_network.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/control/violation_tap.h"
#include "session/home/home.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_programs.h"
#include "session/run/prepare.h"
#include "session/run/run.h"
#include "session/run/run_state.h"
#include "session/stay/detach.h"
#include "session/stay/stay.h"
#include "session/terminal/columns.h"
#include "session/terminal/terminal.h"
#include "session/tools/tool_watch.h"

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

static char *join_words(const struct ab_strv *words)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < words->len; i++)
		ab_buf_printf(&b, "%s%s", i ? " " : "", words->v[i]);
	return ab_buf_take(&b);
}

void ab_run_say_guarantees(const struct run *r, const char *who, const struct ab_strv *held)
{
	ab_autofree char *names = join_words(held);

	ab_run_say(r, AB_SAY_DETAIL, "%s, " AB_RUN_GUARANTEES "%s", who, names);
}

/* -vv: the time of each step. The plan is made during init's first steps. */
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

int ab_run_go(struct run *r, struct ab_error *err)
{
	if (ab_box_tell(&r->box, AB_MSG_GO, 0) == 0 || errno == EPIPE || errno == ECONNRESET)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "start the command");
	return ab_step(err, "go");
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

/* The box failed before the command started: keep the rules for the next run. */
static void return_rules(struct run *r)
{
	struct ab_prepared *p = r->prepared;
	struct ab_error err = { 0 };

	if (ab_next_run_return(p->state.root, time(NULL), &p->next, &err) < 0)
		ab_run_say(r, AB_SAY_WARNING, "cannot keep what you allowed for the next run: %s",
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

	for (size_t i = 0; i < input->nsettings; i++)
		if (strcmp(input->settings[i].key, key) == 0)
			return true;
	return false;
}

static void say_home(const struct run *r, const struct ab_holds *holds)
{
	const struct ab_prepared *p = r->prepared;
	ab_autostrv struct ab_strv details = { 0 }, warnings = { 0 };

	ab_home_report(p->policy, p->host.home, &p->spec, holds, &details, &warnings);
	ab_run_say_all(r, AB_SAY_WARNING, &warnings);
	ab_run_say_all(r, AB_SAY_DETAIL, &details);
}

/* The first box of an engine that lacks something says so; then only -v does. */
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

	if (!r->engine->lacks)
		return;
	if (chosen && is_first_of_engine(r))
		ab_run_say(r, AB_SAY_NOTE, "engine %s: %s; for a full box%s %s (this is said once)",
			   r->engine->name, r->engine->without, r->engine->namespaces ? "," : ":",
			   ab_run_remedy(r, r->engine));
	else
		ab_run_say(r, AB_SAY_DETAIL, "engine %s: %s", r->engine->name, r->engine->without);
}

static int begin_command(void *arg, const struct ab_holds *holds, struct ab_error *err)
{
	struct run *r = arg;
	uint32_t lacking = r->prepared->spec.require & ~holds->properties;
	ab_autostrv struct ab_strv held = { 0 };

	r->held = holds->properties;
	r->engine = &ab_box_engines[holds->engine];
	r->missing = (r->prepared->spec.require | ab_box_engine_reports(holds->engine)) & ~r->held;
	r->home = ab_home_describe(r->prepared->policy, r->prepared->host.home, &r->prepared->spec,
				   holds);
	ab_run_properties(holds->properties, &held);
	if (ab_run_write_holds(r, holds, &held, err) < 0)
		return -1;
	/* Everything is proved; the command waits for `go`. */
	if (r->cgroup.processes &&
	    (ab_cgroup_release(&r->cgroup, err) < 0 || ab_run_go(r, err) < 0))
		return -1;
	use_up_rules(r);
	if (r->request->watch)
		r->request->watch->began(r->request->watch->arg, r->dir.id);
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
	if (r->request->verbose > 1)
		say_steps(r, holds);
	return 0;
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

static uint64_t get_time_limit(const struct run *r)
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
			ab_format_duration(get_time_limit(r), limit));
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
static void prefer_first(int *result, struct ab_error *err, const struct ab_error *late)
{
	if (*result == 0)
		*err = *late;
	*result = -1;
}

/* A program whose own sandbox cannot start blames the kernel, so say who denied it. */
static void say_denial(const struct run *r, const struct ab_note *note)
{
	ab_autofree char *text = ab_refused_programs_notice(r->refusals, note);

	if (text)
		ab_run_say(r, AB_SAY_NOTE, "%s", text);
}

/* Not on a screen that a program draws: the end of the run tells it, too. */
static void say_denial_at_once(void *arg, const struct ab_note *note)
{
	const struct run *r = arg;

	if (!r->terminal || ab_terminal_takes_lines(r->terminal))
		say_denial(r, note);
}

/* The box and its listener are gone: read the judge's last messages. */
static int drain_judge(struct run *r, struct ab_error *err)
{
	struct ab_note note;

	if (!ab_program_judge_begun(r->children))
		return 0;
	ab_program_judge_dismiss(r->children);
	/* Take each message at once: the judge may be waiting for room. */
	while (ab_program_judge_await(r->children) &&
	       ab_program_judge_hear(r->children, &note, &(struct ab_error){ 0 }) > 0) {
		if (ab_refused_programs_take(r->refusals, &note, err) < 0)
			return -1;
		say_denial(r, &note);
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
	if (ab_box_network_close(ab_take(r->box_network), &r->report, &alarms, &late) < 0)
		prefer_first(result, err, &late);
	ab_run_say_all(r, AB_SAY_WARNING, &alarms);
}

/* The box is gone; so are its containers, once the filter has ended. */
static void close_containers(struct run *r, int *result, struct ab_error *err)
{
	ab_autofree char *left = NULL;
	struct ab_error late = { 0 };

	if (!r->containers)
		return;
	if (ab_container_watch_ended(ab_take(r->containers), &r->refused, &left, &late) < 0)
		prefer_first(result, err, &late);
	if (left)
		ab_run_say(r, AB_SAY_WARNING,
			   "containers of this run may be left: %s; the next run with containers "
			   "removes them, or agentbox gc",
			   left);
	else
		ab_left_containers_forget(r->prepared->state.root, r->dir.id);
}

static void tell_denied(void *arg, const char *record)
{
	const struct run *r = arg;

	if (r->request->watch)
		r->request->watch->denied(r->request->watch->arg, record);
}

/* The steering is closed: count the violations that are left, and pass them to the hook while the
 * broker still takes them. */
void ab_run_drain_violations(struct run *r, bool hook)
{
	char *line;

	while (r->violations && (line = ab_violations_take(r->violations)) != NULL) {
		if (hook)
			(void)ab_broker_violation(r->broker, line, strlen(line));
		tell_denied(r, line);
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
	static const char *const names[] = { "standard input", "standard output",
					     "standard error" };

	for (size_t i = 0; i < r->streams.nrelays; i++)
		if (r->streams.relays[i].errnum)
			ab_run_say(r, AB_SAY_WARNING, "cannot write the command's %s: %s",
				   names[r->streams.relays[i].fd],
				   strerror(r->streams.relays[i].errnum));
}

/* What the box writes to a kept layer goes to the disk of the state folder. */
static void say_full(const struct run *r)
{
	ab_autofree char *full = r->held ? ab_kept_layers_full(&r->prepared->kept) : NULL;

	if (full)
		ab_run_say(r, AB_SAY_WARNING, "%s", full);
}

/* The columns of the terminal that shows our messages; 0: it is not one. */
static size_t get_width(void)
{
	struct winsize size;

	return isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
										     : 0;
}

/* A row is cut where the terminal ends; a command to copy is not. */
static void say_denials(const struct run *r, const struct ab_strv *lines)
{
	size_t width = get_width();

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
	const struct ab_proxy_report *n = &r->report;
	char up[24], down[24];

	if (r->request->verbose < 1 || !(n->allowed + n->denied + n->failed))
		return;
	ab_run_say(r, AB_SAY_DETAIL,
		   "network: %llu requests allowed, %llu denied, %llu failed; %s sent, %s received",
		   (unsigned long long)n->allowed, (unsigned long long)n->denied,
		   (unsigned long long)n->failed, ab_round_size(n->bytes_up, up),
		   ab_round_size(n->bytes_down, down));
}

/* The box is gone: count the changes that wait, and with "auto" apply the safe ones. A failure is not
 * the command's, and loses nothing. */
static void review_changes(struct run *r)
{
	struct ab_error late = { 0 };

	if (!r->reviewer || !r->held || ab_reviewer_count(r->reviewer, &r->review, &late) == 0)
		return;
	ab_run_say(r, AB_SAY_WARNING, "the changes wait, but could not be looked at: %s",
		   late.text);
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
	    ab_reviewer_ask(r->reviewer))
		return;
	ab_review_text_lines(&r->review, r->prepared->review->key, automatic, &lines);
	ab_run_say_all(r, AB_SAY_NOTE, &lines);
}

/* After the box: quarantine, the last record, the run's folder. */
static int finish_run(struct run *r, int supervised, int *ret_status, struct ab_error *err)
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
	/* The judge ends with the broker. */
	if (drain_judge(r, &late) < 0)
		prefer_first(&result, err, &late);
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
	if (asked < 0)
		prefer_first(&result, err, &late);
	/* While the broker sweeps. */
	close_network(r, &result, err);
	close_containers(r, &result, err);
	if (r->tools && ab_tool_watch_ended(ab_take(r->tools), &r->refused, &late) < 0)
		prefer_first(&result, err, &late);
	/* A run that was not swept stays live: the next start sweeps it. */
	/* A command that never started has created nothing. */
	r->unswept = asked < 0 && r->held;
	if (asked == 0 && ab_broker_swept(r->broker, &moved, &notes, &late) < 0) {
		r->unswept = r->held != 0;
		prefer_first(&result, err, &late);
	}
	if (r->held && moved.len && ab_moved_record(&r->dir, &r->log, &late) < 0)
		prefer_first(&result, err, &late);
	ab_run_drain_violations(r, false);
	report_streams(r);
	/* Without a command there was nobody to create a file. */
	for (size_t i = 0; r->held && i < moved.len; i++)
		if (!ab_strv_has(&r->told, moved.v[i]))
			ab_run_say(r, AB_SAY_WARNING, "%s", moved.v[i]);
	say_denials(r, &r->report.lines);
	if (r->unasked && r->report.unasked)
		ab_run_say(r, AB_SAY_NOTE,
			   "nobody was asked: %s; with --unknown ask you can answer from another "
			   "terminal: agentbox watch",
			   r->unasked);
	say_denials(r, &r->refused);
	ab_run_say_all(r, AB_SAY_NOTE, &notes);
	say_full(r);
	say_totals(r);
	review_changes(r);
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
	if (ab_run_write_end(r, result < 0 ? ab_exit_status(err) : *ret_status, &moved, &late) < 0)
		prefer_first(&result, err, &late);
	/* While the broker ends. */
	if (ab_run_write_result(r, result, *ret_status, &moved, err, &late) < 0)
		prefer_first(&result, err, &late);
	ab_run_end_broker(r);
	ask_about_changes(r);
	return result;
}

static void warn_unread_secret(void *arg, const char *name, const char *why)
{
	const struct run *r = arg;

	ab_run_say(r, AB_SAY_WARNING, "cannot read %s again; the old value stays in use: %s", name,
		   why);
}

static void warn_of_finding(void *arg, const char *text)
{
	struct run *r = arg;

	ab_strv_add(&r->told, text);
	ab_run_say(r, AB_SAY_WARNING, "%s", text);
}

static void say_for_steering(void *arg, bool note, const char *text)
{
	const struct run *r = arg;

	ab_run_say(r, note ? AB_SAY_NOTE : AB_SAY_WARNING, "%s", text);
}

/* It moves no cursor, so it cannot spoil a screen. */
static void ring_bell(void *arg)
{
	(void)arg;
	(void)!write(STDERR_FILENO, "\a", 1);
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
	struct ab_stay_setup stay = {
		.policy = r->prepared->policy,
		.spec = &r->prepared->spec,
		.environ = r->request->policy.environ,
		.secrets = r->prepared->policy->secrets.len > 0,
		.run_id = r->dir.id,
		.dir = r->dir.dir,
		.log = &r->log,
		.idle_ms = r->request->idle_ms,
		.detached = r->request->detach,
		.keep = r->request->keep,
		.approved = r->consent.approved ? r->consent.rule : NULL,
		.approved_user = r->consent.user_rule,
		.yes = r->request->yes,
		.rows = r->rows,
		.cols = r->cols,
	};
	struct ab_steering_setup steering = {
		.policy = r->prepared->policy,
		.run_id = r->dir.id,
		.home = &r->home,
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
		.controller = r->request->controller,
		.controller_asks = r->request->controller_asks,
		.denied = tell_denied,
		.say = say_for_steering,
		.ring = r->bell ? ring_bell : NULL,
		.arg = r,
	};
	struct ab_supervision what = {
		.box = &r->box,
		.broker = r->broker,
		.children = r->children,
		.refusals = r->refusals,
		.containers = r->containers,
		.tools = r->tools,
		.terminal = r->terminal,
		.streams = &r->streams,
		.timeout_ms = get_time_limit(r),
		.holds = begin_command,
		.arg = r,
		.box_network = r->box_network,
		.network = &r->network,
		.run_id = r->dir.id,
		.log = &r->log,
		.secrets = &r->prepared->policy->secrets,
		.steering = &steering,
		.stay = r->apart ? &stay : NULL,
		.stay_at = &r->stay,
		.ready = tell_ready,
		.unread = warn_unread_secret,
		.ending = ab_run_ask_for_sweep,
		.found = warn_of_finding,
		.denied = say_denial_at_once,
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
	return finish_run(r, result, ret_status, err);
}
