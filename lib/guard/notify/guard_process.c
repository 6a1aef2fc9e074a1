/*
 * Theory of operation of the guard.
 *
 * One loop over the supervisor's socket, the listeners, and what the handlers watch. While one
 * listener is all but for the supervisor, it waits for the next call itself
 * (sandbox/seccomp/call_wait.h), otherwise with poll(). States:
 * first (in a traced or judged run the command itself was not executed yet: its attempts, one for
 * each folder of PATH, pass, because it was judged before the run), judging.
 *
 * Should: answer each call; refuse a program if anything is in doubt; answer a call that the
 * target's filter denies as that filter would.
 *
 * Mustn't: wait for the supervisor (a note without room is only counted); hold the caller's stdio.
 */
#include "guard/notify/guard_process.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/process/helper.h"
#include "guard/notify/guard_link.h"
#include "sandbox/seccomp/call_wait.h"
#include "sandbox/seccomp/seccomp.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* Those of the handlers, beside the listeners. */
enum { SOURCES_MAX = 64 + AB_GUARD_LISTENERS + 1 };

/* When is the processor chosen anew? */
enum {
	WORK_NS = 30000, /* several times what an answer takes */
	UNLIKE_CALLS = 4,
};

/* Each command of a box that stays has its own. */
struct listener {
	int fd;			       /* -1: none */
	struct ab_terms terms;	       /* those of the run, or with what was approved */
	struct ab_guard_more approved; /* with its command */
	pid_t first;		       /* the process that executes the command */
	bool judging;
	struct timespec last; /* call */
	pid_t last_pid;	      /* its thread */
	bool here;	      /* callers are woken on this processor, and wake us on theirs */
	unsigned int unlike;  /* calls in a row whose pace speaks against that choice */
};

struct ab_guard {
	struct ab_guard_duty duty;
	void *states[AB_HANDLERS_MAX];
	struct ab_trace *trace;
	int sock, broker;
	struct listener listeners[AB_GUARD_LISTENERS];
	struct listener *held; /* that of the call in hand */
	struct pollfd fds[SOURCES_MAX];
	struct source {
		void (*ready)(struct ab_guard *j, void *arg, short events);
		void *arg;
	} sources[SOURCES_MAX];
	size_t nsources;
	bool changed;		/* of the sources */
	bool wakes;		/* the supervisor ends the wait for a call */
	struct listener *alone; /* nothing else but the supervisor is waited for; or NULL */
	struct ab_arena arena;
	uint64_t missed;	/* refused programs without a note */
	uint64_t missed_others; /* denied files and calls without a note */
	uint64_t minute;
	unsigned int notes;  /* sent in this minute */
	struct ab_note last; /* the last program note, and its process */
	pid_t last_pid;
};

static bool may_send_note(struct ab_guard *j)
{
	uint64_t minute = (uint64_t)ab_clock_ms(CLOCK_MONOTONIC_COARSE) / 60000 + 1;

	if (j->minute != minute) {
		j->minute = minute;
		j->notes = 0;
	}
	return j->notes < AB_NOTES_MAX;
}

/* `flags`: MSG_DONTWAIT, or at the end none. */
static bool send_now(const struct ab_guard *j, const struct ab_note *note, int flags)
{
	return send(j->sock, note, sizeof(*note), MSG_NOSIGNAL | flags) >= 0;
}

/* `missed`: refusals of its kind without a note. */
static bool send_note(struct ab_guard *j, struct ab_note *note, bool limited, uint64_t *missed)
{
	note->before = *missed;
	if (!note->told || (limited && !may_send_note(j)) || !send_now(j, note, MSG_DONTWAIT)) {
		++*missed;
		return false;
	}
	j->notes++;
	*missed = 0;
	return true;
}

/* Some shells try every folder of PATH whatever the error: count them as one attempt. */
static bool is_further_try(const struct ab_guard *j, pid_t pid, const struct ab_note *note)
{
	return pid == j->last_pid && strcmp(note->rule, j->last.rule) == 0 &&
	       strcmp(note->command, j->last.command) == 0 && strcmp(note->path, j->last.path) != 0;
}

static void report_program(struct ab_guard *j, pid_t pid, const char *path,
			   const struct ab_refused *refused)
{
	struct ab_note note = { .kind = AB_NOTE_EXEC, .told = 1, .decision = refused->decision };
	size_t len = refused->command.len;

	note.cut = len >= sizeof(note.command);
	if (note.cut)
		len = sizeof(note.command) - 1;
	memcpy(note.command, refused->command.s, len);
	snprintf(note.rule, sizeof(note.rule), "%s", refused->rule);
	snprintf(note.reason, sizeof(note.reason), "%s", refused->reason);
	snprintf(note.path, sizeof(note.path), "%s", path);
	if (is_further_try(j, pid, &note))
		return;
	j->last = note;
	j->last_pid = pid;
	ab_exec_by(pid, note.by);
	send_note(j, &note, true, &j->missed);
}

/* The process runs a file that is executable but not readable, so its memory cannot be read. */
static const struct ab_refused unreadable = {
	.decision = AB_FORBIDDEN,
	.rule = "",
	.reason = "The program's memory cannot be read, so what it executes cannot be judged.",
	.command = { "", 0 },
};

/* Is it the command's own process, which was judged before? Its memory is still that of the box's
 * init. */
static bool is_command(struct ab_guard *j, pid_t pid)
{
	struct listener *l = j->held;

	if (!l->first)
		l->first = pid;
	if (l->judging || pid != l->first || !ab_exec_is_first(pid))
		l->judging = true;
	return !l->judging;
}

const struct ab_trace_terms *ab_guard_terms(const struct ab_guard *j)
{
	return &j->duty.trace;
}

int ab_guard_broker(const struct ab_guard *j)
{
	return j->broker;
}

const struct ab_guard_duty *ab_guard_duty(const struct ab_guard *j)
{
	return &j->duty;
}

bool ab_guard_waits(const struct ab_guard *j, uint64_t id)
{
	/* Ids begin at a random number of 64 bits, so one listener knows it at most. */
	for (size_t i = 0; i < AB_GUARD_LISTENERS; i++)
		if (j->listeners[i].fd >= 0 &&
		    ioctl(j->listeners[i].fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
			return true;
	return false;
}

static int refuse_program(struct ab_guard *j, const struct ab_held *call, const char *path,
			  const struct ab_refused *refused)
{
	if (ab_guard_waits(j, call->id))
		report_program(j, call->pid, path, refused);
	return EPERM;
}

static void list_program(struct ab_guard *j, const struct ab_exec *attempt)
{
	struct ab_note note;

	if (attempt->real && ab_trace_program(j->trace, attempt->real, &note) &&
	    send_now(j, &note, MSG_DONTWAIT))
		ab_trace_sent(j->trace, &note);
}

/* Apply the rules, if it could be read. */
static int judge_attempt(struct ab_guard *j, const struct ab_held *call, int unread,
			 const struct ab_exec *attempt)
{
	struct ab_refused refused;
	int errnum;

	if (unread == EFAULT || unread == E2BIG)
		return unread;
	if (unread)
		return refuse_program(j, call, "", &unreadable);
	errnum = ab_exec_judge(call->arena, &j->held->terms, attempt, &refused);
	return errnum == EPERM ? refuse_program(j, call, attempt->path, &refused) : errnum;
}

/* 0, or the errno that the caller gets. */
static int decide_exec(struct ab_guard *j, const struct ab_held *call)
{
	const struct ab_trace_terms *terms = &j->duty.trace;
	bool passes = is_command(j, call->pid) || !terms->judged;
	struct ab_exec attempt;
	int errnum;

	if (passes && !terms->learn)
		return 0;
	errnum = ab_exec_read(call->arena, call->pid, call->data, &attempt);
	if (!passes)
		errnum = judge_attempt(j, call, errnum, &attempt);
	if (!errnum && terms->learn && ab_guard_waits(j, call->id))
		list_program(j, &attempt);
	return passes ? 0 : errnum;
}

void ab_guard_report(struct ab_guard *j, const struct ab_held *call, const struct ab_denied *denied)
{
	struct ab_note note;

	/* Without a limit while learning. */
	if (ab_trace_denied(j->trace, call->arena, call->pid, call->data->nr, denied, &note) &&
	    ab_guard_waits(j, call->id) &&
	    send_note(j, &note, !j->duty.trace.learn, &j->missed_others))
		ab_trace_sent(j->trace, &note);
}

static bool makes_namespaces(int nr)
{
	return nr == __NR_clone || nr == __NR_unshare;
}

static void report_call(struct ab_guard *j, const struct ab_held *call)
{
	static const struct ab_denied plain = { "", "", "syscalls",
						"a system call that the box denies", "" };
	const struct seccomp_data *data = call->data;
	struct ab_denied denied;

	if (makes_namespaces(data->nr) &&
	    ab_namespace_denied(data->args[0], j->duty.trace.userns, &denied))
		ab_guard_report(j, call, &denied);
	else if (j->duty.trace.all)
		ab_guard_report(j, call, &plain);
}

/* The filter without a listener denies it: report that, and give its answer. */
static int deny_call(struct ab_guard *j, const struct ab_held *call, uint32_t verdict)
{
	/* Only in a traced run does the command's process test the box when we listen. */
	if (!(j->duty.trace.all && is_command(j, call->pid)))
		report_call(j, call);
	return (verdict & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
			       (verdict & SECCOMP_RET_DATA)
		       ? (int)(verdict & SECCOMP_RET_DATA)
		       : EPERM;
}

static struct ab_reply ask_handler(struct ab_guard *j, const struct ab_held *call)
{
	const struct ab_guard_duty *duty = &j->duty;

	/* The command's process tests the box before it executes the command. */
	if (duty->trace.all && is_command(j, call->pid))
		return ab_reply_pass();
	for (size_t i = 0; i < duty->nhandlers; i++) {
		struct ab_reply reply = duty->handlers[i].handle(j, j->states[i], call);

		if (reply.kind != AB_REPLY_NEXT)
			return reply;
	}
	return ab_reply_pass();
}

static struct ab_reply decide_call(struct ab_guard *j, const struct ab_held *call)
{
	int nr = call->data->nr, errnum;
	uint32_t verdict = SECCOMP_RET_ALLOW;

	/* The filter below ours leaves these to us (AB_FILTER_ASKING). */
	if (j->duty.trace.all || makes_namespaces(nr) || nr == __NR_chroot)
		verdict = ab_seccomp_judge(
			j->duty.trace.userns ? AB_FILTER_USERNS : AB_FILTER_TARGET, call->data);
	if (verdict != SECCOMP_RET_ALLOW)
		return ab_reply_errno(deny_call(j, call, verdict));
	if (nr != __NR_execve && nr != __NR_execveat)
		return ask_handler(j, call);
	errnum = decide_exec(j, call);
	return errnum ? ab_reply_errno(errnum) : ab_reply_pass();
}

/* False: it is not a call of this listener, or its process is gone. */
static bool send_reply(const struct listener *l, struct seccomp_notif_resp *answer)
{
	int r;

	if (l->fd < 0)
		return false;
	do
		r = ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SEND, answer);
	while (r < 0 && errno == EINTR); /* we were stopped */
	if (r < 0 && errno != ENOENT)
		_exit(1);
	return r == 0;
}

/* The same. The caller gets an error if it cannot have one more descriptor. */
static bool send_fd(const struct listener *l, uint64_t id, const struct ab_reply *reply)
{
	struct seccomp_notif_resp failed = { .id = id };
	struct seccomp_notif_addfd add = { .id = id,
					   .flags = SECCOMP_ADDFD_FLAG_SEND,
					   .srcfd = (uint32_t)reply->value,
					   .newfd_flags = reply->cloexec ? O_CLOEXEC : 0 };
	int r;

	if (l->fd < 0)
		return false;
	do
		r = ioctl(l->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	while (r < 0 && errno == EINTR);
	if (r >= 0 || errno == ENOENT || errno == EINPROGRESS)
		return r >= 0;
	failed.error = -errno;
	return send_reply(l, &failed);
}

void ab_guard_reply(struct ab_guard *j, uint64_t id, const struct ab_reply *reply)
{
	struct seccomp_notif_resp answer = { .id = id };
	const struct listener *l = j->held;

	switch (reply->kind) {
	case AB_REPLY_CONTINUE:
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		break;
	case AB_REPLY_ERROR:
		answer.error = -reply->errnum;
		break;
	case AB_REPLY_VALUE:
		answer.val = reply->value;
		break;
	case AB_REPLY_FD:
		break;
	case AB_REPLY_LATER:
	case AB_REPLY_NEXT:
		return;
	}
	/* The call in hand is of that listener; one that has waited may be of any. */
	for (size_t i = 0; i <= AB_GUARD_LISTENERS; l = &j->listeners[i++])
		if (reply->kind == AB_REPLY_FD ? send_fd(l, id, reply) : send_reply(l, &answer))
			return;
}

/* Best effort. */
static void share_processor(struct listener *l, bool here)
{
	l->here = here;
	l->unlike = 0;
	ioctl(l->fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, here ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0);
}

/* The same thread, after some work of its own? */
static bool has_worked(struct listener *l, pid_t pid)
{
	struct timespec before = l->last;
	bool same = pid == l->last_pid;

	l->last_pid = pid;
	clock_gettime(CLOCK_MONOTONIC, &l->last);
	return same &&
	       (l->last.tv_sec - before.tv_sec) * 1000000000 + l->last.tv_nsec - before.tv_nsec >
		       WORK_NS;
}

/*
 * A thread that makes one such call after the other wants us on its processor: neither of us waits for
 * the other one to wake up. So do several threads, which keep all processors busy. But one that works
 * alone in between has its code and data in the caches of its processor: to fill them again costs it
 * more than to wait for us. Connections are made by many threads at once, whose peers need that
 * processor. The next call is probably like the last ones.
 */
static void choose_processor(struct listener *l, const struct seccomp_notif *notif)
{
	bool connects = notif->data.nr == __NR_connect;

	if ((has_worked(l, (pid_t)notif->pid) || connects) != l->here)
		l->unlike = 0;
	else if (++l->unlike == UNLIKE_CALLS || connects)
		share_processor(l, !l->here);
}

/* False: there was none. Behind the filter, and called through a pointer: scripts/check-calls looks
 * for it. */
static __attribute__((noinline)) bool take_call(struct ab_guard *j)
{
	const struct seccomp_notif *notif = ab_call_wait(j->held->fd);
	struct ab_held call = { .arena = &j->arena };
	struct ab_reply reply;

	if (!notif) {
		if (errno != ENOENT && errno != EINTR)
			_exit(1);
		return false;
	}
	call.id = notif->id;
	call.pid = (pid_t)notif->pid;
	call.data = &notif->data;
	ab_arena_reset(&j->arena);
	choose_processor(j->held, notif);
	reply = decide_call(j, &call);
	ab_guard_reply(j, call.id, &reply);
	return true;
}

static _Noreturn void exit_guard(struct ab_guard *j)
{
	struct ab_note last = { .kind = AB_NOTE_EXEC, .before = j->missed };

	if (j->missed)
		(void)send_now(j, &last, 0);
	while (ab_trace_again(j->trace, &last))
		(void)send_now(j, &last, 0);
	last = (struct ab_note){ .kind = AB_NOTE_FILE, .before = j->missed_others };
	if (j->missed_others)
		(void)send_now(j, &last, 0);
	for (size_t i = 0; i < j->duty.nhandlers; i++)
		if (j->duty.handlers[i].close)
			j->duty.handlers[i].close(j->states[i]);
	_exit(0);
}

int ab_guard_watch(struct ab_guard *j, int fd, short events,
		   void (*ready)(struct ab_guard *guard, void *arg, short events), void *arg)
{
	if (j->nsources == SOURCES_MAX)
		return -1;
	j->fds[j->nsources] = (struct pollfd){ .fd = fd, .events = events };
	j->sources[j->nsources++] = (struct source){ ready, arg };
	j->changed = true;
	return 0;
}

/* poll() ignores negative numbers; -1 is a place to be dropped. */
static int paused(int fd)
{
	return -2 - fd;
}

static void exchange_fd(struct ab_guard *j, int from, int to)
{
	for (size_t i = 0; i < j->nsources; i++)
		if (j->fds[i].fd == from) {
			j->fds[i].fd = to;
			j->fds[i].revents = 0;
			j->changed = true;
		}
}

/* Its place stays until the end of the batch: the loop goes through the list. */
void ab_guard_unwatch(struct ab_guard *j, int fd)
{
	exchange_fd(j, fd, -1);
	exchange_fd(j, paused(fd), -1);
}

void ab_guard_pause(struct ab_guard *j, int fd)
{
	exchange_fd(j, fd, paused(fd));
}

void ab_guard_resume(struct ab_guard *j, int fd)
{
	exchange_fd(j, paused(fd), fd);
}

static void drop_unwatched(struct ab_guard *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->nsources; i++) {
		if (j->fds[i].fd == -1)
			continue;
		j->fds[kept] = j->fds[i];
		j->sources[kept++] = j->sources[i];
	}
	j->nsources = kept;
}

static void listener_ready(struct ab_guard *j, void *arg, short events)
{
	struct listener *l = arg;

	j->held = l;
	if (events & POLLIN) {
		(void)take_call(j);
	} else if (events & POLLHUP) { /* no process is left */
		ab_guard_unwatch(j, l->fd);
		close(ab_take_fd(&l->fd));
	}
}

static int add_listener(struct ab_guard *j, int fd, const struct ab_guard_more *more)
{
	struct listener *l = j->listeners;

	while (l < j->listeners + AB_GUARD_LISTENERS && l->fd >= 0)
		l++;
	if (l == j->listeners + AB_GUARD_LISTENERS ||
	    ab_guard_watch(j, fd, POLLIN, listener_ready, l) < 0)
		return -1;
	*l = (struct listener){ .fd = fd, .terms = j->duty.terms };
	if (more) {
		l->approved = *more;
		l->terms.yes = more->yes;
		l->terms.approved = more->rule[0] ? l->approved.rule : NULL;
		l->terms.approved_user = more->user_rule[0] ? l->approved.user_rule : NULL;
	}
	share_processor(l, true);
	return 0;
}

/* The supervisor adds the listener of a further command, dismisses us, or is gone. As above. */
static __attribute__((noinline)) void supervisor_ready(struct ab_guard *j, void *arg, short events)
{
	struct ab_guard_more more;
	int fd = -1;
	size_t nfds = 1;
	ssize_t n = ab_recv_fds(j->sock, &more, sizeof(more), &fd, &nfds, MSG_DONTWAIT);

	(void)arg;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(more))
		exit_guard(j);
	more.rule[sizeof(more.rule) - 1] = more.user_rule[sizeof(more.user_rule) - 1] = '\0';
	/* Without a listener the calls of that command fail. */
	if (fd >= 0 && add_listener(j, fd, &more) < 0)
		close(fd);
}

static struct listener *find_lone_listener(const struct ab_guard *j)
{
	struct listener *found = NULL;

	for (size_t i = 0; i < j->nsources; i++) {
		if (j->fds[i].fd < 0 || (j->fds[i].fd == j->sock && j->wakes))
			continue;
		if (found || j->sources[i].ready != listener_ready)
			return NULL;
		found = j->sources[i].arg;
	}
	return found;
}

static void poll_sources(struct ab_guard *j)
{
	size_t n = j->nsources;

	ab_call_wait_again();
	if (poll(j->fds, (nfds_t)n, -1) < 0) {
		if (errno != EINTR)
			_exit(1);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (j->fds[i].fd >= 0 && j->fds[i].revents)
			j->sources[i].ready(j, j->sources[i].arg, j->fds[i].revents);
}

/* Behind the filter. Not inlined: scripts/check-calls looks for it. */
static _Noreturn __attribute__((noinline)) void serve_listener(struct ab_guard *j)
{
	for (;;) {
		if (j->changed) {
			drop_unwatched(j);
			j->alone = find_lone_listener(j);
			j->changed = false;
		}
		j->held = j->alone ? j->alone : j->held;
		if (!j->alone || !take_call(j))
			poll_sources(j);
	}
}

/*
 * A process of the box waits for each answer, which takes microseconds. With a short time slice the
 * guard is chosen before others that are ready as well. Linux 6.12; others ignore it.
 */
static void ask_for_short_slices(void)
{
	struct sched_attributes {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { 0 };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0)
		return;
	attr.runtime = 100000; /* nanoseconds, the least */
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

struct seats {
	const struct ab_guard_duty *duty;
	int supervisor, listener;
};

static int serve_guard(int broker, void *arg)
{
	static struct ab_guard j;
	const struct seats *seats = arg;
	const char *given = seats->duty->trace.home, *home = given ? realpath(given, NULL) : NULL;

	j = (struct ab_guard){ .duty = *seats->duty, .sock = seats->supervisor, .broker = broker };
	for (size_t i = 0; i < AB_GUARD_LISTENERS; i++)
		j.listeners[i].fd = -1;
	j.held = &j.listeners[0];
	ask_for_short_slices();
	/* Hints compare it with real paths. */
	if (home)
		j.duty.trace.home = home;
	j.trace = ab_trace_new();
	/* The guard reads hostile data, so it must not have what the caller's environment may contain. */
	for (char **e = environ; *e; e++)
		explicit_bzero(*e, strlen(*e));
	if (ab_guard_watch(&j, j.sock, POLLIN, supervisor_ready, NULL) < 0 ||
	    add_listener(&j, seats->listener, NULL) < 0)
		return 1;
	j.wakes = ab_call_wait_open(j.sock);
	for (size_t i = 0; i < j.duty.nhandlers; i++) {
		const struct ab_call_handler *h = &j.duty.handlers[i];

		j.states[i] = h->open ? h->open(&j, h->setup) : (void *)(uintptr_t)h->setup;
	}
	/* Root's guard looks up names and connects with the rights that root has in the box: none
	 * but those of an owner. It may examine the box because it made the box's user namespace. */
	if (ab_drop_capabilities() < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    ab_seccomp_load(j.duty.trace.no_mounts ? AB_FILTER_GUARD_SHARED : AB_FILTER_GUARD) < 0)
		return 1;
	serve_listener(&j);
}

int ab_guard_start(const struct ab_guard_duty *duty, int sock, int listener, struct ab_helper *ret,
		   struct ab_error *err)
{
	struct seats seats = { .duty = duty, .supervisor = sock, .listener = listener };
	const int keep[] = { sock, listener, duty->sockets ? duty->proxy : -1 };
	const struct ab_helper_setup setup = {
		.name = "agentbox-guard",
		.what = "the guard",
		.socket = SOCK_SEQPACKET,
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.end_signal = SIGKILL,
		.serve = serve_guard,
		.arg = &seats,
	};

	return ab_helper_start(&setup, ret, err);
}
