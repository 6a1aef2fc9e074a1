/*
 * Theory of operation of the judge.
 *
 * One poll loop over the supervisor's socket and, once it has arrived, the listener. States:
 * waiting (no listener yet), first (the command itself was not executed yet: its attempts, one for
 * each folder of PATH, pass, because it was judged before the run), judging.
 *
 * Should: answer each attempt, and refuse it if anything is in doubt; answer any other call as the
 * filter without a listener would.
 *
 * Mustn't: wait for the supervisor (a note without room is only counted); hold the caller's stdio.
 */
#include "session/notify/judge_process.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "sandbox/seccomp/seccomp.h"
#include "session/notify/program_judge.h"
#include "session/notify/trace.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

struct judge {
	struct ab_terms terms;
	struct ab_trace *trace; /* or NULL */
	int sock, listener;
	pid_t first; /* the process that executes the command */
	bool judging;
	struct ab_arena arena;
	uint64_t missed;	/* refused programs without a note */
	uint64_t missed_others; /* denied files and calls without a note */
	uint64_t minute;
	unsigned int notes;  /* sent in this minute */
	struct ab_note last; /* the last program note, and its process */
	pid_t last_pid;
};

static bool may_send_note(struct judge *j)
{
	struct timespec now;
	uint64_t minute;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	minute = (uint64_t)now.tv_sec / 60 + 1;
	if (j->minute != minute) {
		j->minute = minute;
		j->notes = 0;
	}
	return j->notes < AB_NOTES_MAX;
}

static bool send_now(const struct judge *j, const struct ab_note *note)
{
	return send(j->sock, note, sizeof(*note), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static void send_note(struct judge *j, struct ab_note *note)
{
	note->before = j->missed;
	if (!may_send_note(j) || !send_now(j, note)) {
		j->missed++;
		return;
	}
	j->notes++;
	j->missed = 0;
}

/* A file or a call. Without a limit while learning. */
static void send_denied(struct judge *j, struct ab_note *note)
{
	note->before = j->missed_others;
	if (!note->told || (!ab_trace_terms(j->trace)->learn && !may_send_note(j)) ||
	    !send_now(j, note)) {
		j->missed_others++;
		return;
	}
	j->notes++;
	j->missed_others = 0;
	ab_trace_sent(j->trace, note);
}

/* Some shells try every folder of PATH whatever the error: count them as one attempt. */
static bool is_further_try(const struct judge *j, pid_t pid, const struct ab_note *note)
{
	return pid == j->last_pid && strcmp(note->rule, j->last.rule) == 0 &&
	       strcmp(note->command, j->last.command) == 0 && strcmp(note->path, j->last.path) != 0;
}

static void report_program(struct judge *j, pid_t pid, const char *path,
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
	send_note(j, &note);
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
static bool is_command(struct judge *j, pid_t pid)
{
	if (!j->first)
		j->first = pid;
	if (j->judging || pid != j->first || !ab_exec_is_first(pid))
		j->judging = true;
	return !j->judging;
}

/* If the pid was reused, what we read is not about the caller, and the answer has no effect. */
static bool still_waits(const struct judge *j, const struct seccomp_notif *call)
{
	return ioctl(j->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0;
}

static int refuse_program(struct judge *j, const struct seccomp_notif *call, const char *path,
			  const struct ab_refused *refused)
{
	if (still_waits(j, call))
		report_program(j, (pid_t)call->pid, path, refused);
	return EPERM;
}

static void list_program(struct judge *j, const struct ab_exec *attempt)
{
	struct ab_note note;

	if (attempt->real && ab_trace_program(j->trace, attempt->real, &note) && send_now(j, &note))
		ab_trace_sent(j->trace, &note);
}

/* Apply the rules, if it could be read. */
static int judge_attempt(struct judge *j, const struct seccomp_notif *call, int unread,
			 const struct ab_exec *attempt)
{
	struct ab_refused refused;
	int errnum;

	if (unread == EFAULT || unread == E2BIG)
		return unread;
	if (unread)
		return refuse_program(j, call, "", &unreadable);
	errnum = ab_exec_judge(&j->arena, &j->terms, attempt, &refused);
	return errnum == EPERM ? refuse_program(j, call, attempt->path, &refused) : errnum;
}

/* 0, or the errno that the caller gets. */
static int decide_exec(struct judge *j, const struct seccomp_notif *call)
{
	const struct ab_trace_terms *trace = j->trace ? ab_trace_terms(j->trace) : NULL;
	pid_t pid = (pid_t)call->pid;
	bool passes = is_command(j, pid) || (trace && !trace->judged);
	bool listed = trace && trace->learn;
	struct ab_exec attempt;
	int errnum;

	if (passes && !listed)
		return 0;
	ab_arena_reset(&j->arena);
	errnum = ab_exec_read(&j->arena, pid, &call->data, &attempt);
	if (!passes)
		errnum = judge_attempt(j, call, errnum, &attempt);
	if (!errnum && listed && still_waits(j, call))
		list_program(j, &attempt);
	return passes ? 0 : errnum;
}

/* Calls other than exec: the answer is that of the filter without a listener. Further findings are
 * only reported. */
static int decide_other(struct judge *j, const struct seccomp_notif *call, uint32_t verdict)
{
	pid_t pid = (pid_t)call->pid;
	struct ab_note note;

	/* The command's process tests the box before it executes the command. */
	if (!is_command(j, pid)) {
		ab_arena_reset(&j->arena);
		if (ab_trace_denied(j->trace, &j->arena, pid, &call->data, verdict, &note) &&
		    still_waits(j, call))
			send_denied(j, &note);
	}
	if (verdict == SECCOMP_RET_ALLOW)
		return 0;
	return (verdict & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
			       (verdict & SECCOMP_RET_DATA)
		       ? (int)(verdict & SECCOMP_RET_DATA)
		       : EPERM;
}

static int decide_call(struct judge *j, const struct seccomp_notif *call)
{
	bool exec = call->data.nr == __NR_execve || call->data.nr == __NR_execveat;
	uint32_t verdict;

	if (!j->trace)
		return decide_exec(j, call);
	verdict = ab_seccomp_judge(AB_FILTER_TARGET, &call->data);
	return exec && verdict == SECCOMP_RET_ALLOW ? decide_exec(j, call)
						    : decide_other(j, call, verdict);
}

static void take_attempt(struct judge *j)
{
	struct seccomp_notif call;
	struct seccomp_notif_resp answer;
	int errnum;

	memset(&call, 0, sizeof(call));
	if (ioctl(j->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) {
		/* The caller was killed meanwhile. */
		if (errno == ENOENT || errno == EINTR)
			return;
		_exit(1);
	}
	errnum = decide_call(j, &call);
	answer = (struct seccomp_notif_resp){ .id = call.id };
	if (errnum)
		answer.error = -errnum;
	else
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* EINTR: we were stopped. */
	while (ioctl(j->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 && errno != ENOENT)
		if (errno != EINTR)
			_exit(1);
}

static void send_last(const struct judge *j, const struct ab_note *note)
{
	(void)!send(j->sock, note, sizeof(*note), MSG_NOSIGNAL);
}

static _Noreturn void exit_judge(struct judge *j)
{
	struct ab_note last = { .kind = AB_NOTE_EXEC, .before = j->missed };

	if (j->missed)
		send_last(j, &last);
	while (j->trace && ab_trace_again(j->trace, &last))
		send_last(j, &last);
	last = (struct ab_note){ .kind = AB_NOTE_FILE, .before = j->missed_others };
	if (j->missed_others)
		send_last(j, &last);
	_exit(0);
}

static void take_listener(struct judge *j)
{
	uint32_t unused;
	int fd = -1;
	size_t nfds = 1;
	ssize_t n = ab_recv_fds(j->sock, &unused, sizeof(unused), &fd, &nfds, 0);

	if (n <= 0)
		exit_judge(j);
	if (j->listener >= 0 || nfds != 1)
		_exit(1);
	j->listener = fd;
	/* Best effort: wake the caller on this processor. */
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

/* Behind the filter. Not inlined: scripts/check-calls looks for it. */
static _Noreturn __attribute__((noinline)) void serve_listener(struct judge *j)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = j->sock, .events = POLLIN },
			{ .fd = j->listener, .events = POLLIN },
		};

		if (poll(fds, AB_COUNT(fds), -1) < 0) {
			if (errno != EINTR)
				_exit(1);
			continue;
		}
		if (fds[1].revents & POLLIN)
			take_attempt(j);
		else if (fds[1].revents & POLLHUP) /* no process is left */
			close(ab_take_fd(&j->listener));
		if (fds[0].revents)
			take_listener(j);
	}
}

/* The judge reads hostile data, so it must not have what the caller's environment may contain. */
static void forget_environment(void)
{
	for (char **e = environ; *e; e++)
		explicit_bzero(*e, strlen(*e));
}

void ab_judge_be(const struct ab_terms *terms, const struct ab_trace_terms *trace, int sock)
{
	static struct judge j;

	j = (struct judge){ .terms = *terms,
			    .trace = trace ? ab_trace_new(trace) : NULL,
			    .sock = sock,
			    .listener = -1 };
	prctl(PR_SET_NAME, "agentbox-judge");
	forget_environment();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	if (ab_close_others(&sock, 1) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || ab_seccomp_load(AB_FILTER_JUDGE) < 0)
		_exit(1);
	serve_listener(&j);
}
