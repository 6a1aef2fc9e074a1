/*
 * Theory of operation.
 *
 * When the box is built and the command runs: one loop over a signalfd (SIGCHLD) and the
 * supervisor's socket. When the socket or the command ends, init exits, and the kernel kills all
 * other processes of the pid namespace. Without one, init kills its descendants first.
 *
 * Should: reap everything, answer every request.
 * Mustn't: trust anything from inside; keep the caller's stdio open.
 */
#include "sandbox/start/init.h"

#include <sys/signalfd.h>
#include <sys/wait.h>

#include "netns/counters.h"
#include "sandbox/fence/descendants.h"
#include "sandbox/plan/engine.h"
#include "sandbox/start/limits.h"
#include "sandbox/start/listening_ports.h"

enum {
	COUNT_MS = 100,	 /* between two counts of the box's processes */
	COUNT_COST = 20, /* and this many times the processor time of a count */
};

static bool is_crowded(const struct init *in)
{
	uint64_t limit = in->spec.limits.processes;

	return in->spec.no_namespaces ? ab_descendants_count(limit) >= limit
				      : ab_limits_reached(limit);
}

/* Count the processes if it is time, and return how long poll() may wait. */
static int count_processes(struct init *in)
{
	int64_t begun = ab_now_ms(), took;

	if (!in->spec.count_processes || in->leads || in->crowded)
		return -1;
	if (begun >= in->next_count) {
		/* Not what passes meanwhile, which others use on a busy machine. */
		took = -ab_clock_ms(CLOCK_PROCESS_CPUTIME_ID);
		in->crowded = is_crowded(in);
		took += ab_clock_ms(CLOCK_PROCESS_CPUTIME_ID);
		in->next_count =
			begun + (took * COUNT_COST > COUNT_MS ? took * COUNT_COST : COUNT_MS);
	}
	return (int)(in->next_count - begun);
}

_Noreturn void ab_init_watch(struct init *in, void (*reap)(struct init *in),
			     void (*answer)(struct init *in))
{
	struct pollfd fds[] = {
		{ .fd = in->signals, .events = POLLIN },
		{ .fd = in->sock, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(fds, AB_COUNT(fds), count_processes(in)) < 0) {
			if (errno != EINTR)
				ab_init_fail(in, errno, "wait in the box's init");
			continue;
		}
		if (fds[0].revents) {
			if (read(in->signals, &info, sizeof(info)) < 0 && errno != EINTR)
				ab_init_fail(in, errno, "read signals in the box's init");
			reap(in);
		}
		if (fds[1].revents)
			answer(in);
	}
}

/*
 * A leader waits until the supervisor has closed the socket: the supervisor was woken on this CPU,
 * where it would wait for the exit of this process.
 */
static _Noreturn void end_after_status(struct init *in)
{
	struct ab_msg msg;

	while (in->leads && ab_recv_fds(in->sock, &msg, sizeof(msg), NULL, NULL, 0) > 0)
		;
	ab_init_exit(in, 0);
}

static bool has_tried_network(void)
{
	char text[8192];
	bool local = ab_resolver_is_local(
		ab_read_start(AT_FDCWD, "/etc/resolv.conf", text, sizeof(text)));

	return ab_counters_unrouted(ab_read_start(AT_FDCWD, "/proc/net/snmp", text, sizeof(text)),
				    local) ||
	       ab_counters_unrouted(ab_read_start(AT_FDCWD, "/proc/net/snmp6", text, sizeof(text)),
				    local);
}

/* Nothing else tells the user why a program could not resolve a name. Only a command that failed is
 * worth the look, and only in a network of its own without a proxy: there the kernel has counted
 * nothing but what the command did. */
static void report_unrouted(struct init *in, int status)
{
	if (status == 0 || in->leads || in->begin.net != AB_BOX_NET_NONE)
		return;
	if (has_tried_network())
		ab_init_send_up(in, AB_MSG_UNROUTED, 0, -1);
}

/* The command still counts: nobody has waited for it. */
static void report_crowd(struct init *in)
{
	uint64_t limit = in->spec.limits.processes;
	siginfo_t end = { 0 };

	if (in->leads || !limit || in->spec.pids_cgroup ||
	    waitid(P_PID, (id_t)in->target, &end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    end.si_pid == 0 || (end.si_code == CLD_EXITED && end.si_status == 0))
		return;
	if (in->crowded || is_crowded(in))
		ab_init_send_up(in, AB_MSG_CROWDED, 0, -1);
}

/* Orphans become init's children, so without any there is no other process. */
static bool is_alone(const struct init *in)
{
	return !in->leads && ab_box_engines[in->engine].namespaces && !ab_descendants_reap();
}

static void reap_children(struct init *in)
{
	report_crowd(in);
	for (;;) {
		int status, sig;
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);

		if (pid < 0 && errno == EINTR)
			continue;
		/* The signal is read: nothing would wake us for this child again. */
		if (pid < 0 && errno != ECHILD)
			ab_init_fail(in, errno, "wait for the command");
		if (pid <= 0)
			return;
		if (pid != in->target)
			continue;
		if (WIFSTOPPED(status)) {
			sig = WSTOPSIG(status);
			in->wants_tty = sig == SIGTTIN || sig == SIGTTOU;
			ab_init_send_up(in, AB_MSG_STOPPED, sig, -1);
			continue;
		}
		report_unrouted(in, status);
		ab_init_send_up(in, is_alone(in) ? AB_MSG_LAST : AB_MSG_STATUS, status, -1);
		end_after_status(in);
	}
}

static void signal_command(struct init *in, int sig)
{
	/* The whole group, as a terminal does; a shell that has moved to its own
	 * group gets the signal alone. */
	if (sig > 0 && kill(-in->target, sig) < 0)
		kill(in->target, sig);
}

/*
 * While keys do not reach the box, init's own group is the foreground group, so
 * that a program that reads the terminal is stopped instead of waiting forever.
 * Afterwards the previous group, which may be a job of a shell inside, becomes
 * the foreground group again.
 */
static void set_foreground(struct init *in, bool front)
{
	pid_t self = getpgrp(), group = tcgetpgrp(in->tty);

	if (!front && group != self) {
		in->front = group;
		tcsetpgrp(in->tty, self);
	} else if (front && in->wants_tty) {
		tcsetpgrp(in->tty, getpgid(in->target));
	} else if (front && group == self) {
		if (in->front <= 0 || tcsetpgrp(in->tty, in->front) < 0)
			tcsetpgrp(in->tty, getpgid(in->target));
	}
}

static void resume_command(struct init *in, bool front)
{
	if (in->tty >= 0)
		set_foreground(in, front);
	in->wants_tty = in->wants_tty && !front;
	signal_command(in, SIGCONT);
}

void ab_init_dial(struct init *in, int port)
{
	int fd = -1, errnum = ab_listening_ports_dial(port, &fd);

	ab_init_send_up(in, AB_MSG_DIALED, errnum, fd);
	ab_closep(&fd);
}

/* Nobody is at the other end any more. */
static _Noreturn void leave_command(struct init *in)
{
	if (in->leads) {
		signal_command(in, SIGHUP);
		signal_command(in, SIGCONT);
	}
	ab_init_exit(in, 125);
}

static void answer_request(struct init *in)
{
	struct ab_msg msg;
	ssize_t n = ab_recv_fds(in->sock, &msg, sizeof(msg), NULL, NULL, 0);

	if (n < (ssize_t)AB_MSG_LEN(0))
		leave_command(in);
	switch (msg.type) {
	case AB_MSG_SIGNAL:
		signal_command(in, msg.value);
		break;
	case AB_MSG_RESUME:
		resume_command(in, msg.value);
		break;
	case AB_MSG_DIAL:
		ab_init_dial(in, msg.value);
		break;
	default:
		ab_init_exit(in, 125); /* not a request of the supervisor */
	}
}

/* Behind the filter. Not inlined: scripts/check-calls looks for it. */
_Noreturn __attribute__((noinline)) void ab_init_serve(struct init *in)
{
	ab_init_watch(in, reap_children, answer_request);
}
