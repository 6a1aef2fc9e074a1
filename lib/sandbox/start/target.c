#include "sandbox/start/target.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "landlock/landlock.h"
#include "sandbox/plan/engine.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/box_wire.h"
#include "sandbox/start/limits.h"
#include "sandbox/start/probe.h"

static struct ab_holds *book;

void ab_mark_open(struct ab_holds *holds)
{
	book = holds;
}

void ab_mark(const char *step)
{
	if (!book || book->nmarks == AB_MARKS_MAX)
		return;
	snprintf(book->marks[book->nmarks].name, sizeof(book->marks[0].name), "%s", step);
	book->marks[book->nmarks++].ns = (uint64_t)ab_clock_ns(CLOCK_MONOTONIC);
}

enum { NICE = 5 }; /* of a box whose init has no privilege over it */

/*
 * The command gets its own foreground group in init's session, so that Ctrl-Z stops
 * it and init notices. In its own session the group would be orphaned, and the
 * kernel would ignore the stop. In the background, init's group keeps the
 * terminal, which stops the command when it reads.
 */
static int take_terminal(const struct ab_target *t, struct ab_error *err)
{
	pid_t self = getpid();

	if (setpgid(0, 0) < 0)
		return ab_fail_step(err, "terminal", errno, "create a process group");
	if (t->tty < 0)
		return 0;
	if (!t->spec->tty_behind && ioctl(t->tty, TIOCSPGRP, &self) < 0)
		return ab_fail_step(err, "terminal", errno, "take the terminal");
	for (int fd = 0; fd < 3; fd++)
		if ((t->spec->tty_fds & (1u << fd)) && dup2(t->tty, fd) < 0)
			return ab_fail_step(err, "terminal", errno, "attach the terminal");
	return 0;
}

/* The filter that refuses without asking. */
static enum ab_filter plain_filter(const struct ab_spec *spec)
{
	return spec->userns ? AB_FILTER_USERNS : AB_FILTER_TARGET;
}

enum ab_filter ab_target_filter(const struct ab_spec *spec, enum ab_box_engine engine)
{
	bool sealed = ab_box_engines[engine].seals_user_ns;

	return sealed && !spec->nested ? AB_FILTER_ASKING : plain_filter(spec);
}

/*
 * Is the filter of the listener the only one? To load one takes the kernel about 50 microseconds, however
 * short it is. The other walls are proved before it: none of them rests on a filter.
 */
static bool has_one_filter(const struct ab_target *t)
{
	return ab_target_filter(t->spec, t->holds->engine) == AB_FILTER_ASKING &&
	       !t->spec->traced && !t->inside && !t->spec->no_namespaces;
}

static int load(struct ab_target *t, enum ab_filter filter)
{
	int r = ab_seccomp_load(filter);

	t->holds->filters += r == 0;
	return r;
}

static int listen_with(struct ab_target *t, enum ab_filter filter)
{
	int fd = ab_seccomp_listen(filter);

	t->holds->filters += fd >= 0;
	return fd;
}

/*
 * After the proof, which writes too: from now on this process waits with each call
 * that the filter asks about until the supervisor listens. Without a listener
 * the plain filter refuses what would have been asked about, but programs are not judged.
 */
static int open_listener(struct ab_target *t, struct ab_error *err)
{
	static const enum ab_filter filters[4][2] = {
		{ AB_FILTER_ASKING_WRITES, AB_FILTER_ASKING_CHILDREN },
		{ AB_FILTER_WRITES, AB_FILTER_CHILDREN },
		{ AB_FILTER_SHARED_WRITES, AB_FILTER_SHARED_CHILDREN },
		{ AB_FILTER_SOCKETS, AB_FILTER_SOCKETS_CHILDREN },
	};
	int kind = t->spec->no_namespaces ? (t->spec->own_net ? 3 : 2) : !has_one_filter(t);
	int fd = listen_with(t, filters[kind][t->spec->children]);
	int r;

	if (fd >= 0) {
		t->listener = fd;
		ab_probe_asked(t->spec, t->holds);
		return 0;
	}
	t->holds->unasked = -fd;
	ab_probe_unasked(t->spec, t->holds);
	r = load(t, t->spec->no_namespaces ? AB_FILTER_UNASKED : plain_filter(t->spec));
	if (r < 0)
		return ab_fail_step(err, "syscall filter", -r, "load the syscall filter");
	if (!t->spec->strict || !t->spec->children)
		return 0;
	ab_fail(err, AB_ESYSTEM, -fd, "watch executed programs");
	ab_hint(err,
		"%s; to run without it, set commands.enforce to \"start\" or "
		"use --fallback warn",
		fd == -EBUSY ? "the container around agentbox already watches, "
			       "and the kernel allows only one listener"
			     : "this needs Linux 5.5");
	return ab_step(err, "enforcement");
}

static int send_up(const struct ab_target *t, const struct ab_msg *msg, const int *fds, size_t nfds,
		   struct ab_error *err)
{
	if (ab_send_fds(t->sock, msg, AB_MSG_LEN(sizeof(msg->u.holds)), fds, nfds) == 0)
		return 0;
	return ab_fail_step(err, "proof", errno, "send the proof of the walls to the supervisor");
}

/*
 * Load the filter that asks, and send the listener up immediately: from now on the
 * proof itself needs answers. If that fails, load the filter that does not ask.
 */
static int load_filter(struct ab_target *t, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_ASKS };
	enum ab_filter filter = ab_target_filter(t->spec, t->holds->engine);
	ab_autoclose int fd = -1;
	int r;

	/* The same filter a second time would only cost time. */
	if (has_one_filter(t) || (!t->spec->traced && t->inside))
		return 0;
	if (t->spec->traced && !t->proof_only) {
		fd = listen_with(t, AB_FILTER_TRACED);
		t->holds->unasked = fd < 0 ? -fd : 0;
		filter = plain_filter(t->spec);
	}
	if (fd < 0) {
		r = load(t, filter);
		return r < 0 ? ab_fail_step(err, "syscall filter", -r, "load the syscall filter")
			     : 0;
	}
	t->asked = true;
	msg.u.holds.filters = t->holds->filters;
	memcpy(msg.u.holds.layers, t->holds->layers, sizeof(msg.u.holds.layers));
	return send_up(t, &msg, &fd, 1, err);
}

/* Filters below that of the listener, each if the box needs it. */
static int load_lower_filters(struct ab_target *t, struct ab_error *err)
{
	const struct ab_spec *spec = t->spec;
	const struct {
		bool needed;
		enum ab_filter filter;
	} filters[] = {
		{ spec->no_sockets && !spec->no_namespaces, AB_FILTER_NONET },
		{ spec->no_namespaces, AB_FILTER_SHARED },
		{ spec->no_namespaces && spec->no_sockets, AB_FILTER_ALONE },
	};

	for (size_t i = 0; i < AB_COUNT(filters); i++) {
		int r = filters[i].needed ? load(t, filters[i].filter) : 0;

		if (r < 0)
			return ab_fail_step(err, "syscall filter", -r, "load the socket filter");
	}
	return 0;
}

/* As init does it for a command that it knows from the start. */
static void add_variables(struct ab_target *t)
{
	struct ab_spec *spec = t->waiting;

	if (t->uncaptured)
		ab_strv_extend(&spec->env, &spec->env_uncaptured);
	for (size_t i = 0; i < spec->layers.len; i++)
		if (spec->layers.v[i].errnum > 0)
			ab_env_add_missing(&spec->env, &spec->layers.v[i].instead);
}

/* Takes what belongs to the command; everything else is the box's. The heap is init's, which sleeps
 * until we execute the command (vfork). */
static int read_command(struct ab_target *t, const struct ab_spec_msg *msg, size_t len, int fd,
			bool *ret_moves, struct ab_error *err)
{
	struct ab_spec *spec = t->waiting, command;
	int r = fd >= 0 ? ab_spec_read(fd, &command, err)
			: ab_spec_parse(msg->spec, len, &command, err);

	if (r < 0)
		return -1;
	*ret_moves = strcmp(command.cwd, spec->cwd) != 0;
	if (command.streams.len != 3)
		return ab_fail(err, AB_ESYSTEM, 0, "the specification is damaged");
	spec->argv = command.argv;
	spec->env = command.env;
	spec->streams = command.streams;
	spec->cwd = command.cwd;
	add_variables(t);
	return 0;
}

int ab_target_take_streams(const struct ab_spec *spec, const struct ab_fds *fds, size_t first,
			   size_t end, struct ab_error *err)
{
	for (int fd = 0; fd < 3; fd++) {
		const char *stream = spec->streams.v[fd];
		ab_autoclose int opened = -1;
		int from;

		if (strcmp(stream, AB_STREAM_KEPT) == 0)
			continue;
		if (strcmp(stream, AB_STREAM_PASSED) == 0) {
			if (first >= end)
				return ab_fail(err, AB_ESYSTEM, 0, "descriptor %d was not passed",
					       fd);
			from = fds->v[first++];
		} else {
			/* The command's process puts the terminal in its place. */
			from = opened =
				open(strcmp(stream, AB_STREAM_TERMINAL) == 0 ? "/dev/null" : stream,
				     (fd ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC);
		}
		if (from < 0 || dup2(from, fd) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "open descriptor %d for the command",
				       fd);
	}
	return 0;
}

int ab_target_enter(const struct ab_spec *spec, struct ab_error *err)
{
	if (chdir(spec->cwd) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "enter %s", spec->cwd);
	ab_hint(err,
		"the folder is not visible in the box; start from another one, or add --write");
	return ab_step(err, "folder");
}

static int wait_for_go(int sock, struct ab_error *err)
{
	struct ab_msg msg;
	ssize_t n;

	/* The supervisor may have got a signal meanwhile. It is blocked here until the exec; to stop would
	 * keep init, which shares our memory. */
	while ((n = recv(sock, &msg, sizeof(msg), 0)) >= (ssize_t)AB_MSG_LEN(0) &&
	       (msg.type == AB_MSG_RESUME || msg.type == AB_MSG_SIGNAL))
		if (msg.type == AB_MSG_SIGNAL && msg.value != SIGTSTP)
			kill(getpid(), (int)msg.value);
	if (n >= (ssize_t)AB_MSG_LEN(0) && msg.type == AB_MSG_GO)
		return 0;
	/* 0: the supervisor is gone, and nothing would confine, record or end the command. */
	return ab_fail_step(err, "go", n < 0 ? errno : 0, "wait for the start");
}

/* The same for a box that waits: an eventfd. */
static int wait_for_event(int sock, int event, struct ab_error *err)
{
	/* Messages on the socket are init's, which reads them later. */
	struct pollfd p[] = { { .fd = event, .events = POLLIN }, { .fd = sock } };

	while (poll(p, AB_COUNT(p), -1) < 0 && errno == EINTR)
		;
	/* Else the supervisor has discarded the box, or is gone. */
	return (p[0].revents & POLLIN) && !(p[1].revents & (POLLHUP | POLLERR))
		       ? 0
		       : ab_fail_step(err, "go", 0, "wait for the start");
}

/*
 * A box that is prepared before there is a command for it (spec.waits) is built and proved as every box;
 * then this process waits, behind Landlock and the filter:
 *
 *	box		READY: everything is proved
 *	supervisor	COMMAND: the words, the environment, the folder, the streams, and an eventfd
 *	supervisor	writes it, which is `go`
 *
 * From the listener on, a call that it is asked about waits for the guard, which begins with the run:
 * only another folder needs one.
 */
static int await_command(struct ab_target *t, struct ab_error *err)
{
	static struct ab_spec_msg msg;
	struct ab_msg ready = { .type = AB_MSG_READY, .u.holds = *t->holds };
	ab_autofds struct ab_fds fds = { .len = 0 };
	int sent[] = { -1, t->listener };
	ssize_t n;
	bool sealed, moves = false;

	/* Nobody should wait for a box that must not start. */
	if (ab_target_check(t->spec, t->holds, err) < 0)
		return -1;
	sent[0] = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (sent[0] < 0)
		return ab_fail_step(err, "mounts", errno, "open /proc/self/mountinfo");
	if (send_up(t, &ready, sent, 1 + (t->listener >= 0), err) < 0)
		return -1;
	ab_close_all(&sent[0], &t->listener);
	fds.len = AB_COUNT(fds.v);
	n = ab_recv_fds(t->sock, &msg, sizeof(msg), fds.v, &fds.len, 0);
	/* 0: the supervisor has discarded the box, or is gone. */
	if (n < (ssize_t)AB_MSG_LEN(0) || msg.type != AB_MSG_COMMAND || !fds.len)
		return ab_fail_step(err, "specification", n < 0 ? errno : 0, "receive the command");
	sealed = msg.value;
	if (read_command(t, &msg, (size_t)n - AB_MSG_LEN(0), sealed && fds.len ? fds.v[0] : -1,
			 &moves, err) < 0)
		return ab_step(err, "specification");
	if (ab_target_take_streams(t->spec, &fds, sealed, fds.len - 1, err) < 0)
		return ab_step(err, "streams");
	if (wait_for_event(t->sock, fds.v[fds.len - 1], err) < 0)
		return -1;
	return moves ? ab_target_enter(t->spec, err) : 0;
}

int ab_target_lock(struct ab_target *t, struct ab_error *err)
{
	const uint32_t filter = AB_PROP_BIT(AB_PROP_SYSCALLS);
	bool one = has_one_filter(t);
	int r;

	t->listener = -1;
	t->asked = false;
	r = ab_limits_apply(t->spec);
	if (r < 0)
		return ab_fail_step(err, "limits", -r, "set resource limits");
	r = t->ruleset >= 0 && !t->inside ? ab_landlock_enter(t->ruleset) : 0;
	if (r < 0)
		return ab_fail_step(err, "landlock", -r, "enable Landlock");
	ab_mark("landlock");
	/* The init of a box that stays has loaded one: ab_keeper_enter(). */
	t->holds->filters = t->inside && !t->spec->traced;
	if (load_lower_filters(t, err) < 0 || load_filter(t, err) < 0)
		return -1;
	if (!one)
		ab_mark("syscall filter");
	t->holds->properties = 0;
	t->holds->missing[0] = '\0';
	ab_probe(t, one ? ~filter : ~(uint32_t)0, t->holds);
	if (t->holds->unasked)
		ab_probe_unasked(t->spec, t->holds);
	ab_mark("proof");
	if (!t->asked && !t->spec->nested && open_listener(t, err) < 0)
		return -1;
	if (one) {
		ab_mark("syscall filter");
		ab_probe(t, filter, t->holds);
	}
	/* Nothing behind that proof creates a process: it would fail here. */
	r = ab_limits_after_proof(t->spec);
	return r < 0 ? ab_fail_step(err, "limits", -r, "set the limit of processes again") : 0;
}

/* The shell runs a script without "#!", as with execvp. The vector is mapped,
 * because the heap belongs to init. */
static void exec_file(const char *file, const struct ab_spec *spec)
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

/* Search PATH as a shell does. */
static void search_path(const char *path, const struct ab_spec *spec)
{
	const char *name = spec->argv.v[0];
	int denied = 0;

	if (!*name || strchr(name, '/')) {
		exec_file(name, spec);
		return;
	}
	for (;;) {
		size_t n = strcspn(path, ":");
		char file[4096];

		if ((size_t)snprintf(file, sizeof(file), "%.*s%s%s", (int)n, path, n ? "/" : "",
				     name) < sizeof(file))
			exec_file(file, spec);
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
	const char *name = spec->argv.v[0];
	int errnum;

	search_path(path ? path : "/usr/local/bin:/usr/bin:/bin", spec);
	errnum = errno;
	if (errnum == ENOENT && !strchr(name, '/'))
		ab_fail(err, AB_ENOTFOUND, 0, "%s: command not found", name);
	else
		ab_fail(err, errnum == ENOENT || errnum == ENOTDIR ? AB_ENOTFOUND : AB_ENOEXEC,
			errnum, "%s", name);
	return ab_step(err, "exec");
}

/* What gives the guarantees that are missing. */
static const char *find_remedy(const struct ab_spec *spec, const struct ab_holds *holds,
			       uint32_t lacking)
{
	if (lacking & ab_box_engines[holds->engine].lacks)
		return ab_box_engines[holds->engine].better;
	if (lacking == AB_PROP_BIT(AB_PROP_READ_DENY) && spec->readable && *spec->readable)
		return "find its other names and add them with --deny-read";
	if (spec->layers.len && strstr(holds->missing, "(cannot examine /"))
		return "a box has closed a folder on the way in its kept layer; agentbox layers rm "
		       "removes that";
	return "agentbox doctor shows what this machine lacks";
}

int ab_target_check(const struct ab_spec *spec, const struct ab_holds *holds, struct ab_error *err)
{
	uint32_t lacking = spec->require & ~holds->properties;
	const char *without =
		lacking == AB_PROP_BIT(AB_PROP_LIMITS) ? ab_limits_without(spec) : NULL;

	if (!spec->strict || !lacking)
		return 0;
	ab_fail(err, AB_EPROPERTY, 0, "missing guarantees: %s", holds->missing);
	ab_hint(err, "%s%s; to run without it, use --fallback warn",
		without ? "set the limit on the container or the service instead, and none here: "
			: find_remedy(spec, holds, lacking),
		without ? without : "");
	return ab_step(err, "proof");
}

static int send_holds(struct ab_target *t, struct ab_error *err)
{
	struct ab_msg msg = { .type = AB_MSG_HOLDS, .u.holds = *t->holds };

	if (send_up(t, &msg, &t->listener, t->listener >= 0, err) < 0)
		return -1;
	ab_closep(&t->listener);
	return 0;
}

/*
 * Without namespaces. Init ends the box's processes one by one: it must get the processor among
 * them. If it is killed itself, the command at least ends.
 */
static void step_back(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!nice(NICE);
}

static int await_go(struct ab_target *t, struct ab_error *err)
{
	/* The supervisor widens the cgroup when it has received the proof. */
	bool early = t->spec->pids_cgroup;

	if (ab_target_check(t->spec, t->holds, err) < 0 || (early && send_holds(t, err) < 0) ||
	    wait_for_go(t->sock, err) < 0)
		return -1;
	ab_mark("go");
	return early ? 0 : send_holds(t, err);
}

__attribute__((no_sanitize("address", "undefined"))) static int become_target(void *arg)
{
	struct ab_target *t = arg;
	struct ab_error *err = t->err;
	sigset_t none;

	if (t->spec->no_namespaces)
		step_back();
	if (take_terminal(t, err) < 0 || ab_target_lock(t, err) < 0 ||
	    (t->waiting ? await_command(t, err) : await_go(t, err)) < 0)
		_exit(125);
	t->ready = true;
	if (t->proof_only)
		_exit(0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ab_target_exec(t->spec, err);
	_exit(125);
}

int ab_target_start(struct ab_target *t, pid_t *ret, struct ab_error *err)
{
	static char stack[128 * 1024] __attribute__((aligned(16)));

	*err = (struct ab_error){ 0 };
	t->err = err;
	*ret = clone(become_target, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, t);
	if (*ret < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a process");
	if (err->code == AB_ENONE && !t->ready)
		ab_fail(err, AB_ESYSTEM, 0, "the command's process was killed before its start");
	return err->code == AB_ENONE ? 0 : -1;
}
