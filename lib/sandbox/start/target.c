#include "sandbox/start/target.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "landlock/landlock.h"
#include "sandbox/plan/spec.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/start/box_wire.h"
#include "sandbox/start/limits.h"
#include "sandbox/start/mark.h"
#include "sandbox/start/probe.h"

/*
 * A group of its own in init's session, in the foreground: so Ctrl-Z stops
 * the command and init sees it. A session of its own would be orphaned, and
 * then the kernel ignores the stop. Behind, the group stays init's, and the
 * terminal stops the command when it wants to read.
 */
static int take_terminal(const struct ab_target *t, struct ab_error *err)
{
	pid_t self = getpid();

	if (setpgid(0, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a process group");
	if (t->tty < 0)
		return 0;
	if (!t->spec->tty_behind && ioctl(t->tty, TIOCSPGRP, &self) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "take the terminal");
	for (int fd = 0; fd < 3; fd++)
		if ((t->spec->tty_fds & (1u << fd)) && dup2(t->tty, fd) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "attach the terminal");
	return 0;
}

/* After the proof: from here on this process cannot execute anything before
 * somebody listens. */
static int ask_first(struct ab_target *t, struct ab_error *err)
{
	int fd = ab_seccomp_listen(AB_FILTER_CHILDREN);

	if (fd >= 0) {
		t->listener = fd;
		return 0;
	}
	t->holds->unasked = -fd;
	if (!t->spec->strict)
		return 0;
	ab_fail(err, AB_ESYSTEM, -fd, "listen for what is executed");
	ab_hint(err,
		"%s; commands.enforce \"start\" does without, and "
		"--fallback warn says so and runs",
		fd == -EBUSY ? "what agentbox itself runs in listens already, "
			       "and the kernel allows one"
			     : "this needs Linux 5.5");
	return ab_step(err, "enforcement");
}

/*
 * The filter that asks, and at once who is asked: from here on the proof
 * itself needs the answers. Without a listener it is the filter that does not
 * ask.
 */
static int load_filter(struct ab_target *t)
{
	struct ab_msg msg = { .type = AB_MSG_ASKS };
	int fd;

	if (!t->spec->traced)
		return ab_seccomp_load(AB_FILTER_TARGET);
	fd = ab_seccomp_listen(AB_FILTER_TRACED);
	if (fd < 0) {
		t->holds->unasked = -fd;
		return ab_seccomp_load(AB_FILTER_TARGET);
	}
	t->asked = true;
	if (ab_send_fds(t->sock, &msg, AB_MSG_LEN(0), &fd, 1) < 0)
		_exit(125);
	close(fd);
	return 0;
}

int ab_target_lock(struct ab_target *t, struct ab_error *err)
{
	int r;

	t->listener = -1;
	t->asked = false;
	r = ab_limits_apply(t->spec);
	if (r < 0) {
		ab_fail(err, AB_ESYSTEM, -r, "set resource limits");
		return ab_step(err, "limits");
	}
	r = t->ruleset >= 0 ? ab_landlock_enter(t->ruleset) : 0;
	if (r < 0) {
		ab_fail(err, AB_ESYSTEM, -r, "enter Landlock");
		return ab_step(err, "landlock");
	}
	ab_mark("landlock");
	if (t->spec->no_sockets) {
		r = ab_seccomp_load(AB_FILTER_NONET);
		if (r < 0) {
			ab_fail(err, AB_ESYSTEM, -r, "load the socket filter");
			return ab_step(err, "syscall filter");
		}
	}
	r = load_filter(t);
	if (r < 0) {
		ab_fail(err, AB_ESYSTEM, -r, "load the syscall filter");
		return ab_step(err, "syscall filter");
	}
	ab_mark("syscall filter");
	ab_probe(t, t->holds);
	ab_mark("proof");
	return t->spec->children && !t->asked ? ask_first(t, err) : 0;
}

/* A script without "#!" is the shell's, as with execvp. The vector is mapped:
 * the heap is init's. */
static void execute(const char *file, const struct ab_spec *spec)
{
	size_t n = spec->argv.len;
	char **argv;

	execve(file, spec->argv.v, spec->env.v);
	if (errno != ENOEXEC)
		return;
	argv = mmap(NULL, (n + 2) * sizeof(argv[0]), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argv == MAP_FAILED)
		return;
	argv[0] = (char *)"sh";
	argv[1] = (char *)file;
	memcpy(argv + 2, spec->argv.v + 1, n * sizeof(argv[0]));
	execve("/bin/sh", argv, spec->env.v);
	errno = ENOEXEC;
}

/* execve along PATH, as a shell would look. */
static void execute_along(const char *path, const struct ab_spec *spec)
{
	const char *name = spec->argv.v[0];
	int denied = 0;

	if (!*name || strchr(name, '/')) {
		execute(name, spec);
		return;
	}
	for (;;) {
		size_t n = strcspn(path, ":");
		char file[4096];

		if ((size_t)snprintf(file, sizeof(file), "%.*s%s%s", (int)n, path, n ? "/" : "",
				     name) < sizeof(file))
			execute(file, spec);
		else
			errno = ENAMETOOLONG;
		if (errno == EACCES)
			denied = 1;
		else if (errno != ENOENT && errno != ENOTDIR)
			return;
		if (!path[n])
			break;
		path += n + 1;
	}
	errno = denied ? EACCES : ENOENT;
}

int ab_target_exec(const struct ab_spec *spec, struct ab_error *err)
{
	const char *path = ab_env_get(&spec->env, "PATH");
	int errnum;

	execute_along(path ? path : "/usr/local/bin:/usr/bin:/bin", spec);
	errnum = errno;
	ab_fail(err, errnum == ENOENT || errnum == ENOTDIR ? AB_ENOTFOUND : AB_ENOEXEC, errnum,
		"%s", spec->argv.v[0]);
	return ab_step(err, "exec");
}

/* The properties that must hold and do not, as a refusal. */
static int judge(const struct ab_spec *spec, const struct ab_holds *holds, struct ab_error *err)
{
	uint32_t lacking = spec->require & ~holds->properties;

	if (!spec->strict || !lacking)
		return 0;
	ab_fail(err, AB_EPROPERTY, 0, "the box does not hold: %s", holds->missing);
	ab_hint(err, "agentbox doctor says what this machine lacks; "
		     "--fallback warn runs without it");
	return ab_step(err, "proof");
}

static int wait_for_go(int sock, struct ab_error *err)
{
	struct ab_msg msg;
	ssize_t n = recv(sock, &msg, sizeof(msg), 0);

	if (n < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "wait for the start");
	/* The supervisor is gone: nobody would confine, record or end us. */
	if (n < (ssize_t)AB_MSG_LEN(0) || msg.type != AB_MSG_GO)
		_exit(125);
	return 0;
}

static void send_holds(struct ab_target *t)
{
	struct ab_msg msg = { .type = AB_MSG_HOLDS, .u.holds = *t->holds };

	if (ab_send_fds(t->sock, &msg, AB_MSG_LEN(sizeof(msg.u.holds)), &t->listener,
			t->listener >= 0) < 0)
		_exit(125);
	ab_closep(&t->listener);
}

__attribute__((no_sanitize("address", "undefined"))) static int become_target(void *arg)
{
	struct ab_target *t = arg;
	struct ab_msg msg = { .type = AB_MSG_FAILED };
	struct ab_error *err = &msg.u.error;
	sigset_t none;

	if (take_terminal(t, err) < 0) {
		ab_step(err, "terminal");
		goto fail;
	}
	if (ab_target_lock(t, err) < 0 || judge(t->spec, t->holds, err) < 0)
		goto fail;
	/* The supervisor widens the cgroup when it has heard the proof. */
	if (t->spec->pids_cgroup)
		send_holds(t);
	if (wait_for_go(t->sock, err) < 0) {
		ab_step(err, "go");
		goto fail;
	}
	ab_mark("go");
	if (!t->spec->pids_cgroup)
		send_holds(t);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ab_target_exec(t->spec, err);
fail:
	ab_send_fds(t->sock, &msg, AB_MSG_LEN(sizeof(msg.u.error)), NULL, 0);
	_exit(125);
}

pid_t ab_target_start(struct ab_target *target)
{
	static char stack[128 * 1024] __attribute__((aligned(16)));

	return clone(become_target, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
		     target);
}
