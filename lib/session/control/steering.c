/*
 * Theory of operation.
 *
 * A question is open from `wanted` to `settled`; the proxy has its timer. In between the approver
 * has it, if there is one; else the terminal shows it (the oldest one only); and clients always see
 * it on the socket. The first answer that the proxy accepts counts, and `settled` announces it to
 * everybody.
 */
#include "session/control/steering.h"

#include <sys/epoll.h>

#include "audit/read/find.h"
#include "audit/write/log.h"
#include "audit/write/processes.h"
#include "consent/ask/host_prompt.h"
#include "policy/toolchains/host_groups.h"
#include "session/control/box_network.h"
#include "session/control/steering_state.h"
#include "session/control/violation_tap.h"

/* Hints about questions: a box that asks for a thousand hosts must not fill the screen. */
enum { HINTS_MAX = 20 };

struct ab_proxy *ab_steering_proxy(const struct ab_steering *s)
{
	return ab_box_network_proxy(s->hands.box_network);
}

void ab_steering_say(struct ab_steering *s, bool note, const char *fmt, ...)
{
	ab_autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	/* Do not write over a question on the screen. */
	if (s->setup.prompt && ab_host_prompt_asking(s->setup.prompt))
		ab_strv_addf(&s->deferred, "%c%s", note ? 'n' : 'w', text);
	else
		ab_request_say(s->setup.request, note ? AB_SAY_NOTE : AB_SAY_WARNING, "%s", text);
}

static void say_deferred(struct ab_steering *s)
{
	for (size_t i = 0; i < s->deferred.len; i++)
		ab_request_say(s->setup.request,
			       s->deferred.v[i][0] == 'n' ? AB_SAY_NOTE : AB_SAY_WARNING, "%s",
			       s->deferred.v[i] + 1);
	ab_strv_fini(&s->deferred);
	s->deferred = (struct ab_strv){ 0 };
}

/* Once no question covers the screen: text written to it would disappear with the question. */
static void say_when_uncovered(void *arg)
{
	struct ab_steering *s = arg;

	if (!ab_host_prompt_asking(s->setup.prompt))
		say_deferred(s);
}

void ab_steering_record(struct ab_steering *s, struct ab_buf *line)
{
	if (ab_log_write(s->setup.log, line, &s->failure) < 0)
		s->hands.fail(s->hands.arg, &s->failure);
}

/* Is it about something that a sentence describes, not about a host? */
static bool has_sentence(const struct ab_open_question *q)
{
	return q->wanted.why == AB_QUESTION_AGENT || q->wanted.why == AB_QUESTION_TOOL;
}

void ab_steering_question(const struct ab_steering *s, const struct ab_open_question *q,
			  struct ab_buf *b)
{
	uint64_t now = ab_now_ms();
	char id[32];

	ab_question_id(s->setup.run_id, q->wanted.number, id);
	ab_buf_jsonf(b,
		     "'id':%s,'domain':%s,'port':%u,'door':%s,'why':%s?,'about':%s,'age_ms':%ju,"
		     "'left_ms':%ju,'process':%-s",
		     id, q->wanted.host, q->wanted.port, q->wanted.door,
		     q->wanted.why == AB_QUESTION_AGENT	 ? "agent"
		     : q->wanted.why == AB_QUESTION_TOOL ? "tool"
		     : q->wanted.why == AB_QUESTION_HELD ? "held"
							 : "unknown",
		     has_sentence(q) ? q->wanted.about : NULL, (uintmax_t)(now - q->asked_ms),
		     (uintmax_t)ab_question_left(q, now), q->who ? q->who : "[]");
}

static void announce_question(struct ab_steering *s, const struct ab_open_question *q)
{
	ab_autobuf struct ab_buf event = { 0 };

	if (!ab_control_followed(s->setup.control))
		return;
	ab_steering_question(s, q, &event);
	ab_control_tell(s->setup.control, "{%-s,'event':'asked'}", event.data);
}

/* The terminal, if any, shows the oldest one. */
static void show_oldest(struct ab_steering *s)
{
	const struct ab_open_question *q;
	struct ab_host_prompt_question show;

	if (!s->setup.prompt || s->setup.request->approver)
		return;
	if (!s->questions.len || !ab_host_prompt_usable(s->setup.prompt)) {
		ab_host_prompt_hide(s->setup.prompt);
		say_when_uncovered(s);
		return;
	}
	q = s->questions.v[0];
	show = (struct ab_host_prompt_question){
		.number = q->wanted.number,
		.run_id = s->setup.run_id,
		.host = q->wanted.host,
		.port = q->wanted.port,
		.door = q->wanted.door,
		.held = q->wanted.why == AB_QUESTION_HELD,
		.about = has_sentence(q) ? q->wanted.about : NULL,
		.who = q->who,
		.left_ms = ab_question_left(q, ab_now_ms()),
		.others = s->questions.len - 1,
		.group = ab_group_of(q->wanted.host),
	};
	ab_host_prompt_show(s->setup.prompt, &show);
}

/* Without a prompt, tell the user how to answer. */
static void hint_at_question(struct ab_steering *s, struct ab_open_question *q)
{
	char id[32];

	/* A client of a box that stays shows it. */
	if (s->setup.request->approver || s->setup.request->controller_asks || q->hinted ||
	    (s->hands.start && ab_control_followed(s->setup.control)) ||
	    (s->setup.prompt && ab_host_prompt_usable(s->setup.prompt)))
		return;
	q->hinted = true;
	if (s->nhints == HINTS_MAX)
		ab_steering_say(s, true, "more hosts need your approval: agentbox watch %s",
				s->setup.run_id);
	if (s->nhints++ >= HINTS_MAX)
		return;
	ab_question_id(s->setup.run_id, q->wanted.number, id);
	if (q->wanted.why == AB_QUESTION_HELD)
		ab_steering_say(s, true,
				"the network is paused; answer within %u s: agentbox watch %s",
				q->wanted.ms / 1000, id);
	else if (has_sentence(q))
		ab_steering_say(s, true,
				"the box wants to %s; approve it within %u s: agentbox allow %s",
				q->wanted.about, q->wanted.ms / 1000, id);
	else
		ab_steering_say(s, true, "%s:%u needs your approval within %u s: agentbox allow %s",
				q->wanted.host, q->wanted.port, q->wanted.ms / 1000, id);
}

static void ask_approver(struct ab_steering *s, const struct ab_open_question *q)
{
	ab_autobuf struct ab_buf b = { 0 };
	char id[32];

	ab_question_id(s->setup.run_id, q->wanted.number, id);
	ab_buf_jsonf(&b, "{'version':1,'kind':%s,'run':%s,'id':%s,'host':%s",
		     q->wanted.why == AB_QUESTION_AGENT	 ? "ssh"
		     : q->wanted.why == AB_QUESTION_TOOL ? "tool"
							 : "host",
		     s->setup.run_id, id, q->wanted.host);
	if (has_sentence(q))
		ab_buf_jsonf(&b, ",'about':%s", q->wanted.about);
	ab_buf_jsonf(&b, ",'port':%u,'door':%s,'process':%-s}\n", q->wanted.port, q->wanted.door,
		     q->who ? q->who : "[]");
	if (ab_broker_approve(s->setup.broker, q->wanted.number, b.data, b.len) < 0)
		ab_steering_answer(s, q->wanted.number, AB_CHOICE_NO, "approver", NULL);
}

void ab_steering_wanted(struct ab_steering *s, const struct ab_host_question *wanted)
{
	struct ab_open_question *q = NULL;
	bool asked = wanted->why != AB_QUESTION_IDENTIFY;

	if (asked)
		q = ab_open_questions_add(&s->questions, wanted, ab_now_ms());
	/* The approver is asked once the process is known; a person sees the process when it is
	 * found. */
	if (wanted->why == AB_QUESTION_HELD || wanted->why == AB_QUESTION_TOOL ||
	    ab_broker_find_owner(s->setup.broker, wanted->number, &wanted->peer) < 0) {
		if (ab_steering_proxy(s) && wanted->why != AB_QUESTION_TOOL)
			ab_proxy_who(ab_steering_proxy(s), wanted->number, NULL);
		if (q && s->setup.request->approver)
			ask_approver(s, q);
	}
	if (!q)
		return;
	if (ab_control_name(s->setup.control, &s->failure) < 0)
		s->hands.fail(s->hands.arg, &s->failure);
	hint_at_question(s, q);
	show_oldest(s);
	announce_question(s, q);
	ab_steering_notify(s);
}

static void take_processes(struct ab_steering *s, const struct ab_broker_news *news)
{
	struct ab_open_question *q = ab_open_questions_find(&s->questions, news->ticket);

	if (ab_steering_proxy(s))
		ab_proxy_who(ab_steering_proxy(s), news->ticket, news->text);
	if (!q)
		return;
	free(q->who);
	q->who = news->text ? ab_processes_line(news->text) : NULL;
	if (s->setup.request->approver)
		ask_approver(s, q);
	if (q == s->questions.v[0])
		show_oldest(s);
	announce_question(s, q);
}

static void remember_host(struct ab_steering *s, const struct ab_open_question *q,
			  enum ab_remember where)
{
	bool deny = where == AB_REMEMBER_DENY;
	char entry[AB_HOST_ENTRY_TEXT];

	ab_question_entry(q, entry);
	if (!*entry)
		return;
	if (ab_broker_remember(s->setup.broker, q->wanted.number, where, entry) == 0) {
		s->remembering += where != AB_REMEMBER_PROJECT;
		ab_strv_addf(&s->saved, "+ %s %s", entry, deny ? "denied" : "allowed");
	} else {
		ab_steering_say(s, false,
				"%s is %s for this run, but the rule was not saved: agentbox %s %s "
				"--always",
				entry, deny ? "denied" : "allowed", deny ? "deny" : "allow", entry);
	}
}

/* The other hosts of its group: they would be asked about next. */
static void grant_group(struct ab_steering *s, const char *group, const char *by)
{
	ab_autostrv struct ab_strv entries = { 0 };

	ab_group_hosts(group, &entries);
	for (size_t i = 0; i < entries.len; i++) {
		struct ab_grant grant = { .deny = false };

		snprintf(grant.entry, sizeof(grant.entry), "%s", entries.v[i]);
		ab_proxy_grant(ab_steering_proxy(s), &grant, by);
	}
}

bool ab_steering_awaits_broker(const struct ab_steering *s)
{
	return s->remembering > 0;
}

void ab_steering_answer(struct ab_steering *s, uint32_t number, enum ab_host_choice choice,
			const char *by, const char *why)
{
	static const struct {
		enum ab_host_answer answer;
		bool saved;
		enum ab_remember where;
	} meanings[AB_CHOICE_COUNT] = {
		[AB_CHOICE_NO] = { .answer = AB_HOST_ANSWER_NO },
		[AB_CHOICE_ONCE] = { .answer = AB_HOST_ANSWER_ONCE },
		[AB_CHOICE_RUN] = { .answer = AB_HOST_ANSWER_RUN },
		[AB_CHOICE_GROUP] = { .answer = AB_HOST_ANSWER_RUN },
		[AB_CHOICE_PROJECT] = { AB_HOST_ANSWER_RUN, true, AB_REMEMBER_PROJECT },
		[AB_CHOICE_ALWAYS] = { AB_HOST_ANSWER_RUN, true, AB_REMEMBER_ALLOW },
		[AB_CHOICE_NEVER] = { AB_HOST_ANSWER_NO, true, AB_REMEMBER_DENY },
	};
	const struct ab_open_question *q = ab_open_questions_find(&s->questions, number);
	const char *group;
	bool host;

	if (q && q->wanted.why == AB_QUESTION_TOOL) {
		s->hands.tool(s->hands.arg, number & ~AB_QUESTION_OF_TOOL, meanings[choice].answer,
			      by);
		return;
	}
	if (!q || !ab_steering_proxy(s))
		return;
	host = q->wanted.why == AB_QUESTION_UNKNOWN;
	group = host && choice == AB_CHOICE_GROUP ? ab_group_of(q->wanted.host) : NULL;
	if (host && meanings[choice].saved)
		remember_host(s, q, meanings[choice].where);
	/* First the question: its record has the answer. */
	ab_proxy_answer(ab_steering_proxy(s), number, meanings[choice].answer, by, why);
	if (group)
		grant_group(s, group, by);
}

void ab_steering_settled(struct ab_steering *s, uint32_t number, enum ab_settled how,
			 uint32_t released)
{
	static const char *const hows[] = {
		[AB_SETTLED_ANSWERED] = "answered",
		[AB_SETTLED_TIME] = "time",
		[AB_SETTLED_GONE] = "gone",
	};
	char id[32];

	ab_open_questions_remove(&s->questions, number);
	ab_steering_released(s, number, how, released);
	ab_question_id(s->setup.run_id, number, id);
	ab_control_tell(s->setup.control, "{'event':'settled','id':%s,'how':%s,'released':%u}", id,
			hows[how], released);
	show_oldest(s);
}

static void take_terminal_answer(void *arg, uint32_t number, enum ab_host_choice choice, bool said)
{
	(void)said;
	ab_steering_answer(arg, number, choice, "terminal", NULL);
}

static void request_redraw(void *arg)
{
	const struct ab_steering *s = arg;

	s->hands.redraw(s->hands.arg);
}

static void take_approval(struct ab_steering *s, const struct ab_broker_news *news)
{
	const struct ab_open_question *q = ab_open_questions_find(&s->questions, news->ticket);
	ab_autofree char *why = ab_escape(news->text ? news->text : "");

	if (!news->text && q)
		ab_steering_say(s, false, "the approver gave no answer about %s: %s",
				q->wanted.about[0] ? q->wanted.about : q->wanted.host,
				news->error.text);
	ab_steering_answer(s, news->ticket,
			   news->text ? ab_choice_of_answer((enum ab_answer)news->number)
				      : AB_CHOICE_NO,
			   "approver", why);
}

/* Later lines continue the first one. */
static void say_lines(struct ab_steering *s, const char *text)
{
	for (bool first = true; *text; first = false) {
		size_t len = strcspn(text, "\n");

		ab_steering_say(s, true, "%s%.*s", first ? "" : "          ", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void take_remembered(struct ab_steering *s, const struct ab_broker_news *news)
{
	s->remembering--;
	if (!news->text)
		ab_steering_say(s, false, "the rule was not saved and applies to this run only: %s",
				news->error.text);
	else
		say_lines(s, news->text);
}

/* A settings file has changed; no client waits. */
static void take_lists(struct ab_steering *s, const struct ab_broker_news *news)
{
	ab_autostrv struct ab_strv changes = { 0 };
	struct ab_error err = { 0 };

	if (ab_steering_use_lists(s, news, false, &changes, &err) < 0) {
		ab_steering_say(s, false,
				"the settings have changed but are invalid; the old lists stay in "
				"force: %s",
				err.text);
		return;
	}
	/* An answer of this run made the change, and has told it. */
	for (size_t i = changes.len; i-- > 0;)
		if (ab_strv_has(&s->saved, changes.v[i]))
			ab_strv_remove(&changes, i);
	for (size_t i = 0; i < changes.len; i++)
		ab_steering_say(s, true, "%s%s",
				i ? "          " : "the settings have changed: ", changes.v[i]);
}

void ab_steering_news(struct ab_steering *s, const struct ab_broker_news *news)
{
	switch (news->kind) {
	case AB_NEWS_OWNER:
		take_processes(s, news);
		break;
	case AB_NEWS_APPROVED:
		take_approval(s, news);
		break;
	case AB_NEWS_REMEMBERED:
		take_remembered(s, news);
		break;
	case AB_NEWS_LISTS:
		if (news->ticket)
			ab_steering_reloaded(s, news);
		else
			take_lists(s, news);
		break;
	case AB_NEWS_HOOK:
		if (!s->hook_failed)
			ab_steering_say(s, false, "--on-violation: %s", news->error.text);
		s->hook_failed = true;
		break;
	case AB_NEWS_AGENT:
		ab_box_network_agent_dialled(s->hands.box_network, news);
		break;
	case AB_NEWS_SECRET:
	case AB_NEWS_MEMORY:
	case AB_NEWS_FINDING:
	case AB_NEWS_COUNT:
		break;
	}
}

void ab_steering_server(struct ab_steering *s, uint16_t port)
{
	ab_steering_say(s, true, "port %u is open only inside the box; agentbox publish %s %u",
			port, s->setup.run_id, port);
}

void ab_steering_resumed(struct ab_steering *s)
{
	show_oldest(s);
}

void ab_steering_resized(struct ab_steering *s)
{
	if (s->setup.prompt)
		ab_host_prompt_resize(s->setup.prompt);
}

bool ab_steering_has_questions(const struct ab_policy *policy)
{
	return policy->net.mode == AB_NET_FILTERED && policy->net.unknown == AB_UNKNOWN_ASK;
}

bool ab_steering_asks(const struct ab_steering_setup *setup)
{
	return setup->policy->net.ask_anywhere || setup->request->approver || setup->prompt ||
	       setup->request->controller_asks;
}

static void notice_is_due(struct ab_timer *timer)
{
	ab_steering_notify(timer->owner);
}

static void control_failed(void *arg, const struct ab_error *err)
{
	const struct ab_steering *s = arg;

	s->hands.fail(s->hands.arg, err);
}

int ab_steering_open(const struct ab_steering_setup *setup, const struct ab_steering_hands *hands,
		     struct ab_steering **ret, struct ab_error *err)
{
	struct ab_steering *s = ab_alloc(sizeof(*s));
	struct ab_control_watch control = { .loop = hands->loop,
					    .dir = setup->dir,
					    .run_id = setup->run_id,
					    .asked = ab_steering_asked,
					    .failed = control_failed,
					    .arg = s };
	struct ab_host_prompt_watch prompt = { .loop = hands->loop,
					       .answered = take_terminal_answer,
					       .redraw = request_redraw,
					       .uncovered = say_when_uncovered,
					       .arg = s };

	s->setup = *setup;
	s->hands = *hands;
	s->begun_ms = ab_now_ms();
	s->notice = (struct ab_timer){ .fire = notice_is_due, .owner = s };
	s->thresholds = (struct ab_thresholds){ .denials = setup->policy->monitor.denials,
						.action = setup->policy->monitor.action };
	s->violated = (struct ab_source){ .fd = setup->violations->mail.fd,
					  .ready = ab_steering_violated,
					  .owner = s };
	*ret = s;
	ab_control_attach(setup->control, &control);
	if (ab_loop_add(hands->loop, &s->violated, EPOLLIN, err) < 0)
		return -1;
	if (setup->request->controller &&
	    ab_control_adopt(setup->control, setup->request->controller, err) < 0)
		return -1;
	return setup->prompt ? ab_host_prompt_attach(setup->prompt, &prompt, err) : 0;
}

void ab_steering_close(struct ab_steering *s, int status)
{
	if (!s)
		return;
	ab_control_tell(s->setup.control, "{'event':'end','status':%d}", status);
	say_deferred(s);
	ab_loop_timer_stop(s->hands.loop, &s->notice);
	ab_open_questions_fini(&s->questions);
	ab_strv_fini(&s->saved);
	ab_host_lists_fini(&s->lists);
	free(s);
}
