#include "containers/engine_client.h"

#include <sys/un.h>

#include "containers/docker/engine_reply.h"
#include "containers/docker/refusal.h"
#include "proxy/wire/http_reply.h"

enum {
	REQUEST_MS = 20000, /* to stop a container that does not want to end takes a while */
	PASSES = 3,	    /* until no container is left */
};

int ab_engine_connect(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	ab_autoclose int fd = -1;

	if (strlen(path) >= sizeof(un.sun_path))
		return ab_errno(ENAMETOOLONG);
	memcpy(un.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		return -1;
	return ab_take_fd(&fd);
}

/* Wait for the socket. -1: the time is over. */
static int await_socket(int fd, short events, int64_t until)
{
	int64_t left = until - ab_now_ms();

	if (left > 0 && ab_poll(fd, events, (int)left) > 0)
		return 0;
	return ab_errno(ETIMEDOUT);
}

static int open_connection(const char *path, int64_t until)
{
	int fd;

	while ((fd = ab_engine_connect(path)) < 0 && errno == EAGAIN && ab_now_ms() < until)
		poll(NULL, 0, 20);
	return fd;
}

/* Send all of it, and read until the engine closes the connection. -1 with errno. */
static int talk(const char *path, const struct ab_buf *request, struct ab_buf *reply)
{
	int64_t until = ab_now_ms() + REQUEST_MS;
	ab_autoclose int fd = open_connection(path, until);
	char room[16384];
	size_t sent = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while (sent < request->len) {
		n = send(fd, request->data + sent, request->len - sent, MSG_NOSIGNAL);
		if (n > 0)
			sent += (size_t)n;
		else if (errno != EAGAIN || await_socket(fd, POLLOUT, until) < 0)
			return -1;
	}
	for (;;) {
		n = recv(fd, room, sizeof(room), 0);
		if (n == 0)
			return 0;
		if (n < 0 && (errno != EAGAIN || await_socket(fd, POLLIN, until) < 0))
			return -1;
		if (n > 0)
			ab_buf_add(reply, room, (size_t)n);
		if (reply->len > AB_ENGINE_REPLY_MAX)
			return ab_errno(EMSGSIZE);
	}
}

/* One request; the caller frees the reply. */
static int make_request(const char *path, const char *method, const char *target,
			struct ab_http_reply *ret, struct ab_error *err)
{
	ab_autobuf struct ab_buf request = { 0 }, reply = { 0 };

	ab_buf_printf(&request,
		      "%s %s HTTP/1.1\r\nHost: docker\r\nConnection: close\r\nContent-Length: "
		      "0\r\n\r\n",
		      method, target);
	if (talk(path, &request, &reply) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "ask the container engine at %s", path);
	ab_http_reply_read(reply.data ? reply.data : "", reply.len, true, AB_ENGINE_REPLY_MAX, ret);
	return ret->end == AB_REPLY_WHOLE
		       ? 0
		       : ab_fail(err, AB_ESYSTEM, 0,
				 "the container engine at %s sent no HTTP reply", path);
}

int ab_engine_list(const char *path, const char *run, struct ab_strv *ret, struct ab_error *err)
{
	ab_autobuf struct ab_buf filters = { 0 }, target = { 0 }, own = { 0 };
	ab_auto(ab_http_reply_fini) struct ab_http_reply reply = { 0 };
	struct ab_refusal unused;

	(void)ab_reply_filters(NULL, run, &filters, &unused);
	ab_buf_puts(&target, "/containers/json?all=1&filters=");
	for (size_t i = 0; i < filters.len; i++)
		ab_buf_printf(&target, "%%%02X", (unsigned char)filters.data[i]);
	if (make_request(path, "GET", target.data, &reply, err) < 0)
		return -1;
	/* The engine may know no labels, and list everything. */
	if (reply.status != 200 ||
	    ab_reply_containers(reply.body.data, reply.body.len, run, &own) < 0 ||
	    ab_reply_ids(own.data, own.len, ret) < 0)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "the container engine at %s did not list containers (status %d)",
			       path, reply.status);
	return 0;
}

static int remove_container(const char *path, const char *id, struct ab_error *err)
{
	ab_autofree char *target = ab_printf("/containers/%s?force=1&v=1", id);
	ab_auto(ab_http_reply_fini) struct ab_http_reply reply = { 0 };

	if (make_request(path, "DELETE", target, &reply, err) < 0)
		return -1;
	/* It may be gone already, or be going. */
	if (reply.status == 204 || reply.status == 200 || reply.status == 404 ||
	    reply.status == 409)
		return 0;
	return ab_fail(err, AB_ESYSTEM, 0, "the container engine did not remove %.12s (status %d)",
		       id, reply.status);
}

int ab_engine_sweep(const char *path, const char *run, size_t *ret_removed, struct ab_error *err)
{
	*ret_removed = 0;
	for (int pass = 0; pass < PASSES; pass++) {
		ab_autostrv struct ab_strv ids = { 0 };

		if (ab_engine_list(path, run, &ids, err) < 0)
			return -1;
		if (!ids.len)
			return 0;
		if (pass)
			poll(NULL, 0, 200);
		for (size_t i = 0; i < ids.len; i++)
			if (remove_container(path, ids.v[i], err) < 0)
				return -1;
		if (!pass)
			*ret_removed = ids.len;
	}
	return ab_fail(err, AB_ESYSTEM, 0, "the container engine still has containers of run %s",
		       run);
}
