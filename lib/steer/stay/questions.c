#include "steer/stay/questions.h"

#include "audit/read/find.h"
#include "base/system/loop.h"
#include "consent/ask/host_prompt.h"
#include "policy/toolchains/host_groups.h"
#include "steer/client/json.h"
#include "steer/stay/kept_boxes.h"

/* The others are asked when these are settled, if they still wait. */
enum { OPEN_MAX = 64 };

struct open_question {
	char id[32];
	struct ab_host_prompt_question shown; /* its texts are ours */
	bool told;
	int64_t until;
};

struct ab_questions {
	struct ab_questions_watch watch;
	struct ab_steer steer;
	struct ab_source source;
	struct ab_host_prompt *prompt;
	struct open_question v[OPEN_MAX]; /* the oldest first */
	size_t len;
};

static void free_open(struct open_question *q)
{
	ab_host_prompt_question_fini(&q->shown);
	*q = (struct open_question){ 0 };
}

static struct open_question *find_open(struct ab_questions *s, const char *id)
{
	return ab_find_row(s->v, s->len, id, id);
}

static void tell_question(struct ab_questions *s, struct open_question *q)
{
	const struct ab_host_prompt_question *is = &q->shown;
	ab_autofree char *text =
		is->held    ? ab_printf("the network is paused: agentbox watch %s", q->id)
		: is->about ? ab_printf("the box wants to %s: agentbox allow %s", is->about, q->id)
			    : ab_printf("%s:%u needs your approval: agentbox allow %s", is->host,
					is->port, q->id);

	if (!q->told)
		s->watch.say(s->watch.arg, text);
	q->told = true;
}

static void show_oldest(struct ab_questions *s)
{
	struct open_question *q = &s->v[0];
	int64_t left = q->until - ab_now_ms();

	if (s->len && ab_host_prompt_usable(s->prompt)) {
		q->shown.left_ms = left > 0 ? (uint64_t)left : 0;
		q->shown.others = s->len - 1;
		ab_host_prompt_show(s->prompt, &q->shown);
		return;
	}
	ab_host_prompt_hide(s->prompt);
	if (s->len)
		tell_question(s, q);
	s->watch.uncovered(s->watch.arg);
}

/* A question is announced again when its process is known. */
static void take_asked(struct ab_questions *s, const json_t *event)
{
	const char *id = ab_json_text(event, "id"), *dash = strrchr(id, '-');
	struct open_question *q = find_open(s, id);
	bool told = q && q->told;
	ab_autofree char *who = json_dumps(json_object_get(event, "process"), JSON_COMPACT);
	struct ab_host_prompt_question is = {
		.run_id = s->steer.id,
		.host = ab_json_text(event, "domain"),
		.door = ab_json_text(event, "door"),
		.who = who,
		.port = (uint16_t)ab_json_count(event, "port"),
		.held = ab_json_is(event, "why", "held"),
		/* The pause of the whole network has the run's own id. */
		.number = dash ? (uint32_t)strtoul(dash + 1 + (dash[1] == 't'), NULL, 10) : 0,
	};

	if (!q && (s->len == OPEN_MAX || strlen(id) >= sizeof(q->id)))
		return;
	if (!q)
		q = &s->v[s->len++];
	if (dash && dash[1] == 't')
		is.number |= AB_QUESTION_OF_TOOL;
	is.group = ab_group_of(is.host);
	if (ab_json_is(event, "why", "agent") || ab_json_is(event, "why", "tool"))
		is.about = ab_json_text(event, "about");
	free_open(q);
	snprintf(q->id, sizeof(q->id), "%s", id);
	q->shown = ab_host_prompt_question_copy(&is);
	q->told = told;
	q->until = ab_now_ms() + (int64_t)ab_json_count(event, "left_ms");
	if (q == &s->v[0] || s->len == 2)
		show_oldest(s);
}

static void take_settled(struct ab_questions *s, const char *id)
{
	struct open_question *q = find_open(s, id);

	if (!q)
		return;
	free_open(q);
	s->len--;
	memmove(q, q + 1, (size_t)(&s->v[s->len] - q) * sizeof(*q));
	s->v[s->len] = (struct open_question){ 0 };
	show_oldest(s);
}

static void packet_ready(struct ab_source *source, uint32_t events)
{
	struct ab_questions *s = source->owner;
	json_auto_t *packet = NULL;
	int r = ab_steer_hear(&s->steer, &packet);

	(void)events;
	if (r < 0) {
		/* The box is gone, or has dropped us: the command's own socket tells what follows. */
		while (s->len)
			free_open(&s->v[--s->len]);
		ab_loop_remove(s->watch.loop, &s->source);
		show_oldest(s);
	} else if (r > 0 && ab_json_is(packet, "event", "asked"))
		take_asked(s, packet);
	else if (r > 0 && ab_json_is(packet, "event", "settled"))
		take_settled(s, ab_json_text(packet, "id"));
}

static void send_answer(void *arg, uint32_t number, enum ab_host_choice choice, bool said)
{
	struct ab_questions *s = arg;
	struct ab_error err;

	(void)said;
	if (s->len && s->v[0].shown.number == number)
		(void)ab_steer_send(&s->steer, &err, "'do':'answer','id':%s,'answer':%s",
				    s->v[0].id, ab_choice_names[choice]);
}

static void pass_redraw(void *arg)
{
	struct ab_questions *s = arg;

	s->watch.redraw(s->watch.arg);
}

static void pass_uncovered(void *arg)
{
	struct ab_questions *s = arg;

	s->watch.uncovered(s->watch.arg);
}

struct ab_questions *ab_questions_open(const struct ab_kept_box *box, struct ab_terminal *terminal)
{
	struct ab_host_prompt *prompt = NULL;
	struct ab_questions *s;
	struct ab_error err;

	if (!terminal || ab_host_prompt_open(terminal, &prompt, &err) < 0 || !prompt)
		return NULL;
	s = ab_alloc(sizeof(*s));
	s->prompt = prompt;
	s->steer.fd = -1;
	if (ab_steer_open(&box->state, box->steer.id, &s->steer, &err) == 0 &&
	    ab_steer_send(&s->steer, &err, "'do':'follow'") == 0)
		return s;
	ab_questions_close(s);
	return NULL;
}

int ab_questions_attach(struct ab_questions *s, const struct ab_questions_watch *watch,
			struct ab_error *err)
{
	struct ab_host_prompt_watch prompt = { .loop = watch->loop,
					       .answered = send_answer,
					       .redraw = pass_redraw,
					       .uncovered = pass_uncovered,
					       .arg = s };

	s->watch = *watch;
	if (ab_loop_watch(watch->loop, &s->source, s->steer.fd, packet_ready, s, err) < 0)
		return -1;
	return ab_host_prompt_attach(s->prompt, &prompt, err);
}

bool ab_questions_asking(const struct ab_questions *s)
{
	return s && ab_host_prompt_asking(s->prompt);
}

void ab_questions_resize(struct ab_questions *s)
{
	if (s)
		ab_host_prompt_resize(s->prompt);
}

void ab_questions_suspend(struct ab_questions *s)
{
	if (s)
		ab_host_prompt_suspend(s->prompt);
}

void ab_questions_resume(struct ab_questions *s)
{
	if (!s)
		return;
	ab_host_prompt_resume(s->prompt);
	show_oldest(s);
}

void ab_questions_close(struct ab_questions *s)
{
	if (!s)
		return;
	ab_host_prompt_close(s->prompt);
	while (s->len)
		free_open(&s->v[--s->len]);
	ab_steer_fini(&s->steer);
	free(s);
}
