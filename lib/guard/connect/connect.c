/*
 * Theory of operation.
 *
 * The socket is taken out of the calling process (pidfd_getfd) and connected to the copied address.
 * It shares its flags with the caller's, so a blocking one is made non-blocking for the moment of
 * the call; if it does not connect at once, the caller waits in `waiting` until poll() or, for a
 * listener whose queue is full, a further try says how it ended. SO_SNDTIMEO ends the wait as it
 * would in the kernel.
 *
 * A thread that connects once connects again: a descriptor for it is kept. It stands for that thread
 * and no later one, so a thread that got the same number is noticed (ESRCH).
 */
#include "guard/connect/connect.h"

#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#include "guard/notify/exec_read.h"
#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "sandbox/plan/plan.h"

#ifndef SO_NETNS_COOKIE /* Linux 5.14 */
#define SO_NETNS_COOKIE 71
#endif
#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

enum {
	RETRY_MS = 10, /* a listener whose queue is full */
	GONE_MS = 200, /* callers that are gone meanwhile */
	CALLERS = 32,  /* that are kept; a power of 2 */
};

struct waiting {
	uint64_t id;
	int fd;
	uint64_t until_ms; /* 0: no limit */
	/* The queue of the listener was full: connect again. Else the kernel is at it. */
	bool again;
	struct sockaddr_storage address;
	socklen_t len;
	int file; /* the socket file, or -1 */
};

struct caller {
	pid_t tid; /* 0: none */
	int fd;
};

struct ab_connects {
	struct ab_connect_terms terms;
	struct caller callers[CALLERS]; /* each at the place that its number gives */
	struct waiting waiting[AB_CONNECTS_MAX];
	size_t len;
	uint64_t host_net; /* the cookie of our own network; 0: unknown */
};

uint64_t ab_connect_network(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0 ? 0 : cookie;
}

struct ab_connects *ab_connects_new(const struct ab_connect_terms *terms, uint64_t host_net)
{
	struct ab_connects *c = ab_alloc(sizeof(*c));

	c->terms = *terms;
	c->host_net = host_net;
	return c;
}

bool ab_connect_permitted(const struct ab_connect_terms *terms, const char *path)
{
	const struct ab_mount *m;

	if (ab_strv_has(terms->allowed, path))
		return true;
	m = ab_plan_find(terms->plan, path);
	if (!m)
		return false;
	switch (m->op) {
	case AB_MOUNT_WRITE:
	case AB_MOUNT_PIN: /* a folder of a writable tree */
		return true;
	case AB_MOUNT_LAYER: /* only the box's own: the host's are other files there */
		return terms->own_mounts;
	case AB_MOUNT_PRIVATE:
		return terms->own_mounts && m->path[1] != '\0'; /* not the hidden root */
	case AB_MOUNT_SHOW:
	case AB_MOUNT_CLOSE:
	case AB_MOUNT_MASK:
		break;
	}
	return false;
}

size_t ab_connect_find_movable(const struct ab_plan *plan, struct stat **ret)
{
	struct stat *v = ab_alloc((plan->len + 1) * sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < plan->len; i++)
		if (plan->v[i].op == AB_MOUNT_MASK && lstat(plan->v[i].path, &v[n]) == 0 &&
		    S_ISSOCK(v[n].st_mode))
			n++;
	*ret = v;
	return n;
}

static bool is_movable(const struct ab_connect_terms *terms, const struct stat *st)
{
	for (size_t i = 0; i < terms->nmovable; i++)
		if (ab_stat_same(&terms->movable[i], st))
			return true;
	return false;
}

static struct ab_connect_result answer(int errnum)
{
	return (struct ab_connect_result){ .step = AB_CONNECT_DONE, .errnum = errnum, .fd = -1 };
}

/* A descriptor for the thread, or one for its process: *ret_process. -1 with errno. */
static int open_caller(pid_t tid, bool *ret_process)
{
	/* A thread can have descriptors of its own, and can outlive the first one. */
	int fd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);

	*ret_process = false;
	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_pidfd_open, tid, 0);
	if (fd < 0 && (errno == EINVAL || errno == ENOENT)) {
		*ret_process = true;
		fd = (int)syscall(SYS_pidfd_open, ab_exec_number(tid, "\nTgid:", AB_NUMBER_OURS),
				  0);
	}
	return fd;
}

/* The descriptor of a process is not kept: it can outlive the thread that has this number. */
static int take_from_new(struct caller *kept, pid_t tid, int fd)
{
	bool process;
	ab_autoclose int opened = open_caller(tid, &process);
	int taken;

	if (opened < 0)
		return -EPERM;
	taken = (int)syscall(SYS_pidfd_getfd, opened, fd, 0);
	if (taken < 0)
		return -errno;
	if (!process) {
		if (kept->tid)
			close(kept->fd);
		*kept = (struct caller){ tid, ab_take_fd(&opened) };
	}
	return taken;
}

/* The caller's socket. -errno; EBADF as the kernel would answer. */
static int take_socket(struct ab_connects *c, pid_t tid, int fd)
{
	struct caller *kept = &c->callers[(unsigned int)tid % CALLERS];
	int taken;

	if (tid <= 0)
		return -EPERM;
	if (kept->tid == tid) {
		taken = (int)syscall(SYS_pidfd_getfd, kept->fd, fd, 0);
		if (taken >= 0 || errno != ESRCH)
			return taken < 0 ? -errno : taken;
	}
	return take_from_new(kept, tid, fd);
}

/*
 * A socket that the caller of agentbox passed belongs to the host's network, and whatever it is
 * connected to is there. The box may use the connection that it has, and may not change it: we are
 * bound by neither its network nor its Landlock.
 */
static bool is_of_host(const struct ab_connects *c, int fd)
{
	return c->terms.own_net && c->host_net && ab_connect_network(fd) == c->host_net;
}

/* Does the address name a file? */
static bool names_file(const struct sockaddr_storage *address, socklen_t len)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)address;

	return address->ss_family == AF_UNIX && len > offsetof(struct sockaddr_un, sun_path) &&
	       un->sun_path[0];
}

/* Netlink addresses that need rights over the box's network. The guard has these rights, because
 * agentbox made the network; the box does not. */
static bool needs_rights(const struct sockaddr_storage *address)
{
	const struct sockaddr_nl *nl = (const struct sockaddr_nl *)address;

	return address->ss_family == AF_NETLINK && (nl->nl_groups || nl->nl_pid);
}

/*
 * Open the socket file as the caller sees it, judge it, and put an address in the place of the
 * caller's that leads to the open file itself. 0, or the errno to answer with.
 */
static int replace_address(struct ab_connects *c, const struct ab_held *call, struct waiting *w,
			   const char **ret_denied)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&w->address;
	const char *path, *name;
	struct ab_found f;
	int errnum = 0;

	name = ab_arena_ndup(call->arena, un->sun_path,
			     strnlen(un->sun_path,
				     w->len - offsetof(struct sockaddr_un, sun_path)));
	if (ab_exec_walk(call->arena, call->pid, AT_FDCWD, name, false, &f) < 0)
		return EACCES;
	path = f.errnum ? NULL : ab_found_path(call->arena, &f);
	if (f.errnum) {
		errnum = f.errnum;
	} else if (!path || !ab_connect_permitted(&c->terms, path) ||
		   is_movable(&c->terms, &f.st)) {
		/* A masked name is not a socket, and neither is a file without a path. */
		*ret_denied = path && path[0] == '/' && !S_ISDIR(f.st.st_mode) ? path : NULL;
		errnum = EACCES;
	} else if (!S_ISSOCK(f.st.st_mode)) {
		errnum = ECONNREFUSED;
	}
	if (!errnum) {
		w->file = ab_take_fd(&f.fd);
		w->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				     (size_t)snprintf(un->sun_path, sizeof(un->sun_path),
						      "/proc/self/fd/%d", w->file));
	}
	ab_found_close(&f);
	return errnum;
}

static int connect_once(const struct waiting *w)
{
	return connect(w->fd, (const struct sockaddr *)&w->address, w->len) < 0 ? errno : 0;
}

/*
 * 0, or an errno. EINPROGRESS: the kernel is at it; EAGAIN: the listener's queue is full. Another
 * thread of the box can make the socket blocking again before connect() looks at it: then the alarm
 * gets us out. `flags` are those of the socket.
 */
static int try_connect(const struct waiting *w, int flags)
{
	bool blocks = flags >= 0 && !(flags & O_NONBLOCK);
	int errnum;

	if (blocks)
		fcntl(w->fd, F_SETFL, flags | O_NONBLOCK);
	ab_connects_heed_alarm(true);
	errnum = connect_once(w);
	/* A listener of the box answers before the first call returns, and the second call reports
	 * that. */
	if (blocks && errnum == EINPROGRESS)
		errnum = connect_once(w);
	ab_connects_heed_alarm(false);
	if (blocks)
		fcntl(w->fd, F_SETFL, flags);
	if (errnum == EINTR)
		return w->address.ss_family == AF_UNIX ? EAGAIN : EINPROGRESS;
	return errnum;
}

static void release_waiting(struct waiting *w)
{
	ab_close_all(&w->fd, &w->file);
}

static uint64_t read_limit(int fd)
{
	struct timeval limit = { 0 };
	socklen_t len = sizeof(limit);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &len) < 0 ||
	    (!limit.tv_sec && !limit.tv_usec))
		return 0;
	return (uint64_t)ab_now_ms() + (uint64_t)limit.tv_sec * 1000 +
	       (uint64_t)limit.tv_usec / 1000;
}

static bool is_unfinished(int errnum)
{
	return errnum == EINPROGRESS || errnum == EALREADY || errnum == EAGAIN;
}

/* The socket is ours and the address is judged: connect, and wait if the caller would. */
static struct ab_connect_result start(struct ab_connects *c, struct waiting *w)
{
	int flags = fcntl(w->fd, F_GETFL), errnum = try_connect(w, flags);

	if (!is_unfinished(errnum) || flags < 0 || (flags & O_NONBLOCK)) {
		release_waiting(w);
		return answer(errnum);
	}
	if (c->len == AB_CONNECTS_MAX) {
		release_waiting(w);
		return answer(ENOBUFS);
	}
	w->again = errnum == EAGAIN;
	w->until_ms = read_limit(w->fd);
	c->waiting[c->len++] = *w;
	return (struct ab_connect_result){ .step = AB_CONNECT_WAITS, .fd = w->again ? -1 : w->fd };
}

/* Judge the address; then connect. */
static struct ab_connect_result connect_to(struct ab_connects *c,
					   const struct ab_connect_events *events,
					   const struct ab_held *call, struct waiting *w)
{
	const char *denied = NULL;
	int errnum = 0;

	if (is_of_host(c, w->fd))
		errnum = EACCES;
	else if (needs_rights(&w->address))
		errnum = EPERM;
	else if (names_file(&w->address, w->len))
		errnum = replace_address(c, call, w, &denied);
	/* Else what was read and taken may be another process's. */
	if (!errnum && !events->waits(events->arg, w->id))
		errnum = EINTR;
	if (errnum) {
		release_waiting(w);
		return (struct ab_connect_result){
			.step = AB_CONNECT_DONE, .errnum = errnum, .denied = denied, .fd = -1
		};
	}
	return start(c, w);
}

struct ab_connect_result ab_connects_with(struct ab_connects *c,
					  const struct ab_connect_events *events,
					  const struct ab_held *call, int fd,
					  const struct sockaddr_storage *to, socklen_t len)
{
	struct waiting w = { .id = call->id, .fd = fd, .file = -1, .address = *to, .len = len };

	return connect_to(c, events, call, &w);
}

int ab_connect_address(const struct ab_held *call, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	int len = (int)call->data->args[2], errnum;

	if (len < 0 || (size_t)len > sizeof(*ret))
		return EINVAL;
	errnum = ab_exec_bytes(call->pid, call->data->args[1], ret, (size_t)len);
	*ret_len = (socklen_t)len;
	return errnum && errnum != EFAULT ? EACCES : errnum;
}

struct ab_connect_result ab_connects_begin(struct ab_connects *c,
					   const struct ab_connect_events *events,
					   const struct ab_held *call)
{
	struct waiting w = { .id = call->id, .fd = -1, .file = -1 };
	int errnum = ab_connect_address(call, &w.address, &w.len);

	if (errnum)
		return answer(errnum);
	if (!c->terms.own_net && !names_file(&w.address, w.len))
		return (struct ab_connect_result){ .step = AB_CONNECT_PASS, .fd = -1 };
	w.fd = take_socket(c, call->pid, (int)call->data->args[0]);
	if (w.fd < 0)
		return answer(-w.fd);
	return connect_to(c, events, call, &w);
}

uint64_t ab_connects_next_look(const struct ab_connects *c)
{
	uint64_t now = c->len ? (uint64_t)ab_now_ms() : 0, wait = GONE_MS;

	for (size_t i = 0; i < c->len; i++) {
		const struct waiting *w = &c->waiting[i];
		uint64_t left = !w->until_ms ? GONE_MS : w->until_ms <= now ? 1 : w->until_ms - now;

		if (w->again && left > RETRY_MS)
			left = RETRY_MS;
		if (left < wait)
			wait = left;
	}
	return c->len ? wait : 0;
}

/* EINPROGRESS: it has not ended. */
static int look_at(const struct waiting *w)
{
	int errnum = 0;
	socklen_t len = sizeof(errnum);

	if (w->again) {
		errnum = try_connect(w, fcntl(w->fd, F_GETFL));
		return is_unfinished(errnum) ? EINPROGRESS : errnum;
	}
	if (ab_poll(w->fd, POLLOUT, 0) == 0)
		return EINPROGRESS;
	return getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0 ? errno : errnum;
}

/* True: it is over, and *ret says how. */
static bool has_ended(const struct waiting *w, int *ret)
{
	*ret = look_at(w);
	if (*ret != EINPROGRESS)
		return true;
	if (!w->until_ms || (uint64_t)ab_now_ms() < w->until_ms)
		return false;
	if (w->again)
		*ret = EAGAIN;
	return true;
}

void ab_connects_look(struct ab_connects *c, const struct ab_connect_events *events)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->len; i++) {
		struct waiting *w = &c->waiting[i];
		int errnum = EINTR;

		if (events->waits(events->arg, w->id) && !has_ended(w, &errnum)) {
			c->waiting[kept++] = *w;
			continue;
		}
		events->ended(events->arg, w->id, w->fd, errnum);
		release_waiting(w);
	}
	c->len = kept;
}
