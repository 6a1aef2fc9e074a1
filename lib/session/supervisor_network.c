#include "audit/audit.h"
#include "audit/log.h"
#include "base/fd.h"
#include "session/broker.h"
#include "session/desk.h"
#include "session/gate.h"
#include "session/supervisor_state.h"

/* Never a value: which secret, and what became of it. */
static void record_secret(struct supervisor *s, size_t i, const char *event, const char *reason)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, s->what->run_id, "secret");
	ab_record_text(&line, "name", s->what->secrets->v[i].name);
	ab_record_text(&line, "event", event);
	if (reason)
		ab_record_text(&line, "reason", reason);
	if (ab_log_write(s->what->log, &line, s->err) < 0)
		ab_supervisor_give_up(s);
}

static void secret_stale(void *arg, size_t i)
{
	struct supervisor *s = arg;

	ab_broker_secret(s->what->broker, i);
}

static void secret_tripped(void *arg, size_t i)
{
	struct supervisor *s = arg;

	if (s->result < 0)
		return;
	record_secret(s, i, "tripped", NULL);
	ab_fail(s->err, AB_EPROPERTY, 0,
		"a placeholder of %s was on its way to another host: the run "
		"was ended",
		s->what->secrets->v[i].name);
	ab_hint(s->err, "the run's record tells where it was sent");
	ab_supervisor_give_up(s);
}

void ab_supervisor_secret(struct supervisor *s, const struct ab_broker_news *news)
{
	size_t i = news->number;

	if (!s->what->secrets || i >= s->what->secrets->len)
		return;
	record_secret(s, i, news->text ? "read" : "failed", news->text ? NULL : news->error.text);
	if (news->text && s->what->gate)
		ab_gate_secret(s->what->gate, i, news->text, news->len);
	if (!news->text && !s->told[i])
		s->what->unread(s->what->arg, s->what->secrets->v[i].name, news->error.text);
	s->told[i] = !news->text;
}

static void host_wanted(void *arg, const struct ab_wanted *wanted)
{
	struct supervisor *s = arg;

	ab_desk_wanted(s->desk, wanted);
}

static void host_settled(void *arg, uint32_t number, enum ab_settled how, uint32_t released)
{
	struct supervisor *s = arg;

	ab_desk_settled(s->desk, number, how, released);
}

static void bytes_sent(void *arg, const char *host, uint64_t bytes)
{
	struct supervisor *s = arg;

	ab_desk_sent(s->desk, host, bytes);
}

static void host_opened(void *arg, const char *host)
{
	struct supervisor *s = arg;

	ab_desk_opened(s->desk, host);
}

static void network_surveyed(void *arg, const char *json)
{
	struct supervisor *s = arg;

	ab_desk_surveyed(s->desk, json);
}

int ab_supervisor_attach(struct supervisor *s)
{
	struct ab_gate_watch watch = {
		.loop = &s->loop,
		.box = s->what->box,
		.run_id = s->what->run_id,
		.log = s->what->log,
		.failed = ab_supervisor_fail,
		.stale = secret_stale,
		.tripped = secret_tripped,
		.wanted = host_wanted,
		.settled = host_settled,
		.sent = bytes_sent,
		.opened = host_opened,
		.surveyed = network_surveyed,
		.counts = ab_desk_counts(s->what->desk->policy),
		.arg = s,
	};

	return ab_gate_attach(s->what->gate, s->what->network, &watch, s->err);
}

void ab_supervisor_dialled(struct supervisor *s, int errnum, int fd)
{
	if (s->what->gate)
		ab_gate_dialled(s->what->gate, errnum, fd);
	else
		ab_closep(&fd);
}
