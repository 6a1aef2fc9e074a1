#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "client.h"

/* What a callback gets; `proc` stays valid while it runs. */
struct delivery {
	struct ab_manager *m;
	struct ab_proc *proc;
	json_t *json;
};

static void deliver_started(const struct delivery *d)
{
	const struct ab_callbacks *c = &d->proc->callbacks;

	if (c->started)
		c->started(c->arg, d->proc, ab_client_text(d->json, "run_id"));
}

static void deliver_output(const struct delivery *d)
{
	const struct ab_callbacks *c = &d->proc->callbacks;
	size_t len;
	char *bytes = c->output ? ab_client_bytes(d->json, "text", &len) : NULL;

	if (bytes)
		c->output(c->arg, d->proc,
			  strcmp(ab_client_text(d->json, "stream"), "stdout") == 0 ? 1 : 2, bytes,
			  len);
	free(bytes);
}

static void deliver_question(const struct delivery *d)
{
	static const char *const kinds[] = {
		[AB_QUESTION_ABOUT_COMMAND] = "command", [AB_QUESTION_ABOUT_HOST] = "host",
		[AB_QUESTION_ABOUT_KEY] = "ssh",	 [AB_QUESTION_ABOUT_NETWORK] = "network",
		[AB_QUESTION_ABOUT_TOOL] = "tool",
	};
	static const char *const texts[] = { "command", "domain", "about", "domain", "about" };
	const struct ab_callbacks *c = &d->proc->callbacks;
	const char *kind = ab_client_text(d->json, "kind");
	struct ab_asked q = { .id = ab_client_text(d->json, "question") };
	size_t n = sizeof(kinds) / sizeof(kinds[0]), i = 0;
	char *json;

	while (i < n && strcmp(kinds[i], kind) != 0)
		i++;
	/* The program could not tell what it answers; without an answer it is denied. */
	if (i == n)
		return;
	json = c->question ? ab_client_dump(d->json) : NULL;
	q.kind = (enum ab_question_kind)i;
	q.text = ab_client_text(d->json, texts[q.kind]);
	q.port = (uint16_t)json_integer_value(json_object_get(d->json, "port"));
	q.rule = ab_client_text(d->json, "rule");
	q.reason = ab_client_text(d->json, "reason");
	q.left_ms = (uint64_t)json_integer_value(json_object_get(d->json, "left_ms"));
	q.json = json;
	if (json)
		c->question(c->arg, d->proc, &q);
	free(json);
}

static void deliver_settled(const struct delivery *d)
{
	const struct ab_callbacks *c = &d->proc->callbacks;

	if (c->settled)
		c->settled(c->arg, d->proc, ab_client_text(d->json, "question"));
}

static void pass_record(const struct delivery *d,
			void (*to)(void *arg, struct ab_proc *proc, const char *json))
{
	char *json = to ? ab_client_dump(json_object_get(d->json, "record")) : NULL;

	if (json)
		to(d->proc->callbacks.arg, d->proc, json);
	free(json);
}

static void deliver_violation(const struct delivery *d)
{
	pass_record(d, d->proc->callbacks.violation);
}

static void deliver_record(const struct delivery *d)
{
	pass_record(d, d->proc->callbacks.record);
}

static void deliver_message(const struct delivery *d)
{
	const struct ab_callbacks *c = &d->proc->callbacks;
	const char *level = ab_client_text(d->json, "level");

	if (c->message)
		c->message(c->arg, d->proc,
			   strcmp(level, "detail") == 0	   ? AB_MESSAGE_DETAIL
			   : strcmp(level, "warning") == 0 ? AB_MESSAGE_WARNING
							   : AB_MESSAGE_NOTE,
			   ab_client_text(d->json, "text"));
}

static void deliver_exit(const struct delivery *d)
{
	const struct ab_callbacks *c = &d->proc->callbacks;
	struct ab_outcome *own = ab_client_outcome(json_object_get(d->json, "result"));
	const struct ab_outcome *outcome = own ? own : &ab_client_lost;

	pthread_mutex_lock(&d->m->lock);
	d->proc->own = own;
	d->proc->outcome = outcome;
	pthread_cond_broadcast(&d->m->moved);
	pthread_mutex_unlock(&d->m->lock);
	if (c->ended)
		c->ended(c->arg, d->proc, outcome);
}

static const struct {
	const char *name;
	void (*deliver)(const struct delivery *d);
} events[] = {
	{ "started", deliver_started },	    { "output", deliver_output },
	{ "question", deliver_question },   { "settled", deliver_settled },
	{ "violation", deliver_violation }, { "record", deliver_record },
	{ "message", deliver_message },	    { "exit", deliver_exit },
};

static struct ab_proc *find_proc(const struct ab_manager *m, const json_t *json)
{
	uint64_t number = (uint64_t)json_integer_value(json_object_get(json, "run"));
	struct ab_proc *proc = m->procs;

	while (proc && proc->number != number)
		proc = proc->next;
	return proc;
}

bool ab_client_in_callback(struct ab_manager *m)
{
	bool in;

	pthread_mutex_lock(&m->lock);
	in = m->delivering && pthread_equal(m->deliverer, pthread_self());
	pthread_mutex_unlock(&m->lock);
	return in;
}

static void call_back(struct ab_manager *m, const struct delivery *d)
{
	const char *name = ab_client_text(d->json, "event");

	m->delivering = d->proc->called = true;
	m->deliverer = pthread_self();
	pthread_mutex_unlock(&m->lock);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].name, name) == 0)
			events[i].deliver(d);
	pthread_mutex_lock(&m->lock);
	m->delivering = d->proc->called = false;
	pthread_cond_broadcast(&m->moved);
}

void ab_client_queue(struct ab_manager *m, struct ab_event *event)
{
	if (!m->first && m->queued >= 0)
		(void)eventfd_write(m->queued, 1);
	*m->last = event;
	m->last = &event->next;
}

static struct ab_event *unqueue(struct ab_manager *m)
{
	struct ab_event *event = m->first;
	eventfd_t one;

	m->first = event->next;
	if (m->first)
		return event;
	m->last = &m->first;
	if (m->queued >= 0)
		(void)eventfd_read(m->queued, &one);
	return event;
}

bool ab_client_deliver(struct ab_manager *m)
{
	struct ab_event *event;
	struct delivery d = { .m = m };

	if (!m->first || m->delivering)
		return false;
	event = unqueue(m);
	d.json = event->json;
	d.proc = find_proc(m, d.json);
	free(event);
	/* The handle may have been freed. */
	if (d.proc)
		call_back(m, &d);
	json_decref(d.json);
	return true;
}
