#include "steer/client/ask_runs.h"

#include "session/control/control_socket.h"
#include "steer/client/steer.h"

static void read_answer(struct ab_ask_runs *k)
{
	static char packet[AB_CONTROL_MAX];
	ssize_t n = recv(k->fd, packet, sizeof(packet), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		k->answer = json_loadb(packet, (size_t)n, 0, NULL);
	if (!json_is_true(json_object_get(k->answer, "ok"))) {
		json_decref(k->answer);
		k->answer = NULL;
	}
	ab_closep(&k->fd);
}

static bool is_waiting(const struct ab_ask_runs *v, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (v[i].fd >= 0)
			return true;
	return false;
}

void ab_ask_runs(struct ab_ask_runs *v, size_t len, const char *request, int ms)
{
	ab_autofree struct pollfd *fds = ab_alloc((len + 1) * sizeof(fds[0]));
	int64_t end, left;

	for (size_t i = 0; i < len; i++) {
		v[i].answer = NULL;
		/* Do not wait for a connection. */
		v[i].fd = ab_steer_dial(v[i].dir, SOCK_NONBLOCK);
		if (v[i].fd >= 0 &&
		    send(v[i].fd, request, strlen(request), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
			ab_closep(&v[i].fd);
		}
	}
	end = ab_now_ms() + ms;
	while (is_waiting(v, len) && (left = end - ab_now_ms()) > 0) {
		for (size_t i = 0; i < len; i++)
			fds[i] = (struct pollfd){ .fd = v[i].fd, .events = POLLIN };
		if (poll(fds, len, (int)left) <= 0)
			continue;
		for (size_t i = 0; i < len; i++)
			if (fds[i].revents)
				read_answer(&v[i]);
	}
}

void ab_ask_runs_fini(struct ab_ask_runs *v, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		ab_closep(&v[i].fd);
		json_decref(v[i].answer);
	}
}
