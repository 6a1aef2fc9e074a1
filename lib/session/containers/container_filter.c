#include "session/containers/container_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "policy/model/policy.h"
#include "session/containers/engine_client.h"
#include "session/containers/host_engine.h"
#include "session/lock/lockdown.h"

enum { SWEEP_MS = 90000 }; /* how long the supervisor waits at the end */

/* From the filter. */
struct message {
	bool swept; /* `sweep` is the last message, else `note` */
	union {
		struct ab_engine_relay_note note;
		struct ab_container_sweep sweep;
	};
};

struct ab_container_filter {
	pid_t pid;
	int sock;
	bool ended;
	struct ab_container_sweep sweep;
};

/* In the filter's process. */
struct work {
	struct ab_engine_relay relay; /* first */
	const struct ab_host_engine *engine;
	struct ab_source supervisor;
	int sock;
	char moved[600];
};

static const char *find_moved_folder(void *arg)
{
	struct work *w = arg;
	const char *path = ab_host_engine_moved(w->engine);

	if (!path)
		return NULL;
	snprintf(w->moved, sizeof(w->moved), "the folder %.400s is not the one it was at the start",
		 path);
	return w->moved;
}

static int tell_supervisor(void *arg, const struct ab_engine_relay_note *note)
{
	struct work *w = arg;
	struct message m = { .note = *note };

	return ab_send_fds(w->sock, &m, sizeof(m), NULL, 0);
}

/* A listening socket, or the end of the run. */
static void hear_supervisor(struct ab_source *source, uint32_t events)
{
	struct work *w = source->owner;
	struct ab_error err;
	size_t n = 1;
	int fd = -1;
	char byte;

	(void)events;
	if (ab_recv_fds(w->sock, &byte, 1, &fd, &n, 0) > 0) {
		if (n == 1 && ab_engine_relay_listen(&w->relay, fd, &err) < 0)
			_exit(1);
		return;
	}
	ab_loop_remove(&w->relay.loop, source);
	ab_engine_relay_end(&w->relay);
}

static void sweep_containers(struct work *w)
{
	struct message m = { .swept = true };
	struct ab_error err = { 0 };
	size_t removed = 0;

	m.sweep.done = ab_engine_sweep(w->relay.engine, w->relay.terms.run, &removed, &err) == 0;
	m.sweep.removed = (unsigned)removed;
	snprintf(m.sweep.text, sizeof(m.sweep.text), "%.500s", err.text);
	(void)ab_send_fds(w->sock, &m, sizeof(m), NULL, 0);
}

/* Not inlined: scripts/check-calls looks for it. */
static _Noreturn __attribute__((noinline)) void serve_box(struct work *w)
{
	struct ab_error err;

	if (ab_loop_run(&w->relay.loop, &err) < 0)
		_exit(1);
	ab_engine_relay_fini(&w->relay);
	sweep_containers(w);
	_exit(0);
}

static _Noreturn void be_filter(const struct ab_container_filter_setup *setup, int sock)
{
	static struct work w;
	const struct ab_policy *policy = setup->policy;
	char *folder = ab_path_parent(setup->engine->socket);
	sigset_t none;
	struct ab_error err;

	prctl(PR_SET_NAME, "agentbox-docker");
	/* From the kernel, which is out of reach later: names in bodies are the box's. */
	json_object_seed(0);
	/* Signals are for the supervisor: when it ends, so does its socket. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = 0; fd < 3; fd++)
		if (fd != sock)
			close(fd);
	if (ab_close_others((int[]){ sock, setup->claim }, 2) < 0)
		_exit(1);
	w.engine = setup->engine;
	w.sock = sock;
	w.relay.engine = setup->engine->socket;
	w.relay.pull = policy->docker.pull;
	w.relay.moved = find_moved_folder;
	w.relay.note = tell_supervisor;
	w.relay.arg = &w;
	w.relay.terms = (struct ab_create_terms){ .run = setup->run,
						  .images = &policy->docker.images,
						  .mounts = setup->engine->mounts,
						  .nmounts = setup->engine->nmounts,
						  .user = setup->engine->user,
						  .bridge = policy->docker.bridge,
						  .publish = policy->docker.publish,
						  .setup_caps = policy->docker.setup_caps,
						  .memory = policy->limits.memory };
	w.supervisor = (struct ab_source){ .fd = sock, .ready = hear_supervisor, .owner = &w };
	if (ab_engine_relay_init(&w.relay, &err) < 0 ||
	    ab_lock_container_filter(folder, &err) < 0 ||
	    ab_loop_add(&w.relay.loop, &w.supervisor, EPOLLIN, &err) < 0)
		_exit(1);
	serve_box(&w);
}

int ab_container_filter_start(const struct ab_container_filter_setup *setup,
			      struct ab_container_filter **ret, struct ab_error *err)
{
	struct ab_container_filter f = { .sock = -1 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "make a socket pair");
		return ab_step(err, "containers");
	}
	f.sock = pair[0];
	f.pid = fork();
	if (f.pid == 0)
		be_filter(setup, pair[1]);
	close(pair[1]);
	close(setup->claim);
	if (f.pid < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "fork the container filter");
		close(f.sock);
		return ab_step(err, "containers");
	}
	*ret = ab_alloc(sizeof(**ret));
	**ret = f;
	return 0;
}

int ab_container_filter_listen(struct ab_container_filter *f, int fd)
{
	return ab_send_fds(f->sock, "", 1, &fd, 1);
}

int ab_container_filter_fd(const struct ab_container_filter *f)
{
	return f->sock;
}

int ab_container_filter_hear(struct ab_container_filter *f, struct ab_engine_relay_note *ret)
{
	struct message m;
	ssize_t n = recv(f->sock, &m, sizeof(m), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == (ssize_t)sizeof(m) && m.swept) {
		f->sweep = m.sweep;
		return 0;
	}
	if (n == (ssize_t)sizeof(m)) {
		*ret = m.note;
		return 1;
	}
	f->ended = true;
	return -1;
}

void ab_container_filter_end(struct ab_container_filter *f)
{
	shutdown(f->sock, SHUT_WR);
}

int ab_container_filter_await(struct ab_container_filter *f, struct ab_engine_relay_note *ret)
{
	struct pollfd p = { .fd = f->sock, .events = POLLIN };
	int r;

	do {
		r = poll(&p, 1, SWEEP_MS);
		if (r == 0)
			return -1;
		r = ab_container_filter_hear(f, ret);
	} while (r == 0);
	return r;
}

void ab_container_filter_free(struct ab_container_filter *f, struct ab_container_sweep *ret)
{
	if (!f)
		return;
	close(f->sock);
	*ret = f->sweep;
	if (!ret->done && !ret->text[0])
		snprintf(ret->text, sizeof(ret->text), "%s",
			 f->ended ? "the container filter died"
				  : "the container engine does not answer");
	if (f->ended)
		while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(f);
}
