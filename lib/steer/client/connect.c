/*
 * Standard input and output to a host, through the door of the box that we
 * are in. One thread for each direction, because either may have to wait for
 * a peer that itself waits for the other.
 */
#include "steer/client/connect.h"

#include <pthread.h>
#include <sys/time.h>

#include "base/data/addr.h"
#include "policy/layers/layers.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"

enum {
	CHUNK = 64 * 1024,
	HEAD_MAX = 8192,
	/* Beyond what the door itself waits for a host, or for an answer. */
	ANSWER_S = 180,
};

/* The door from the environment: "http://127.0.0.1:61080". */
static int find_door(const struct ab_policy_input *input, struct ab_host_entry *ret,
		     struct ab_error *err)
{
	static const char scheme[] = "http://";
	const char *url = ab_environ_get(input->environ, "HTTP_PROXY");
	size_t len;

	if (!ab_furniture_boxed()) {
		ab_fail(err, AB_ESYSTEM, 0, "this is not inside a box");
		return ab_hint(err, "connect uses the proxy of a box; "
				    "here, use the network itself");
	}
	if (!url || !*url)
		return ab_fail(err, AB_ESYSTEM, 0, "this box has no proxy");
	if (strncmp(url, scheme, strlen(scheme)) == 0) {
		url += strlen(scheme);
		len = strcspn(url, "/");
		if (ab_host_entry_parse(url, len, ret, NULL) == 0 && !ret->below && ret->port &&
		    ret->host.kind != AB_HOST_NAME)
			return 0;
	}
	return ab_fail(err, AB_ESYSTEM, 0, "HTTP_PROXY no longer names the proxy of this box");
}

static int dial(const struct ab_host_entry *door, struct ab_error *err)
{
	struct ab_sockaddr at =
		ab_sockaddr(door->host.kind == AB_HOST_IPV6, door->host.addr, door->port);
	ab_autoclose int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, &at.any, at.len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "reach the proxy");
	return ab_take_fd(&fd);
}

static int send_all(int sock, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(sock, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Behind the blank line that ends the head; NULL: it is not all there. */
static const char *end_of_head(const struct ab_buf *b)
{
	const char *end = b->data ? strstr(b->data, "\r\n\r\n") : NULL;

	return end ? end + 4 : NULL;
}

/* Read until the head of the answer, or with `all` the answer itself, is
 * there; -1 when it never will be. */
static int hear(int sock, bool all, struct ab_buf *b)
{
	while (b->len < HEAD_MAX && (all || !end_of_head(b))) {
		char chunk[1024];
		ssize_t n = recv(sock, chunk, sizeof(chunk), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		ab_buf_add(b, chunk, (size_t)n);
	}
	return end_of_head(b) ? 0 : -1;
}

/* The text of a refusal: its first line says what, its second what to do. */
static int explain(const struct ab_buf *answer, const char *target, struct ab_error *err)
{
	static const char who[] = "agentbox ";
	const char *text = end_of_head(answer);
	size_t n = strcspn(text, "\r\n");

	if (n == 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the proxy did not connect to %s: %.*s", target,
			       (int)strcspn(answer->data, "\r\n"), answer->data);
	/* It is said with our name before it already. */
	if (strncmp(text, who, strlen(who)) == 0) {
		text += strlen(who);
		n -= strlen(who);
	}
	ab_fail(err, AB_ESYSTEM, 0, "%.*s", (int)n, text);
	text += n;
	text += strspn(text, "\r\n");
	n = strcspn(text, "\r\n");
	if (n)
		ab_hint(err, "%.*s", (int)n, text);
	return -1;
}

/* Ask for a tunnel; what came behind the answer is in `rest`. */
static int ask(int sock, const char *target, struct ab_buf *rest, struct ab_error *err)
{
	ab_autofree char *request =
		ab_printf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target);
	struct timeval bound = { .tv_sec = ANSWER_S }, none = { 0 };
	ab_autobuf struct ab_buf answer = { 0 };
	const char *end;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof(bound));
	if (send_all(sock, request, strlen(request)) < 0 || hear(sock, false, &answer) < 0 ||
	    strncmp(answer.data, "HTTP/1.", 7) != 0)
		return ab_fail(err, AB_ESYSTEM, 0, "the proxy does not answer");
	if (strncmp(answer.data + 8, " 2", 2) != 0) {
		(void)hear(sock, true, &answer);
		return explain(&answer, target, err);
	}
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	end = end_of_head(&answer);
	ab_buf_add(rest, end, answer.len - (size_t)(end - answer.data));
	return 0;
}

/* Until one side ends; -1 with errno when it breaks. */
static int pump(int from, int to, bool to_socket)
{
	ab_autofree char *chunk = ab_alloc(CHUNK);

	for (;;) {
		ssize_t n = read(from, chunk, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		if ((to_socket ? send_all(to, chunk, (size_t)n)
			       : ab_write_all(to, chunk, (size_t)n)) < 0)
			return -1;
	}
}

static void *pump_up(void *arg)
{
	int sock = *(int *)arg;

	/* A host that takes no more says so in the other direction. */
	(void)pump(STDIN_FILENO, sock, true);
	shutdown(sock, SHUT_WR);
	return NULL;
}

static int relay(int sock, const struct ab_buf *first, const char *target, struct ab_error *err)
{
	pthread_t up;
	int r = pthread_create(&up, NULL, pump_up, &sock);

	if (r)
		return ab_fail(err, AB_ESYSTEM, r, "make a thread");
	if (ab_write_all(STDOUT_FILENO, first->data, first->len) < 0 ||
	    pump(sock, STDOUT_FILENO, false) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "the connection to %s broke", target);
	/* The reader of our output must see its end now: the host may still
	 * expect the rest of our input. */
	close(STDOUT_FILENO);
	pthread_join(up, NULL);
	return 0;
}

int ab_connect(const struct ab_policy_input *input, const char *host, uint16_t port,
	       struct ab_error *err)
{
	ab_autobuf struct ab_buf first = { 0 };
	ab_autofree char *text = NULL;
	ab_autoclose int sock = -1;
	struct ab_host_entry door;
	struct ab_host target;
	bool v6;

	if (port == 0 || ab_host_parse(host, strlen(host), &target, NULL) < 0)
		return ab_fail(err, AB_EUSAGE, 0, "%s is not a host", host);
	v6 = target.kind == AB_HOST_IPV6;
	text = ab_printf("%s%s%s:%u", v6 ? "[" : "", target.text, v6 ? "]" : "", port);
	if (find_door(input, &door, err) < 0)
		return -1;
	sock = dial(&door, err);
	if (sock < 0 || ask(sock, text, &first, err) < 0)
		return -1;
	return relay(sock, &first, text, err);
}
