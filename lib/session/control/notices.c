/* Questions that nobody seems to see: tell the user outside of the terminal. */
#include "consent/ask/host_prompt.h"
#include "policy/model/policy.h"
#include "session/control/steering_state.h"

/* A box that asks for host after host must not fill the desktop. */
enum { NOTICES_MAX = 20 };

static bool can_be_seen(const struct ab_steering *s)
{
	return ab_control_followed(s->setup.control) ||
	       (s->setup.prompt && ab_host_prompt_usable(s->setup.prompt));
}

static void tell_user(struct ab_steering *s, const struct ab_open_question *q)
{
	size_t others = s->questions.len - 1;
	ab_autofree char *more = others ? ab_printf(" (and %zu more)", others) : ab_strdup("");
	ab_autofree char *text = NULL;
	const char *id = s->setup.run_id;

	if (q->wanted.why == AB_QUESTION_HELD)
		text = ab_printf("the network is paused: agentbox watch %s", id);
	else if (q->wanted.why == AB_QUESTION_AGENT || q->wanted.why == AB_QUESTION_TOOL)
		text = ab_printf("the box wants to %.200s%s: agentbox watch %s", q->wanted.about,
				 more, id);
	else
		text = ab_printf("%.120s:%u needs your approval%s: agentbox watch %s",
				 q->wanted.host, q->wanted.port, more, id);
	ab_broker_notice(s->setup.broker, text, strlen(text));
	/* It moves no cursor, so it cannot spoil a screen. */
	if (s->setup.bell && (s->setup.policy->net.notify & AB_NOTICE_BIT(AB_NOTICE_BELL)))
		(void)!write(STDERR_FILENO, "\a", 1);
}

void ab_steering_notify(struct ab_steering *s)
{
	uint64_t now = ab_now_ms(), ms = 0;
	const struct ab_open_question *q;

	if (s->setup.request->approver || s->setup.request->controller_asks ||
	    !s->setup.policy->net.notify || s->nnotices >= NOTICES_MAX)
		return;
	q = ab_open_questions_unseen(&s->questions, can_be_seen(s), s->noticed_ms, now, &ms);
	if (q && ms) {
		ab_loop_timer(s->hands.loop, &s->notice, ms);
	} else if (q) {
		tell_user(s, q);
		ab_open_questions_noticed(&s->questions);
		s->noticed_ms = now;
		s->nnotices++;
	}
}
