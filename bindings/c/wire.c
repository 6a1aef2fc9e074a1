#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "client.h"

enum { BLOCK = 65536, FDS_MAX = 16, RETRY_MS = 50, KEEP = 1 << 20, REQUEST_MAX = 4 << 20 };

int64_t ab_client_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t ab_client_until(int timeout_ms)
{
	return timeout_ms < 0 ? -1 : ab_client_now() + timeout_ms;
}

int ab_client_gone(const struct ab_manager *m, struct ab_fault *fault)
{
	if (m->why == AB_FAULT_MEMORY)
		return ab_client_memory(fault);
	return ab_client_fail(fault, AB_FAULT_GONE, 0, "the process of agentbox has ended");
}

/* Nothing can be trusted to be complete any more, so everything ends. */
static void give_up(struct ab_manager *m, enum ab_fault_code why)
{
	if (m->dead)
		return;
	m->dead = true;
	m->why = why;
	shutdown(m->sock, SHUT_RDWR);
}

/* False: out of memory. Takes over the object. */
static bool queue_event(struct ab_manager *m, json_t *json)
{
	struct ab_event *event = malloc(sizeof(*event));

	if (!event) {
		json_decref(json);
		return false;
	}
	*event = (struct ab_event){ .json = json };
	ab_client_queue(m, event);
	return true;
}

static void take_reply(struct ab_manager *m, json_t *json)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(json, "id"));
	struct ab_reply *r = m->waiting;

	while (r && r->id != id)
		r = r->next;
	if (!r) {
		json_decref(json);
		return;
	}
	r->answer = json;
	/* Its events follow at once, and may be read by another thread. */
	if (r->proc && json_is_true(json_object_get(json, "ok"))) {
		r->proc->number = (uint64_t)json_integer_value(json_object_get(json, "run"));
		r->proc->next = m->procs;
		m->procs = r->proc;
	}
}

static bool take_line(struct ab_manager *m, const char *line, size_t len)
{
	json_error_t wrong;
	json_t *json = json_loadb(line, len, JSON_ALLOW_NUL, &wrong);

	if (!json) {
		/* It is not agentbox. */
		if (json_error_code(&wrong) != json_error_out_of_memory)
			give_up(m, AB_FAULT_GONE);
		return false;
	}
	if (json_object_get(json, "event"))
		return queue_event(m, json);
	take_reply(m, json);
	return true;
}

/* The first `whole` bytes end with a line. */
static bool take_lines(struct ab_manager *m, size_t whole)
{
	size_t from = 0;

	while (from < whole) {
		const char *end = memchr(m->bytes + from, '\n', whole - from);
		size_t len = (size_t)(end - m->bytes) - from;

		if (!take_line(m, m->bytes + from, len))
			return false;
		from += len + 1;
	}
	m->len -= whole;
	memmove(m->bytes, m->bytes + whole, m->len);
	/* One long line must not cost its memory for ever. */
	if (m->len == 0 && m->room > KEEP) {
		free(m->bytes);
		m->bytes = NULL;
		m->room = 0;
	}
	return true;
}

static bool make_room(struct ab_manager *m)
{
	size_t room = m->room ? 2 * m->room : 2 * BLOCK;
	char *bytes;

	if (m->room - m->len >= BLOCK)
		return true;
	bytes = realloc(m->bytes, room);
	if (!bytes)
		return false;
	m->bytes = bytes;
	m->room = room;
	return true;
}

/* Without the lock: how many bytes came; -1 with errno. */
static ssize_t receive(struct ab_manager *m, int64_t until)
{
	struct pollfd p = { .fd = m->sock, .events = POLLIN };
	int64_t left = until < 0 ? -1 : until - ab_client_now();
	ssize_t n;

	if (until >= 0 && left < 0)
		left = 0;
	if (left > 1 << 30)
		left = 1 << 30;
	if (poll(&p, 1, (int)left) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	n = recv(m->sock, m->bytes + m->len, BLOCK, MSG_DONTWAIT);
	if (n == 0)
		errno = ECONNRESET;
	return n == 0 ? -1 : n;
}

static int read_socket(struct ab_manager *m, int64_t until)
{
	const char *end;
	ssize_t n;

	if (!make_room(m)) {
		give_up(m, AB_FAULT_MEMORY);
		return -1;
	}
	m->reading = true;
	pthread_mutex_unlock(&m->lock);
	n = receive(m, until);
	pthread_mutex_lock(&m->lock);
	m->reading = false;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0) {
		give_up(m, AB_FAULT_GONE);
		return -1;
	}
	end = memrchr(m->bytes + m->len, '\n', (size_t)n);
	m->len += (size_t)n;
	if (end && !take_lines(m, (size_t)(end - m->bytes) + 1)) {
		give_up(m, AB_FAULT_MEMORY);
		return -1;
	}
	return 1;
}

bool ab_client_await(struct ab_manager *m, int64_t until)
{
	struct timespec at = { .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };

	if (until < 0)
		return pthread_cond_wait(&m->moved, &m->lock) == 0;
	return pthread_cond_timedwait(&m->moved, &m->lock, &at) == 0;
}

int ab_client_read(struct ab_manager *m, int64_t until)
{
	int result;

	if (m->dead)
		return -1;
	if (m->reading)
		return ab_client_await(m, until) ? 1 : 0;
	result = read_socket(m, until);
	pthread_cond_broadcast(&m->moved);
	return result;
}

/* The socket is full: agentbox may wait for us to read. */
static void let_it_write(struct ab_manager *m)
{
	struct pollfd p = { .fd = m->sock, .events = POLLOUT | POLLIN };

	poll(&p, 1, RETRY_MS);
	if (!(p.revents & POLLIN) || p.revents & POLLOUT)
		return;
	pthread_mutex_lock(&m->lock);
	if (!m->reading)
		(void)ab_client_read(m, 0);
	pthread_mutex_unlock(&m->lock);
}

static ssize_t send_some(struct ab_manager *m, const char *text, size_t len, const int *fds,
			 size_t nfds)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec part = { .iov_base = (char *)text, .iov_len = len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	if (nfds) {
		msg.msg_control = control.room;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, nfds * sizeof(int));
	}
	return sendmsg(m->sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Descriptors go with the first byte. */
static int send_text(struct ab_manager *m, const char *text, size_t len, const int *fds,
		     size_t nfds)
{
	while (len) {
		ssize_t n = send_some(m, text, len, fds, nfds);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			let_it_write(m);
			continue;
		}
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
		nfds = 0;
	}
	return 0;
}

/* Takes over the request. */
static int send_request(struct ab_manager *m, json_t *request, uint64_t id, const int *fds,
			size_t nfds, struct ab_fault *fault)
{
	char *text = NULL;
	size_t len;
	int result, error;

	if (request && json_object_set_new(request, "id", json_integer((json_int_t)id)) == 0 &&
	    (!nfds || json_object_set_new(request, "fds", json_integer((json_int_t)nfds)) == 0))
		text = ab_client_dump(request);
	json_decref(request);
	if (!text)
		return ab_client_memory(fault);
	len = strlen(text);
	/* The server would end with all of its runs. */
	if (len >= REQUEST_MAX) {
		free(text);
		return ab_client_fail(fault, AB_FAULT_USAGE, 0,
				      "the request is larger than 4 MiB; pass long data through a "
				      "descriptor");
	}
	text[len] = '\n';
	pthread_mutex_lock(&m->writing);
	result = send_text(m, text, len + 1, fds, nfds);
	error = errno;
	pthread_mutex_unlock(&m->writing);
	free(text);
	if (result == 0)
		return 0;
	return error == EPIPE || error == ECONNRESET
		       ? ab_client_fail(fault, AB_FAULT_GONE, 0,
					"the process of agentbox has ended")
		       : ab_client_fail(fault, AB_FAULT_SYSTEM, error, "send a request");
}

static void remove_waiting(struct ab_manager *m, struct ab_reply *r)
{
	struct ab_reply **at = &m->waiting;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
}

int ab_client_ask(struct ab_manager *m, json_t *request, const int *fds, size_t nfds,
		  struct ab_proc *proc, json_t **ret, struct ab_fault *fault)
{
	struct ab_reply r = { .proc = proc };
	int result;

	pthread_mutex_lock(&m->lock);
	r.id = ++m->id;
	r.next = m->waiting;
	m->waiting = &r;
	pthread_mutex_unlock(&m->lock);
	result = send_request(m, request, r.id, fds, nfds, fault);
	pthread_mutex_lock(&m->lock);
	while (result == 0 && !r.answer && !m->dead)
		(void)ab_client_read(m, -1);
	remove_waiting(m, &r);
	if (result == 0 && !r.answer)
		result = ab_client_gone(m, fault);
	pthread_mutex_unlock(&m->lock);
	if (result == 0 && !json_is_true(json_object_get(r.answer, "ok")))
		result = ab_client_refused(r.answer, fault);
	if (result == 0 && ret)
		*ret = r.answer;
	else
		json_decref(r.answer);
	return result;
}

void ab_client_tell(struct ab_manager *m, json_t *request)
{
	uint64_t id;

	pthread_mutex_lock(&m->lock);
	id = ++m->id;
	pthread_mutex_unlock(&m->lock);
	(void)send_request(m, request, id, NULL, 0, NULL);
}
