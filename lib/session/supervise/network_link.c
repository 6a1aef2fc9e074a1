#include "session/supervise/network_link.h"

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "broker/broker.h"
#include "consent/request.h"
#include "policy/model/policy.h"
#include "session/control/box_network.h"
#include "session/control/steering.h"
#include "session/supervise/failure.h"
#include "session/supervise/supervisor.h"
#include "terminal/terminal.h"

static const char *name_secret(const struct ab_network_link *net, size_t i)
{
	return net->what->steering->policy->secrets.v[i].name;
}

/* Names the secret and the event, never the value. */
static void record_secret(struct ab_network_link *net, size_t i, const char *event,
			  const char *reason)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, net->what->steering->run_id, "secret");
	ab_record_text(&line, "name", name_secret(net, i));
	ab_record_text(&line, "event", event);
	if (reason)
		ab_record_text(&line, "reason", reason);
	if (ab_log_write(net->what->steering->log, &line, net->failure->err) < 0)
		ab_failure_end(net->failure);
}

static void secret_tripped(void *arg, size_t i, bool clear)
{
	struct ab_network_link *net = arg;

	if (net->failure->result < 0)
		return;
	record_secret(net, i, "tripped", NULL);
	ab_fail(net->failure->err, AB_EPROPERTY, 0,
		"the placeholder of %s was about to be sent %s; the run was ended",
		name_secret(net, i), clear ? "over plain HTTP" : "to another host");
	ab_hint(net->failure->err, clear ? "its host gets the secret over https only"
					 : "the run's record says which host");
	ab_failure_end(net->failure);
}

void ab_network_link_secret(struct ab_network_link *net, const struct ab_broker_news *news)
{
	struct ab_proxy *proxy = ab_box_network_proxy(net->what->box_network);
	size_t i = news->number;

	if (i >= net->what->steering->policy->secrets.len)
		return;
	record_secret(net, i, news->text ? "read" : "failed", news->text ? NULL : news->error.text);
	if (news->text && proxy)
		ab_proxy_secret(proxy, i, news->text, news->len);
	if (!news->text && proxy)
		ab_proxy_secret_failed(proxy, i, news->error.text);
	if (!news->text && !net->reported[i])
		ab_request_say(net->what->steering->request, AB_SAY_WARNING,
			       "cannot read %s again; the old value stays in use: %s",
			       name_secret(net, i), news->error.text);
	net->reported[i] = !news->text;
}

static bool server_found(void *arg, uint16_t port)
{
	struct ab_network_link *net = arg;

	if (!ab_terminal_takes_lines(net->what->terminal))
		return false;
	ab_steering_server(net->steering, port);
	return true;
}

static void fail_link(void *arg, const struct ab_error *err)
{
	struct ab_network_link *net = arg;

	ab_failure_set(net->failure, err);
}

int ab_network_link_attach(struct ab_network_link *net, struct ab_loop *loop)
{
	struct ab_box_network_watch watch = {
		.loop = loop,
		.box = net->what->box,
		.broker = net->what->steering->broker,
		.run_id = net->what->steering->run_id,
		.timeout_ms = net->what->timeout_ms,
		.log = net->what->steering->log,
		.failed = fail_link,
		.tripped = secret_tripped,
		.steering = net->steering,
		.listens = server_found,
		.arg = net,
	};

	return ab_box_network_attach(net->what->box_network, net->what->network, &watch,
				     net->failure->err);
}

void ab_network_link_dialled(struct ab_network_link *net, int errnum, int fd)
{
	struct ab_proxy *proxy = ab_box_network_proxy(net->what->box_network);

	if (proxy)
		ab_proxy_dialled(proxy, errnum, fd);
	else
		ab_closep(&fd);
}
