/*
 * Should: answer each call as the kernel would, with EISCONN for a socket that we no longer have:
 * it is connected.
 *
 * Mustn't: let the kernel carry out a connect(); it could name a socket file of the host by then.
 */
#include "guard/sockets/sockets.h"

#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "guard/notify/guard_process.h"
#include "guard/sockets/datagrams.h"
#include "guard/sockets/made.h"
#include "guard/sockets/own_server.h"
#include "guard/sockets/splice.h"

/* Copies that nobody else has keep a port busy: look for them so often. */
enum { SWEEP_MS = 3000 };

struct desk {
	struct ab_connect_desk connects; /* first */
	struct ab_guard *guard;
	const struct ab_socket_terms *terms;
	struct ab_made_table kept;
	struct ab_splice splice;
	struct ab_datagrams datagrams;
	int sweep; /* looks for dead copies */
	bool sweeping;
};

static void sweep_again(struct ab_guard *guard, void *arg, short events)
{
	struct desk *d = arg;

	(void)guard;
	(void)events;
	ab_made_sweep(&d->kept);
	d->sweeping = d->kept.len > 0;
	ab_connects_set_timer(d->sweep, d->sweeping ? SWEEP_MS : 0); /* also makes it unready */
}

/* A connection that has waited, for a server of the box whose queue is full: our copy must not keep it
 * alive. */
static void release_copy(struct ab_connect_desk *desk, int fd)
{
	struct desk *d = (struct desk *)desk;
	struct ab_made *k;
	struct stat st;

	k = fstat(fd, &st) < 0 ? NULL : ab_made_find(&d->kept, st.st_ino);
	if (k)
		ab_made_drop(&d->kept, k);
}

static void answers_ready(struct ab_guard *guard, void *arg, short events)
{
	struct desk *d = arg;
	struct ab_handed answer;
	ssize_t n = recv(d->datagrams.proxy, &answer, sizeof(answer), MSG_DONTWAIT);

	if (n >= (ssize_t)AB_HANDED_LEN(0) && n == (ssize_t)AB_HANDED_LEN(answer.len) &&
	    answer.kind == AB_HANDED_QUERY)
		ab_datagrams_answer(&d->datagrams, &answer);
	else if (n == 0 || (events & (POLLHUP | POLLERR)))
		ab_guard_unwatch(guard, d->datagrams.proxy); /* the run ends */
}

static void *open_desk(struct ab_guard *guard, const void *setup)
{
	struct desk *d = ab_alloc(sizeof(*d));
	int proxy = ab_guard_duty(guard)->proxy;

	*d = (struct desk){ .guard = guard,
			    .terms = setup,
			    .sweep = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) };
	/* Every socket is of the host's network here. */
	ab_connect_desk_open(&d->connects, guard, &d->terms->connects, 0);
	d->connects.connected = release_copy;
	ab_made_init(&d->kept);
	if (d->sweep < 0 || ab_splice_open(&d->splice, proxy) < 0 ||
	    ab_datagrams_open(&d->datagrams, guard, &d->kept, &d->terms->inet) < 0 ||
	    ab_guard_watch(guard, d->sweep, POLLIN, sweep_again, d) < 0 ||
	    (proxy >= 0 && ab_guard_watch(guard, proxy, POLLIN, answers_ready, d) < 0))
		_exit(1);
	return d;
}

/* socket(), socketpair() */

/* -1 with errno. */
static int open_socket(int family, int type, int flags, int protocol, enum ab_made_kind *ret)
{
	*ret = family == AF_UNIX     ? AB_MADE_UNIX
	       : type == SOCK_STREAM ? AB_MADE_STREAM
				     : AB_MADE_DATAGRAM;
	if (family == AF_UNIX)
		return socket(AF_UNIX, type | SOCK_CLOEXEC | flags, protocol);
	if (type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP))
		return ab_local_socket(family, SOCK_STREAM | flags);
	if (type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP))
		return ab_datagrams_socket(family, flags);
	return ab_errno(EPROTONOSUPPORT);
}

/* Every argument is in a register. */
static struct ab_reply make_socket(struct desk *d, const struct ab_held *call)
{
	int family = (int)call->data->args[0], type = (int)call->data->args[1];
	int flags = type & SOCK_NONBLOCK, fd;
	bool cloexec = type & SOCK_CLOEXEC, on_host = !d->terms->connects.own_net;
	enum ab_made_kind kind;
	struct ab_made *k;

	type &= 0xf;
	if (family == AF_UNIX && (type == SOCK_DGRAM || type == SOCK_RAW))
		return ab_connect_desk_datagrams(&d->connects, call);
	if (call->data->nr == __NR_socketpair || (family != AF_UNIX && on_host))
		return ab_reply_pass();
	fd = open_socket(family, type, flags, (int)call->data->args[2], &kind);
	if (fd < 0)
		return ab_reply_errno(errno);
	k = ab_made_add(&d->kept, fd, family, kind);
	if (!k)
		return ab_reply_errno(ENFILE);
	if (!d->sweeping)
		ab_connects_set_timer(d->sweep, SWEEP_MS);
	d->sweeping = true;
	return (struct ab_reply){ .kind = AB_REPLY_FD, .value = k->fd, .cloexec = cloexec };
}

/* connect() */

/* Not an end that is connected at once: then poll() tells us. */
static void copy_ready(struct ab_guard *guard, void *arg, short events)
{
	struct desk *d = arg;

	(void)events;
	for (size_t i = d->kept.len; i-- > 0;) {
		struct ab_made *k = &d->kept.v[i];
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);

		if (k->kind != AB_MADE_STREAM || ab_poll(k->fd, POLLOUT, 0) <= 0)
			continue;
		ab_guard_unwatch(guard, k->fd);
		if (getpeername(k->fd, (struct sockaddr *)&peer, &len) == 0) {
			ab_made_connects(&d->kept, k->inode);
			ab_made_drop(&d->kept, k);
		}
	}
}

/* Our copy goes if the socket is, or will be, connected. */
static void release_connected(struct desk *d, struct ab_made *k, int errnum)
{
	if (errnum == EINPROGRESS)
		ab_made_connects(&d->kept, k->inode);
	if (!errnum || errnum == EINPROGRESS)
		ab_made_drop(&d->kept, k);
}

/* To a server of the box, or to a socket file. */
static struct ab_reply connect_directly(struct desk *d, const struct ab_held *call,
					struct ab_made *k, const struct sockaddr_storage *to,
					socklen_t len)
{
	int copy = fcntl(k->fd, F_DUPFD_CLOEXEC, 3);
	struct ab_connect_result r;
	struct ab_reply later;

	if (copy < 0)
		return ab_reply_errno(ENFILE);
	r = ab_connects_with(d->connects.connects, &d->connects.hears, call, copy, to, len);
	later = ab_connect_desk_reply(&d->connects, call, &r);
	if (r.step == AB_CONNECT_WAITS)
		return later;
	if (r.errnum == EINPROGRESS && ab_poll(k->fd, POLLOUT, 0) <= 0)
		ab_guard_watch(d->guard, k->fd, POLLOUT, copy_ready, d);
	else
		release_connected(d, k, r.errnum);
	return ab_reply_errno(r.errnum);
}

static struct ab_reply connect_through_proxy(struct desk *d, struct ab_made *k,
					     enum ab_handed_kind kind,
					     const struct ab_destination *to)
{
	int errnum = ab_splice_connect(&d->splice, k->fd, k->family, kind, to);

	release_connected(d, k, errnum);
	return ab_reply_errno(errnum);
}

static struct ab_reply connect_stream(struct desk *d, const struct ab_held *call, struct ab_made *k,
				      const struct ab_destination *asked)
{
	struct ab_destination to = *asked;
	enum ab_inet_way way = ab_own_way(&d->kept, &d->terms->inet, true, &to);
	struct sockaddr_storage at;
	socklen_t len = ab_inet_write(&to, k->family, &at);

	if (!len)
		return ab_reply_errno(EAFNOSUPPORT);
	switch (way) {
	case AB_WAY_OWN:
		return connect_directly(d, call, k, &at, len);
	case AB_WAY_DOOR:
		return connect_through_proxy(d, k, AB_HANDED_DOOR, &to);
	case AB_WAY_HOST_PORT:
		return connect_through_proxy(d, k, AB_HANDED_HOST_PORT, &to);
	case AB_WAY_NAMES:
		return connect_through_proxy(d, k, AB_HANDED_NAMES, &to);
	case AB_WAY_PROXY:
		return connect_through_proxy(d, k, AB_HANDED_CONNECTION, &to);
	case AB_WAY_NO_SERVER:
		return ab_reply_errno(ECONNREFUSED);
	case AB_WAY_NO_NETWORK:
		break;
	}
	return ab_reply_errno(ENETUNREACH);
}

static struct ab_reply connect_unix(struct desk *d, const struct ab_held *call, struct ab_made *k,
				    const struct sockaddr_storage *to, socklen_t len)
{
	const char *name = ((const struct sockaddr_un *)to)->sun_path;
	const size_t head = offsetof(struct sockaddr_un, sun_path);

	if (to->ss_family != AF_UNIX || len <= head)
		return ab_reply_errno(EINVAL);
	/* Abstract names of others are not the box's to know. */
	if (!name[0] && !ab_own_unix_server(&d->kept, name + 1, len - head - 1))
		return ab_reply_errno(ECONNREFUSED);
	return connect_directly(d, call, k, to, len);
}

/* We do not have it: it is connected, or came from elsewhere. */
static struct ab_reply answer_unkept(struct desk *d, uint64_t inode, sa_family_t family)
{
	if (!d->terms->connects.own_net && family != AF_UNIX)
		return ab_reply_pass();
	return ab_reply_errno(ab_made_connected(&d->kept, inode) ? 0 : EISCONN);
}

static struct ab_reply connect_inet(struct desk *d, const struct ab_held *call, struct ab_made *k,
				    const struct sockaddr_storage *bytes, socklen_t len)
{
	struct ab_destination to;
	int errnum;

	if (bytes->ss_family == AF_UNSPEC && k->kind == AB_MADE_DATAGRAM)
		return ab_reply_errno(ab_datagrams_disconnect(k));
	if (bytes->ss_family == AF_UNSPEC)
		return ab_reply_errno(0); /* it is not connected */
	errnum = ab_destination_parse(bytes, len, &to);
	if (errnum)
		return ab_reply_errno(errnum);
	if (bytes->ss_family == AF_INET6 && k->family == AF_INET)
		return ab_reply_errno(EAFNOSUPPORT);
	if (k->kind == AB_MADE_DATAGRAM)
		return ab_reply_errno(ab_datagrams_connect(&d->datagrams, k, &to));
	return connect_stream(d, call, k, &to);
}

static struct ab_reply connect_socket(struct desk *d, const struct ab_held *call)
{
	struct sockaddr_storage to = { 0 };
	struct ab_made *k;
	socklen_t len;
	int errnum;
	uint64_t inode = ab_made_inode(call->pid, (int)call->data->args[0], &errnum);

	if (inode)
		errnum = ab_connect_address(call, &to, &len);
	if (errnum)
		return ab_reply_errno(errnum);
	/* Else what was read may be another process's. */
	if (!ab_guard_waits(d->guard, call->id))
		return ab_reply_errno(EINTR);
	k = ab_made_find(&d->kept, inode);
	if (!k)
		return answer_unkept(d, inode, to.ss_family);
	if (len < sizeof(sa_family_t))
		return ab_reply_errno(EINVAL);
	return k->kind == AB_MADE_UNIX ? connect_unix(d, call, k, &to, len)
				       : connect_inet(d, call, k, &to, len);
}

/* bind(), listen() */

static struct ab_made *find_copy(struct desk *d, const struct ab_held *call)
{
	int errnum;

	return ab_made_find(&d->kept, ab_made_inode(call->pid, (int)call->data->args[0], &errnum));
}

/* A copy that nobody else has may hold the address. */
static int bind_copy(struct desk *d, uint64_t inode, const struct sockaddr_storage *at,
		     socklen_t len)
{
	for (int i = 0; i < 2; i++) {
		const struct ab_made *k = ab_made_find(&d->kept, inode);

		if (!k)
			return EBADF;
		if (bind(k->fd, (const struct sockaddr *)at, len) == 0)
			return 0;
		if (errno != EADDRINUSE || i)
			return errno;
		ab_made_sweep(&d->kept);
	}
	return EADDRINUSE;
}

static struct ab_reply bind_socket(struct desk *d, const struct ab_held *call)
{
	const struct ab_made *k = find_copy(d, call);
	struct sockaddr_storage at = { 0 };
	socklen_t len;
	int errnum;

	/* The kernel carries it out: a file is made with the rights of the caller. */
	if (!k || k->kind == AB_MADE_UNIX)
		return ab_reply_pass();
	errnum = ab_connect_address(call, &at, &len);
	return ab_reply_errno(errnum ? errnum : bind_copy(d, k->inode, &at, len));
}

static struct ab_reply listen_socket(struct desk *d, const struct ab_held *call)
{
	struct ab_made *k = find_copy(d, call);

	if (!k || k->kind == AB_MADE_DATAGRAM)
		return ab_reply_pass();
	if (listen(k->fd, (int)call->data->args[1]) < 0)
		return ab_reply_errno(errno);
	ab_made_listens(&d->kept, k->inode);
	ab_made_drop(&d->kept, k);
	return ab_reply_errno(0);
}

/* Sending and receiving: only datagram sockets matter. */
static struct ab_reply move_datagrams(struct desk *d, const struct ab_held *call, bool receive)
{
	struct ab_made *k = find_copy(d, call);

	if (!k || k->kind != AB_MADE_DATAGRAM)
		return ab_reply_pass();
	return receive ? ab_datagrams_receive(&d->datagrams, call, k)
		       : ab_datagrams_send(&d->datagrams, call, k);
}

/* Behind the filter, and called through a pointer: scripts/check-calls looks for it. */
static __attribute__((noinline)) struct ab_reply handle_sockets(struct ab_guard *guard, void *state,
								const struct ab_held *call)
{
	struct desk *d = state;

	(void)guard;
	switch (call->data->nr) {
	case __NR_socket:
	case __NR_socketpair:
		return make_socket(d, call);
	case __NR_connect:
		return connect_socket(d, call);
	case __NR_bind:
		return bind_socket(d, call);
	case __NR_listen:
		return listen_socket(d, call);
	case __NR_recvfrom:
	case __NR_recvmsg:
		return move_datagrams(d, call, true);
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
		return move_datagrams(d, call, false);
	default:
		return ab_reply_next();
	}
}

/* As above. */
static __attribute__((noinline)) void close_sockets(void *state)
{
	ab_datagrams_close(&((struct desk *)state)->datagrams);
}

struct ab_call_handler ab_sockets_handler(const struct ab_socket_terms *terms)
{
	return (struct ab_call_handler){
		.open = open_desk, .setup = terms, .handle = handle_sockets, .close = close_sockets
	};
}
