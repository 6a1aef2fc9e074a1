#include "guard/sockets/datagrams.h"

#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "guard/sockets/inet.h"
#include "guard/sockets/made.h"
#include "guard/sockets/own_server.h"
#include "host/process/socket_owner.h"

enum {
	DATAGRAM_MAX = 65535,
	PARTS_MAX = 1024,  /* of one message: UIO_MAXIOV */
	MESSAGES_MAX = 64, /* of one sendmmsg(): the caller goes on with the rest */
	CONTROL_MAX = 1024,
	WORDS_MAX = 1024, /* bytes of the command of a process in the record */
	END_MS = 1000,	  /* for the proxy to make room */
};

/* What the call returns, or -errno. */
static struct ab_reply reply_result(ssize_t result)
{
	if (result < 0)
		return ab_reply_errno((int)-result);
	return (struct ab_reply){ .kind = AB_REPLY_VALUE, .value = result };
}

int ab_datagrams_socket(int family, int flags)
{
	ab_autoclose int fd = ab_local_socket(family, SOCK_DGRAM | flags);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_UDP, UDP_CORK, &on, sizeof(on)) < 0)
		return -1;
	return ab_take_fd(&fd);
}

int ab_datagrams_open(struct ab_datagrams *d, struct ab_guard *guard, struct ab_made_table *kept,
		      const struct ab_inet_terms *terms)
{
	*d = (struct ab_datagrams){
		.guard = guard, .kept = kept, .terms = terms, .proxy = ab_guard_duty(guard)->proxy
	};
	return ab_local_ends_open(&d->answers, SOCK_DGRAM);
}

/* Connect the socket itself to where the answers come from: nobody else can send to it then. */
int ab_datagrams_connect(const struct ab_datagrams *d, struct ab_made *k,
			 const struct ab_destination *to)
{
	bool v6 = ab_local_ends_v6(&d->answers, k->family, k->fd);
	struct ab_destination server = *to;
	bool own = ab_own_way(d->kept, d->terms, false, &server) == AB_WAY_OWN;
	struct sockaddr_storage at;
	socklen_t len = ab_inet_write(own ? &server : &d->answers.at[v6], k->family, &at);

	if (!len)
		return EAFNOSUPPORT;
	if (connect(k->fd, (struct sockaddr *)&at, len) < 0)
		return errno;
	k->connected = true;
	k->peer = server;
	return 0;
}

int ab_datagrams_disconnect(struct ab_made *k)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	k->connected = false;
	return connect(k->fd, &none, sizeof(none)) < 0 ? errno : 0;
}

/* Its own address; gives it a port if it has none. */
static int find_local(const struct ab_made *k, struct ab_destination *ret)
{
	struct sockaddr_storage at = { .ss_family = (sa_family_t)k->family };
	socklen_t len =
		k->family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

	if (ab_destination_own(k->fd, ret) < 0)
		return -1;
	if (ret->port)
		return 0;
	if (bind(k->fd, (struct sockaddr *)&at, len) < 0)
		return -1;
	return ab_destination_own(k->fd, ret);
}

/*
 * A further socket at the same port. Both must permit that at the moment it is bound; the box's own
 * socket has its option back afterwards. It is connected to a port where nobody is, so that
 * it receives nothing: all that arrives is for the box's socket.
 */
static int open_twin(const struct ab_made *k, bool v6)
{
	ab_autoclose int fd = ab_local_socket(k->family, SOCK_DGRAM | SOCK_NONBLOCK);
	struct ab_destination nobody = { .v6 = v6, .port = 1 };
	struct sockaddr_storage at, to;
	socklen_t len = sizeof(at), to_len, size = sizeof(int);
	int on = 1, before = 0, r;

	ab_inet_normalize(&nobody);
	to_len = ab_inet_write(&nobody, k->family, &to);
	if (fd < 0 || getsockname(k->fd, (struct sockaddr *)&at, &len) < 0 ||
	    getsockopt(k->fd, SOL_SOCKET, SO_REUSEADDR, &before, &size) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    setsockopt(k->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -1;
	r = bind(fd, (struct sockaddr *)&at, len);
	setsockopt(k->fd, SOL_SOCKET, SO_REUSEADDR, &before, sizeof(before));
	if (r < 0 || connect(fd, (struct sockaddr *)&to, to_len) < 0)
		return -1;
	return ab_take_fd(&fd);
}

static int send_to_own(struct ab_made *k, const struct ab_destination *to, const void *data,
		       size_t len)
{
	struct ab_destination local;
	struct sockaddr_storage at;
	socklen_t at_len = ab_inet_write(to, k->family, &at);
	int *twin;

	if (!at_len)
		return EAFNOSUPPORT;
	if (find_local(k, &local) < 0)
		return EADDRNOTAVAIL;
	twin = &k->twins[to->v6];
	if (*twin < 0)
		*twin = open_twin(k, to->v6);
	if (*twin < 0)
		return EADDRINUSE;
	return sendto(*twin, data, len, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&at,
		      at_len) < 0
		       ? errno
		       : 0;
}

static int send_query(const struct ab_datagrams *d, struct ab_made *k,
		      const struct ab_destination *server, const uint8_t *data, size_t len)
{
	struct ab_handed message = { .kind = AB_HANDED_QUERY, .cookie = k->inode };
	struct ab_destination local;

	if (len < 2 || len > sizeof(message.bytes))
		return 0; /* nobody answers */
	if (find_local(k, &local) < 0)
		return EADDRNOTAVAIL;
	k->queries[k->asked++ % AB_MADE_QUERIES] =
		(struct ab_made_query){ (uint16_t)(data[0] << 8 | data[1]), *server };
	message.len = (uint32_t)len;
	memcpy(message.bytes, data, len);
	/* A query that is lost is asked again. */
	(void)!send(d->proxy, &message, AB_HANDED_LEN(len), MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

/* Without room for it, a later message has its number. */
static void tell_denied(struct ab_datagrams *d, struct ab_handed *message)
{
	message->cookie = d->untold;
	if (send(d->proxy, message, AB_HANDED_LEN(message->len), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		d->untold = 0;
}

static void describe_caller(const struct ab_held *call, struct ab_handed *ret)
{
	ab_autobuf struct ab_buf b = { 0 };
	const char *exe = ab_exec_link(call->arena, "/proc/%d/exe", call->pid);
	char words[WORDS_MAX];
	ssize_t n = ab_exec_proc(call->pid, "cmdline", words, sizeof(words));

	ab_buf_puts(&b, "[");
	ab_socket_owner_describe(ab_exec_own_pid(call->pid), exe ? exe : "", words,
				 n > 0 ? (size_t)n : 0, n == sizeof(words) - 1, &b);
	ab_buf_puts(&b, "]");
	/* Only the path of a program can be that long: then its process is not known. */
	ret->len = b.len <= sizeof(ret->bytes) ? (uint32_t)b.len : 2;
	memcpy(ret->bytes, ret->len > 2 ? b.data : "[]", ret->len);
}

/* The caller waits, so what is read is about the process that sends. */
static int deny(struct ab_datagrams *d, const struct ab_held *call, const struct ab_destination *to)
{
	struct ab_handed message = { .kind = AB_HANDED_DENIED, .to = *to };

	d->untold += d->proxy >= 0;
	if (d->proxy < 0 || !ab_bucket_take(&d->rate, (uint64_t)ab_now_ms(), AB_DATAGRAMS_BURST,
					    AB_DATAGRAMS_PER_SECOND))
		return ENETUNREACH;
	describe_caller(call, &message);
	if (ab_guard_waits(d->guard, call->id))
		tell_denied(d, &message);
	return ENETUNREACH;
}

void ab_datagrams_close(struct ab_datagrams *d)
{
	struct ab_handed message = { .kind = AB_HANDED_DENIED };

	if (d->untold && ab_poll(d->proxy, POLLOUT, END_MS) == 1)
		tell_denied(d, &message);
}

/* 0, or an errno. */
static int send_one(struct ab_datagrams *d, struct ab_made *k, const struct ab_held *call,
		    const struct ab_destination *given, const uint8_t *data, size_t len)
{
	struct ab_destination to = given ? *given : k->peer;

	if (!given && !k->connected)
		return EDESTADDRREQ;
	switch (ab_own_way(d->kept, d->terms, false, &to)) {
	case AB_WAY_OWN:
		return send_to_own(k, &to, data, len);
	case AB_WAY_NAMES:
		return send_query(d, k, &to, data, len);
	case AB_WAY_NO_SERVER:
		return ECONNREFUSED;
	case AB_WAY_DOOR:
	case AB_WAY_HOST_PORT:
	case AB_WAY_PROXY:
	case AB_WAY_NO_NETWORK:
		break;
	}
	return deny(d, call, &to);
}

/* The address of a message. 0: *ret_given says whether there is one; else an errno. */
static int read_address(const struct ab_held *call, uint64_t at, uint64_t len,
			struct ab_destination *ret, bool *ret_given)
{
	struct sockaddr_storage bytes;
	int errnum;

	*ret_given = at && len;
	if (!*ret_given)
		return 0;
	if (len > sizeof(bytes))
		return EINVAL;
	errnum = ab_exec_bytes(call->pid, at, &bytes, len);
	if (!errnum)
		errnum = ab_destination_parse(&bytes, len, ret);
	return errnum;
}

/* The parts of a message, checked; the sum of their lengths, or -errno. */
static ssize_t read_parts(const struct ab_held *call, const struct msghdr *m, struct iovec **ret)
{
	size_t sum = 0;
	int errnum;

	if (m->msg_iovlen > PARTS_MAX)
		return -EMSGSIZE;
	*ret = ab_arena_alloc(call->arena, (m->msg_iovlen + 1) * sizeof(struct iovec));
	errnum = ab_exec_bytes(call->pid, (uintptr_t)m->msg_iov, *ret,
			       m->msg_iovlen * sizeof(struct iovec));
	if (errnum && m->msg_iovlen)
		return -errnum;
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		if ((*ret)[i].iov_len > DATAGRAM_MAX)
			(*ret)[i].iov_len = DATAGRAM_MAX + 1;
		sum += (*ret)[i].iov_len;
	}
	return (ssize_t)sum;
}

/* A message of these parts of the caller's memory: the number of its bytes, or -errno. */
static ssize_t send_parts(struct ab_datagrams *d, struct ab_made *k, const struct ab_held *call,
			  uint64_t name, uint64_t name_len, const struct iovec *parts, size_t n)
{
	struct ab_destination to;
	size_t sum = 0, at = 0;
	uint8_t *data;
	bool given;
	int errnum = read_address(call, name, name_len, &to, &given);

	for (size_t i = 0; i < n; i++)
		sum += parts[i].iov_len;
	if (sum > DATAGRAM_MAX)
		return -EMSGSIZE;
	data = ab_arena_alloc(call->arena, sum + 1);
	for (size_t i = 0; !errnum && i < n; at += parts[i++].iov_len)
		if (parts[i].iov_len)
			errnum = ab_exec_bytes(call->pid, (uintptr_t)parts[i].iov_base, data + at,
					       parts[i].iov_len);
	if (!errnum)
		errnum = send_one(d, k, call, given ? &to : NULL, data, sum);
	return errnum ? -errnum : (ssize_t)sum;
}

static ssize_t send_message(struct ab_datagrams *d, struct ab_made *k, const struct ab_held *call,
			    const struct msghdr *m)
{
	struct iovec *parts;
	ssize_t n = read_parts(call, m, &parts);

	return n < 0 ? n
		     : send_parts(d, k, call, (uintptr_t)m->msg_name, m->msg_namelen, parts,
				  m->msg_iovlen);
}

/* What goes into the caller's memory. The first error ends it: EFAULT. */
struct back {
	struct ab_guard *guard;
	const struct ab_held *call;
	int errnum;
};

static void write_back(struct back *b, uint64_t at, const void *data, size_t len)
{
	struct iovec from = { (void *)(uintptr_t)data, len }, to = { (void *)(uintptr_t)at, len };

	if (b->errnum)
		return;
	/* Else the number may be another process's by now. */
	if (!ab_guard_waits(b->guard, b->call->id) ||
	    (len && process_vm_writev(b->call->pid, &from, 1, &to, 1, 0) != (ssize_t)len))
		b->errnum = EFAULT;
}

/* One message of several; -errno, or 0. */
static ssize_t send_next(struct ab_datagrams *d, struct back *b, struct ab_made *k, uint64_t at)
{
	struct mmsghdr m;
	ssize_t len = -ab_exec_bytes(b->call->pid, at, &m, sizeof(m));

	if (!len)
		len = send_message(d, k, b->call, &m.msg_hdr);
	if (len < 0)
		return len;
	m.msg_len = (unsigned int)len;
	write_back(b, at + offsetof(struct mmsghdr, msg_len), &m.msg_len, sizeof(m.msg_len));
	return -b->errnum;
}

static ssize_t send_many(struct ab_datagrams *d, const struct ab_held *call, struct ab_made *k)
{
	uint64_t at = call->data->args[1];
	unsigned int n = (unsigned int)call->data->args[2], sent = 0;
	struct back back = { d->guard, call, 0 };
	ssize_t result = 0;

	for (; !result && sent < n && sent < MESSAGES_MAX; at += sizeof(struct mmsghdr)) {
		result = send_next(d, &back, k, at);
		sent += !result;
	}
	return sent ? sent : result;
}

/* sendto() */
static ssize_t send_bytes(struct ab_datagrams *d, const struct ab_held *call, struct ab_made *k)
{
	const uint64_t *args = (const uint64_t *)call->data->args;
	const struct iovec part = { (void *)(uintptr_t)args[1], args[2] };

	return send_parts(d, k, call, args[4], (uint32_t)args[5], &part, 1);
}

struct ab_reply ab_datagrams_send(struct ab_datagrams *d, const struct ab_held *call,
				  struct ab_made *k)
{
	struct msghdr m;
	int errnum;

	if (call->data->nr == __NR_sendmmsg)
		return reply_result(send_many(d, call, k));
	if (call->data->nr != __NR_sendmsg)
		return reply_result(send_bytes(d, call, k));
	errnum = ab_exec_bytes(call->pid, call->data->args[1], &m, sizeof(m));
	return reply_result(errnum ? -errnum : send_message(d, k, call, &m));
}

void ab_datagrams_answer(const struct ab_datagrams *d, const struct ab_handed *answer)
{
	const struct ab_made *k = ab_made_find(d->kept, answer->cookie);
	struct ab_destination local;
	struct sockaddr_storage at;
	bool v6;
	socklen_t len;

	if (!k || k->kind != AB_MADE_DATAGRAM || find_local(k, &local) < 0)
		return;
	v6 = ab_local_ends_v6(&d->answers, k->family, k->fd);
	/* A socket of IPv6 that takes IPv4 gets it by the address of IPv4. */
	if (local.v6 && !v6)
		local = (struct ab_destination){ .port = local.port };
	ab_inet_normalize(&local);
	len = ab_inet_write(&local, v6 ? AF_INET6 : AF_INET, &at);
	if (len)
		(void)!sendto(d->answers.fd[v6], answer->bytes, answer->len,
			      MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&at, len);
}

/* The server that was asked what this answers. */
static const struct ab_destination *find_server(const struct ab_made *k, const uint8_t *data,
						size_t len)
{
	unsigned int n = k->asked < AB_MADE_QUERIES ? k->asked : AB_MADE_QUERIES;
	uint16_t id = len < 2 ? 0 : (uint16_t)(data[0] << 8 | data[1]);

	for (unsigned int i = 0; i < n; i++) /* the oldest of those with this id */
		if (k->queries[(k->asked - n + i) % AB_MADE_QUERIES].id == id)
			return &k->queries[(k->asked - n + i) % AB_MADE_QUERIES].server;
	return &k->queries[(k->asked - 1) % AB_MADE_QUERIES].server;
}

/* Is this the guard, which sends the answers of our resolver? */
static bool is_answer(const struct ab_datagrams *d, const struct sockaddr_storage *from,
		      socklen_t len)
{
	struct ab_destination at;

	return ab_destination_parse(from, len, &at) == 0 &&
	       (ab_inet_equal(&at, &d->answers.at[0]) ||
		(d->answers.fd[1] >= 0 && ab_inet_equal(&at, &d->answers.at[1])));
}

struct received {
	uint8_t *data;
	size_t len;	/* bytes that are there */
	ssize_t result; /* what the call returns, or -errno */
	struct sockaddr_storage from;
	socklen_t from_len;
	struct msghdr m; /* control and flags */
	char control[CONTROL_MAX];
};

/* Receive as the caller would, without waiting. */
static void receive_copy(const struct ab_datagrams *d, const struct ab_held *call,
			 const struct ab_made *k, size_t room, size_t control, int flags,
			 struct received *ret)
{
	struct iovec part;

	ret->data = ab_arena_alloc(call->arena, room + 1);
	part = (struct iovec){ ret->data, room };
	ret->m = (struct msghdr){ .msg_name = &ret->from,
				  .msg_namelen = sizeof(ret->from),
				  .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control ? ret->control : NULL,
				  .msg_controllen = control < CONTROL_MAX ? control : CONTROL_MAX };
	ret->result =
		recvmsg(k->fd, &ret->m,
			MSG_DONTWAIT | (flags & (MSG_PEEK | MSG_TRUNC | MSG_ERRQUEUE | MSG_OOB)));
	if (ret->result < 0) {
		ret->result = -errno;
		return;
	}
	ret->len = (size_t)ret->result < room ? (size_t)ret->result : room;
	ret->from_len = ret->m.msg_namelen;
	if (is_answer(d, &ret->from, ret->from_len))
		ret->from_len =
			ab_inet_write(find_server(k, ret->data, ret->len), k->family, &ret->from);
}

static ssize_t receive_from(const struct ab_datagrams *d, struct back *b, const struct ab_made *k,
			    int flags)
{
	const uint64_t *args = (const uint64_t *)b->call->data->args;
	size_t room = args[2] < DATAGRAM_MAX ? args[2] : DATAGRAM_MAX;
	struct received *r = ab_arena_alloc(b->call->arena, sizeof(*r));
	socklen_t wanted;
	int errnum = ab_exec_bytes(b->call->pid, args[5], &wanted, sizeof(wanted));

	if (errnum || (int)wanted < 0)
		return errnum ? -errnum : -EINVAL;
	receive_copy(d, b->call, k, room, 0, flags, r);
	if (r->result < 0)
		return r->result;
	write_back(b, args[1], r->data, r->len);
	write_back(b, args[4], &r->from, wanted < r->from_len ? wanted : r->from_len);
	write_back(b, args[5], &r->from_len, sizeof(r->from_len));
	return r->result;
}

static void write_parts(struct back *b, const struct iovec *parts, size_t n,
			const struct received *r)
{
	size_t at = 0;

	for (size_t i = 0; i < n && at < r->len; i++) {
		size_t len = parts[i].iov_len < r->len - at ? parts[i].iov_len : r->len - at;

		write_back(b, (uintptr_t)parts[i].iov_base, r->data + at, len);
		at += len;
	}
}

static ssize_t receive_message(const struct ab_datagrams *d, struct back *b,
			       const struct ab_made *k, int flags)
{
	uint64_t at = b->call->data->args[1];
	struct received *r = ab_arena_alloc(b->call->arena, sizeof(*r));
	struct iovec *parts;
	struct msghdr m;
	ssize_t room = -ab_exec_bytes(b->call->pid, at, &m, sizeof(m));

	if (!room)
		room = read_parts(b->call, &m, &parts);
	if (room < 0)
		return room;
	receive_copy(d, b->call, k, room < DATAGRAM_MAX ? (size_t)room : DATAGRAM_MAX,
		     m.msg_control ? m.msg_controllen : 0, flags, r);
	if (r->result < 0)
		return r->result;
	write_parts(b, parts, m.msg_iovlen, r);
	if (m.msg_name)
		write_back(b, (uintptr_t)m.msg_name, &r->from,
			   m.msg_namelen < r->from_len ? m.msg_namelen : r->from_len);
	if (m.msg_control)
		write_back(b, (uintptr_t)m.msg_control, r->control, r->m.msg_controllen);
	m.msg_namelen = m.msg_name ? r->from_len : 0;
	m.msg_controllen = r->m.msg_controllen;
	m.msg_flags = r->m.msg_flags;
	write_back(b, at, &m, sizeof(m));
	return r->result;
}

struct ab_reply ab_datagrams_receive(const struct ab_datagrams *d, const struct ab_held *call,
				     struct ab_made *k)
{
	bool message = call->data->nr == __NR_recvmsg;
	int flags = (int)call->data->args[message ? 2 : 3];
	struct back back = { d->guard, call, 0 };
	ssize_t result;

	if (!k->asked)
		return ab_reply_pass();
	result = message ? receive_message(d, &back, k, flags) : receive_from(d, &back, k, flags);
	/* The socket would wait: the kernel may do that, and gives the sender as it is. */
	if (result == -EAGAIN && !(flags & MSG_DONTWAIT) && !(fcntl(k->fd, F_GETFL) & O_NONBLOCK))
		return ab_reply_pass();
	return reply_result(back.errnum ? -back.errnum : result);
}
