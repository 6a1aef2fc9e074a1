#include "session/control/box_network.h"

#include <netinet/in.h>
#include <sys/epoll.h>

#include "base/system/mailbox.h"
#include "broker/broker.h"
#include "host/box_ports.h"
#include "netns/own.h"
#include "policy/model/policy.h"
#include "proxy/conn/agent_terms.h"
#include "proxy/dial/upstream.h"
#include "sandbox/start/launch.h"
#include "sandbox/start/listening_ports.h"
#include "secrets/secrets.h"
#include "session/control/steering.h"
#include "session/control/thresholds.h"

/* Notices from the proxy's thread. */
enum notice {
	TELL_STALE,
	TELL_TRIPPED,
	TELL_WANTED,
	TELL_SETTLED,
	TELL_CROSSED,
	TELL_SURVEYED,
	TELL_AGENT, /* value: the ticket */
};

struct settled {
	uint32_t number;
	enum ab_settled how;
	uint32_t released;
};

struct ab_box_network {
	const struct ab_policy *policy;
	struct ab_published *published;
	size_t npublished;
	int own;
	/* Its socket is a copy: the proxy's thread may still use it when the main thread closes its
	 * own. */
	struct ab_box box;
	struct ab_upstream *upstream; /* or NULL */
	struct ab_safe *safe;
	struct ab_agent_terms *agent; /* until the proxy owns it */
	struct ab_mailbox mail;	      /* from the proxy's thread, once there is one */
	struct ab_box_network_watch watch;
	struct ab_source first_connection, failure, notices;
	struct ab_proxy *proxy;
	bool closing;				   /* notices are dropped */
	struct ab_publish late[AB_PUBLISHED_LATE]; /* published while the run is active */
	size_t nlate;
	struct ab_box_ports ports;
	struct ab_timer look;
	unsigned looks;
};

/* How often to look for servers in the box; a run on a terminal only. */
enum { LOOK_MS = 1000, OFTEN = 30, LATER_MS = 5000 };

static int open_published(struct ab_box_network *bn, struct ab_error *err)
{
	size_t n = bn->policy->net.publish.len;

	bn->published = ab_alloc((n + 1) * sizeof(bn->published[0]));
	for (; bn->npublished < n; bn->npublished++) {
		const struct ab_publish *p = &bn->policy->net.publish.v[bn->npublished];
		int fd = ab_listening_ports_publish("--publish ", p->host, p->port, err);

		if (fd < 0)
			return -1;
		bn->published[bn->npublished] = (struct ab_published){ .fd = fd, .port = p->port };
	}
	return 0;
}

static void free_box_network(struct ab_box_network *bn)
{
	for (size_t i = 0; i < bn->npublished; i++)
		ab_closep(&bn->published[i].fd);
	ab_box_ports_fini(&bn->ports);
	ab_close_all(&bn->own, &bn->box.sock);
	ab_upstream_free(bn->upstream);
	if (bn->notices.fd >= 0) {
		struct ab_letter *letter;

		while ((letter = ab_mailbox_take(&bn->mail)) != NULL)
			ab_free_all(letter->data, letter);
		ab_mailbox_fini(&bn->mail);
	}
	ab_agent_terms_free(bn->agent);
	ab_free_all(bn->published, bn);
}

int ab_box_network_open(const struct ab_policy *policy, char *const *env, struct ab_safe *safe,
			struct ab_agent_terms *agent, struct ab_box_network **ret,
			struct ab_error *err)
{
	struct ab_box_network *bn;

	*ret = NULL;
	if (policy->net.mode != AB_NET_FILTERED && !policy->net.publish.len && !agent)
		return 0;
	bn = ab_alloc(sizeof(*bn));
	bn->policy = policy;
	bn->safe = safe;
	bn->agent = agent;
	bn->notices.fd = -1;
	bn->box.sock = -1;
	bn->ports = (struct ab_box_ports)AB_BOX_PORTS_NONE;
	bn->own = ab_own_open(err);
	if (bn->own < 0 || open_published(bn, err) < 0 ||
	    ab_upstream_choose(policy->net.upstream, env, &bn->upstream, err) < 0) {
		free_box_network(bn);
		return ab_step(err, "network");
	}
	*ret = bn;
	return 0;
}

static int dial_inside(void *arg, uint16_t port)
{
	struct ab_box_network *bn = arg;

	return ab_box_tell(&bn->box, AB_MSG_DIAL, port);
}

static void proxy_failed(struct ab_source *source, uint32_t events)
{
	struct ab_box_network *bn = source->owner;
	struct ab_error err;

	(void)events;
	ab_loop_remove(bn->watch.loop, source);
	ab_proxy_failure(bn->proxy, &err);
	bn->watch.failed(bn->watch.arg, &err);
}

static void handle_notice(struct ab_box_network *bn, const struct ab_letter *letter)
{
	const struct ab_box_network_watch *w = &bn->watch;
	const struct settled *settled = letter->data;

	switch ((enum notice)letter->kind) {
	case TELL_STALE:
		ab_broker_secret(w->broker, (size_t)letter->value);
		break;
	case TELL_TRIPPED:
		w->tripped(w->arg, (size_t)letter->value / 2, letter->value % 2);
		break;
	case TELL_WANTED:
		ab_steering_wanted(w->steering, letter->data);
		break;
	case TELL_SETTLED:
		ab_steering_settled(w->steering, settled->number, settled->how, settled->released);
		break;
	case TELL_CROSSED:
		ab_steering_crossed(w->steering, letter->data);
		break;
	case TELL_SURVEYED:
		ab_steering_surveyed(w->steering, letter->data);
		break;
	case TELL_AGENT:
		/* Without room for the request, nobody else answers it. */
		if (ab_broker_agent(w->broker, (uint32_t)letter->value) < 0)
			ab_proxy_agent_dialled(bn->proxy, (uint32_t)letter->value, EAGAIN, -1);
		break;
	}
}

/* Without a thread the caller is the main thread: handle the notice now. If the thread only started
 * for the end, drop it. */
static void post_notice(struct ab_box_network *bn, enum notice kind, int value, void *data)
{
	struct ab_letter now = { .kind = (int)kind, .value = value, .fd = -1, .data = data };

	if (bn->notices.fd >= 0) {
		ab_mailbox_post(&bn->mail, (int)kind, value, -1, data);
		return;
	}
	if (!bn->closing)
		handle_notice(bn, &now);
	free(data);
}

static void tell_stale(void *arg, size_t i)
{
	post_notice(arg, TELL_STALE, (int)i, NULL);
}

static void tell_tripped(void *arg, size_t i, bool clear)
{
	post_notice(arg, TELL_TRIPPED, (int)(2 * i + clear), NULL);
}

static void post_copy(struct ab_box_network *bn, enum notice kind, const void *data, size_t size)
{
	post_notice(bn, kind, 0, memcpy(ab_alloc(size), data, size));
}

static void tell_wanted(void *arg, const struct ab_host_question *wanted)
{
	post_copy(arg, TELL_WANTED, wanted, sizeof(*wanted));
}

static void tell_settled(void *arg, uint32_t number, enum ab_settled how, uint32_t released)
{
	const struct settled settled = { number, how, released };

	post_copy(arg, TELL_SETTLED, &settled, sizeof(settled));
}

static void tell_crossed(void *arg, const struct ab_threshold_alarm *alarm)
{
	post_copy(arg, TELL_CROSSED, alarm, sizeof(*alarm));
}

static void tell_surveyed(void *arg, char *json)
{
	post_notice(arg, TELL_SURVEYED, 0, json);
}

static int dial_agent(void *arg, uint32_t ticket)
{
	post_notice(arg, TELL_AGENT, (int)ticket, NULL);
	return 0;
}

static void notices_ready(struct ab_source *source, uint32_t events)
{
	struct ab_box_network *bn = source->owner;
	struct ab_letter *letter;

	(void)events;
	while ((letter = ab_mailbox_take(&bn->mail)) != NULL) {
		handle_notice(bn, letter);
		ab_free_all(letter->data, letter);
	}
}

bool ab_box_network_hear(struct ab_box_network *bn, int ms)
{
	if (bn->notices.fd < 0 || ab_poll(bn->notices.fd, POLLIN, ms) <= 0)
		return false;
	notices_ready(&bn->notices, EPOLLIN);
	return true;
}

/* Before the thread starts. */
static int open_mailbox(struct ab_box_network *bn, struct ab_error *err)
{
	if (ab_mailbox_init(&bn->mail, err) < 0)
		return -1;
	bn->notices = (struct ab_source){ .fd = bn->mail.fd, .ready = notices_ready, .owner = bn };
	return 0;
}

/* The thread starts with the first connection, not at the launch: most commands never use the
 * network, and the backlog holds early connections. */
static void start_proxy(struct ab_source *source, uint32_t events)
{
	struct ab_box_network *bn = source->owner;
	struct ab_error err;

	(void)events;
	ab_loop_remove(bn->watch.loop, source);
	if (open_mailbox(bn, &err) == 0 &&
	    ab_loop_add(bn->watch.loop, &bn->notices, EPOLLIN, &err) == 0 &&
	    ab_proxy_start(bn->proxy, &err) == 0) {
		bn->failure = (struct ab_source){ .fd = ab_proxy_failure_fd(bn->proxy),
						  .ready = proxy_failed,
						  .owner = bn };
		if (ab_loop_add(bn->watch.loop, &bn->failure, EPOLLIN, &err) == 0)
			return;
	}
	bn->watch.failed(bn->watch.arg, &err);
}

/* The proxy owns the vault and the authority from here on, even if it cannot be created. */
static void hand_over_secrets(struct ab_safe *safe, struct ab_proxy_setup *setup)
{
	setup->vault = ab_take(safe->vault);
	setup->site = ab_take(safe->site);
	if (safe->intercepted.len)
		setup->intercepted = &safe->intercepted;
}

/* The proxy's thread needs one of its own; it does not use it before a port is published. */
static int copy_box_socket(struct ab_box_network *bn, struct ab_error *err)
{
	if (bn->box.sock < 0)
		bn->box.sock = fcntl(bn->watch.box->sock, F_DUPFD_CLOEXEC, 3);
	return bn->box.sock < 0 ? ab_fail(err, AB_ESYSTEM, errno, "copy the box's socket") : 0;
}

bool ab_box_network_published(const struct ab_box_network *bn, size_t i, struct ab_publish *ret)
{
	size_t first = bn->policy->net.publish.len;

	if (i < first)
		*ret = bn->policy->net.publish.v[i];
	else if (i - first < bn->nlate)
		*ret = bn->late[i - first];
	else
		return false;
	return true;
}

static bool is_known_port(const void *arg, uint16_t port)
{
	const struct ab_box_network *bn = arg;
	struct ab_publish p;

	for (size_t i = 0; i < bn->policy->net.host_ports.len; i++)
		if (bn->policy->net.host_ports.v[i] == port)
			return true;
	for (size_t i = 0; ab_box_network_published(bn, i, &p); i++)
		if (p.port == port)
			return true;
	return false;
}

static void look_for_servers(struct ab_timer *timer)
{
	struct ab_box_network *bn = timer->owner;
	uint16_t port = ab_box_ports_look(&bn->ports, is_known_port, bn);

	if (!port || !bn->watch.listens(bn->watch.arg, port))
		ab_loop_timer(bn->watch.loop, timer, bn->looks++ < OFTEN ? LOOK_MS : LATER_MS);
}

void ab_box_network_watch_ports(struct ab_box_network *bn, pid_t init)
{
	ab_box_ports_open(init, &bn->ports);
}

/* The client made it, before it sent it to us. */
static bool is_listener_on(int fd, uint16_t host)
{
	struct sockaddr_in at = { 0 };
	socklen_t len = sizeof(at);
	int listens = 0, type = 0;

	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0 || at.sin_family != AF_INET ||
	    at.sin_addr.s_addr != htonl(INADDR_LOOPBACK) || at.sin_port != htons(host))
		return false;
	len = sizeof(listens);
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
		return false;
	len = sizeof(type);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
	       fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0;
}

int ab_box_network_publish(struct ab_box_network *bn, int fd, uint16_t host, uint16_t port,
			   struct ab_error *err)
{
	ab_autoclose int listener = fd;

	if (!is_listener_on(listener, host))
		return ab_fail(err, AB_EUSAGE, 0, "the descriptor does not listen on 127.0.0.1:%u",
			       host);
	if (bn->nlate == AB_PUBLISHED_LATE)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "this run has published %d ports since its start; there is no room "
			       "for more",
			       AB_PUBLISHED_LATE);
	if (!bn->proxy || copy_box_socket(bn, err) < 0)
		return bn->proxy ? -1
				 : ab_fail(err, AB_ESYSTEM, 0, "the run is starting or ending");
	bn->late[bn->nlate++] = (struct ab_publish){ .host = host, .port = port };
	ab_proxy_publish(bn->proxy, ab_take_fd(&listener), port);
	return 0;
}

int ab_box_network_attach(struct ab_box_network *bn, struct ab_network *network,
			  const struct ab_box_network_watch *watch, struct ab_error *err)
{
	struct ab_proxy_setup setup = {
		.run_id = watch->run_id,
		.timeout_ms = watch->timeout_ms,
		.policy = bn->policy,
		.log = watch->log,
		.strict = bn->policy->assurance.fallback == AB_FALLBACK_STRICT,
		.network = *network,
		.published = bn->published,
		.npublished = bn->npublished,
		.own = bn->own,
		.upstream = bn->upstream,
		.dial_inside = dial_inside,
		.agent = bn->agent,
		.dial_agent = dial_agent,
		.stale = tell_stale,
		.tripped = tell_tripped,
		.asked = tell_wanted,
		.identify_denied = true,
		.ask_ms = (uint32_t)bn->policy->net.wait_ms,
		.settled = tell_settled,
		.crossed = tell_crossed,
		.surveyed = tell_surveyed,
		.arg = bn,
		.dial_host = ab_listening_ports_dial,
	};

	if (bn->proxy)
		return ab_fail(err, AB_ESYSTEM, 0, "the network is already attached");
	bn->watch = *watch;
	if (bn->npublished && copy_box_socket(bn, err) < 0)
		return -1;
	if (bn->ports.tables[0] >= 0) {
		bn->look = (struct ab_timer){ .fire = look_for_servers, .owner = bn };
		ab_loop_timer(watch->loop, &bn->look, LOOK_MS);
	}
	if (bn->safe && bn->policy->net.mode == AB_NET_FILTERED)
		hand_over_secrets(bn->safe, &setup);
	*network = (struct ab_network){ 0 };
	/* The proxy owns them, even if it cannot be created. */
	bn->own = -1;
	bn->npublished = 0;
	bn->agent = NULL;
	if (ab_proxy_new(&setup, &bn->proxy, err) < 0)
		return -1;
	return ab_loop_watch(watch->loop, &bn->first_connection, ab_proxy_ready_fd(bn->proxy),
			     start_proxy, bn, err);
}

struct ab_proxy *ab_box_network_proxy(const struct ab_box_network *bn)
{
	return bn ? bn->proxy : NULL;
}

void ab_box_network_serve_agent(struct ab_box_network *bn, struct ab_fds *fds)
{
	if (fds->len && bn && bn->proxy)
		ab_proxy_serve_agent(bn->proxy, ab_take_fd(&fds->v[0]));
}

void ab_box_network_agent_dialled(struct ab_box_network *bn, const struct ab_broker_news *news)
{
	int fd = news->fd < 0 ? -1 : fcntl(news->fd, F_DUPFD_CLOEXEC, 3);
	int errnum = news->fd >= 0 ? errno : news->error.errnum ? news->error.errnum : EIO;

	if (bn && bn->proxy)
		ab_proxy_agent_dialled(bn->proxy, news->ticket, fd < 0 ? errnum : 0, fd);
	else
		ab_closep(&fd);
}

/* An alarm may come with the last bytes of the box, after the loop has ended. */
static int take_late_alarms(struct ab_box_network *bn, struct ab_strv *ret, struct ab_error *err)
{
	struct ab_letter *letter;
	int r = 0;

	while (bn->notices.fd >= 0 && (letter = ab_mailbox_take(&bn->mail)) != NULL) {
		const struct ab_threshold_alarm *alarm = letter->data;
		char text[AB_ALARM_ROOM];

		if (letter->kind == TELL_CROSSED && alarm->action == AB_ALARM_STOP) {
			r = ab_alarm_error(alarm, bn->watch.run_id, err);
		} else if (letter->kind == TELL_CROSSED) {
			ab_alarm_text(alarm, text);
			ab_strv_add(ret, text);
		}
		ab_free_all(letter->data, letter);
	}
	return r;
}

int ab_box_network_close(struct ab_box_network *bn, struct ab_proxy_report *ret,
			 struct ab_strv *ret_alarms, struct ab_error *err)
{
	bool budgets = bn->policy->monitor.upload_host || bn->policy->monitor.upload_run ||
		       bn->policy->monitor.hosts;
	struct ab_error late = { 0 };
	int r = 0;

	*ret = (struct ab_proxy_report){ 0 };
	bn->closing = true;
	if (budgets && bn->proxy && bn->notices.fd < 0)
		r = open_mailbox(bn, err);
	if (bn->proxy && ab_proxy_stop(bn->proxy, ret, r < 0 ? &late : err) < 0)
		r = -1;
	if (take_late_alarms(bn, ret_alarms, r < 0 ? &late : err) < 0)
		r = -1;
	free_box_network(bn);
	return r;
}
