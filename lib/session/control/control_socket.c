/*
 * Theory of operation.
 *
 * A client is reading (we wait for its next request), asked (the run works on its request, nothing
 * is read from it), or following (it only gets events). It is freed after the batch in which it
 * left, but not while it is asked: then it is marked, and freed with the answer.
 *
 * A client is behind when its socket is full. An answer is kept until there is room; events are
 * dropped, and the client is told later that it missed some. So the box, which can cause many
 * events at once, cannot shake off a client.
 *
 * Should: answer each request once.
 *
 * Mustn't: wait for a client, or keep more than one answer for it; accept another user.
 */
#include "session/control/control_socket.h"

#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/un.h>

#include "state/state.h"

enum { CLIENTS_MAX = 32, BACKLOG = 32, NOTE_ROOM = 64, FDS_MAX = 5 };

/* A run that ends before this needs no name: nobody could have connected. */
enum { NAME_MS = 50 };

struct ab_control_client {
	struct ab_control *control;
	LIST_ENTRY(ab_control_client) link;
	struct ab_source source;
	struct ab_later later;
	bool asked, follows, left;
	bool missed; /* events */
	char *held;  /* an answer */
	_Alignas(max_align_t) char note[NOTE_ROOM];
};

struct ab_control {
	struct ab_control_watch watch;
	struct ab_source listener;
	struct ab_timer named;
	LIST_HEAD(, ab_control_client) clients;
	size_t nclients, nfollowers;
	char packet[AB_CONTROL_MAX + 1]; /* not touched before there is a client */
};

/*
 * By its path, so that it stands in /proc/net/unix and a box of another run, whose state folder is
 * not this one, gets it masked (host/facts.c). A path may be too long for an address; the
 * descriptor's never is.
 */
static void address_of(int dir, struct sockaddr_un *ret)
{
	ab_autofree char *path = ab_fd_path(dir);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path && (size_t)snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/%s", path,
				     AB_CONTROL_NAME) < sizeof(ret->sun_path))
		return;
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", dir, AB_CONTROL_NAME);
}

int ab_control_open(struct ab_control **ret, struct ab_error *err)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return ab_fail_step(err, "control", errno, "create the control socket");
	*ret = ab_realloc(NULL, sizeof(**ret));
	memset(*ret, 0, offsetof(struct ab_control, packet));
	(*ret)->listener.fd = fd;
	return 0;
}

static void free_client(struct ab_later *later)
{
	struct ab_control_client *c = later->owner;

	LIST_REMOVE(c, link);
	c->control->nclients--;
	ab_free_all(c->held, c);
}

static void drop_client(struct ab_control_client *c)
{
	if (!c->left) {
		c->left = true;
		c->control->nfollowers -= c->follows;
		ab_source_close(&c->source);
	}
	if (!c->asked)
		ab_loop_later(c->control->watch.loop, &c->later);
}

static bool is_behind(const struct ab_control_client *c)
{
	return c->held || c->missed;
}

/* While a client is asked, only its end is noticed. */
static void watch_client(struct ab_control_client *c)
{
	ab_loop_set(c->control->watch.loop, &c->source,
		    is_behind(c) ? EPOLLOUT
		    : c->asked	 ? 0
				 : EPOLLIN);
}

/* False: there is no room. */
static bool send_text(struct ab_control_client *c, const char *text)
{
	ssize_t n = send(c->source.fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
		return false;
	if (n < 0)
		drop_client(c);
	return true;
}

static void send_packet(struct ab_control_client *c, const char *text, bool event)
{
	if (strlen(text) > AB_CONTROL_MAX) {
		drop_client(c);
		return;
	}
	if (!is_behind(c) && send_text(c, text))
		return;
	if (event)
		c->missed = true;
	else
		c->held = ab_strdup(text);
	watch_client(c);
}

static void catch_up(struct ab_control_client *c)
{
	static const char missed[] = "{\"event\":\"missed\"}";

	if (c->held && !send_text(c, c->held))
		return;
	free(ab_take(c->held));
	if (c->left || (c->missed && !send_text(c, missed)))
		return;
	c->missed = false;
	watch_client(c);
}

static void send_answer(struct ab_control_client *c, const char *text)
{
	c->asked = false;
	if (c->left) {
		drop_client(c);
		return;
	}
	watch_client(c);
	send_packet(c, text, false);
}

void ab_control_reply(struct ab_control_client *c, const char *pattern, ...)
{
	ab_autobuf struct ab_buf b = { 0 };
	va_list ap;

	ab_buf_puts(&b, "{");
	va_start(ap, pattern);
	ab_buf_vjsonf(&b, pattern, ap);
	va_end(ap);
	ab_buf_jsonf(&b, ",'ok':true}");
	send_answer(c, b.data);
}

void ab_control_done(struct ab_control_client *c)
{
	send_answer(c, "{\"ok\":true}");
}

void ab_control_refuse(struct ab_control_client *c, const struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'ok':false,'error':%s,'hint':%s}", err->text, err->hint);
	send_answer(c, b.data);
}

void ab_control_follow(struct ab_control_client *c)
{
	c->control->nfollowers += !c->follows && !c->left;
	c->follows = true;
}

bool ab_control_followed(const struct ab_control *control)
{
	return control->nfollowers > 0;
}

void ab_control_tell(struct ab_control *control, const char *pattern, ...)
{
	ab_autobuf struct ab_buf event = { 0 };
	va_list ap;

	va_start(ap, pattern);
	ab_buf_vjsonf(&event, pattern, ap);
	va_end(ap);
	for (struct ab_control_client *c = LIST_FIRST(&control->clients); c; c = LIST_NEXT(c, link))
		if (c->follows && !c->left)
			send_packet(c, event.data, true);
}

void *ab_control_note(struct ab_control_client *c)
{
	return c->note;
}

static void take_request(struct ab_control_client *c, size_t len, struct ab_fds *fds)
{
	struct ab_control *control = c->control;
	struct ab_control_request request;
	struct ab_error err = { 0 };

	c->asked = true;
	memset(c->note, 0, sizeof(c->note));
	watch_client(c);
	if (ab_control_parse(control->watch.run_id, control->packet, len, &request, &err) < 0) {
		ab_control_refuse(c, &err);
		return;
	}
	request.fds = fds;
	control->watch.asked(control->watch.arg, c, &request);
}

/* The request is lost with its descriptors. */
static void refuse_for_descriptors(struct ab_control_client *c)
{
	struct ab_error err = { 0 };

	c->asked = true;
	ab_fail(&err, AB_ESYSTEM, EMFILE, "the supervisor cannot take the descriptors");
	ab_hint(&err,
		"raise the limit of open files (ulimit -n), or end other commands in the box");
	ab_control_refuse(c, &err);
}

static void client_ready(struct ab_source *source, uint32_t events)
{
	struct ab_control_client *c = source->owner;
	ab_autofds struct ab_fds fds = { .len = 0 };
	ssize_t n;

	if (is_behind(c) && (events & EPOLLOUT)) {
		catch_up(c);
		return;
	}
	if (c->asked) { /* only its end is reported */
		if (events & (EPOLLHUP | EPOLLERR))
			drop_client(c);
		return;
	}
	fds.len = FDS_MAX;
	n = ab_recv_fds(source->fd, c->control->packet, sizeof(c->control->packet), fds.v, &fds.len,
			MSG_DONTWAIT);
	if (n < 0)
		fds.len = 0;
	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0 && errno == EMFILE) {
		refuse_for_descriptors(c);
		return;
	}
	/* A packet that is too long is an error. */
	if (n <= 0 || n > AB_CONTROL_MAX)
		drop_client(c);
	else
		take_request(c, (size_t)n, &fds);
}

static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

/* Takes over `fd`. */
static struct ab_control_client *add_client(struct ab_control *control, int fd)
{
	struct ab_control_client *c = ab_alloc(sizeof(*c));
	struct ab_error err;

	*c = (struct ab_control_client){ .control = control };
	c->source = (struct ab_source){ .fd = fd, .ready = client_ready, .owner = c };
	c->later = (struct ab_later){ .run = free_client, .owner = c };
	LIST_INSERT_HEAD(&control->clients, c, link);
	control->nclients++;
	if (ab_loop_add(control->watch.loop, &c->source, EPOLLIN, &err) < 0)
		drop_client(c);
	return c;
}

static void accept_client(struct ab_source *source, uint32_t events)
{
	struct ab_control *control = source->owner;
	ab_autoclose int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0 && control->nclients < CLIENTS_MAX && is_same_user(fd))
		add_client(control, ab_take_fd(&fd));
}

int ab_control_adopt(struct ab_control *control, int sock, struct ab_error *err)
{
	int fd = fcntl(sock, F_DUPFD_CLOEXEC, 3);

	if (fd < 0)
		return ab_fail_step(err, "control", errno,
				    "copy the socket of the calling program");
	ab_control_follow(add_client(control, fd));
	return 0;
}

int ab_control_name(struct ab_control *control, struct ab_error *err)
{
	int fd = control->listener.fd;
	struct sockaddr_un at;

	if (control->listener.active)
		return 0;
	ab_loop_timer_stop(control->watch.loop, &control->named);
	address_of(control->watch.dir, &at);
	/* bind() takes the mode of the name from the socket. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return ab_fail_step(err, "control", errno, "name the control socket");
	return ab_loop_add(control->watch.loop, &control->listener, EPOLLIN, err);
}

static void name_on_time(struct ab_timer *timer)
{
	struct ab_control *control = timer->owner;
	struct ab_error err = { 0 };

	if (ab_control_name(control, &err) < 0)
		control->watch.failed(control->watch.arg, &err);
}

void ab_control_attach(struct ab_control *control, const struct ab_control_watch *watch)
{
	control->watch = *watch;
	control->listener.ready = accept_client;
	control->listener.owner = control;
	control->named = (struct ab_timer){ .fire = name_on_time, .owner = control };
	ab_loop_timer(watch->loop, &control->named, NAME_MS);
}

/* After the loop has ended. */
void ab_control_close(struct ab_control *control)
{
	struct ab_control_client *c;

	if (!control)
		return;
	while ((c = LIST_FIRST(&control->clients)) != NULL) {
		LIST_REMOVE(c, link);
		if (!c->left)
			ab_closep(&c->source.fd);
		ab_free_all(c->held, c);
	}
	ab_closep(&control->listener.fd);
	free(control);
}
