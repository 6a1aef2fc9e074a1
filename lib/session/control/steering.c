/*
 * Theory of operation.
 *
 * A question is open from `wanted` to `settled`; the proxy has its clock. In
 * between it is with the approver, if there is one, else on the terminal (the
 * oldest one), and always on the socket. The first answer that the proxy
 * accepts counts, and `settled` says so to everybody.
 */
#include "session/control/steering.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "policy/model/policy.h"
#include "session/ask/host_prompt.h"
#include "session/control/box_network.h"
#include "session/control/steering_state.h"
#include "session/control/violation_tap.h"

/* Lines that point at questions; a box that asks about a thousand hosts is not
 * to fill the screen. */
enum { POINTERS = 20 };

struct ab_proxy *ab_steering_proxy(const struct ab_steering *d)
{
	return d->hands.box_network ? ab_box_network_proxy(d->hands.box_network) : NULL;
}

void ab_steering_say(struct ab_steering *d, bool note, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	/* Not onto the screen of a question. */
	if (d->setup.prompt && ab_host_prompt_asking(d->setup.prompt))
		ab_strv_addf(&d->unsaid, "%c%s", note ? 'n' : 'w', text);
	else
		d->setup.say(d->setup.arg, note, text);
}

static void say_unsaid(struct ab_steering *d)
{
	for (size_t i = 0; i < d->unsaid.len; i++)
		d->setup.say(d->setup.arg, d->unsaid.v[i][0] == 'n', d->unsaid.v[i] + 1);
	ab_strv_fini(&d->unsaid);
	d->unsaid = (struct ab_strv){ 0 };
}

void ab_steering_record(struct ab_steering *d, struct ab_buf *line)
{
	if (ab_log_write(d->setup.log, line, &d->failure) < 0)
		d->hands.fail(d->hands.arg, &d->failure);
}

static void id_of(const struct ab_steering *d, uint32_t number, char ret[32])
{
	/* The hold of everything has the run's own name. */
	if (number)
		snprintf(ret, 32, "%s-%u", d->setup.run_id, number);
	else
		snprintf(ret, 32, "%s", d->setup.run_id);
}

json_t *ab_steering_question(const struct ab_steering *d, const struct ab_open_question *q)
{
	uint64_t now = ab_now_ms();
	json_t *who = q->who ? json_loads(q->who, 0, NULL) : NULL;
	char id[32];

	id_of(d, q->wanted.number, id);
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:I,s:I,s:o}", "id", id, "domain", q->wanted.host,
			 "port", q->wanted.port, "door", q->wanted.door, "why",
			 q->wanted.why == AB_WANTED_HELD ? "held" : "unknown", "age_ms",
			 (json_int_t)(now - q->asked_ms), "left_ms",
			 (json_int_t)ab_question_left(q, now), "process", who ? who : json_array());
}

static void tell_asked(struct ab_steering *d, const struct ab_open_question *q)
{
	json_t *event;

	if (!ab_control_followed(d->setup.control))
		return;
	event = ab_steering_question(d, q);
	json_object_set_new(event, "event", json_string("asked"));
	ab_control_tell(d->setup.control, event);
}

/* The oldest one is on the terminal, where there is somebody. */
static void show_oldest(struct ab_steering *d)
{
	const struct ab_open_question *q;
	struct ab_host_prompt_question show;

	if (!d->setup.prompt || d->setup.approver)
		return;
	if (!d->questions.len || !ab_host_prompt_usable(d->setup.prompt)) {
		ab_host_prompt_hide(d->setup.prompt);
		say_unsaid(d);
		return;
	}
	q = d->questions.v[0];
	show = (struct ab_host_prompt_question){
		.number = q->wanted.number,
		.run_id = d->setup.run_id,
		.host = q->wanted.host,
		.port = q->wanted.port,
		.door = q->wanted.door,
		.held = q->wanted.why == AB_WANTED_HELD,
		.who = q->who,
		.left_ms = ab_question_left(q, ab_now_ms()),
		.others = d->questions.len - 1,
	};
	ab_host_prompt_show(d->setup.prompt, &show);
}

/* Where nobody is asked face to face: how somebody else can answer. */
static void point_at(struct ab_steering *d, struct ab_open_question *q)
{
	char id[32];

	if (d->setup.approver || q->told ||
	    (d->setup.prompt && ab_host_prompt_usable(d->setup.prompt)))
		return;
	q->told = true;
	if (d->told == POINTERS)
		ab_steering_say(d, true, "more hosts wait for a word: agentbox watch %s",
				d->setup.run_id);
	if (d->told++ >= POINTERS)
		return;
	id_of(d, q->wanted.number, id);
	if (q->wanted.why == AB_WANTED_HELD)
		ab_steering_say(d, true,
				"the network waits for your word, %u s: agentbox "
				"watch %s",
				q->wanted.ms / 1000, id);
	else
		ab_steering_say(d, true,
				"%s:%u waits for your word, %u s: agentbox allow "
				"%s",
				q->wanted.host, q->wanted.port, q->wanted.ms / 1000, id);
}

static void ask_approver(struct ab_steering *d, const struct ab_open_question *q)
{
	ab_autobuf struct ab_buf b = { 0 };
	char id[32];

	id_of(d, q->wanted.number, id);
	ab_buf_printf(&b,
		      "{\"version\":1,\"kind\":\"host\",\"run\":\"%s\","
		      "\"id\":\"%s\",\"host\":",
		      d->setup.run_id, id);
	ab_buf_json(&b, q->wanted.host);
	ab_buf_printf(&b, ",\"port\":%u,\"door\":\"%s\",\"process\":%s}\n", q->wanted.port,
		      q->wanted.door, q->who ? q->who : "[]");
	if (ab_broker_approve(d->setup.broker, q->wanted.number, b.data, b.len) < 0)
		ab_steering_answer(d, q->wanted.number, AB_ANSWER_NO, "approver");
}

void ab_steering_wanted(struct ab_steering *d, const struct ab_wanted *wanted)
{
	struct ab_open_question *q = NULL;
	bool asked = wanted->why != AB_WANTED_DENIED;

	if (asked)
		q = ab_open_questions_add(&d->questions, wanted, ab_now_ms());
	/* The approver is to know who it is; people are shown it when it
	 * comes. */
	if (wanted->why == AB_WANTED_HELD ||
	    ab_broker_whois(d->setup.broker, wanted->number, &wanted->peer) < 0) {
		if (ab_steering_proxy(d))
			ab_proxy_who(ab_steering_proxy(d), wanted->number, NULL);
		if (q && d->setup.approver)
			ask_approver(d, q);
	}
	if (!q)
		return;
	if (ab_control_name(d->setup.control, &d->failure) < 0)
		d->hands.fail(d->hands.arg, &d->failure);
	point_at(d, q);
	show_oldest(d);
	tell_asked(d, q);
}

static void take_who(struct ab_steering *d, const struct ab_broker_news *news)
{
	struct ab_open_question *q = ab_open_questions_find(&d->questions, news->ticket);

	if (ab_steering_proxy(d))
		ab_proxy_who(ab_steering_proxy(d), news->ticket, news->text);
	if (!q)
		return;
	free(q->who);
	q->who = ab_strdup(news->text);
	if (d->setup.approver)
		ask_approver(d, q);
	if (q == d->questions.v[0])
		show_oldest(d);
	tell_asked(d, q);
}

static void remember(struct ab_steering *d, const struct ab_open_question *q)
{
	char entry[AB_HOST_ENTRY_TEXT];

	ab_question_entry(q, entry);
	if (!*entry)
		return;
	if (ab_broker_remember(d->setup.broker, q->wanted.number, entry) == 0)
		d->remembering++;
	else
		ab_steering_say(d, false,
				"%s is allowed for this run, but could not be "
				"kept: agentbox allow %s --always",
				entry, entry);
}

bool ab_steering_awaits_broker(const struct ab_steering *d)
{
	return d->remembering > 0;
}

void ab_steering_answer(struct ab_steering *d, uint32_t number, enum ab_answer answer,
			const char *by)
{
	static const enum ab_host_answer words[] = {
		[AB_ANSWER_NO] = AB_HOST_ANSWER_NO,
		[AB_ANSWER_ONCE] = AB_HOST_ANSWER_ONCE,
		[AB_ANSWER_SESSION] = AB_HOST_ANSWER_RUN,
		[AB_ANSWER_ALWAYS] = AB_HOST_ANSWER_RUN,
	};
	const struct ab_open_question *q = ab_open_questions_find(&d->questions, number);

	if (!q || !ab_steering_proxy(d))
		return;
	if (answer == AB_ANSWER_ALWAYS && q->wanted.why == AB_WANTED_UNKNOWN)
		remember(d, q);
	ab_proxy_answer(ab_steering_proxy(d), number, words[answer], by);
}

void ab_steering_settled(struct ab_steering *d, uint32_t number, enum ab_settled how,
			 uint32_t released)
{
	static const char *const hows[] = {
		[AB_SETTLED_WORD] = "answered",
		[AB_SETTLED_TIME] = "time",
		[AB_SETTLED_GONE] = "gone",
	};
	char id[32];

	ab_open_questions_remove(&d->questions, number);
	ab_steering_released(d, number, how, released);
	id_of(d, number, id);
	if (ab_control_followed(d->setup.control))
		ab_control_tell(d->setup.control,
				json_pack("{s:s,s:s,s:s,s:I}", "event", "settled", "id", id, "how",
					  hows[how], "released", (json_int_t)released));
	show_oldest(d);
}

static void answered(void *arg, uint32_t number, enum ab_answer answer, bool said)
{
	(void)said;
	ab_steering_answer(arg, number, answer, "terminal");
}

static void redraw(void *arg)
{
	const struct ab_steering *d = arg;

	d->hands.redraw(d->hands.arg);
}

static void take_approval(struct ab_steering *d, const struct ab_broker_news *news)
{
	const struct ab_open_question *q = ab_open_questions_find(&d->questions, news->ticket);

	if (!news->text && q)
		ab_steering_say(d, false, "the approver gave no answer about %s: %s",
				q->wanted.host, news->error.text);
	ab_steering_answer(d, news->ticket,
			   news->text ? (enum ab_answer)news->number : AB_ANSWER_NO, "approver");
}

/* Those behind the first belong to it. */
static void say_lines(struct ab_steering *d, const char *text)
{
	for (bool first = true; *text; first = false) {
		size_t len = strcspn(text, "\n");

		ab_steering_say(d, true, "%s%.*s", first ? "" : "          ", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void take_remembered(struct ab_steering *d, const struct ab_broker_news *news)
{
	d->remembering--;
	if (!news->text)
		ab_steering_say(d, false, "it is allowed for this run only: %s", news->error.text);
	else
		say_lines(d, news->text);
}

/* A file has changed, and nobody waits for an answer. */
static void take_lists(struct ab_steering *d, const struct ab_broker_news *news)
{
	ab_autostrv struct ab_strv changes = { 0 };
	struct ab_error err = { 0 };

	if (ab_steering_use_lists(d, news, false, &changes, &err) < 0) {
		ab_steering_say(d, false,
				"the settings have changed and are wrong; the old "
				"lists stay in force: %s",
				err.text);
		return;
	}
	for (size_t i = 0; i < changes.len; i++)
		ab_steering_say(d, true, "%s%s",
				i ? "          " : "the settings have changed: ", changes.v[i]);
}

static void take_hook(struct ab_steering *d, const struct ab_broker_news *news)
{
	if (!d->hook_failed)
		ab_steering_say(d, false, "--on-violation: %s", news->error.text);
	d->hook_failed = true;
}

void ab_steering_news(struct ab_steering *d, const struct ab_broker_news *news)
{
	switch (news->kind) {
	case AB_NEWS_WHO:
		take_who(d, news);
		break;
	case AB_NEWS_APPROVED:
		take_approval(d, news);
		break;
	case AB_NEWS_REMEMBERED:
		take_remembered(d, news);
		break;
	case AB_NEWS_LISTS:
		if (news->ticket)
			ab_steering_reloaded(d, news);
		else
			take_lists(d, news);
		break;
	case AB_NEWS_HOOK:
		take_hook(d, news);
		break;
	case AB_NEWS_SECRET:
	case AB_NEWS_COUNT:
		break;
	}
}

void ab_steering_resumed(struct ab_steering *d)
{
	show_oldest(d);
}

void ab_steering_resized(struct ab_steering *d)
{
	if (d->setup.prompt)
		ab_host_prompt_resize(d->setup.prompt);
}

bool ab_steering_asks(const struct ab_steering_setup *setup)
{
	return setup->policy->net.ask_anywhere || setup->approver || setup->prompt;
}

bool ab_steering_counts(const struct ab_policy *policy)
{
	return policy->monitor.upload_host || policy->monitor.upload_run;
}

static void control_failed(void *arg, const struct ab_error *err)
{
	const struct ab_steering *d = arg;

	d->hands.fail(d->hands.arg, err);
}

int ab_steering_open(const struct ab_steering_setup *setup, const struct ab_steering_hands *hands,
		     struct ab_steering **ret, struct ab_error *err)
{
	struct ab_steering *d = ab_alloc(sizeof(*d));
	struct ab_control_watch control = { .loop = hands->loop,
					    .dir = setup->dir,
					    .run_id = setup->run_id,
					    .asked = ab_steering_asked,
					    .failed = control_failed,
					    .arg = d };
	struct ab_host_prompt_watch prompt = {
		.loop = hands->loop, .answered = answered, .redraw = redraw, .arg = d
	};

	d->setup = *setup;
	d->hands = *hands;
	d->begun_ms = ab_now_ms();
	d->monitor = ab_thresholds_new(setup->policy);
	d->violated = (struct ab_source){ .fd = ab_violations_fd(setup->violations),
					  .ready = ab_steering_violated,
					  .owner = d };
	*ret = d;
	ab_control_attach(setup->control, &control);
	if (ab_loop_add(hands->loop, &d->violated, EPOLLIN, err) < 0)
		return -1;
	return setup->prompt ? ab_host_prompt_attach(setup->prompt, &prompt, err) : 0;
}

void ab_steering_close(struct ab_steering *d, int status)
{
	if (!d)
		return;
	ab_control_tell(d->setup.control, json_pack("{s:s,s:i}", "event", "end", "status", status));
	say_unsaid(d);
	ab_open_questions_fini(&d->questions);
	ab_host_lists_fini(&d->lists);
	ab_thresholds_free(d->monitor);
	free(d);
}
