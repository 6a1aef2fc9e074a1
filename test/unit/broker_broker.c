/*
 * A real broker over a real workspace: what it sweeps, what it reads, what it
 * does when its supervisor, the box or itself is killed.
 */
#include "broker/broker.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include "broker_help.h"
#include "proxy/record/events.h"

static int sweep(struct ab_broker *broker, struct ab_strv *ret, struct ab_error *err)
{
	return ab_broker_sweep(broker, false, err) < 0
		       ? -1
		       : ab_broker_swept(broker, ret, &(struct ab_strv){ 0 }, err);
}

/* Nobody waits for a broker that watches, so it may still be about to exit. */
static bool no_child_left(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
	return errno == ECHILD;
}

/* Our child with the broker's name. */
static pid_t broker_pid(void)
{
	char path[64], text[256] = "", name[32];
	ab_autoclose int fd = -1;
	char *p = text;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -1;
	for (;;) {
		long pid = strtol(p, &p, 10);
		ab_autoclose int comm = -1;
		ssize_t n;

		if (pid <= 0)
			return -1;
		snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
		comm = open(path, O_RDONLY | O_CLOEXEC);
		n = comm < 0 ? -1 : read(comm, name, sizeof(name));
		if (n > 0 && strncmp(name, "agentbox-broker", 15) == 0)
			return (pid_t)pid;
	}
}

static pid_t await_broker_name(void)
{
	struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	pid_t pid = -1;

	for (int i = 0; i < 12000 && pid < 0; i++) {
		pid = broker_pid();
		if (pid < 0)
			nanosleep(&pause, NULL);
	}
	return pid;
}

static void check_sweep(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };

	set_up(&s, "sweep");
	ok(ab_broker_start(&s.duty, &broker, &err) == 0, "started %s", err.text);
	sh("echo evil >$T/work/.envrc; echo fine >$T/work/made");
	end_box(&s);
	ok(sweep(broker, &lines, &err) == 0, "swept %s", err.text);
	ok(said(&lines, ".envrc"), "what was moved is said");
	ok(!exists("work/.envrc"), "it is gone");
	ok(exists("work/made") && exists("work/file"), "the rest is not");
	ab_broker_end(broker);
	ok(no_child_left(), "the broker is gone");
	ok(exists("state/runs/sweep") && !exists("state/live/sweep"), "the run is retired");
	ok(sh("grep -rqx evil $T/state/runs/sweep") == 0, "what was moved is kept");
	tear_down(&s);
}

static void check_watch(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };

	set_up(&s, "watch");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	sh("mkdir $T/work/.vscode; echo x >$T/work/.vscode/tasks.json");
	ok(comes("work/.vscode", false), "it is moved while the box lives");
	ok(exists("state/live/watch"), "the run is still live");
	end_box(&s);
	ok(sweep(broker, &lines, &err) == 0 && said(&lines, ".vscode"), "and said at the end");
	ab_broker_end(broker);
	tear_down(&s);
}

/* The supervisor asks when the command has ended, which may be before the rest of the box has. */
static void check_early(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };
	struct pollfd answer = { .events = POLLIN };

	set_up(&s, "early");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	ok(ab_broker_sweep(broker, false, &err) == 0, "asked while the box lives %s", err.text);
	sh("echo evil >$T/work/.envrc");
	ok(comes("work/.envrc", false), "the broker watches on");
	answer.fd = ab_broker_fd(broker);
	ok(poll(&answer, 1, 0) == 0 && exists("state/live/early"), "and does not answer yet");
	sh("echo fine >$T/work/made");
	end_box(&s);
	ok(ab_broker_swept(broker, &lines, &(struct ab_strv){ 0 }, &err) == 0 &&
		   said(&lines, ".envrc"),
	   "it answers when the box is gone: %s", err.text);
	ab_broker_dismiss(broker);
	ab_broker_end(broker);
	ok(no_child_left(), "dismissed first, it is reaped all the same");
	ok(exists("state/runs/early") && !exists("state/live/early"), "the run is retired");
	ok(exists("work/made"), "what is allowed stays");
	tear_down(&s);
}

/* Only init is left in the box: there is nothing to wait for. */
static void check_empty(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };

	set_up(&s, "empty");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	sh("echo evil >$T/work/.envrc");
	ok(ab_broker_sweep(broker, true, &err) == 0 &&
		   ab_broker_swept(broker, &lines, &(struct ab_strv){ 0 }, &err) == 0 &&
		   said(&lines, ".envrc"),
	   "asked about an empty box it answers before the box is gone: %s", err.text);
	ok(!exists("work/.envrc"), "it is swept");
	ab_broker_end(broker);
	ok(exists("state/runs/empty") && !exists("state/live/empty"), "the run is retired");
	end_box(&s);
	tear_down(&s);
}

static void check_leave(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };

	set_up(&s, "leave");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	ab_broker_end(broker);
	ok(waitpid(-1, NULL, WNOHANG) == 0, "let go it leaves; the box stays");
	ok(exists("state/live/leave"), "and the run is as it was");
	ab_run_retire(&s.run);
	tear_down(&s);
}

/* A loop ends the box, and the reason comes with the reply to the sweep at the latest. */
static void check_loop(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };

	set_up(&s, "loopy");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	ok(sh("cd $T/work; for i in 1 2 3; do echo evil >.envrc;"
	      "while [ -e .envrc ]; do sleep 0.01; done; done") == 0,
	   "moved three times");
	ok(waitpid(s.init, NULL, 0) == s.init, "the box is ended");
	s.init = -1;
	ok(sweep(broker, &lines, &err) < 0 && strstr(err.text, "/work/.envrc 3 times") &&
		   strstr(err.hint, "--deny-write '!.envrc'"),
	   "the reason is told: %s", err.text);
	ok(lines.len == 5, "and so is what was moved, and how to get it back");
	ab_broker_end(broker);
	tear_down(&s);
}

static void check_unheld(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	int pipes[2];
	struct pollfd end;
	pid_t pid;
	char path[64];
	int count = -1;

	set_up(&s, "stdio");
	if (pipe(pipes) < 0 || ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	pid = await_broker_name();
	close(pipes[1]);
	end = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	ok(pid > 0 && poll(&end, 1, 60000) == 1 && (end.revents & POLLHUP),
	   "it holds no pipe of the caller");
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	/* Its own descriptors, and those of the watched folders and repositories. */
	for (int i = 0; i < 12000; i++) {
		DIR *dir = opendir(path);
		bool stdio = false;

		count = 0;
		for (struct dirent *e; dir && (e = readdir(dir));) {
			char link[96], to[256];
			ssize_t n;

			if (e->d_name[0] == '.')
				continue;
			count++;
			snprintf(link, sizeof(link), "%s/%.16s", path, e->d_name);
			n = readlink(link, to, sizeof(to) - 1);
			to[n > 0 ? n : 0] = '\0';
			stdio |= strncmp(to, "pipe:", 5) == 0;
		}
		if (dir)
			closedir(dir);
		if (count > 0 && count < 24 && !stdio)
			break;
		count = -1;
		nanosleep(&pause, NULL);
	}
	ok(count > 0, "%d descriptors, none of them a pipe", count);
	close(pipes[0]);
	ab_broker_end(broker);
	ab_run_retire(&s.run);
	tear_down(&s);
}

/* The box decides when its first call is held, and what else the broker is asked at that moment. */
static void check_busy(void)
{
	static const struct ab_built built = { .filters = 0 };
	struct ab_peer peer = { .port = 9, .udp = true };
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), r = 1;
	pid_t pid;
	struct stand s;
	uint32_t n = 0;

	set_up(&s, "busy");
	if (null < 0 || ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	pid = await_broker_name();
	if (pid <= 0 || kill(pid, SIGSTOP) < 0)
		abort();
	while (n < 100000 && ab_broker_find_owner(broker, n, &peer) == 0)
		n++;
	ok(n > 0 && n < 100000, "a broker that is busy takes no more than %u requests", n);
	ok(ab_broker_start_guard(broker, null, &built) == 1, "nor the guard, and says so");
	if (kill(pid, SIGCONT) < 0)
		abort();
	for (int i = 0; i < 6000 && r == 1; i++) {
		nanosleep(&pause, NULL);
		r = ab_broker_start_guard(broker, null, &built);
	}
	ok(r == 0, "it does once it can");
	close(null);
	ab_broker_end(broker);
	ab_run_retire(&s.run);
	tear_down(&s);
}

static void check_killed(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };
	struct pollfd end;
	pid_t pid;

	set_up(&s, "kille");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	pid = await_broker_name();
	if (pid <= 0)
		abort();
	kill(pid, SIGKILL);
	end = (struct pollfd){ .fd = ab_broker_fd(broker), .events = POLLIN };
	ok(poll(&end, 1, 60000) == 1, "a killed broker is noticed");
	ab_broker_hear(broker, &(struct ab_broker_news){ 0 }, &err);
	ok(strstr(err.text, "broker") && err.hint[0] && strcmp(err.step, "broker") == 0,
	   "and explained: %s", err.text);
	ok(sweep(broker, &lines, &err) < 0 && lines.len == 0, "it sweeps nothing");
	ok(exists("state/live/kille"), "so the run stays live for a later start");
	ab_broker_end(broker);
	end_box(&s);
	ok(no_child_left(), "and is reaped");
	ab_run_retire(&s.run);
	tear_down(&s);
}

/* The supervisor is a process of its own here, killed in its sleep. */
static void check_orphan(void)
{
	struct stand s;
	pid_t supervisor;
	int ready[2];
	char byte;

	set_up(&s, "orphn");
	if (pipe2(ready, O_CLOEXEC) < 0)
		abort();
	supervisor = fork();
	if (supervisor == 0) {
		struct ab_broker *broker;
		struct ab_error err;

		if (ab_broker_start(&s.duty, &broker, &err) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ok(read(ready[0], &byte, 1) == 1, "a supervisor with its broker");
	/* The lock is now the broker's alone. */
	ab_run_fini(&s.run);
	sh("echo evil >$T/work/.envrc");
	kill(supervisor, SIGKILL);
	waitpid(supervisor, NULL, 0);
	/* The broker waits for the box, which has not ended yet. */
	ok(exists("state/live/orphn"), "while the box lives the run does");
	end_box(&s);
	ok(comes("state/live/orphn", false) && exists("state/runs/orphn"),
	   "the broker finishes the run alone");
	ok(!exists("work/.envrc"), "it has swept");
	ok(comes("state/runs/orphn/audit.jsonl", true) &&
		   sh("for i in $(seq 200); do grep -q 'supervisor was killed' "
		      "$T/state/runs/orphn/audit.jsonl && exit 0; sleep 0.05; "
		      "done; exit 1") == 0,
	   "and written that down");
	close(ready[0]);
	close(ready[1]);
	tear_down(&s);
}

/* It was swept, and dies before it has written the end of the record. */
static void check_unended(void)
{
	struct stand s;
	pid_t supervisor;
	int ready[2];
	char byte;

	set_up(&s, "unend");
	if (pipe2(ready, O_CLOEXEC) < 0)
		abort();
	supervisor = fork();
	if (supervisor == 0) {
		ab_autostrv struct ab_strv lines = { 0 };
		struct ab_broker *broker;
		struct ab_error err;

		if (ab_broker_start(&s.duty, &broker, &err) < 0)
			_exit(1);
		sh("echo evil >$T/work/.envrc");
		kill(s.init, SIGKILL);
		if (sweep(broker, &lines, &err) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ok(read(ready[0], &byte, 1) == 1, "a supervisor that has the answer to its sweep");
	ab_run_fini(&s.run);
	ok(!exists("work/.envrc"), "the workspace is swept");
	ok(exists("state/live/unend") && !exists("state/runs/unend"),
	   "the run is not retired before the supervisor has written its end");
	kill(supervisor, SIGKILL);
	waitpid(supervisor, NULL, 0);
	ok(comes("state/runs/unend", true) && !exists("state/live/unend"),
	   "then the broker ends it");
	ok(sh("[ $(grep -c '\"kind\":\"end\"' $T/state/runs/unend/audit.jsonl) = 1 ] && "
	      "grep -q 'supervisor was killed.*moved to quarantine' $T/state/runs/unend/audit.jsonl") ==
		   0,
	   "its record has one end, with what was found");
	close(ready[0]);
	close(ready[1]);
	tear_down(&s);
}

/* The end is written, and the supervisor dies before it lets the broker go. */
static void check_ended(void)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };
	ab_autobuf struct ab_buf line = { 0 };

	set_up(&s, "ended");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	end_box(&s);
	ok(sweep(broker, &lines, &err) == 0, "swept %s", err.text);
	ab_record_open(&line, "ended", "end");
	ok(ab_log_write(&s.log, &line, &err) == 0, "the end is written");
	close(ab_broker_fd(broker));
	ok(comes("state/runs/ended", true), "the broker retires the run");
	ok(sh("[ $(grep -c '\"kind\":\"end\"' $T/state/runs/ended/audit.jsonl) = 1 ]") == 0,
	   "and writes no other end");
	tear_down(&s);
}

/* In the place of a cgroup file system, where a process stays in the cgroup of the run. */
static char *busy_cgroup;

int statfs(const char *path, struct statfs *fs)
{
	int r = (int)syscall(SYS_statfs, path, fs);

	if (busy_cgroup)
		fs->f_type = CGROUP2_SUPER_MAGIC;
	return r;
}

int rmdir(const char *path)
{
	if (busy_cgroup && strcmp(path, busy_cgroup) == 0)
		return ab_errno(EBUSY);
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

static void check_cgroup(bool ended)
{
	struct stand s;
	struct ab_broker *broker = NULL;
	struct ab_error err = { 0 };
	ab_autostrv struct ab_strv lines = { 0 };
	ab_autobuf struct ab_buf line = { 0 };
	const char *id = ended ? "cgrp2" : "cgrp3";

	set_up(&s, id);
	s.duty.cgroup = busy_cgroup = ab_printf("%s/agentbox-%s", top, id);
	sh("mkdir %s", busy_cgroup);
	ab_record_open(&line, id, "end");
	if (ab_broker_start(&s.duty, &broker, &err) < 0)
		abort();
	end_box(&s);
	if (sweep(broker, &lines, &err) < 0 || (ended && ab_log_write(&s.log, &line, &err) < 0))
		abort();
	ab_broker_end(broker);
	if (ended)
		ok(exists("state/live/cgrp2"), "a run that has ended stays live for its cgroup");
	else
		ok(exists("state/runs/cgrp3"),
		   "without an end it does not: it would be swept again");
	free(ab_take(busy_cgroup));
	tear_down(&s);
}

/* In this process and its children, receiving fails. */
static void forbid_recvmsg(int errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvmsg, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0)
		_exit(9);
}

/* 0: the broker has ended the box, and is gone. What it said may be lost with it, since it left a request
 * unread. */
static int ask_deaf_broker(struct stand *s, int errnum)
{
	static char packet[65536];
	struct ab_broker *broker;
	struct ab_error err;
	struct pollfd box = { .fd = s->duty.init, .events = POLLIN }, answer;

	forbid_recvmsg(errnum);
	if (ab_broker_start(&s->duty, &broker, &err) < 0 ||
	    ab_broker_sweep(broker, false, &err) < 0)
		return 1;
	answer = (struct pollfd){ .fd = ab_broker_fd(broker), .events = POLLIN };
	if (poll(&box, 1, 60000) != 1)
		return 2;
	for (;;) {
		ssize_t n;

		if (poll(&answer, 1, 60000) != 1)
			return 3;
		n = recv(answer.fd, packet, sizeof(packet), 0);
		if (n <= 0)
			return n == 0 || errno == ECONNRESET ? 0 : 4;
		if (!memmem(packet, (size_t)n, "receive from the supervisor", 27))
			return 5;
	}
}

/* Both would wait for each other. */
static void check_deaf(void)
{
	static const int errnums[] = { ENOMEM, EIO, EMFILE, EACCES };

	for (size_t i = 0; i < sizeof(errnums) / sizeof(errnums[0]); i++) {
		struct stand s;
		int status = -1;
		pid_t pid;

		set_up(&s, "deaf");
		pid = fork();
		if (pid == 0)
			_exit(ask_deaf_broker(&s, errnums[i]));
		ok(waitpid(pid, &status, 0) == pid && status == 0,
		   "a broker that cannot receive (%s) ends the run: %d", strerror(errnums[i]),
		   WEXITSTATUS(status));
		ok(exists("state/live/deaf"), "which stays live for the next start");
		ab_run_retire(&s.run);
		tear_down(&s);
		sh("rm -rf $T/state/runs/deaf");
	}
}

int main(void)
{
	start();
	check_sweep();
	check_watch();
	check_early();
	check_empty();
	check_leave();
	check_unheld();
	check_busy();
	check_killed();
	check_loop();
	check_orphan();
	check_unended();
	check_ended();
	check_cgroup(true);
	check_cgroup(false);
	check_deaf();
	finish();
	return done();
}
