/*
 * Theory of operation.
 *
 * Packets to the supervisor wait in a queue: it reads none before its loop runs (`began`), and
 * answers one before it reads the next. Only the answer about the command goes at once, because
 * that question comes before the box.
 */

#include "serve/channel.h"
#include "serve/pool.h"
#include "serve/served_run.h"
#include "session/control/control_socket.h"
#include "session/supervise/supervisor.h"

enum { PACKETS_MAX = 4096, PACKET_ROOM = 256 * 1024 };

static const char command_id[] = "command";

static void send_event(struct ab_served_run *run, const char *event, const char *members)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'event':%s,'run':%ju%-s}", event, (uintmax_t)run->number, members);
	ab_channel_send(run->channel, b.data, b.len);
}

void ab_served_tell(struct ab_served_run *run, const char *event, const char *members)
{
	ab_autofree char *count = NULL;

	if (ab_channel_load(run->channel) == AB_CHANNEL_FULL) {
		run->missed++;
		return;
	}
	if (run->missed) {
		count = ab_printf(",\"count\":%llu", (unsigned long long)run->missed);
		send_event(run, "missed", count);
		run->missed = 0;
	}
	send_event(run, event, members);
}

/* The members of an object, after a comma each. */
static char *list_members(const json_t *object)
{
	ab_autofree char *text = json_dumps(object, JSON_COMPACT);
	size_t len = text ? strlen(text) : 0;

	return len > 2 ? ab_printf(",%.*s", (int)len - 2, text + 1) : ab_strdup("");
}

/* Questions must not be lost: there are few, and the box waits for the answer. */
static void tell_question(struct ab_served_run *run, const char *event, const json_t *object)
{
	ab_autofree char *members = list_members(object);

	send_event(run, event, members);
}

static void take_question(struct ab_served_run *run, json_t *packet)
{
	const char *why = ab_served_text(packet, "why");

	run->asked |= strcmp(ab_served_text(packet, "question"), command_id) == 0;
	if (!json_object_get(packet, "kind"))
		json_object_set_new(packet, "kind",
				    json_string(strcmp(why, "agent") == 0  ? "ssh"
						: strcmp(why, "tool") == 0 ? "tool"
						: strcmp(why, "held") == 0 ? "network"
									   : "host"));
	json_object_del(packet, "why");
	json_object_del(packet, "version");
	tell_question(run, "question", packet);
}

static void send_next(struct ab_served_run *run)
{
	struct ab_steer_packet *p = run->packets;

	if (!p || run->sent || !run->began || run->steer.fd < 0)
		return;
	/* There is room: we have sent nothing else on this socket. */
	run->sent = send(run->steer.fd, p->text, strlen(p->text), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static void end_steered(struct ab_served_run *run, struct ab_steered *s, const json_t *answer)
{
	if (--s->left)
		return;
	if (s->id && s->error) {
		struct ab_error err = { 0 };

		ab_fail(&err, AB_EUSAGE, 0, "%s", ab_served_text(s->error, "error"));
		ab_hint(&err, "%s", ab_served_text(s->error, "hint"));
		ab_serve_refuse(run->channel, s->id, &err);
	} else if (s->id && s->what == AB_SERVE_STATUS && answer) {
		ab_autofree char *text = json_dumps(answer, JSON_COMPACT);

		ab_serve_reply(run->channel, s->id, "'ok':true,'status':%-s", text ? text : "{}");
	} else if (s->id) {
		ab_serve_reply(run->channel, s->id, "'ok':true,'released':%ju",
			       (uintmax_t)s->released);
	}
	json_decref(s->id);
	json_decref(s->error);
	free(s);
}

static struct ab_steered *pop_packet(struct ab_served_run *run)
{
	struct ab_steer_packet *p = run->packets;
	struct ab_steered *s = p->of;

	run->packets = p->next;
	if (!run->packets)
		run->packets_end = &run->packets;
	run->npackets--;
	run->sent = false;
	ab_free_all(p->text, p);
	return s;
}

static void take_answer(struct ab_served_run *run, json_t *answer)
{
	struct ab_steered *s;

	/* That of the question about the command was given at once. */
	if (!run->sent)
		return;
	s = pop_packet(run);
	if (!json_is_true(json_object_get(answer, "ok"))) {
		if (!s->error)
			s->error = json_incref(answer);
	} else {
		s->released += (uint64_t)json_integer_value(json_object_get(answer, "released"));
	}
	json_object_del(answer, "ok");
	end_steered(run, s, answer);
	send_next(run);
}

static void tell_pool(struct ab_served_run *run, bool warm)
{
	unsigned rests = ab_pool_began(run->pool, run->prepared, warm);
	ab_autofree char *members = NULL;

	if (!rests)
		return;
	members =
		ab_printf(",\"level\":\"note\",\"text\":\"most prepared boxes of the pool did not "
			  "fit their runs; for the next %u runs it prepares none\"",
			  rests);
	ab_served_tell(run, "message", members);
}

static void take_began(struct ab_served_run *run, const json_t *packet)
{
	run->began = true;
	tell_question(run, "started", packet);
	for (int sig = 1; sig < 64; sig++)
		if (run->held_signals & 1ull << sig)
			kill(run->pid, sig);
	send_next(run);
	if (run->pool)
		tell_pool(run, json_is_true(json_object_get(packet, "warm")));
}

void ab_served_failure(const json_t *packet, struct ab_error *ret)
{
	ab_fail(ret, ab_error_code(ab_served_text(packet, "code")), 0, "%s",
		ab_served_text(packet, "error"));
	ab_hint(ret, "%s", ab_served_text(packet, "hint"));
}

static void take_failed(struct ab_served_run *run, const json_t *packet)
{
	run->failed = true;
	run->exit = (int)json_integer_value(json_object_get(packet, "exit"));
	ab_served_failure(packet, &run->why);
}

static void take_packet(struct ab_served_run *run, json_t *packet)
{
	ab_autofree char *kind = ab_strdup(ab_served_text(packet, "event")), *members = NULL;

	if (json_object_get(packet, "ok")) {
		take_answer(run, packet);
		return;
	}
	json_object_del(packet, "event");
	/* Of a question. */
	json_object_set(packet, "question", json_object_get(packet, "id"));
	json_object_del(packet, "id");
	if (strcmp(kind, "began") == 0) {
		take_began(run, packet);
	} else if (strcmp(kind, "asked") == 0) {
		take_question(run, packet);
	} else if (strcmp(kind, "settled") == 0) {
		tell_question(run, "settled", packet);
	} else if (strcmp(kind, "denied") == 0 || strcmp(kind, "message") == 0) {
		members = list_members(packet);
		ab_served_tell(run, strcmp(kind, "denied") == 0 ? "violation" : kind, members);
	} else if (strcmp(kind, "failed") == 0) {
		take_failed(run, packet);
	} else if (strcmp(kind, "missed") == 0) {
		run->missed++;
	}
}

void ab_served_hear(struct ab_source *source, uint32_t events)
{
	struct ab_served_run *run = source->owner;
	ab_autofree char *bytes = run->steer.fd < 0 ? NULL : ab_realloc(NULL, PACKET_ROOM);
	ssize_t n;

	(void)events;
	while (bytes && (n = recv(run->steer.fd, bytes, PACKET_ROOM, MSG_DONTWAIT)) > 0) {
		json_t *packet = json_loadb(bytes, (size_t)n, JSON_ALLOW_NUL, NULL);

		if (json_is_object(packet))
			take_packet(run, packet);
		json_decref(packet);
	}
	if (bytes && n == 0)
		ab_loop_remove(run->loop, &run->steer);
}

static struct ab_steered *new_steered(json_t *id, enum ab_serve_do what)
{
	struct ab_steered *s = ab_alloc(sizeof(*s));

	*s = (struct ab_steered){ .id = json_incref(id), .what = what };
	return s;
}

/* Takes over the packet. */
static void queue_packet(struct ab_served_run *run, struct ab_steered *s, const char *what,
			 json_t *packet)
{
	struct ab_steer_packet *p = ab_alloc(sizeof(*p));

	json_object_set_new(packet, "v", json_integer(AB_CONTROL_VERSION));
	json_object_set_new(packet, "do", json_string(what));
	*p = (struct ab_steer_packet){ .text = json_dumps(packet, JSON_COMPACT), .of = s };
	json_decref(packet);
	*run->packets_end = p;
	run->packets_end = &p->next;
	run->npackets++;
	s->left++;
}

static int check_room(const struct ab_served_run *run, size_t n, struct ab_error *err)
{
	return run->npackets + n <= PACKETS_MAX
		       ? 0
		       : ab_fail(err, AB_EUSAGE, 0, "too many requests to one run at once");
}

/* The question about the command is over. */
void ab_served_settle_command(struct ab_served_run *run, const char *how)
{
	json_t *packet;

	if (!run->asked)
		return;
	run->asked = false;
	packet = json_pack("{s:s,s:s}", "question", command_id, "how", how);
	tell_question(run, "settled", packet);
	json_decref(packet);
}

/* The supervisor waits for this one packet. */
static void answer_command(struct ab_served_run *run, json_t *id, const char *answer,
			   const char *reason)
{
	json_t *packet =
		json_pack("{s:i,s:s,s:s,s:s,s:s}", "v", AB_CONTROL_VERSION, "do", "answer", "id",
			  command_id, "answer", answer, "reason", reason ? reason : "");
	ab_autofree char *text = json_dumps(packet, JSON_COMPACT);

	json_decref(packet);
	if (text && run->steer.fd >= 0)
		(void)!send(run->steer.fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (id)
		ab_serve_reply(run->channel, id, "'ok':true");
	ab_served_settle_command(run, id ? "answered" : "gone");
}

int ab_served_answer(struct ab_served_run *run, struct ab_serve_request *r, struct ab_error *err)
{
	static const char *const answers[] = { "once", "session", "run", "always", "no" };
	bool command = strcmp(r->question, command_id) == 0;

	if (command && !run->asked)
		return ab_fail(err, AB_EUSAGE, 0, "this run has no question with that id");
	if (command && !ab_has_word(answers, AB_COUNT(answers), r->answer))
		return ab_fail(err, AB_EUSAGE, 0,
			       "invalid answer; use once, session, always or no");
	if (command) {
		answer_command(run, r->id, r->answer, r->reason);
		return 0;
	}
	if (check_room(run, 1, err) < 0)
		return -1;
	queue_packet(run, new_steered(r->id, r->what), "answer",
		     json_pack("{s:s,s:s}", "id", r->question, "answer", r->answer));
	send_next(run);
	return 0;
}

int ab_served_update(struct ab_served_run *run, struct ab_serve_request *r, struct ab_error *err)
{
	const struct {
		const char *what;
		json_t *entries;
	} lists[] = { { "allow", r->allow }, { "deny", r->deny } };
	size_t n = json_array_size(r->allow) + json_array_size(r->deny);
	struct ab_steered *s;
	json_t *entry;
	size_t k;

	if (n == 0) {
		ab_serve_reply(run->channel, r->id, "'ok':true,'released':0");
		return 0;
	}
	if (check_room(run, n, err) < 0)
		return -1;
	s = new_steered(r->id, r->what);
	for (size_t i = 0; i < AB_COUNT(lists); i++)
		json_array_foreach(lists[i].entries, k, entry) queue_packet(
			run, s, lists[i].what,
			json_pack("{s:O,s:I}", "entry", entry, "for_ms", (json_int_t)r->ms));
	send_next(run);
	return 0;
}

int ab_served_status(struct ab_served_run *run, struct ab_serve_request *r, struct ab_error *err)
{
	if (check_room(run, 1, err) < 0)
		return -1;
	queue_packet(run, new_steered(r->id, r->what), "status", json_object());
	send_next(run);
	return 0;
}

/* Before it began, the request waits; the signal ends what may take long until then. */
void ab_served_stop(struct ab_served_run *run, json_t *id, uint64_t grace_ms)
{
	if (run->asked)
		answer_command(run, NULL, "no", "it was stopped");
	else if (!run->began)
		run->stopped = sigqueue(run->pid, SIGTERM,
					(union sigval){ .sival_int = AB_TERM_STOPS }) == 0;
	queue_packet(run, new_steered(id, AB_SERVE_STOP), "stop",
		     json_pack("{s:I}", "grace_ms", (json_int_t)grace_ms));
	send_next(run);
}

void ab_served_refuse_steered(struct ab_served_run *run)
{
	json_auto_t *ended = json_pack("{s:s,s:s}", "error", "the run has ended", "hint", "");

	while (run->packets) {
		struct ab_steered *s = pop_packet(run);

		/* It has stopped. */
		if (!s->error && s->what != AB_SERVE_STOP)
			s->error = json_incref(ended);
		end_steered(run, s, NULL);
	}
}
