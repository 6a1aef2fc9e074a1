/* The requests over the control socket. The proxy acts on its own thread, so the reply waits until
 * it has acted: the client is queued for a survey, and surveys come back in order. */
#include <jansson.h>

#include "audit/read/find.h"
#include "audit/write/audit.h"
#include "policy/model/policy.h"
#include "policy/model/ports.h"
#include "policy/values/complaint.h"
#include "sandbox/plan/spec.h"
#include "session/control/box_network.h"
#include "session/control/closed_hosts.h"
#include "session/control/steering_state.h"
#include "session/control/violation_tap.h"

enum { PAGE = 100, PAGE_BYTES = 48 * 1024, LINES_MOST = 200 };

/* What a client waits for; kept in its note. */
struct pending_reply {
	enum ab_control_do what;
	uint32_t number; /* answer */
	uint32_t ticket; /* reload */
	bool cut;
	bool answered; /* an answer ended the question */
	uint32_t released;
};

static void refuse_client(struct ab_control_client *client, const char *text, const char *hint)
{
	struct ab_error err = { 0 };

	ab_fail(&err, AB_ESYSTEM, 0, "%s", text);
	ab_hint(&err, "%s", hint);
	ab_control_refuse(client, &err);
}

/* Queue the client: it gets its reply once the proxy has acted on the next message; then call
 * ab_proxy_survey(). False: the client was refused. */
static bool queue_client(struct ab_steering *s, struct ab_control_client *client)
{
	if (s->nsurveys == AB_COUNT(s->surveys)) {
		refuse_client(client, "too many requests at once", "");
		return false;
	}
	s->surveys[s->nsurveys++] = client;
	return true;
}

static bool has_network(struct ab_steering *s, struct ab_control_client *client)
{
	if (ab_steering_proxy(s))
		return true;
	refuse_client(client, "this run has no filtered network",
		      "set it with network.mode or --net");
	return false;
}

static void describe_run(struct ab_steering *s, struct ab_control_client *client,
			 const char *network)
{
	const struct ab_steering_setup *setup = &s->setup;
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_publish p;

	ab_buf_jsonf(&b,
		     "'run':%s,'name':%s,'command':%p,'cwd':%s,'profile':%s,'home':%s,'pid':%d,"
		     "'age_ms':%jd,'pending':%zu,'violations':%ju,'network':%-s,'published':[",
		     setup->run_id, setup->request->name, ab_list(&setup->spec->argv),
		     setup->spec->cwd, setup->policy->profile, setup->home ? *setup->home : NULL,
		     getpid(), ab_now_ms() - (int64_t)s->begun_ms, s->questions.len,
		     (uintmax_t)setup->violations->count, network);
	for (size_t i = 0;
	     s->hands.box_network && ab_box_network_published(s->hands.box_network, i, &p); i++)
		ab_buf_jsonf(&b, ",{'port':%u,'host':%u}", p.port, p.host);
	ab_buf_puts(&b, "]");
	if (s->hands.describe)
		s->hands.describe(s->hands.arg, &b);
	ab_control_reply(client, "%-s", b.data);
}

static void do_status(struct ab_steering *s, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	(void)request;
	if (!ab_steering_proxy(s))
		describe_run(s, client, NULL);
	else if (queue_client(s, client))
		ab_proxy_survey(ab_steering_proxy(s));
}

static void do_pending(struct ab_steering *s, struct ab_control_client *client,
		       const struct ab_control_request *request)
{
	const struct ab_open_question *q = ab_open_questions_from(&s->questions, request->number);
	ab_autobuf struct ab_buf list = { 0 };
	size_t n = 0, bytes = 0;

	ab_buf_puts(&list, "[");
	for (; q; q = ab_open_questions_from(&s->questions, q->wanted.number + 1)) {
		bytes += 512 + (q->who ? strlen(q->who) : 0);
		if (n++ == PAGE || bytes > PAGE_BYTES)
			break;
		ab_buf_jsonf(&list, ",{");
		ab_steering_question(s, q, &list);
		ab_buf_puts(&list, "}");
	}
	ab_control_reply(client, "'pending':%-s],'next':%u", list.data, q ? q->wanted.number : 0);
}

static void do_answer(struct ab_steering *s, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	struct pending_reply *reply = ab_control_note(client);

	if (!ab_open_questions_find(&s->questions, request->number)) {
		refuse_client(client, "this question is no longer open",
			      "a rule for the next time: agentbox allow HOST");
		return;
	}
	if (request->number & AB_QUESTION_OF_TOOL) {
		/* It is not the proxy's: it is answered now. */
		ab_steering_answer(s, request->number, request->answer, "control", NULL);
		ab_control_reply(client, "'released':1,'closed':0");
		return;
	}
	*reply = (struct pending_reply){ .what = AB_DO_ANSWER, .number = request->number };
	if (!queue_client(s, client))
		return;
	ab_steering_answer(s, request->number, request->answer, "control", NULL);
	ab_proxy_survey(ab_steering_proxy(s));
}

/* Refuses what a grant cannot override. */
static bool refuse_closed(struct ab_steering *s, const char *text, struct ab_control_client *client)
{
	struct ab_policy policy = *s->setup.policy;
	struct ab_host_entry entry;
	struct ab_error err = { 0 };
	enum ab_basis basis;

	if (ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
		return false; /* it was already parsed */
	if (s->has_lists) {
		policy.net.deny = s->lists.deny;
		policy.net.deny_from = s->lists.deny_from;
		policy.net.allow_private = s->lists.allow_private;
	}
	basis = ab_host_closed(&policy, &entry);
	if (basis == AB_BASIS_DENY) {
		refuse_client(client, "it is on the deny list, which overrides grants",
			      "remove it from network.deny, then: agentbox config reload");
	} else if (basis == AB_BASIS_BOUND) {
		refuse_client(client, "the managed settings do not permit this host",
			      "ask the administrator of this machine");
	} else if (basis == AB_BASIS_RANGE) {
		ab_closed_range_error(&entry, &err);
		ab_control_refuse(client, &err);
	} else {
		return false;
	}
	return true;
}

static void do_grant(struct ab_steering *s, struct ab_control_client *client,
		     const struct ab_control_request *request)
{
	struct pending_reply *reply = ab_control_note(client);
	struct ab_grant grant = { .deny = request->what == AB_DO_DENY, .ms = request->ms };

	if (!has_network(s, client) || (!grant.deny && refuse_closed(s, request->entry, client)))
		return;
	memcpy(grant.entry, request->entry, sizeof(request->entry));
	*reply = (struct pending_reply){ .what = request->what };
	if (!queue_client(s, client))
		return;
	ab_proxy_grant(ab_steering_proxy(s), &grant, "control");
	ab_proxy_survey(ab_steering_proxy(s));
}

static void do_reload(struct ab_steering *s, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	struct pending_reply *reply = ab_control_note(client);

	if (!has_network(s, client))
		return;
	*reply = (struct pending_reply){ .what = AB_DO_RELOAD,
					 .ticket = ++s->ticket,
					 .cut = request->cut };
	if (s->nreloads == AB_COUNT(s->reloads) ||
	    ab_broker_reload(s->setup.broker, reply->ticket) < 0)
		refuse_client(client, "too many requests at once", "");
	else
		s->reloads[s->nreloads++] = client;
}

static void record_published(struct ab_steering *s, uint16_t host, uint16_t port)
{
	ab_autobuf struct ab_buf line = { 0 };
	char entry[32];

	snprintf(entry, sizeof(entry), "publish %u:%u", host, port);
	ab_record_open(&line, s->setup.run_id, "grant");
	ab_buf_jsonf(&line, ",'entry':%s,'allowed':true,'by':'control'", entry);
	ab_steering_record(s, &line);
}

static void do_publish(struct ab_steering *s, struct ab_control_client *client,
		       const struct ab_control_request *request)
{
	const struct ab_publish one = { .host = request->host_port, .port = request->port };
	struct ab_complaint why = { .right = "" };
	struct ab_error err = { 0 };

	if (s->setup.policy->net.mode == AB_NET_ALLOWED) {
		refuse_client(client, "this run shares the network of this machine",
			      "its ports are reachable already");
		return;
	}
	if (!s->hands.box_network) {
		refuse_client(client,
			      "the network of this run is blocked, and no port was published",
			      "start it with: agentbox run --publish PORT");
		return;
	}
	if (ab_publish_check_late(s->setup.policy, &one, &why) < 0) {
		refuse_client(client, why.wrong, why.right);
		return;
	}
	if (request->fds->len != 1) {
		refuse_client(client, "a port to publish needs one descriptor", "");
		return;
	}
	if (ab_box_network_publish(s->hands.box_network, ab_take_fd(&request->fds->v[0]),
				   request->host_port, request->port, &err) < 0) {
		ab_control_refuse(client, &err);
		return;
	}
	record_published(s, request->host_port, request->port);
	ab_control_done(client);
}

static void do_stop(struct ab_steering *s, struct ab_control_client *client,
		    const struct ab_control_request *request)
{
	ab_control_done(client);
	s->hands.stop(s->hands.arg, request->ms);
}

static void do_follow(struct ab_steering *s, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	(void)s;
	(void)request;
	ab_control_done(client);
	ab_control_follow(client);
}

static void do_start(struct ab_steering *s, struct ab_control_client *client,
		     const struct ab_control_request *request)
{
	if (s->hands.start)
		s->hands.start(s->hands.arg, client, request);
	else
		refuse_client(client, "this run ends with its command and takes no other one",
			      "start a box that stays: agentbox run --keep --name NAME -- COMMAND");
}

void ab_steering_asked(void *arg, struct ab_control_client *client,
		       const struct ab_control_request *request)
{
	static void (*const requests[AB_DO_COUNT])(struct ab_steering *, struct ab_control_client *,
						   const struct ab_control_request *) = {
		[AB_DO_STATUS] = do_status,   [AB_DO_PENDING] = do_pending,
		[AB_DO_ANSWER] = do_answer,   [AB_DO_ALLOW] = do_grant,
		[AB_DO_DENY] = do_grant,      [AB_DO_RELOAD] = do_reload,
		[AB_DO_STOP] = do_stop,	      [AB_DO_FOLLOW] = do_follow,
		[AB_DO_START] = do_start,     [AB_DO_ATTACH] = do_start,
		[AB_DO_PUBLISH] = do_publish,
	};

	requests[request->what](arg, client, request);
}

void ab_steering_released(struct ab_steering *s, uint32_t number, enum ab_settled how,
			  uint32_t released)
{
	for (size_t i = 0; i < s->nsurveys; i++) {
		struct pending_reply *reply = ab_control_note(s->surveys[i]);
		bool by_answer = how == AB_SETTLED_ANSWERED;

		if (reply->what == AB_DO_ANSWER && reply->number == number)
			reply->answered = by_answer;
		else if (reply->what != AB_DO_ALLOW && reply->what != AB_DO_DENY)
			continue;
		if (by_answer)
			reply->released += released;
	}
}

/* How many connections were closed because their hosts were denied. */
static int64_t count_closed(const char *survey)
{
	json_auto_t *object = json_loads(survey, 0, NULL);

	return json_integer_value(json_object_get(object, "closed"));
}

void ab_steering_surveyed(struct ab_steering *s, const char *json)
{
	struct ab_control_client *client = s->surveys[0];
	const struct pending_reply *reply;

	if (!s->nsurveys)
		return;
	memmove(&s->surveys[0], &s->surveys[1], --s->nsurveys * sizeof(s->surveys[0]));
	reply = ab_control_note(client);
	if (reply->what == AB_DO_STATUS)
		describe_run(s, client, json);
	else if (reply->what == AB_DO_ANSWER && !reply->answered)
		refuse_client(client, "the answer came too late: the question is no longer open",
			      "a rule for the next time: agentbox allow HOST");
	else
		ab_control_reply(client, "'released':%u,'closed':%jd", reply->released,
				 count_closed(json));
}

bool ab_steering_awaits_proxy(const struct ab_steering *s)
{
	return s->nsurveys > 0;
}

/* A view of the list. */
static struct ab_strv first_lines(const struct ab_strv *lines)
{
	return (struct ab_strv){ lines->v, lines->len < LINES_MOST ? lines->len : LINES_MOST };
}

void ab_steering_reloaded(struct ab_steering *s, const struct ab_broker_news *news)
{
	ab_autostrv struct ab_strv changes = { 0 };
	struct ab_strv few, notes;
	struct ab_error err = { 0 };
	size_t i = 0;

	while (i < s->nreloads &&
	       ((struct pending_reply *)ab_control_note(s->reloads[i]))->ticket != news->ticket)
		i++;
	if (i == s->nreloads)
		return;
	if (ab_steering_use_lists(s, news,
				  ((struct pending_reply *)ab_control_note(s->reloads[i]))->cut,
				  &changes, &err) < 0) {
		ab_control_refuse(s->reloads[i], &err);
	} else {
		few = first_lines(&changes);
		notes = first_lines(&s->lists.notes);
		ab_control_reply(s->reloads[i], "'changes':%p,'notes':%p", ab_list(&few),
				 ab_list(&notes));
	}
	s->reloads[i] = s->reloads[--s->nreloads];
}
