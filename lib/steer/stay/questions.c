#include "steer/stay/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "audit/read/find.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "base/system/loop.h"
#include "policy/toolchains/host_groups.h"
#include "session/ask/host_prompt.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/stay/kept_boxes.h"

/* The others are asked when these are settled, if they still wait. */
enum { OPEN_MAX = 64 };

struct open_question {
	char id[32];
	uint32_t number;
	char *host, *door, *who;
	char *about;	   /* the ssh agent or a tool; or NULL */
	const char *group; /* or NULL */
	uint16_t port;
	bool held, told;
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
	free(q->host);
	free(q->door);
	free(q->about);
	free(q->who);
	*q = (struct open_question){ 0 };
}

static struct open_question *find_open(struct ab_questions *s, const char *id)
{
	for (size_t i = 0; i < s->len; i++)
		if (strcmp(s->v[i].id, id) == 0)
			return &s->v[i];
	return NULL;
}

static void tell_question(struct ab_questions *s, struct open_question *q)
{
	ab_autofree char *text =
		q->held	   ? ab_printf("the network is paused: agentbox watch %s", q->id)
		: q->about ? ab_printf("the box wants to %s: agentbox allow %s", q->about, q->id)
			   : ab_printf("%s:%u needs your approval: agentbox allow %s", q->host,
				       q->port, q->id);

	if (!q->told)
		s->watch.say(s->watch.arg, text);
	q->told = true;
}

static void show_oldest(struct ab_questions *s)
{
	struct open_question *q = &s->v[0];
	int64_t left = q->until - ab_now_ms();
	struct ab_host_prompt_question show = { .number = q->number,
						.run_id = s->steer.id,
						.host = q->host,
						.port = q->port,
						.door = q->door,
						.about = q->about,
						.held = q->held,
						.who = q->who,
						.left_ms = left > 0 ? (uint64_t)left : 0,
						.others = s->len ? s->len - 1 : 0,
						.group = q->group };

	if (s->len && ab_host_prompt_usable(s->prompt)) {
		ab_host_prompt_show(s->prompt, &show);
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
	char copy[sizeof(q->id)];

	if (!q && (s->len == OPEN_MAX || strlen(id) >= sizeof(q->id)))
		return;
	if (!q)
		q = &s->v[s->len++];
	snprintf(copy, sizeof(copy), "%s", id);
	free_open(q);
	memcpy(q->id, copy, sizeof(copy));
	/* The pause of the whole network has the run's own id. */
	q->number = dash ? (uint32_t)strtoul(dash + 1 + (dash[1] == 't'), NULL, 10) : 0;
	if (dash && dash[1] == 't')
		q->number |= AB_QUESTION_OF_TOOL;
	q->host = ab_strdup(ab_json_text(event, "domain"));
	q->door = ab_strdup(ab_json_text(event, "door"));
	q->who = json_dumps(json_object_get(event, "process"), JSON_COMPACT);
	q->port = (uint16_t)ab_json_count(event, "port");
	q->group = ab_group_of(q->host);
	q->held = ab_json_is(event, "why", "held");
	if (ab_json_is(event, "why", "agent") || ab_json_is(event, "why", "tool"))
		q->about = ab_strdup(ab_json_text(event, "about"));
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

/* The box is gone, or has dropped us: the command's own socket tells what follows. */
static void lose_box(struct ab_questions *s)
{
	while (s->len)
		free_open(&s->v[--s->len]);
	ab_loop_remove(s->watch.loop, &s->source);
	show_oldest(s);
}

static void packet_ready(struct ab_source *source, uint32_t events)
{
	struct ab_questions *s = source->owner;
	json_t *packet = NULL;
	int r = ab_steer_hear(&s->steer, &packet);

	(void)events;
	if (r < 0)
		lose_box(s);
	else if (r > 0 && ab_json_is(packet, "event", "asked"))
		take_asked(s, packet);
	else if (r > 0 && ab_json_is(packet, "event", "settled"))
		take_settled(s, ab_json_text(packet, "id"));
	json_decref(packet);
}

static void send_answer(void *arg, uint32_t number, enum ab_host_choice choice, bool said)
{
	struct ab_questions *s = arg;
	struct ab_error err;

	(void)said;
	if (s->len && s->v[0].number == number)
		(void)ab_steer_send(&s->steer, "answer",
				    json_pack("{s:s,s:s}", "id", s->v[0].id, "answer",
					      ab_choice_names[choice]),
				    &err);
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
	    ab_steer_send(&s->steer, "follow", NULL, &err) == 0)
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
	s->source = (struct ab_source){ .fd = s->steer.fd, .ready = packet_ready, .owner = s };
	if (ab_loop_add(watch->loop, &s->source, EPOLLIN, err) < 0)
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
