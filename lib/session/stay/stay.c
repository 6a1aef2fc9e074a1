/*
 * Theory of operation.
 *
 * A command is starting (until HOLDS or FAILED from its leader), running, or left (its leader has
 * ended, but processes that it started live on: its listener is open). A running command has a
 * client, has lost it (it got HUP), or is detached.
 *
 * Should: tell the client each change; record the start and the end of each command.
 * Mustn't: wait for a leader or a client; end the box because of one command.
 */
#include "session/stay/stay.h"

#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "consent/request.h"
#include "policy/model/policy.h"
#include "sandbox/start/launch.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/stay/output.h"
#include "session/stay/stay_state.h"
#include "session/stay/stay_wire.h"

/* The client waits for ten seconds. */
enum { SILENT_MS = 8000, SOON_MS = 1, ASKERS_MAX = 8 };

static void tell_client(struct ab_stay_command *c, const struct ab_stay_msg *msg, size_t len,
			int fd)
{
	if (c->client.fd < 0)
		return;
	if (ab_send_fds(c->client.fd, msg, len, &fd, fd >= 0) == 0)
		return;
	/* A line for the user may be lost; a client that misses more has gone. */
	if (msg->type != AB_STAY_SAY || (errno != EAGAIN && errno != ENOBUFS))
		ab_loop_close(c->stay->hands.loop, &c->client);
}

static void tell_short(struct ab_stay_command *c, enum ab_stay_type type, int value)
{
	tell_client(c, &(struct ab_stay_msg){ .type = type, .value = value }, AB_STAY_SHORT, -1);
}

static void free_command(struct ab_later *later)
{
	struct ab_stay_command *c = later->owner;

	LIST_REMOVE(c, link);
	c->stay->ncommands--;
	ab_closep(&c->listener.fd);
	ab_stay_order_fini(&c->order);
	ab_strv_fini(&c->argv);
	free(c);
}

static void drop_command(struct ab_stay_command *c)
{
	if (c->dropped || c->leader.fd >= 0 || (c->listener.fd >= 0 && !c->left))
		return;
	c->dropped = true;
	c->later = (struct ab_later){ .run = free_command, .owner = c };
	ab_loop_later(c->stay->hands.loop, &c->later);
}

static void tell_leader(struct ab_stay_command *c, enum ab_msg_type type, int value)
{
	const struct ab_box leader = { .sock = c->leader.fd, .pidfd = -1 };

	if (c->leader.fd >= 0)
		(void)!ab_box_tell(&leader, type, value);
}

void ab_stay_go(struct ab_stay_command *c)
{
	if (!c->went)
		tell_leader(c, AB_MSG_GO, 0);
	c->went = true;
}

static int exit_status_of(int status, const struct ab_error *failed)
{
	if (failed)
		return failed->code == AB_ENOTFOUND ? 127 : failed->code == AB_ENOEXEC ? 126 : 125;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void record_end(struct ab_stay_command *c, int status, const struct ab_error *failed)
{
	struct ab_stay *stay = c->stay;
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_error err = { 0 };

	ab_record_open(&line, stay->setup.run->run_id, "ended");
	ab_buf_jsonf(&line, ",'number':%u,'command':%p,'status':%d,'ms':%jd?,'error':%s", c->number,
		     ab_list(&c->argv), status, ab_now_ms() - (int64_t)c->begun_ms,
		     failed ? failed->text : NULL);
	if (ab_log_write(stay->setup.run->log, &line, &err) < 0)
		stay->hands.fail(stay->hands.arg, &err);
}

static void watch_idle(struct ab_stay *stay)
{
	uint64_t idle_ms = stay->setup.run->request->idle_ms;

	if (idle_ms && stay->nrunning == 0)
		ab_loop_timer(stay->hands.loop, &stay->idle, idle_ms);
	else
		ab_loop_timer_stop(stay->hands.loop, &stay->idle);
}

static void answer_client(struct ab_stay_command *c)
{
	struct ab_stay *stay = c->stay;
	struct ab_control_client *client = ab_take(c->asker);

	if (!client)
		return;
	stay->naskers--;
	ab_control_reply(client, "'number':%u,'raw':%hhd,'asks':%hhd", c->number,
			 stay->setup.run->policy->raw_terminal,
			 ab_steering_has_questions(stay->setup.run->policy));
}

static void tell_line(struct ab_stay_command *c, bool note, const char *text)
{
	struct ab_stay_msg msg = { .type = AB_STAY_SAY, .value = note };

	snprintf(msg.error.text, sizeof(msg.error.text), "%s", text);
	tell_client(c, &msg, sizeof(msg), -1);
}

/* Those that are known by now; what comes later is told at the end of the next command. */
static void tell_denials(struct ab_stay_command *c)
{
	struct ab_stay *stay = c->stay;
	uint64_t n = stay->hands.denials(stay->hands.arg) - stay->told;
	char text[160];

	if (c->client.fd < 0 || n == 0)
		return;
	stay->told += n;
	snprintf(text, sizeof(text),
		 "%" PRIu64
		 " denial%s in this box; what was denied, and what allows it: agentbox why %s",
		 n, n == 1 ? "" : "s", stay->setup.run->run_id);
	tell_line(c, true, text);
}

/* Its leader has ended, or is given up: then the command's own group gets HUP. */
static void conclude_command(struct ab_stay_command *c, int status, const struct ab_error *failed)
{
	struct ab_stay *stay = c->stay;

	if (c->leader.fd < 0)
		return;
	ab_loop_timer_stop(stay->hands.loop, &c->silent);
	ab_stay_order_fini(&c->order);
	answer_client(c);
	stay->nrunning--;
	record_end(c, exit_status_of(status, failed), failed);
	tell_denials(c);
	if (failed) {
		struct ab_stay_msg msg = { .type = AB_STAY_FAILED, .error = *failed };

		tell_client(c, &msg, sizeof(msg), -1);
	} else {
		tell_short(c, AB_STAY_ENDED, status);
	}
	ab_loop_close(c->stay->hands.loop, &c->leader);
	ab_loop_close(c->stay->hands.loop, &c->client);
	if (c->output)
		ab_output_end(ab_take(c->output), failed ? 125 << 8 : status);
	if (c->main) {
		stay->ended = true;
		if (failed)
			stay->hands.fail(stay->hands.arg, failed);
		else
			stay->hands.over(stay->hands.arg, status);
	}
	drop_command(c);
	watch_idle(stay);
	/* Not now: the client has been woken and waits for this CPU. */
	if (stay->spare < 0 && !stay->ending)
		ab_loop_timer(stay->hands.loop, &stay->refill, SOON_MS);
}

static void fail_command(struct ab_stay_command *c, const char *what)
{
	struct ab_error err = { 0 };

	ab_fail_step(&err, "start", 0, "%s", what);
	conclude_command(c, 0, &err);
}

/* The first call of the command that must be answered: the guard gets the listener. Most commands
 * of a moment have none. From now on we only see when no process is left. */
static void call_judge(struct ab_stay_command *c)
{
	struct ab_stay *stay = c->stay;

	if (ab_poll(stay->hands.guard->sock, POLLOUT, 0) <= 0 ||
	    ab_guard_link_add(stay->hands.guard, c->listener.fd, &c->approved) < 0) {
		ab_loop_close(c->stay->hands.loop, &c->listener);
		fail_command(c, "the guard cannot take another command");
		return;
	}
	ab_loop_set(stay->hands.loop, &c->listener, 0);
}

static void listener_ready(struct ab_source *source, uint32_t events)
{
	struct ab_stay_command *c = source->owner;

	if (events & EPOLLIN) {
		call_judge(c);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		/* The kernel takes a while to close it; the client gets its status before. */
		ab_loop_remove(c->stay->hands.loop, source);
		c->left = true;
		drop_command(c);
	}
}

static void take_listener(struct ab_stay_command *c, struct ab_fds *fds)
{
	struct ab_stay *stay = c->stay;
	struct ab_error err;

	if (fds->len == 0 || c->listener.fd >= 0)
		return;
	if (!stay->asked) {
		fail_command(c, "the box has no guard for its calls");
		return;
	}
	if (ab_loop_watch(stay->hands.loop, &c->listener, ab_take_fd(&fds->v[0]), listener_ready, c,
			  &err) < 0)
		conclude_command(c, 0, &err);
}

static void take_terminal(struct ab_stay_command *c, struct ab_fds *fds)
{
	struct ab_error err = { 0 };

	if (fds->len == 0)
		return;
	if (!c->output) {
		/* It sends `go` when it has the terminal. */
		tell_client(c, &(struct ab_stay_msg){ .type = AB_STAY_TTY }, AB_STAY_SHORT,
			    fds->v[0]);
	} else if (ab_output_begin(c->output, ab_take_fd(&fds->v[0]), &err) < 0) {
		conclude_command(c, 0, &err);
	} else {
		ab_stay_go(c);
	}
}

static void take_message(struct ab_stay_command *c, const struct ab_msg *msg, struct ab_fds *fds)
{
	switch (msg->type) {
	case AB_MSG_FAILED:
		conclude_command(c, 0, &msg->u.error);
		break;
	case AB_MSG_TTY:
		take_terminal(c, fds);
		break;
	case AB_MSG_ASKS:
	case AB_MSG_HOLDS:
		take_listener(c, fds);
		break;
	case AB_MSG_RUNS:
		if (c->output)
			c->stay->hands.ready(c->stay->hands.arg);
		break;
	case AB_MSG_STOPPED:
		tell_short(c, AB_STAY_STOPPED, msg->value);
		break;
	case AB_MSG_STATUS:
		conclude_command(c, msg->value, NULL);
		break;
	default:
		break;
	}
}

static void leader_ready(struct ab_source *source, uint32_t events)
{
	struct ab_stay_command *c = source->owner;
	const struct ab_box leader = { .sock = source->fd, .pidfd = -1 };
	ab_autofds struct ab_fds fds = { .len = 0 };
	struct ab_msg msg;
	int r = ab_box_hear(&leader, &msg, &fds, MSG_DONTWAIT);

	(void)events;
	if (r > 0) {
		ab_loop_timer_stop(c->stay->hands.loop, &c->silent);
		/* The command may run from now on, and its pipes are its own. */
		ab_stay_order_fini(&c->order);
		answer_client(c);
		take_message(c, &msg, &fds);
	} else if ((r == 0 || errno != EAGAIN) && !ab_stay_start_again(c)) {
		/* A process of the box has killed it, or it could not even report its failure. */
		tell_line(c, false, "the process of the box that leads this command was ended");
		conclude_command(c, SIGKILL, NULL);
	}
}

/* Processes of the box can stop a leader. */
static void give_up_leader(struct ab_timer *timer)
{
	struct ab_stay_command *c = timer->owner;
	struct ab_error err = { 0 };

	ab_fail_step(&err, "start", 0, "the box did not start the command within %d seconds",
		     SILENT_MS / 1000);
	ab_hint(&err,
		"a process in it may have stopped the one that starts commands; try again, or end "
		"the box: agentbox stop %s",
		c->stay->setup.run->run_id);
	conclude_command(c, 0, &err);
}

/* A command that ignores HUP goes on, as with nohup. */
static void lose_client(struct ab_stay_command *c)
{
	ab_loop_close(c->stay->hands.loop, &c->client);
	if (!c->went) {
		conclude_command(c, SIGHUP, NULL);
		return;
	}
	tell_leader(c, AB_MSG_SIGNAL, SIGHUP);
	tell_leader(c, AB_MSG_SIGNAL, SIGCONT);
}

static void client_ready(struct ab_source *source, uint32_t events)
{
	struct ab_stay_command *c = source->owner;
	struct ab_stay_msg msg;
	ssize_t n = recv(source->fd, &msg, AB_STAY_SHORT, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)AB_STAY_SHORT) {
		lose_client(c);
		return;
	}
	switch (msg.type) {
	case AB_STAY_GO:
		ab_stay_go(c);
		break;
	case AB_STAY_SIGNAL:
		if (msg.value > 0 && msg.value < NSIG)
			tell_leader(c, AB_MSG_SIGNAL, msg.value);
		break;
	case AB_STAY_RESUME:
		tell_leader(c, AB_MSG_RESUME, msg.value != 0);
		break;
	default:
		lose_client(c);
	}
}

struct ab_stay_command *ab_stay_add(struct ab_stay *stay, int leader, int client,
				    const struct ab_strv *argv, struct ab_error *err)
{
	struct ab_stay_command *c = ab_alloc(sizeof(*c));

	*c = (struct ab_stay_command){
		.stay = stay,
		.number = ++stay->number,
		.begun_ms = (uint64_t)ab_now_ms(),
		.leader = { .fd = leader, .ready = leader_ready, .owner = c },
		.client = { .fd = client, .ready = client_ready, .owner = c },
		.listener = { .fd = -1 },
		.silent = { .fire = give_up_leader, .owner = c },
	};
	ab_strv_extend(&c->argv, argv);
	LIST_INSERT_HEAD(&stay->commands, c, link);
	stay->ncommands++;
	stay->nrunning++;
	watch_idle(stay);
	ab_loop_timer(stay->hands.loop, &c->silent, SILENT_MS);
	if (ab_loop_add(stay->hands.loop, &c->leader, EPOLLIN, err) == 0 &&
	    (client < 0 || ab_loop_add(stay->hands.loop, &c->client, EPOLLIN, err) == 0))
		return c;
	conclude_command(c, 0, err);
	return NULL;
}

static void end_idle(struct ab_timer *timer)
{
	struct ab_stay *stay = timer->owner;

	stay->hands.idle(stay->hands.arg);
}

static void refill_late(struct ab_timer *timer)
{
	ab_stay_refill(timer->owner);
}

struct ab_stay *ab_stay_new(const struct ab_stay_setup *setup, const struct ab_stay_hands *hands)
{
	struct ab_stay *stay = ab_alloc(sizeof(*stay));

	stay->setup = *setup;
	stay->hands = *hands;
	stay->idle = (struct ab_timer){ .fire = end_idle, .owner = stay };
	stay->refill = (struct ab_timer){ .fire = refill_late, .owner = stay };
	stay->spare = -1;
	ab_stay_find_ours(stay);
	return stay;
}

void ab_stay_begin(struct ab_stay *stay, bool asked)
{
	struct ab_error err = { 0 };

	stay->asked = asked;
	if (!stay->setup.run->request->detach)
		stay->hands.ready(stay->hands.arg);
	else if (ab_stay_start_detached(stay, &err) < 0)
		stay->hands.fail(stay->hands.arg, &err);
	ab_stay_refill(stay);
	watch_idle(stay);
}

/* The control socket has room for a few clients only. */
void ab_stay_answer_later(struct ab_stay_command *c, struct ab_control_client *client)
{
	c->asker = client;
	if (c->stay->naskers++ >= ASKERS_MAX)
		answer_client(c);
}

static struct ab_stay_command *find_detached(struct ab_stay *stay, uint32_t number)
{
	struct ab_stay_command *found = NULL;

	/* The oldest is the last of the list. */
	for (struct ab_stay_command *c = LIST_FIRST(&stay->commands); c; c = LIST_NEXT(c, link))
		if (c->output && (!number || c->number == number))
			found = c;
	return found;
}

void ab_stay_attach(struct ab_stay *stay, struct ab_control_client *client,
		    const struct ab_control_request *request)
{
	struct ab_stay_command *c = find_detached(stay, request->number);
	struct ab_error err = { 0 };

	if (!c) {
		ab_fail(&err, AB_ESYSTEM, 0, "no detached command runs in this box");
		ab_hint(&err, "start another command in it: agentbox run --in %s -- ...",
			stay->setup.run->run_id);
	} else if (request->fds->len != 2) {
		ab_fail(&err, AB_EUSAGE, 0, "attach needs two sockets");
	} else if (ab_output_attach(c->output, ab_take_fd(&request->fds->v[0]),
				    ab_take_fd(&request->fds->v[1]), &err) == 0) {
		ab_control_reply(client, "'number':%u,'asks':%hhd", c->number,
				 ab_steering_has_questions(stay->setup.run->policy));
		return;
	}
	ab_control_refuse(client, &err);
}

/* The oldest is the last of the list. */
static void describe_commands(const struct ab_stay_command *c, struct ab_buf *b)
{
	if (!c)
		return;
	describe_commands(LIST_NEXT(c, link), b);
	if (c->leader.fd >= 0)
		ab_buf_jsonf(b,
			     ",{'number':%u,'command':%p,'age_ms':%jd,'detached':%hhd,"
			     "'attached':%hhd}",
			     c->number, ab_list(&c->argv), ab_now_ms() - (int64_t)c->begun_ms,
			     (bool)(c->output != NULL),
			     (bool)(c->client.fd >= 0 ||
				    (c->output && ab_output_clients(c->output))));
}

void ab_stay_describe(const struct ab_stay *stay, struct ab_buf *status)
{
	ab_buf_jsonf(status, ",'stays':true,'commands':[");
	describe_commands(LIST_FIRST(&stay->commands), status);
	ab_buf_puts(status, "]");
}

void ab_stay_say(struct ab_stay *stay, bool note, const char *text)
{
	for (struct ab_stay_command *c = LIST_FIRST(&stay->commands); c; c = LIST_NEXT(c, link))
		tell_line(c, note, text);
}

void ab_stay_timed_out(struct ab_stay *stay)
{
	for (struct ab_stay_command *c = LIST_FIRST(&stay->commands); c; c = LIST_NEXT(c, link))
		tell_short(c, AB_STAY_TIMEOUT, 0);
}

void ab_stay_ending(struct ab_stay *stay)
{
	stay->ending = true;
	ab_loop_timer_stop(stay->hands.loop, &stay->refill);
	ab_closep(&stay->spare);
}

void ab_stay_end(struct ab_stay *stay)
{
	if (!stay)
		return;
	stay->ended = true;
	ab_stay_ending(stay);
	for (struct ab_stay_command *c = LIST_FIRST(&stay->commands); c; c = LIST_NEXT(c, link)) {
		c->main = false;
		conclude_command(c, SIGKILL, NULL);
		ab_loop_close(c->stay->hands.loop, &c->client);
		ab_loop_close(c->stay->hands.loop, &c->listener);
		drop_command(c);
	}
	ab_loop_timer_stop(stay->hands.loop, &stay->idle);
	ab_loop_settle(stay->hands.loop);
	ab_strv_fini(&stay->ours);
	free(stay);
}
