/*
 * Theory of operation.
 *
 * States: starting (until HOLDS or FAILED), running, stopped (the command was stopped and so are
 * we), ending (SIGTERM was sent, the grace period runs), over.
 *
 * Should: forward the caller's signals in every state; kill the box on every error of our own.
 * Mustn't: block outside epoll_wait; accept a message that the state does not allow.
 */
#include "session/supervise/supervisor.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "audit/read/find.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "consent/ask/host_prompt.h"
#include "consent/request.h"
#include "containers/container_watch.h"
#include "hosttools/tool_broker.h"
#include "hosttools/tool_watch.h"
#include "session/control/box_network.h"
#include "session/control/control_socket.h"
#include "session/control/steering.h"
#include "session/stay/stay.h"
#include "session/supervise/failure.h"
#include "session/supervise/guard_watch.h"
#include "session/supervise/network_link.h"
#include "terminal/streams.h"
#include "terminal/terminal.h"

struct supervisor {
	const struct ab_supervision *what;
	struct ab_outcome out;
	struct ab_loop loop;
	struct ab_source signals, box, broker, timer;
	struct ab_steering *steering;
	struct ab_stay *stay;  /* the commands of a box that stays, or NULL */
	struct ab_timer grace; /* after `agentbox stop` */
	bool started, ending, over;
	bool alone; /* when it was over, only init was left in the box */
	bool lost;  /* init ended without a status, and not because we wanted it */
	struct ab_failure failure;
	bool stop_asked;     /* SIGTSTP was forwarded */
	int64_t first_claim; /* when the command first wanted the terminal */
	unsigned int claims; /* how often since then */
	struct ab_guard_watch guard;
	struct ab_network_link network;
};

/* TERM now, KILL after the grace period. `arg`: the supervisor. */
static void stop_command(void *arg, uint64_t grace_ms);

enum {
	GRACE_MS = 5000,   /* between SIGTERM and SIGKILL after a timeout */
	ANSWER_MS = 5000,  /* to wait for the last answers of proxy and broker */
	CLAIMS_MAX = 16,   /* stops for the terminal ... */
	CLAIMS_MS = 10000, /* ... within this time */
};

static void fail_run(void *arg, const struct ab_error *err)
{
	struct supervisor *s = arg;

	ab_failure_set(&s->failure, err);
}

/* The supervisor stops when the command does, and resumes it when the caller's shell resumes the
 * supervisor. */
static void stop_with_command(const struct ab_supervision *what)
{
	if (what->terminal)
		ab_terminal_suspend(what->terminal);
	if (what->steering->prompt)
		ab_host_prompt_suspend(what->steering->prompt);
	kill(getpid(), SIGSTOP);
}

static void resume_command(struct supervisor *s)
{
	const struct ab_supervision *what = s->what;
	bool front = what->terminal && ab_terminal_resume(what->terminal);

	ab_box_tell(what->box, AB_MSG_RESUME, front);
	if (what->steering->prompt)
		ab_host_prompt_resume(what->steering->prompt);
	ab_steering_resumed(s->steering);
}

/*
 * A command that stops again whenever it gets the terminal would keep us busy for
 * ever, and no key would reach it. No person types this fast.
 */
static bool claims_too_often(struct supervisor *s)
{
	int64_t now = ab_now_ms();

	if (s->claims == 0 || now - s->first_claim > CLAIMS_MS) {
		s->first_claim = now;
		s->claims = 0;
	}
	return ++s->claims >= CLAIMS_MAX;
}

/* If the command was stopped because it uses the terminal, take the terminal and resume it. */
static bool claim_terminal(struct supervisor *s, int sig)
{
	struct ab_error *err = s->failure.err;

	if ((sig != SIGTTIN && sig != SIGTTOU) || !s->what->terminal ||
	    !ab_terminal_claim(s->what->terminal))
		return false;
	if (claims_too_often(s)) {
		ab_fail(err, AB_ESYSTEM, 0,
			"the command stopped for the terminal %d times in %d seconds", CLAIMS_MAX,
			CLAIMS_MS / 1000);
		ab_hint(err, "run it without a terminal to read: agentbox run ... </dev/null");
		ab_failure_end(&s->failure);
		return true;
	}
	ab_box_tell(s->what->box, AB_MSG_RESUME, true);
	return true;
}

/* Init reports that this signal stopped the command. */
static void take_stop(struct supervisor *s, int sig)
{
	/* Without a terminal, and if we did not forward SIGTSTP, nobody could resume the command
	 * through us. */
	if (claim_terminal(s, sig))
		return;
	if (s->what->terminal || s->stop_asked)
		stop_with_command(s->what);
	s->stop_asked = false;
}

static void take_signal(struct supervisor *s, int sig)
{
	if (s->stay) { /* always in the background */
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP)
			stop_command(s, GRACE_MS);
		return;
	}
	switch (sig) {
	case SIGCHLD: /* seen on the descriptors */
	case SIGPIPE:
	case SIGTTIN:
	case SIGTTOU:
		break;
	case SIGWINCH:
		if (s->what->terminal)
			ab_terminal_resize(s->what->terminal);
		ab_steering_resized(s->steering);
		ab_box_tell(s->what->box, AB_MSG_SIGNAL, sig);
		break;
	case SIGTSTP:
		/* We stop when init reports that the command did; it may ignore the signal. */
		ab_box_tell(s->what->box, AB_MSG_SIGNAL, sig);
		s->stop_asked = true;
		break;
	case SIGCONT:
		resume_command(s);
		break;
	default:
		ab_box_tell(s->what->box, AB_MSG_SIGNAL, sig);
	}
}

static void signals_ready(struct ab_source *source, uint32_t events)
{
	struct supervisor *s = source->owner;
	struct signalfd_siginfo info;

	(void)events;
	if (read(source->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	s->out.stopped |= info.ssi_signo == SIGTERM && info.ssi_code == SI_QUEUE &&
			  info.ssi_int == AB_TERM_STOPS && (pid_t)info.ssi_pid == getppid();
	take_signal(s, (int)info.ssi_signo);
}

static void arm_timer(struct supervisor *s, uint64_t ms)
{
	struct itimerspec at = { .it_value = { .tv_sec = (time_t)(ms / 1000),
					       .tv_nsec = (long)(ms % 1000) * 1000000 } };

	timerfd_settime(s->timer.fd, 0, &at, NULL);
}

static void send_term(struct supervisor *s)
{
	s->ending = true;
	if (s->stay) {
		ab_stay_ending(s->stay);
		ab_box_tell(s->what->box, AB_MSG_END, 0);
		return;
	}
	ab_box_tell(s->what->box, AB_MSG_SIGNAL, SIGTERM);
	ab_box_tell(s->what->box, AB_MSG_SIGNAL, SIGCONT);
}

static void grace_expired(struct ab_timer *timer)
{
	struct supervisor *s = timer->owner;

	ab_box_kill(s->what->box);
}

static void stop_command(void *arg, uint64_t grace_ms)
{
	struct supervisor *s = arg;

	send_term(s);
	ab_loop_timer(&s->loop, &s->grace, grace_ms);
}

static void stop_for_client(void *arg, uint64_t grace_ms)
{
	struct supervisor *s = arg;

	s->out.stopped = true;
	stop_command(s, grace_ms);
}

static void timer_ready(struct ab_source *source, uint32_t events)
{
	struct supervisor *s = source->owner;
	uint64_t times;

	(void)events;
	if (read(source->fd, &times, sizeof(times)) < 0)
		return;
	if (s->out.timed_out) {
		ab_box_kill(s->what->box);
		return;
	}
	s->out.timed_out = true;
	if (s->stay)
		ab_stay_timed_out(s->stay);
	send_term(s);
	arm_timer(s, GRACE_MS);
}

static void request_redraw(void *arg)
{
	struct supervisor *s = arg;

	ab_box_tell(s->what->box, AB_MSG_SIGNAL, SIGWINCH);
}

static void start_further(void *arg, struct ab_control_client *client,
			  const struct ab_control_request *request)
{
	struct supervisor *s = arg;

	if (request->what == AB_DO_START)
		ab_stay_start(s->stay, client, request);
	else
		ab_stay_attach(s->stay, client, request);
}

static void describe_commands(void *arg, struct ab_buf *status)
{
	const struct supervisor *s = arg;

	ab_stay_describe(s->stay, status);
}

static void box_ready_for_clients(void *arg)
{
	struct supervisor *s = arg;

	if (s->what->ready(s->what->arg, s->failure.err) < 0)
		ab_failure_end(&s->failure);
}

static void end_with_command(void *arg, int status)
{
	struct supervisor *s = arg;

	s->out.status = status;
	s->over = s->loop.stop = true;
	ab_box_kill(s->what->box);
}

static void end_idle_box(void *arg)
{
	stop_command(arg, GRACE_MS);
}

static void tell_finding(void *arg, const char *text)
{
	struct supervisor *s = arg;
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, s->what->steering->run_id, "finding");
	ab_record_text(&line, "reason", text);
	if (ab_log_write(s->what->steering->log, &line, s->failure.err) < 0)
		ab_failure_end(&s->failure);
	ab_strv_add(&s->out.told, text);
	ab_request_say(s->what->steering->request, AB_SAY_WARNING, "%s", text);
}

static uint64_t count_denials(void *arg)
{
	struct supervisor *s = arg;

	ab_guard_watch_drain(&s->guard);
	return ab_steering_denials(s->steering);
}

static void open_stay(struct supervisor *s)
{
	struct ab_stay_hands hands = { .loop = &s->loop,
				       .box = s->what->box,
				       .guard = s->what->children,
				       .fail = fail_run,
				       .ready = box_ready_for_clients,
				       .over = end_with_command,
				       .idle = end_idle_box,
				       .found = tell_finding,
				       .denials = count_denials,
				       .refusals = s->what->refusals,
				       .arg = s };

	s->stay = ab_stay_new(s->what->stay, &hands);
	*s->what->stay_at = s->stay;
}

static void answer_tool(void *arg, uint32_t number, enum ab_host_answer answer, const char *by);

static int open_steering(struct supervisor *s)
{
	struct ab_steering_hands hands = { .loop = &s->loop,
					   .box_network = s->what->box_network,
					   .stop = stop_for_client,
					   .fail = fail_run,
					   .redraw = request_redraw,
					   .arg = s };

	if (s->what->tools)
		hands.tool = answer_tool;
	if (s->what->stay) {
		hands.start = start_further;
		hands.describe = describe_commands;
	}
	if (ab_steering_open(s->what->steering, &hands, &s->steering, s->failure.err) < 0)
		return -1;
	s->network.steering = s->steering;
	return 0;
}

static void take_terminal(struct supervisor *s, struct ab_fds *fds)
{
	if (fds->len == 0 || !s->what->terminal)
		return;
	if (ab_terminal_attach(s->what->terminal, ab_take_fd(&fds->v[0]), &s->loop,
			       s->failure.err) < 0)
		ab_failure_end(&s->failure);
}

static void take_holds(struct supervisor *s, const struct ab_holds *holds, struct ab_fds *fds)
{
	bool asked = s->what->children && !holds->unasked;

	if (s->started)
		return;
	s->started = true;
	if (s->what->holds(s->what->arg, holds, s->failure.err) < 0 ||
	    ab_guard_watch_take(&s->guard, holds, holds->unasked, fds) < 0)
		ab_failure_end(&s->failure);
	else if (s->what->timeout_ms)
		arm_timer(s, s->what->timeout_ms);
	/* Further commands send their own listeners; the guard must be there by then. */
	if (s->stay && s->failure.result == 0 && asked)
		ab_guard_watch_begin(&s->guard);
	if (s->stay && s->failure.result == 0)
		ab_stay_begin(s->stay, asked);
}

static void take_message(struct supervisor *s, const struct ab_msg *msg, struct ab_fds *fds)
{
	switch (msg->type) {
	case AB_MSG_FAILED:
		s->out.failed = msg->u.error;
		/* FAILED is a failure even without an error code. */
		if (s->out.failed.code == AB_ENONE)
			ab_fail(&s->out.failed, AB_ESYSTEM, 0,
				"the box failed without giving a reason");
		s->over = true;
		break;
	case AB_MSG_DIALED:
		ab_network_link_dialled(&s->network, msg->value,
					fds->len ? ab_take_fd(&fds->v[0]) : -1);
		break;
	case AB_MSG_AGENT:
		ab_box_network_serve_agent(s->what->box_network, fds);
		break;
	case AB_MSG_TTY:
		take_terminal(s, fds);
		break;
	case AB_MSG_INPUT:
		if (fds->len)
			ab_streams_take_view(s->what->streams, ab_take_fd(&fds->v[0]));
		break;
	case AB_MSG_LISTENER:
		if (fds->len && s->what->containers)
			ab_container_watch_listen(s->what->containers, ab_take_fd(&fds->v[0]));
		break;
	case AB_MSG_TOOLS:
		if (fds->len && s->what->tools)
			ab_tool_watch_listen(s->what->tools, ab_take_fd(&fds->v[0]));
		break;
	case AB_MSG_WALLS:
		/* If the broker is gone, its socket says so. */
		(void)ab_broker_walls(s->what->steering->broker, fds->v, fds->len);
		break;
	case AB_MSG_ASKS:
		if (ab_guard_watch_take(&s->guard, &msg->u.holds, false, fds) < 0)
			ab_failure_end(&s->failure);
		break;
	case AB_MSG_HOLDS:
		take_holds(s, &msg->u.holds, fds);
		break;
	case AB_MSG_STOPPED:
		take_stop(s, msg->value);
		break;
	case AB_MSG_UNROUTED:
	case AB_MSG_CROWDED:
		*(msg->type == AB_MSG_CROWDED ? &s->out.crowded : &s->out.unrouted) = true;
		break;
	case AB_MSG_STATUS:
	case AB_MSG_LAST:
		s->alone = msg->type == AB_MSG_LAST;
		if (!s->over)
			s->out.status = msg->value;
		s->over = true;
		break;
	default:
		break; /* a late answer */
	}
}

void ab_heard_fini(struct ab_heard *heard)
{
	for (size_t i = 0; i < heard->len; i++)
		ab_closep(&heard->v[i].fd);
	heard->len = 0;
}

/* What a prepared box sent before there was a loop. */
static void hear_first(struct supervisor *s)
{
	struct ab_heard *heard = s->what->heard;

	for (size_t i = 0; i < heard->len && s->failure.result == 0; i++) {
		struct ab_msg msg = { .type = heard->v[i].type };
		ab_autofds struct ab_fds fds = { .len = 0 };

		if (msg.type == AB_MSG_HOLDS)
			msg.u.holds = heard->holds;
		if (heard->v[i].fd >= 0)
			fds.v[fds.len++] = ab_take_fd(&heard->v[i].fd);
		take_message(s, &msg, &fds);
	}
	heard->len = 0;
}

static void box_ready(struct ab_source *source, uint32_t events)
{
	struct supervisor *s = source->owner;
	struct ab_msg msg;
	ab_autofds struct ab_fds fds = { .len = 0 };
	int r = ab_box_hear(s->what->box, &msg, &fds, MSG_DONTWAIT);

	(void)events;
	if (r > 0) {
		take_message(s, &msg, &fds);
		if (s->over)
			s->loop.stop = true;
		return;
	}
	if (r < 0 && errno == EAGAIN)
		return;
	if (r < 0) {
		ab_fail(s->failure.err, AB_ESYSTEM, errno, "receive from the box");
		ab_failure_end(&s->failure);
		return;
	}
	/* EOF without a status: every process of the box has ended with init. */
	s->lost = !s->over;
	s->over = true;
	s->loop.stop = true;
}

/* Init is gone, and has not said why. */
static void explain_loss(struct supervisor *s)
{
	struct ab_error *err = s->started ? s->failure.err : &s->out.failed;
	int end = s->what->box->end;

	if (!s->ending && !s->out.memory_used && !WIFSIGNALED(end)) {
		ab_box_explain_end(s->what->box, err);
		s->failure.result = s->started ? -1 : 0;
	} else if (s->started) {
		s->out.status = SIGKILL;
		s->out.killed = s->ending ? 0 : WTERMSIG(end);
	} else {
		ab_fail_step(err, "supervision", 0,
			     "the box was killed before the command started");
	}
}

static void broker_ready(struct ab_source *source, uint32_t events)
{
	struct supervisor *s = source->owner;
	struct ab_broker_news news;

	(void)events;
	if (ab_broker_hear(s->what->steering->broker, &news, s->failure.err) < 0) {
		ab_failure_end(&s->failure);
		return;
	}
	if (news.kind == AB_NEWS_SECRET) {
		ab_network_link_secret(&s->network, &news);
	} else if (news.kind == AB_NEWS_MEMORY) {
		/* As the kernel would, if a cgroup held the limit. The end is noticed as usual. */
		s->out.memory_used = (uint64_t)news.number << 20;
		ab_box_kill(s->what->box);
	} else if (news.kind != AB_NEWS_FINDING) {
		ab_steering_news(s->steering, &news);
	} else if (news.text) {
		tell_finding(s, news.text);
	}
	ab_broker_forget(&news);
}

static void ask_about_tool(void *arg, const struct ab_tool_note *note)
{
	struct supervisor *s = arg;
	struct ab_host_question question = { .number = note->number | AB_QUESTION_OF_TOOL,
					     .why = AB_QUESTION_TOOL,
					     .door = "tool",
					     .ms = AB_ASK_MS };
	ab_autofree char *words = ab_escape(note->words);

	snprintf(question.about, sizeof(question.about), "run %.*s", AB_TOOL_ASKED_MAX, words);
	ab_steering_wanted(s->steering, &question);
}

static void settle_tool(void *arg, uint32_t number, int how)
{
	struct supervisor *s = arg;

	ab_steering_settled(s->steering, number | AB_QUESTION_OF_TOOL, (enum ab_settled)how, 1);
}

static void answer_tool(void *arg, uint32_t number, enum ab_host_answer answer, const char *by)
{
	const struct supervisor *s = arg;

	ab_tool_watch_answer(s->what->tools, number, (int)answer, by);
}

static int attach_tools(struct supervisor *s)
{
	struct ab_tool_watch_hands hands = {
		.fail = fail_run, .wants = ask_about_tool, .settled = settle_tool, .arg = s
	};

	return ab_tool_watch_attach(s->what->tools, &s->loop, &hands, s->failure.err);
}

static int open_sources(struct supervisor *s, struct ab_error *err)
{
	const struct ab_supervision *what = s->what;
	int signals, timer = -1;
	sigset_t all;

	sigfillset(&all);
	signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (what->timeout_ms)
		timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (signals < 0 || (what->timeout_ms && timer < 0))
		return ab_fail(err, AB_ESYSTEM, errno, "watch for signals");
	if (ab_loop_watch(&s->loop, &s->signals, signals, signals_ready, s, err) < 0 ||
	    ab_loop_watch(&s->loop, &s->box, what->box->sock, box_ready, s, err) < 0 ||
	    ab_loop_watch(&s->loop, &s->broker, ab_broker_fd(what->steering->broker), broker_ready,
			  s, err) < 0)
		return -1;
	if (timer >= 0 && ab_loop_watch(&s->loop, &s->timer, timer, timer_ready, s, err) < 0)
		return -1;
	if (what->containers &&
	    ab_container_watch_attach(what->containers, &s->loop, fail_run, s, err) < 0)
		return -1;
	if (what->tools && attach_tools(s) < 0)
		return -1;
	if (ab_streams_watch(what->streams, &s->loop, err) < 0)
		return -1;
	if (what->stay)
		open_stay(s);
	if (open_steering(s) < 0)
		return -1;
	if (what->box_network && ab_network_link_attach(&s->network, &s->loop) < 0)
		return -1;
	hear_first(s);
	return s->failure.result;
}

static bool hear_broker(struct supervisor *s, int ms)
{
	if (ab_poll(s->broker.fd, POLLIN, ms) <= 0)
		return false;
	broker_ready(&s->broker, EPOLLIN);
	return true;
}

/* The command may end before the proxy or the broker has confirmed a client's request: wait for the
 * reply. */
static void wait_for_last_answers(struct supervisor *s)
{
	int64_t end = ab_now_ms() + ANSWER_MS, left = ANSWER_MS;
	bool heard = true;

	while (s->failure.result == 0 && heard && left > 0) {
		if (ab_steering_awaits_proxy(s->steering))
			heard = ab_box_network_hear(s->what->box_network, (int)left);
		else if (ab_steering_awaits_broker(s->steering))
			heard = hear_broker(s, (int)left);
		else
			return;
		left = end - ab_now_ms();
	}
}

int ab_supervise(const struct ab_supervision *what, struct ab_outcome *ret, struct ab_error *err)
{
	struct supervisor s = { .what = what,
				.signals = { .fd = -1 },
				.timer = { .fd = -1 },
				.grace = { .fire = grace_expired },
				.loop = { .epoll = -1 } };
	bool later = false;

	s.grace.owner = &s;
	s.failure = (struct ab_failure){ .loop = &s.loop, .err = err };
	s.guard = (struct ab_guard_watch){
		.what = what, .loop = &s.loop, .failure = &s.failure, .listener = { .fd = -1 }
	};
	s.network = (struct ab_network_link){ .what = what, .failure = &s.failure };
	if (ab_loop_init(&s.loop, err) < 0 || open_sources(&s, err) < 0 ||
	    ab_loop_run(&s.loop, err) < 0)
		s.failure.result = -1;
	if (s.failure.result < 0)
		ab_box_kill(what->box);
	else if (!what->stay && !ab_steering_awaits_proxy(s.steering) &&
		 !ab_steering_awaits_broker(s.steering))
		later = what->ending(what->arg, s.alone);
	/* Every process of the box ends with init; only then is the terminal's output complete. */
	if (!later)
		ab_box_fini(what->box);
	if (s.lost && s.failure.result == 0)
		explain_loss(&s);
	ab_streams_finish(what->streams);
	wait_for_last_answers(&s);
	ab_stay_end(s.stay);
	if (s.stay)
		*s.what->stay_at = NULL;
	s.stay = NULL;
	ab_host_prompt_close(what->steering->prompt);
	ab_steering_close(s.steering, s.out.status);
	ab_terminal_close(what->terminal);
	ab_close_all(&s.signals.fd, &s.guard.listener.fd, &s.timer.fd);
	ab_loop_fini(&s.loop);
	*ret = s.out;
	return s.failure.result;
}
