#include "session/control/box_network.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/mailbox.h"
#include "netns/own.h"
#include "policy/model/policy.h"
#include "proxy/dial/upstream.h"
#include "sandbox/start/launch.h"
#include "sandbox/start/listening_ports.h"
#include "session/secrets/secrets.h"

/* What the proxy's thread has to tell. */
enum tale {
	TELL_STALE,
	TELL_TRIPPED,
	TELL_WANTED,
	TELL_SETTLED,
	TELL_SENT,
	TELL_OPENED,
	TELL_SURVEYED,
};

struct settled {
	uint32_t number;
	enum ab_settled how;
	uint32_t released;
};

struct sent {
	uint64_t bytes;
	char host[];
};

struct ab_box_network {
	const struct ab_policy *policy;
	struct ab_published *published;
	size_t npublished;
	int own;
	struct ab_box box;	      /* its socket is a copy: the proxy's thread may
				 * still ask when the main thread closes it */
	struct ab_upstream *upstream; /* or NULL */
	struct ab_safe *safe;
	struct ab_mailbox mail; /* from its thread, once there is one */
	struct ab_box_network_watch watch;
	struct ab_source knock, failure, told;
	struct ab_proxy *proxy;
	bool closing; /* its thread talks to nobody any more */
};

/* On the host's loopback only: to publish is not to expose. */
static int listen_on(uint16_t port, struct ab_error *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	ab_autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, SOMAXCONN) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "listen on 127.0.0.1:%u", port);
		return ab_hint(err, "publish it under another port of the "
				    "host: --publish HOST:PORT");
	}
	return ab_take_fd(&fd);
}

static int open_published(struct ab_box_network *g, struct ab_error *err)
{
	size_t n = g->policy->net.publish.len;

	g->published = ab_alloc((n + 1) * sizeof(g->published[0]));
	for (; g->npublished < n; g->npublished++) {
		const struct ab_publish *p = &g->policy->net.publish.v[g->npublished];
		int fd = listen_on(p->host, err);

		if (fd < 0)
			return -1;
		g->published[g->npublished] = (struct ab_published){ .fd = fd, .port = p->port };
	}
	return 0;
}

static int choose_upstream(struct ab_box_network *g, char *const *env, struct ab_error *err)
{
	const char *setting = g->policy->net.upstream;

	if (strcmp(setting, "none") == 0)
		return 0;
	if (strcmp(setting, "env") == 0)
		return ab_upstream_from_env(env, &g->upstream, err);
	return ab_upstream_parse(setting, &g->upstream, err);
}

static void destroy(struct ab_box_network *g)
{
	for (size_t i = 0; i < g->npublished; i++)
		ab_closep(&g->published[i].fd);
	ab_closep(&g->own);
	ab_closep(&g->box.sock);
	ab_upstream_free(g->upstream);
	if (g->told.fd >= 0) {
		struct ab_letter *letter;

		while ((letter = ab_mailbox_take(&g->mail)) != NULL) {
			free(letter->data);
			free(letter);
		}
		ab_mailbox_fini(&g->mail);
	}
	free(g->published);
	free(g);
}

int ab_box_network_open(const struct ab_policy *policy, char *const *env, struct ab_safe *safe,
			struct ab_box_network **ret, struct ab_error *err)
{
	struct ab_box_network *g;

	*ret = NULL;
	if (policy->net.mode != AB_NET_FILTERED && !policy->net.publish.len)
		return 0;
	g = ab_alloc(sizeof(*g));
	g->policy = policy;
	g->safe = safe;
	g->told.fd = -1;
	g->box.sock = -1;
	g->own = ab_own_open(err);
	if (g->own < 0 || open_published(g, err) < 0 || choose_upstream(g, env, err) < 0) {
		destroy(g);
		return ab_step(err, "network");
	}
	*ret = g;
	return 0;
}

static int dial_inside(void *arg, uint16_t port)
{
	struct ab_box_network *g = arg;

	return ab_box_tell(&g->box, AB_MSG_DIAL, port);
}

static void proxy_failed(struct ab_source *source, uint32_t events)
{
	struct ab_box_network *g = source->owner;
	struct ab_error err;

	(void)events;
	ab_loop_remove(g->watch.loop, source);
	ab_proxy_failure(g->proxy, &err);
	g->watch.failed(g->watch.arg, &err);
}

static void read_letter(struct ab_box_network *g, const struct ab_letter *letter)
{
	const struct ab_box_network_watch *w = &g->watch;
	const struct settled *settled = letter->data;
	const struct sent *sent = letter->data;

	switch ((enum tale)letter->kind) {
	case TELL_STALE:
		w->stale(w->arg, (size_t)letter->value);
		break;
	case TELL_TRIPPED:
		w->tripped(w->arg, (size_t)letter->value);
		break;
	case TELL_WANTED:
		w->wanted(w->arg, letter->data);
		break;
	case TELL_SETTLED:
		w->settled(w->arg, settled->number, settled->how, settled->released);
		break;
	case TELL_SENT:
		w->sent(w->arg, sent->host, sent->bytes);
		break;
	case TELL_OPENED:
		w->opened(w->arg, letter->data);
		break;
	case TELL_SURVEYED:
		w->surveyed(w->arg, letter->data);
		break;
	}
}

/* Before there is a thread it is our own that tells, and hears it at once; a
 * thread that only the end has needed talks to nobody. */
static void post(struct ab_box_network *g, enum tale kind, int value, void *data)
{
	struct ab_letter now = { .kind = (int)kind, .value = value, .fd = -1, .data = data };

	if (g->told.fd >= 0) {
		ab_mailbox_post(&g->mail, (int)kind, value, -1, data);
		return;
	}
	if (!g->closing)
		read_letter(g, &now);
	free(data);
}

static void tell_stale(void *arg, size_t i)
{
	post(arg, TELL_STALE, (int)i, NULL);
}

static void tell_tripped(void *arg, size_t i)
{
	post(arg, TELL_TRIPPED, (int)i, NULL);
}

static void tell_wanted(void *arg, const struct ab_wanted *wanted)
{
	struct ab_wanted *copy = ab_alloc(sizeof(*copy));

	*copy = *wanted;
	post(arg, TELL_WANTED, 0, copy);
}

static void tell_settled(void *arg, uint32_t number, enum ab_settled how, uint32_t released)
{
	struct settled *copy = ab_alloc(sizeof(*copy));

	*copy = (struct settled){ number, how, released };
	post(arg, TELL_SETTLED, 0, copy);
}

static void tell_sent(void *arg, const char *host, uint64_t bytes)
{
	struct sent *copy = ab_alloc(sizeof(*copy) + strlen(host) + 1);

	copy->bytes = bytes;
	memcpy(copy->host, host, strlen(host) + 1);
	post(arg, TELL_SENT, 0, copy);
}

static void tell_opened(void *arg, const char *host)
{
	post(arg, TELL_OPENED, 0, ab_strdup(host));
}

static void tell_surveyed(void *arg, char *json)
{
	post(arg, TELL_SURVEYED, 0, json);
}

static void something_told(struct ab_source *source, uint32_t events)
{
	struct ab_box_network *g = source->owner;
	struct ab_letter *letter;

	(void)events;
	while ((letter = ab_mailbox_take(&g->mail)) != NULL) {
		read_letter(g, letter);
		free(letter->data);
		free(letter);
	}
}

bool ab_box_network_hear(struct ab_box_network *g, int ms)
{
	struct pollfd told = { .fd = g->told.fd, .events = POLLIN };

	if (g->told.fd < 0 || poll(&told, 1, ms) <= 0)
		return false;
	something_told(&g->told, EPOLLIN);
	return true;
}

/* Before there is a thread that could write. */
static int open_mailbox(struct ab_box_network *g, struct ab_error *err)
{
	if (ab_mailbox_init(&g->mail, err) < 0)
		return -1;
	g->told = (struct ab_source){ .fd = g->mail.fd, .ready = something_told, .owner = g };
	return 0;
}

/* The thread is made here and not at the launch: most commands never use the
 * network, and the backlog holds those who come early. */
static void somebody_knocks(struct ab_source *source, uint32_t events)
{
	struct ab_box_network *g = source->owner;
	struct ab_error err;

	(void)events;
	ab_loop_remove(g->watch.loop, source);
	if (open_mailbox(g, &err) == 0 &&
	    ab_loop_add(g->watch.loop, &g->told, EPOLLIN, &err) == 0 &&
	    ab_proxy_start(g->proxy, &err) == 0) {
		g->failure = (struct ab_source){ .fd = ab_proxy_failure_fd(g->proxy),
						 .ready = proxy_failed,
						 .owner = g };
		if (ab_loop_add(g->watch.loop, &g->failure, EPOLLIN, &err) == 0)
			return;
	}
	g->watch.failed(g->watch.arg, &err);
}

/* The vault and the authority are the proxy's from here on, whether it can be
 * made or not. */
static void hand_over(struct ab_safe *safe, struct ab_proxy_setup *setup)
{
	setup->vault = ab_take(safe->vault);
	setup->site = ab_take(safe->site);
	if (safe->intercepted.len)
		setup->intercepted = &safe->intercepted;
}

int ab_box_network_attach(struct ab_box_network *g, struct ab_network *network,
			  const struct ab_box_network_watch *watch, struct ab_error *err)
{
	struct ab_proxy_setup setup = {
		.run_id = watch->run_id,
		.policy = g->policy,
		.log = watch->log,
		.strict = g->policy->assurance.fallback == AB_FALLBACK_STRICT,
		.network = *network,
		.published = g->published,
		.npublished = g->npublished,
		.own = g->own,
		.upstream = g->upstream,
		.dial_inside = dial_inside,
		.stale = tell_stale,
		.tripped = tell_tripped,
		.wanted = tell_wanted,
		.tell_who = true,
		.ask_ms = (uint32_t)g->policy->net.wait_ms,
		.settled = tell_settled,
		.sent = tell_sent,
		.watch_uploads = watch->counts,
		.opened = tell_opened,
		.surveyed = tell_surveyed,
		.arg = g,
		.dial_host = ab_listening_ports_dial,
	};

	if (g->proxy)
		return ab_fail(err, AB_ESYSTEM, 0, "a second network came up");
	if (g->npublished) {
		g->box.sock = fcntl(watch->box->sock, F_DUPFD_CLOEXEC, 3);
		if (g->box.sock < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "copy the box's socket");
	}
	g->watch = *watch;
	if (g->safe && g->policy->net.mode == AB_NET_FILTERED)
		hand_over(g->safe, &setup);
	*network = (struct ab_network){ 0 };
	/* The proxy's, whether it can be made or not. */
	g->own = -1;
	g->npublished = 0;
	if (ab_proxy_new(&setup, &g->proxy, err) < 0)
		return -1;
	g->knock = (struct ab_source){ .fd = ab_proxy_knock_fd(g->proxy),
				       .ready = somebody_knocks,
				       .owner = g };
	return ab_loop_add(watch->loop, &g->knock, EPOLLIN, err);
}

struct ab_proxy *ab_box_network_proxy(const struct ab_box_network *g)
{
	return g->proxy;
}

void ab_box_network_secret(struct ab_box_network *g, size_t i, const char *value, size_t len)
{
	if (g->proxy)
		ab_proxy_secret(g->proxy, i, value, len);
}

void ab_box_network_dialled(struct ab_box_network *g, int errnum, int fd)
{
	if (g->proxy)
		ab_proxy_dialled(g->proxy, errnum, fd);
	else if (fd >= 0)
		close(fd);
}

int ab_box_network_close(struct ab_box_network *g, struct ab_proxy_report *ret,
			 struct ab_error *err)
{
	int r = 0;

	*ret = (struct ab_proxy_report){ 0 };
	g->closing = true;
	if (g->proxy)
		r = ab_proxy_stop(g->proxy, ret, err);
	destroy(g);
	return r;
}
