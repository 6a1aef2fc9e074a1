/*
 * Theory of operation.
 *
 * One poll loop over the supervisor's socket, the pidfd of init, the box's mountinfo
 * (guard/walls/wall_watch.h) and the pidfds of its own workers (broker_workers.c), with regular
 * checks of the watched folders, the files of secrets and the settings. States: watching (the box
 * lives), swept (the box is gone and everything was checked once more: broker_end.c).
 *
 * Should: answer each request; if the socket ends without ASK_LEAVE, finish the run alone.
 *
 * Mustn't: hold the caller's stdio or listeners (the reader of a pipe would wait for us); answer
 * what the table does not allow; wait while the box lives, neither for a supervisor that does not
 * read nor for a program.
 */
#include "broker/broker.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "audit/write/copy.h"
#include "audit/write/log.h"
#include "base/process/helper.h"
#include "broker/broker_state.h"
#include "broker/cleanup/hourly.h"
#include "broker/cleanup/leftovers.h"
#include "broker/cleanup/moved_files.h"
#include "guard/moves/moves.h"
#include "guard/notify/guard_process.h"
#include "guard/walls/rename_wire.h"
#include "guard/walls/wall_watch.h"
#include "host/home/home_return.h"
#include "host/process/box_processes.h"
#include "host/process/socket_owner.h"
#include "sandbox/mount/overlays.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/launch.h"
#include "policy/model/policy.h"
#include "secrets/renew.h"
#include "secrets/secrets.h"
#include "secrets/sources.h"
#include "state/state.h"
#include "workspace/git/gitchange.h"
#include "workspace/quarantine/quarantine.h"
#include "workspace/quarantine/spots.h"

enum {
	OUTBOX_MAX = 128,
	FIXED_FDS = 5,	 /* the supervisor, init, walls, git, the quarantine; then jobs and moves */
	SAMPLE_MS = 100, /* between two samples of the box's memory */
	SAMPLE_COST = 20, /* and this many times what a sample takes: 5 % of a processor at most */
	TOLD_MAX = 20,	  /* findings that are told at once; the others at the end */
	HIDE_MS = 5,	  /* after the start: short runs do not need it, and it would delay them */
};

static bool send_now(struct broker *b, const void *data, size_t len, int flags)
{
	ssize_t n;

	do
		n = send(b->sock, data, len, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	/* The loop notices if the peer is gone. */
	return n >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

void ab_broker_flush(struct broker *b, int flags)
{
	while (b->outbox) {
		struct packet *first = b->outbox;

		if (!send_now(b, first->data, first->len, flags))
			return;
		b->outbox = first->next;
		b->npackets--;
		free(first);
	}
}

void ab_broker_post(struct broker *b, const struct answer *a, size_t lines)
{
	struct packet **end = &b->outbox, *packet;
	size_t len = ANSWER_LEN(lines);

	if (!b->outbox && send_now(b, a, len, MSG_DONTWAIT))
		return;
	if (b->npackets >= OUTBOX_MAX && a->kind < AB_NEWS_COUNT)
		return;
	packet = ab_alloc(sizeof(*packet) + len);
	packet->len = len;
	memcpy(packet->data, a, len);
	while (*end)
		end = &(*end)->next;
	*end = packet;
	b->npackets++;
}

/* Report what the watch of the walls has found, during the run. */
void ab_broker_report_walls(struct broker *b)
{
	static struct answer finding = { .kind = AB_NEWS_FINDING };
	static struct answer failure = { .kind = ANSWER_FATAL, .result = -1 };
	const char *line;

	while ((line = ab_wall_watch_line(b->walls)) != NULL) {
		size_t len = strnlen(line, TEXT_ROOM);

		memcpy(finding.lines, line, len);
		ab_broker_post(b, &finding, len);
	}
	if (ab_wall_watch_failed(b->walls, &failure.error))
		ab_broker_post(b, &failure, 0);
}

/* Repeated until the box has ended: the supervisor may have no room for the first message. */
static void sample_memory(struct broker *b)
{
	static struct answer a = { .kind = AB_NEWS_MEMORY };
	int64_t begun = ab_now_ms(), took;
	uint64_t used;

	if (!b->duty.memory || begun < b->next_sample)
		return;
	if (ab_box_memory_exceeds(ab_socket_owner_pid(b->duty.init), b->duty.memory, &used)) {
		a.number = (uint32_t)(used >> 20);
		ab_broker_post(b, &a, 0);
	}
	took = ab_now_ms() - begun;
	b->next_sample = begun + (took * SAMPLE_COST > SAMPLE_MS ? took * SAMPLE_COST : SAMPLE_MS);
}

/* `text` is a new string. */
static void tell_at_once(struct broker *b, char *text)
{
	static struct answer a = { .kind = AB_NEWS_FINDING };
	size_t len = strlen(text);

	if (b->told++ < TOLD_MAX && len <= TEXT_ROOM) {
		memcpy(a.lines, text, len);
		ab_broker_post(b, &a, len);
	}
	free(text);
}

/* The box itself is ended here: every millisecond counts, and the supervisor may be stopped. */
static void end_run(struct broker *b)
{
	static struct answer a = { .kind = ANSWER_FATAL, .result = -1 };

	if (b->ended || !ab_quarantine_must_end(b->quarantine, &a.error))
		return;
	b->ended = true;
	ab_broker_post(b, &a, 0);
	(void)syscall(SYS_pidfd_send_signal, b->duty.init, SIGKILL, NULL, 0);
}

static void check_quarantine(struct broker *b)
{
	const struct ab_quarantine_report *report = ab_quarantine_report(b->quarantine);

	end_run(b);
	ab_moved_note(b->duty.run, report, &b->noted);
	for (; b->told_moves < report->nmoved; b->told_moves++)
		if (report->moved[b->told_moves].alert)
			tell_at_once(b,
				     ab_leftovers_line(&report->moved[b->told_moves], b->duty.run));
	for (; b->told_alerts < report->alerts.len; b->told_alerts++)
		tell_at_once(b, ab_escape(report->alerts.v[b->told_alerts]));
}

static bool is_box_gone(const struct broker *b)
{
	return b->swept || b->empty || ab_poll(b->duty.init, POLLIN, 0) > 0;
}

/* Runs in the process that read the source, so that the value is nowhere else. */
static int send_news(void *arg, size_t i, const struct ab_sourced *value,
		     const struct ab_error *err)
{
	static struct answer a = { .kind = AB_NEWS_SECRET };
	struct broker *b = arg;
	int r;

	a.number = (uint32_t)i;
	a.result = value->data ? 0 : -1;
	a.error = *err;
	if (value->data)
		memcpy(a.lines, value->data, value->len);
	r = ab_send_fds(b->sock, &a, ANSWER_LEN(value->len), NULL, 0);
	explicit_bzero(a.lines, value->len);
	return r;
}

/* The plan as the box has it: a layer that could not be made is a read-only folder, and without
 * mounts so is a private one. */
static struct ab_plan find_real_plan(const struct ab_spec *spec, const int16_t *layers)
{
	struct ab_plan plan = { .len = spec->plan.len };

	plan.v = ab_alloc((plan.len + 1) * sizeof(plan.v[0]));
	for (size_t i = 0; i < plan.len; i++) {
		const struct ab_layer_mount *l = NULL;

		plan.v[i] = spec->plan.v[i];
		if (plan.v[i].op == AB_MOUNT_LAYER)
			l = ab_layer_mounts_find(&spec->layers, plan.v[i].path);
		plan.v[i].unmade = l && layers[l - spec->layers.v] > 0;
		if (plan.v[i].unmade || (spec->no_namespaces && plan.v[i].op == AB_MOUNT_PRIVATE))
			plan.v[i].op = AB_MOUNT_SHOW;
	}
	return plan;
}

/* If it fails, the supervisor sees the end of the guard's socket and ends the run. */
static void answer_guard(struct broker *b, const struct ask *ask, size_t len)
{
	ab_autoclose int sock = ab_take_fd(&b->duty.guard_sock);
	struct ab_guard_duty duty;
	struct ab_helper guard;
	struct ab_plan plan;
	struct ab_error err;

	(void)len;
	if (!b->duty.guard || sock < 0 || b->passed.len != 1)
		return;
	duty = *b->duty.guard;
	plan = find_real_plan(b->duty.spec, ask->built.layers);
	duty.trace.plan = &plan;
	duty.trace.filters = ask->built.filters;
	duty.spots = b->spots = ab_spots_new(0);
	if (b->begun) {
		duty.terms.cwd = b->cwd;
		duty.terms.yes = b->yes;
	}
	if (ab_guard_start(&duty, sock, b->passed.v[0], &guard, &err) == 0) {
		b->guard = guard.pid;
		b->git_sock = guard.sock;
	}
	free(plan.v);
}

/* A rename of the box that the guard holds. */
static void take_git_ask(struct broker *b, struct ab_git_ask ask)
{
	struct ab_rename_answer a = { .errnum = -1 };
	bool created = false;
	struct ab_gitchange change = { .why = "" };
	struct stat dir = { 0 };
	const char *path = "";

	ask.from[sizeof(ask.from) - 1] = ask.to[sizeof(ask.to) - 1] = '\0';
	dir.st_dev = ask.dev;
	dir.st_ino = ask.ino;
	a.id = ask.id;
	a.errnum = ab_wall_watch_commit(b->walls, &dir, ask.from, ask.to, &path, &created, &change);
	if (created)
		ab_quarantine_accept(b->quarantine, path);
	snprintf(a.path, sizeof(a.path), "%s", path);
	snprintf(a.reason, sizeof(a.reason), "%s %s", change.key[0] ? change.key : "it",
		 change.why);
	ab_rename_answer(b->git_sock, &a);
}

/*
 * Denied names that do not exist: from now on they do not appear in the layers of the box, whatever
 * the host creates. What was created before is masked.
 */
static void hide_names(struct broker *b)
{
	static struct answer a = { .kind = ANSWER_FATAL, .result = -1 };

	if (b->hidden < 0 || ab_now_ms() < b->hide_at)
		return;
	if (ab_overlays_hide(b->duty.spec, b->hidden) < 0) {
		ab_fail(&a.error, AB_ESYSTEM, errno, "hide denied names in the home folder");
		ab_hint(&a.error, "there may be no space left; increase filesystem.tmpSize");
		ab_broker_post(b, &a, 0);
	}
	close(ab_take_fd(&b->hidden));
	ab_wall_watch_look(b->walls);
	ab_broker_report_walls(b);
}

static void take_rename(struct broker *b)
{
	union {
		struct ab_git_ask git;
		struct ab_move_ask move;
	} ask;
	ab_autofds struct ab_fds dirs = { .len = 2 };
	ssize_t n = ab_recv_fds(b->git_sock, &ask, sizeof(ask), dirs.v, &dirs.len, MSG_DONTWAIT);

	_Static_assert(sizeof(ask.git) != sizeof(ask.move), "the length tells them apart");
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(ask.git))
		take_git_ask(b, ask.git);
	else if (n == (ssize_t)sizeof(ask.move))
		ab_moves_take(b->moves, &ask.move, dirs.v, dirs.len, b->git_sock);
	else {
		/* The guard is gone, or must not wait for us. Moves still answer on it. */
		(void)shutdown(b->git_sock, SHUT_RDWR);
		b->guard_gone = true;
	}
}

/* It asks when the command has ended; the box is watched until it is gone. */
static void take_sweep(struct broker *b, const struct ask *ask, size_t len)
{
	(void)len;
	b->asked = true;
	b->empty = ask->kind == ASK_SWEEP_EMPTY;
}

static void take_unheld(struct broker *b, const struct ask *ask, size_t len)
{
	(void)ask;
	(void)len;
	b->unheld = true;
}

static void answer_walls(struct broker *b, const struct ask *ask, size_t len)
{
	(void)ask;
	(void)len;
	/* Its content is looked at when the box is gone; it may be gone already. */
	if (b->passed.len > 0 && b->stage < 0)
		b->stage = fcntl(b->passed.v[0], F_DUPFD_CLOEXEC, 3);
	if (b->passed.len > 1 && ab_overlays_hide_names(b->duty.spec) && b->hidden < 0) {
		b->hidden = ab_take_fd(&b->passed.v[--b->passed.len]);
		b->hide_at = ab_now_ms() + HIDE_MS;
	}
	if (b->swept)
		return;
	ab_wall_watch_start(b->walls, b->duty.init_pid, b->duty.init, &b->passed);
	ab_broker_report_walls(b);
}

static void answer_secret(struct broker *b, const struct ask *ask, size_t len)
{
	(void)len;
	if (b->renewals && !b->swept)
		ab_renewals_ask(b->renewals, ask->secret);
}

static void answer_violation(struct broker *b, const struct ask *ask, size_t len)
{
	if (b->duty.on_violation)
		ab_jobs_add(b, ask, len);
}

static void answer_notice(struct broker *b, const struct ask *ask, size_t len)
{
	if (b->duty.notify && !b->swept)
		ab_jobs_add(b, ask, len);
}

/* The box is gone only when the run ends: until then a project's file waits. */
static void answer_remember(struct broker *b, const struct ask *ask, size_t len)
{
	enum { PROJECT_MAX = 64 };
	ab_autofree char *text = ab_strndup(ask->text, len - ASK_LEN(0));

	if (text[0] != '0' + AB_REMEMBER_PROJECT)
		ab_jobs_add(b, ask, len);
	else if (b->project.len < PROJECT_MAX)
		ab_strv_add_once(&b->project, text + 1);
}

static void answer_leave(struct broker *b, const struct ask *ask, size_t len)
{
	(void)ask;
	(void)len;
	ab_jobs_finish(b, 0, NULL);
	if (is_box_gone(b))
		ab_broker_abandon_run(b);
	ab_broker_leave(b);
}

/* For each request: the length of its body, and its handler. */
static const struct {
	size_t min, max;
	void (*answer)(struct broker *b, const struct ask *ask, size_t len);
} asks[ASK_COUNT] = {
	[ASK_SWEEP] = { 0, 0, take_sweep },
	[ASK_SWEEP_EMPTY] = { 0, 0, take_sweep },
	[ASK_SECRET] = { sizeof(uint32_t), sizeof(uint32_t), answer_secret },
	[ASK_LEAVE] = { 0, 0, answer_leave },
	[ASK_OWNER] = { sizeof(struct ab_peer), sizeof(struct ab_peer), ab_jobs_add },
	[ASK_APPROVE] = { 1, TEXT_ROOM, ab_jobs_add },
	[ASK_REMEMBER] = { 2, ENTRY_ROOM, answer_remember },
	[ASK_RELOAD] = { 0, 0, ab_jobs_add },
	[ASK_VIOLATION] = { 1, TEXT_ROOM, answer_violation },
	[ASK_NOTICE] = { 1, NOTICE_ROOM, answer_notice },
	[ASK_GUARD] = { sizeof(struct ab_built), sizeof(struct ab_built), answer_guard },
	[ASK_UNHELD] = { 0, 0, take_unheld },
	[ASK_WALLS] = { 0, 0, answer_walls },
	[ASK_AGENT] = { 0, 0, ab_jobs_add },
};

/* The supervisor lives and waits for an answer, so the run ends here. If it cannot even ask for the sweep,
 * we end: the supervisor sees that, and the next start sweeps. */
static void end_deaf(struct broker *b, int errnum)
{
	static struct answer a = { .kind = ANSWER_FATAL, .result = -1 };

	if (b->deaf)
		_exit(1);
	b->deaf = true;
	b->passed.len = 0;
	ab_fail(&a.error, AB_ESYSTEM, errnum, "receive from the supervisor");
	ab_box_explain(&a.error);
	ab_broker_post(b, &a, 0);
	(void)syscall(SYS_pidfd_send_signal, b->duty.init, SIGKILL, NULL, 0);
}

static void take_request(struct broker *b)
{
	static struct ask ask;
	ssize_t n;
	size_t body;

	b->passed.len = AB_COUNT(b->passed.v);
	n = ab_recv_fds(b->sock, &ask, ASK_LEN(TEXT_ROOM), b->passed.v, &b->passed.len, 0);
	body = (size_t)n - ASK_LEN(0);
	if (ab_broker_is_alone(n))
		ab_broker_finish_alone(b);
	if (n < 0) {
		end_deaf(b, errno);
		return;
	}
	b->deaf = false;
	if (n < (ssize_t)ASK_LEN(0) || ask.kind >= ASK_COUNT || !asks[ask.kind].answer ||
	    body < asks[ask.kind].min || body > asks[ask.kind].max)
		_exit(1);
	asks[ask.kind].answer(b, &ask, (size_t)n);
	ab_fds_close(&b->passed);
}

static void check_host(struct broker *b)
{
	static const struct ask reload = { .kind = ASK_RELOAD };

	ab_wall_watch_look(b->walls);
	ab_broker_report_walls(b);
	ab_quarantine_look(b->quarantine);
	check_quarantine(b);
	sample_memory(b);
	ab_broker_clean_up(b, AB_HOURLY_STEP);
	if (b->renewals)
		ab_renewals_look(b->renewals);
	if (b->settings && ab_settings_watch_look(b->settings))
		ab_jobs_add(b, &reload, ASK_LEN(0));
	b->next_check = ab_now_ms() + AB_QUARANTINE_MS;
}

/* Wait for an event, or until the next check is due. */
static void wait_for_event(const struct broker *b, struct pollfd *fds)
{
	int64_t until = b->swept ? INT64_MAX : b->next_check, left;
	int64_t due = b->swept ? INT64_MAX : ab_quarantine_due(b->quarantine);
	int64_t events = b->swept ? INT64_MAX : ab_quarantine_events_at(b->quarantine);
	bool git = ab_wall_watch_started(b->walls) && !b->guard_gone;
	size_t n = FIXED_FDS;

	until = due < until ? due : until;
	until = events < until ? events : until;
	if (b->hidden >= 0 && !b->swept && b->hide_at < until)
		until = b->hide_at;

	fds[0] = (struct pollfd){ .fd = b->sock, .events = POLLIN };
	if (b->outbox)
		fds[0].events |= POLLOUT;
	fds[1] = (struct pollfd){ .fd = !b->swept && ab_broker_knows_search(b) ? b->duty.init : -1,
				  .events = POLLIN };
	/* Not before it can be answered. */
	fds[3] = (struct pollfd){ .fd = git ? b->git_sock : -1, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = b->swept ? -1 : ab_wall_watch_fd(b->walls),
				  .events = POLLPRI };
	fds[4] = (struct pollfd){ .fd = b->swept ? -1 : ab_quarantine_fd(b->quarantine),
				  .events = POLLIN };
	n += ab_jobs_poll(b, fds + n, &until);
	n += ab_moves_poll(b->moves, fds + n);
	left = until - ab_now_ms();
	if (poll(fds, (nfds_t)n,
		 until == INT64_MAX ? -1
		 : left > 0	    ? (int)left
				    : 0) < 0 &&
	    errno != EINTR)
		_exit(1);
}

static void look_at_quarantine(struct broker *b, const struct pollfd *events)
{
	if (b->swept)
		return;
	if (events->revents || ab_now_ms() >= ab_quarantine_events_at(b->quarantine))
		ab_quarantine_events(b->quarantine);
	if (ab_now_ms() >= ab_quarantine_due(b->quarantine))
		ab_quarantine_look(b->quarantine);
	check_quarantine(b);
}

static _Noreturn void serve_requests(struct broker *b)
{
	for (;;) {
		struct pollfd fds[FIXED_FDS + AB_JOBS_MAX + AB_MOVES_MAX];

		wait_for_event(b, fds);
		look_at_quarantine(b, &fds[4]);
		if (fds[2].revents && !b->swept) {
			ab_wall_watch_event(b->walls);
			ab_broker_report_walls(b);
		}
		if (fds[3].revents)
			take_rename(b);
		/* While the supervisor waits for init. */
		if (fds[1].revents)
			ab_broker_sweep_workspace(b);
		if (!b->swept)
			hide_names(b);
		if (!b->swept && ab_now_ms() >= b->next_check)
			check_host(b);
		ab_broker_flush(b, MSG_DONTWAIT);
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			take_request(b);
		if (b->asked && is_box_gone(b))
			ab_broker_answer_sweep(b);
		ab_jobs_update(b);
		ab_moves_update(b->moves);
	}
}

static void start_renewals(struct broker *b)
{
	struct ab_renewals_setup setup = { .secrets = &b->duty.policy->secrets,
					   .environ = b->duty.environ,
					   .stamps = b->duty.safe->stamps,
					   .expires = b->duty.safe->expires,
					   .policy = b->duty.policy,
					   .held = b->duty.safe->held,
					   .state = b->duty.run->state->root,
					   .sock = b->sock,
					   .answer = send_news,
					   .arg = b };

	b->renewals = ab_renewals_new(&setup);
}

static void tell_failure(int sock, int errnum)
{
	static struct broker b;
	static struct answer a = { .kind = ANSWER_FATAL };

	b.sock = sock;
	a.result = ab_fail(&a.error, AB_ESYSTEM, errnum, "close inherited file descriptors");
	ab_box_explain(&a.error);
	ab_broker_post(&b, &a, 0);
}

struct start {
	const struct ab_broker_duty *duty;
	struct ab_settings_watch *settings;
	int wake;
};

static int serve_broker(int sock, void *arg)
{
	static struct broker b;
	static struct answer a = { .kind = ANSWER_FATAL };
	const struct start *start = arg;
	const struct ab_broker_duty *duty = start->duty;
	struct ab_wall_watch_setup walls;

	b.duty = *duty;
	b.sock = sock;
	b.wake = start->wake;
	b.git_sock = -1;
	b.stage = b.hidden = -1;
	b.settings = start->settings;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (duty->wait)
		ab_broker_wait(&b);
	b.next_check = ab_now_ms() + AB_QUARANTINE_MS;
	a.result = ab_quarantine_open(b.duty.survey, duty->run->dir, &b.quarantine, &a.error);
	if (a.result < 0) {
		ab_box_explain(&a.error);
		ab_broker_post(&b, &a, 0);
		return 1;
	}
	walls.spec = duty->spec;
	walls.secret = &duty->safe->hidden;
	walls.deny = &duty->policy->fs.deny_read;
	walls.strict = duty->spec->strict;
	b.walls = ab_wall_watch_open(&walls);
	b.moves = ab_moves_new(&duty->spec->plan, duty->init_pid, duty->init);
	if (duty->policy->secrets.len)
		start_renewals(&b);
	serve_requests(&b);
}

static int start_process(struct start *start, struct ab_helper *ret, struct ab_error *err)
{
	const struct ab_broker_duty *duty = start->duty;
	const struct ab_run *run = duty->run;
	const int keep[] = { start->wake,
			     duty->init,
			     duty->rescue.fd,
			     run->dir,
			     duty->log->copy ? duty->log->copy->fd : -1,
			     run->state->root,
			     run->state->live,
			     run->state->runs,
			     duty->locks[0],
			     duty->locks[1],
			     duty->returns ? ab_home_return_fd(duty->returns) : -1,
			     duty->guard_sock,
			     duty->guard && duty->guard->sockets ? duty->guard->proxy : -1 };
	const struct ab_helper_setup setup = {
		.name = "agentbox-broker",
		.what = "the broker",
		.socket = SOCK_SEQPACKET,
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.serve = serve_broker,
		.failed = tell_failure,
		.arg = start,
	};

	return ab_helper_start(&setup, ret, err);
}

int ab_broker_start(const struct ab_broker_duty *duty, struct ab_broker **ret, struct ab_error *err)
{
	struct start start = { .duty = duty, .wake = -1 };
	struct ab_broker broker = { 0 };
	int r;

	if (duty->wait) {
		start.wake = eventfd(0, EFD_CLOEXEC);
		if (start.wake < 0)
			return ab_fail_step(err, "broker", errno, "make a socket pair");
	}
	start.settings = ab_settings_watch_new(duty);
	r = start_process(&start, &broker.helper, err);
	ab_settings_watch_free(start.settings);
	if (r < 0) {
		ab_closep(&start.wake);
		return ab_step(err, "broker");
	}
	broker.wake = start.wake;
	*ret = ab_alloc(sizeof(**ret));
	**ret = broker;
	return 0;
}
