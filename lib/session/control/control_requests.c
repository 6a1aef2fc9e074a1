/*
 * The requests over the control socket. What the proxy is told takes effect
 * on its own thread: the answer waits until it has done it, which a survey
 * tells, for those come back in order.
 */
#include <string.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "policy/model/policy.h"
#include "proxy/filter/filter.h"
#include "session/control/box_network.h"
#include "session/control/steering_state.h"
#include "session/control/violation_tap.h"

enum { PAGE = 100, PAGE_BYTES = 48 * 1024 };

/* What a client waits for; in its note. */
struct waits {
	enum ab_control_do what;
	uint32_t number; /* answer */
	uint32_t ticket; /* reload */
	bool cut;
	bool answered; /* the question ended by a word */
	uint32_t released;
};

static void refuse(struct ab_control_client *client, const char *text, const char *hint)
{
	struct ab_error err = { 0 };

	ab_fail(&err, AB_ESYSTEM, 0, "%s", text);
	ab_hint(&err, "%s", hint);
	ab_control_refuse(client, &err);
}

/* It is answered after what the proxy is told next, of which it is to hear:
 * then ab_proxy_survey(). false: it is refused. */
static bool enlist(struct ab_steering *d, struct ab_control_client *client)
{
	if (d->nsurveys == AB_COUNT(d->surveys)) {
		refuse(client, "too many ask at once", "");
		return false;
	}
	d->surveys[d->nsurveys++] = client;
	return true;
}

static bool has_network(struct ab_steering *d, struct ab_control_client *client)
{
	if (ab_steering_proxy(d))
		return true;
	refuse(client, "this run has no network that hosts could be allowed on",
	       "its mode is set by network.mode, or --net");
	return false;
}

static json_t *describe(struct ab_steering *d, const char *network)
{
	json_t *command = json_array();

	for (size_t i = 0; i < d->setup.command->len; i++)
		json_array_append_new(command, json_string(d->setup.command->v[i]));
	return json_pack("{s:s,s:s?,s:o,s:s,s:s,s:i,s:I,s:I,s:I,s:o}", "run", d->setup.run_id,
			 "name", d->setup.name, "command", command, "cwd", d->setup.cwd, "profile",
			 d->setup.policy->profile, "pid", getpid(), "age_ms",
			 (json_int_t)(ab_now_ms() - d->begun_ms), "pending",
			 (json_int_t)d->questions.len, "violations",
			 (json_int_t)ab_violations_count(d->setup.violations), "network",
			 network ? json_loads(network, 0, NULL) : json_null());
}

static void do_status(struct ab_steering *d, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	(void)request;
	if (!ab_steering_proxy(d))
		ab_control_reply(client, describe(d, NULL));
	else if (enlist(d, client))
		ab_proxy_survey(ab_steering_proxy(d));
}

static void do_pending(struct ab_steering *d, struct ab_control_client *client,
		       const struct ab_control_request *request)
{
	const struct ab_open_question *q = ab_open_questions_from(&d->questions, request->number);
	json_t *list = json_array();
	size_t n = 0, bytes = 0;

	for (; q; q = ab_open_questions_from(&d->questions, q->wanted.number + 1)) {
		bytes += 512 + (q->who ? strlen(q->who) : 0);
		if (n++ == PAGE || bytes > PAGE_BYTES)
			break;
		json_array_append_new(list, ab_steering_question(d, q));
	}
	ab_control_reply(client, json_pack("{s:o,s:I}", "pending", list, "next",
					   (json_int_t)(q ? q->wanted.number : 0)));
}

static void do_answer(struct ab_steering *d, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	struct waits *waits = ab_control_note(client);

	if (!ab_open_questions_find(&d->questions, request->number)) {
		refuse(client, "nobody waits for that answer any more",
		       "a rule for the next time: agentbox allow HOST");
		return;
	}
	*waits = (struct waits){ .what = AB_DO_ANSWER, .number = request->number };
	if (!enlist(d, client))
		return;
	ab_steering_answer(d, request->number, request->answer, "control");
	ab_proxy_survey(ab_steering_proxy(d));
}

static void refuse_range(struct ab_control_client *client, const struct ab_host_entry *entry)
{
	char text[AB_HOST_ENTRY_TEXT];
	ab_autofree char *hint = NULL;

	ab_host_entry_format(entry, text);
	hint = ab_printf("in a new run:  agentbox run --allow-private %s "
			 "--allow %s -- ...",
			 text, text);
	refuse(client, "private addresses can only be allowed when a run starts", hint);
}

/* What no grant can lift. */
static bool is_closed(struct ab_steering *d, const char *text, struct ab_control_client *client)
{
	struct ab_policy policy = *d->setup.policy;
	struct ab_own none = { 0 };
	struct ab_host_entry entry;
	struct ab_verdict verdict;
	struct ab_filter *filter;
	bool closed;

	if (ab_host_entry_parse(text, strlen(text), &entry, NULL) < 0)
		return false; /* it was parsed before */
	if (d->listed) {
		policy.net.deny = d->lists.deny;
		policy.net.allow_private = d->lists.allow_private;
	}
	filter = ab_filter_new(&policy);
	ab_filter_judge(filter, &none, &entry.host, entry.port ? entry.port : 443, &verdict);
	closed = verdict.basis == AB_BASIS_DENY || verdict.basis == AB_BASIS_RANGE;
	if (verdict.basis == AB_BASIS_DENY)
		refuse(client, "it is on the deny list, which is stronger",
		       "take it out of network.deny, then: agentbox config "
		       "reload");
	else if (closed)
		refuse_range(client, &entry);
	ab_filter_free(filter);
	return closed;
}

static void do_grant(struct ab_steering *d, struct ab_control_client *client,
		     const struct ab_control_request *request)
{
	struct waits *waits = ab_control_note(client);
	struct ab_grant grant = { .deny = request->what == AB_DO_DENY, .ms = request->ms };

	if (!has_network(d, client) || (!grant.deny && is_closed(d, request->entry, client)))
		return;
	memcpy(grant.entry, request->entry, sizeof(request->entry));
	*waits = (struct waits){ .what = request->what };
	if (!enlist(d, client))
		return;
	ab_proxy_grant(ab_steering_proxy(d), &grant, "control");
	ab_proxy_survey(ab_steering_proxy(d));
}

static void do_reload(struct ab_steering *d, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	struct waits *waits = ab_control_note(client);

	if (!has_network(d, client))
		return;
	*waits = (struct waits){ .what = AB_DO_RELOAD, .ticket = ++d->ticket, .cut = request->cut };
	if (d->nreloads == AB_COUNT(d->reloads) ||
	    ab_broker_reload(d->setup.broker, waits->ticket) < 0)
		refuse(client, "too many ask at once", "");
	else
		d->reloads[d->nreloads++] = client;
}

static void do_stop(struct ab_steering *d, struct ab_control_client *client,
		    const struct ab_control_request *request)
{
	ab_control_reply(client, json_object());
	d->hands.stop(d->hands.arg, request->ms);
}

static void do_follow(struct ab_steering *d, struct ab_control_client *client,
		      const struct ab_control_request *request)
{
	(void)d;
	(void)request;
	ab_control_reply(client, json_object());
	ab_control_follow(client);
}

void ab_steering_asked(void *arg, struct ab_control_client *client,
		       const struct ab_control_request *request)
{
	static void (*const requests[AB_DO_COUNT])(struct ab_steering *, struct ab_control_client *,
						   const struct ab_control_request *) = {
		[AB_DO_STATUS] = do_status, [AB_DO_PENDING] = do_pending,
		[AB_DO_ANSWER] = do_answer, [AB_DO_ALLOW] = do_grant,
		[AB_DO_DENY] = do_grant,    [AB_DO_RELOAD] = do_reload,
		[AB_DO_STOP] = do_stop,	    [AB_DO_FOLLOW] = do_follow,
	};

	requests[request->what](arg, client, request);
}

void ab_steering_released(struct ab_steering *d, uint32_t number, enum ab_settled how,
			  uint32_t released)
{
	for (size_t i = 0; i < d->nsurveys; i++) {
		struct waits *waits = ab_control_note(d->surveys[i]);
		bool word = how == AB_SETTLED_WORD;

		if (waits->what == AB_DO_ANSWER && waits->number == number)
			waits->answered = word;
		else if (waits->what != AB_DO_ALLOW && waits->what != AB_DO_DENY)
			continue;
		if (word)
			waits->released += released;
	}
}

void ab_steering_surveyed(struct ab_steering *d, const char *json)
{
	struct ab_control_client *client = d->surveys[0];
	const struct waits *waits;

	if (!d->nsurveys)
		return;
	memmove(&d->surveys[0], &d->surveys[1], --d->nsurveys * sizeof(d->surveys[0]));
	waits = ab_control_note(client);
	if (waits->what == AB_DO_STATUS)
		ab_control_reply(client, describe(d, json));
	else if (waits->what == AB_DO_ANSWER && !waits->answered)
		refuse(client,
		       "the answer came too late: it was not waited for "
		       "any more",
		       "a rule for the next time: agentbox allow HOST");
	else
		ab_control_reply(client,
				 json_pack("{s:I}", "released", (json_int_t)waits->released));
}

bool ab_steering_awaits_proxy(const struct ab_steering *d)
{
	return d->nsurveys > 0;
}

static json_t *list_of(const struct ab_strv *lines)
{
	json_t *list = json_array();

	for (size_t i = 0; i < lines->len && i < 200; i++)
		json_array_append_new(list, json_string(lines->v[i]));
	return list;
}

void ab_steering_reloaded(struct ab_steering *d, const struct ab_broker_news *news)
{
	ab_autostrv struct ab_strv changes = { 0 };
	struct ab_error err = { 0 };
	size_t i = 0;

	while (i < d->nreloads &&
	       ((struct waits *)ab_control_note(d->reloads[i]))->ticket != news->ticket)
		i++;
	if (i == d->nreloads)
		return;
	if (ab_steering_use_lists(d, news, ((struct waits *)ab_control_note(d->reloads[i]))->cut,
				  &changes, &err) < 0)
		ab_control_refuse(d->reloads[i], &err);
	else
		ab_control_reply(d->reloads[i], json_pack("{s:o,s:o}", "changes", list_of(&changes),
							  "notes", list_of(&d->lists.notes)));
	d->reloads[i] = d->reloads[--d->nreloads];
}
