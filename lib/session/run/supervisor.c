/*
 * Theory of operation.
 *
 * States: starting (until HOLDS or FAILED), running, stopped (the command was
 * stopped and so are we), ending (told to end, the grace period runs), over.
 *
 * Should: forward what the caller sends, whatever the state; end the box on
 * every error of our own.
 * Mustn't: block outside epoll_wait; believe a message that the state does
 * not allow.
 */
#include "session/run/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "base/system/loop.h"
#include "policy/model/secrets.h"
#include "session/ask/host_prompt.h"
#include "session/broker/broker.h"
#include "session/control/box_network.h"
#include "session/control/steering.h"
#include "session/notify/program_judge.h"
#include "session/notify/refused_programs.h"
#include "session/terminal/terminal.h"

struct ab_broker_news;
struct ab_steering;

struct supervisor {
	const struct ab_supervision *what;
	struct ab_outcome out;
	struct ab_loop loop;
	struct ab_source signals, box, broker, judge, timer;
	struct ab_steering *steering;
	struct ab_timer grace; /* of a stop that was asked for */
	bool started, over;
	bool listened;		   /* the judge has what it listens on */
	bool asked_to_stop;	   /* SIGTSTP was passed on */
	int64_t first_claim;	   /* when the command first wanted the terminal */
	unsigned int claims;	   /* how often it did since then */
	bool told[AB_SECRETS_MAX]; /* that it cannot be read again */
	struct ab_error *err;
	int result;
};

/* We cannot do our part any more: the box must not go on without us. */
static void give_up(struct supervisor *s);
/* The same; the first of several errors is told. `arg`: the supervisor. */
static void fail_run(void *arg, const struct ab_error *err);

/* Between the network's thread, the steering and the broker
 * that reads secrets again. */
static int attach_network(struct supervisor *s);
static void pass_dialled(struct supervisor *s, int errnum, int fd);
static void pass_secret(struct supervisor *s, const struct ab_broker_news *news);

enum {
	GRACE_MS = 5000,   /* between SIGTERM and SIGKILL, when the time is up */
	ANSWER_MS = 5000,  /* for the last answers of proxy and broker */
	CLAIMS_MAX = 16,   /* stops to wait for the terminal ... */
	CLAIMS_MS = 10000, /* ... within this time */
};

static void give_up(struct supervisor *s)
{
	s->result = -1;
	s->loop.stop = true;
}

static void fail_run(void *arg, const struct ab_error *err)
{
	struct supervisor *s = arg;

	if (s->result == 0)
		*s->err = *err;
	give_up(s);
}

static void stop_with_command(struct supervisor *s)
{
	if (s->what->terminal)
		ab_terminal_suspend(s->what->terminal);
	if (s->what->steering->prompt)
		ab_host_prompt_suspend(s->what->steering->prompt);
	kill(getpid(), SIGSTOP);
}

static void go_on(struct supervisor *s)
{
	bool front = s->what->terminal && ab_terminal_resume(s->what->terminal);

	ab_box_tell(s->what->box, AB_MSG_RESUME, front);
	if (s->what->steering->prompt)
		ab_host_prompt_resume(s->what->steering->prompt);
	ab_steering_resumed(s->steering);
}

/*
 * A command that is stopped again each time it has got the terminal would keep
 * it and us busy for ever, and no key would reach it. Nobody types this fast.
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

/* Stopped by its terminal because it wants to read, which we can help. */
static bool helped(struct supervisor *s, int sig)
{
	if ((sig != SIGTTIN && sig != SIGTTOU) || !s->what->terminal ||
	    !ab_terminal_claim(s->what->terminal))
		return false;
	if (claims_too_often(s)) {
		ab_fail(s->err, AB_ESYSTEM, 0,
			"the command was stopped %d times in a row to wait for the terminal",
			CLAIMS_MAX);
		ab_hint(s->err, "give it no terminal to read: agentbox run ... </dev/null");
		give_up(s);
		return true;
	}
	ab_box_tell(s->what->box, AB_MSG_RESUME, true);
	return true;
}

static void take_signal(struct supervisor *s, int sig)
{
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
		/* We stop when it says that it did; it may not want to. */
		ab_box_tell(s->what->box, AB_MSG_SIGNAL, sig);
		s->asked_to_stop = true;
		break;
	case SIGCONT:
		go_on(s);
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
	if (read(source->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		take_signal(s, (int)info.ssi_signo);
}

static void arm(struct supervisor *s, uint64_t ms)
{
	struct itimerspec at = { .it_value = { .tv_sec = (time_t)(ms / 1000),
					       .tv_nsec = (long)(ms % 1000) * 1000000 } };

	timerfd_settime(s->timer.fd, 0, &at, NULL);
}

/* Ask the command to end. */
static void ask_to_end(struct supervisor *s)
{
	ab_box_tell(s->what->box, AB_MSG_SIGNAL, SIGTERM);
	ab_box_tell(s->what->box, AB_MSG_SIGNAL, SIGCONT);
}

static void grace_is_over(struct ab_timer *timer)
{
	struct supervisor *s = timer->owner;

	ab_box_kill(s->what->box);
}

static void stop(void *arg, uint64_t grace_ms)
{
	struct supervisor *s = arg;

	ask_to_end(s);
	ab_loop_timer(&s->loop, &s->grace, grace_ms);
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
	ask_to_end(s);
	arm(s, GRACE_MS);
}

static void redraw(void *arg)
{
	struct supervisor *s = arg;

	ab_box_tell(s->what->box, AB_MSG_SIGNAL, SIGWINCH);
}

static int open_desk(struct supervisor *s)
{
	struct ab_steering_hands hands = { .loop = &s->loop,
					   .gate = s->what->gate,
					   .stop = stop,
					   .fail = fail_run,
					   .redraw = redraw,
					   .arg = s };

	return ab_steering_open(s->what->steering, &hands, &s->steering, s->err);
}

static void take_terminal(struct supervisor *s, struct ab_fds *fds)
{
	if (fds->len == 0 || !s->what->terminal)
		return;
	if (ab_terminal_attach(s->what->terminal, ab_take_fd(&fds->v[0]), &s->loop, s->err) < 0)
		give_up(s);
}

/* The command waits for the judge, and that for the listener. */
static int take_listener(struct supervisor *s, const struct ab_holds *holds,
			 const struct ab_fds *fds)
{
	if (!s->what->children || s->listened || (holds && holds->unasked))
		return 0;
	s->listened = true;
	if (fds->len != 1)
		return ab_fail(s->err, AB_ESYSTEM, 0, "the box sent nothing to listen on");
	return ab_program_judge_watch(s->what->children, fds->v[0], s->err);
}

static void take_holds(struct supervisor *s, const struct ab_holds *holds, const struct ab_fds *fds)
{
	if (s->started)
		return;
	s->started = true;
	if (s->what->holds(s->what->arg, holds, s->err) < 0 || take_listener(s, holds, fds) < 0)
		give_up(s);
	else if (s->what->timeout_ms)
		arm(s, s->what->timeout_ms);
}

static void take_message(struct supervisor *s, const struct ab_msg *msg, struct ab_fds *fds)
{
	switch (msg->type) {
	case AB_MSG_FAILED:
		s->out.failed = msg->u.error;
		/* A failure is one, whatever it says of itself. */
		if (s->out.failed.code == AB_ENONE)
			ab_fail(&s->out.failed, AB_ESYSTEM, 0,
				"the box failed and did not say why");
		s->over = true;
		break;
	case AB_MSG_DIALED:
		pass_dialled(s, msg->value, fds->len ? ab_take_fd(&fds->v[0]) : -1);
		break;
	case AB_MSG_TTY:
		take_terminal(s, fds);
		break;
	case AB_MSG_ASKS:
		if (take_listener(s, NULL, fds) < 0)
			give_up(s);
		break;
	case AB_MSG_HOLDS:
		take_holds(s, &msg->u.holds, fds);
		break;
	case AB_MSG_STOPPED:
		/* Without a terminal, and not asked, nobody could continue
		 * it through us. */
		if (helped(s, msg->value))
			break;
		if (s->what->terminal || s->asked_to_stop)
			stop_with_command(s);
		s->asked_to_stop = false;
		break;
	case AB_MSG_STATUS:
		if (!s->over)
			s->out.status = msg->value;
		s->over = true;
		break;
	default:
		break; /* an answer that nobody waits for any more */
	}
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
		ab_fail(s->err, AB_ESYSTEM, errno, "hear from the box");
		give_up(s);
		return;
	}
	/* The end without a word: init was killed, and everything with it. */
	if (!s->over && s->started) {
		s->out.status = SIGKILL;
	} else if (!s->over) {
		ab_fail(&s->out.failed, AB_ESYSTEM, 0,
			"the box was killed before the command started");
		ab_step(&s->out.failed, "supervision");
	}
	s->over = true;
	s->loop.stop = true;
}

static void broker_ready(struct ab_source *source, uint32_t events)
{
	struct supervisor *s = source->owner;
	struct ab_broker_news news;

	(void)events;
	if (ab_broker_hear(s->what->broker, &news, s->err) < 0) {
		give_up(s);
		return;
	}
	if (news.kind == AB_NEWS_SECRET)
		pass_secret(s, &news);
	else
		ab_steering_news(s->steering, &news);
	ab_broker_forget(&news);
}

static void judge_ready(struct ab_source *source, uint32_t events)
{
	struct supervisor *s = source->owner;
	struct ab_note note;
	int r = ab_program_judge_hear(s->what->children, &note, s->err);

	(void)events;
	if (r < 0 || (r > 0 && ab_refused_programs_take(s->what->refusals, &note, s->err) < 0))
		give_up(s);
}

static sigset_t before; /* what the caller blocks */

int ab_supervise_prepare(struct ab_error *err)
{
	sigset_t all;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "block signals");
	return 0;
}

void ab_supervise_release(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int open_sources(struct supervisor *s, struct ab_error *err)
{
	const struct ab_supervision *what = s->what;
	sigset_t all;

	sigfillset(&all);
	s->signals = (struct ab_source){ .fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK),
					 .ready = signals_ready,
					 .owner = s };
	s->timer = (struct ab_source){
		.fd = what->timeout_ms ? timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)
				       : -1,
		.ready = timer_ready,
		.owner = s
	};
	s->box = (struct ab_source){ .fd = what->box->sock, .ready = box_ready, .owner = s };
	s->broker = (struct ab_source){ .fd = ab_broker_fd(what->broker),
					.ready = broker_ready,
					.owner = s };
	if (what->children)
		s->judge = (struct ab_source){ .fd = ab_program_judge_fd(what->children),
					       .ready = judge_ready,
					       .owner = s };
	if (s->signals.fd < 0 || (what->timeout_ms && s->timer.fd < 0))
		return ab_fail(err, AB_ESYSTEM, errno, "watch for signals");
	if (ab_loop_add(&s->loop, &s->signals, EPOLLIN, err) < 0 ||
	    ab_loop_add(&s->loop, &s->box, EPOLLIN, err) < 0 ||
	    ab_loop_add(&s->loop, &s->broker, EPOLLIN, err) < 0)
		return -1;
	if (what->children && ab_loop_add(&s->loop, &s->judge, EPOLLIN, err) < 0)
		return -1;
	if (what->timeout_ms && ab_loop_add(&s->loop, &s->timer, EPOLLIN, err) < 0)
		return -1;
	if (open_desk(s) < 0)
		return -1;
	return what->gate ? attach_network(s) : 0;
}

static bool hear_broker(struct supervisor *s, int ms)
{
	struct pollfd news = { .fd = s->broker.fd, .events = POLLIN };

	if (poll(&news, 1, ms) <= 0)
		return false;
	broker_ready(&s->broker, EPOLLIN);
	return true;
}

/* The command may have waited for nothing else, and be over before the word
 * is back that what somebody asked for has been done. */
static void answer_the_last(struct supervisor *s)
{
	int64_t end = ab_now_ms() + ANSWER_MS, left = ANSWER_MS;
	bool heard = true;

	while (s->result == 0 && heard && left > 0) {
		if (ab_steering_awaits_proxy(s->steering))
			heard = ab_box_network_hear(s->what->gate, (int)left);
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
				.err = err,
				.signals = { .fd = -1 },
				.timer = { .fd = -1 },
				.grace = { .fire = grace_is_over },
				.loop = { .epoll = -1 } };

	s.grace.owner = &s;
	if (ab_loop_init(&s.loop, err) < 0 || open_sources(&s, err) < 0 ||
	    ab_loop_run(&s.loop, err) < 0)
		s.result = -1;
	if (s.result < 0)
		ab_box_kill(what->box);
	/* With init every process of the box is gone; the terminal's last
	 * output is complete only then. */
	ab_box_fini(what->box);
	answer_the_last(&s);
	ab_host_prompt_close(what->steering->prompt);
	ab_steering_close(s.steering, s.out.status);
	ab_terminal_close(what->terminal);
	ab_closep(&s.signals.fd);
	ab_closep(&s.timer.fd);
	ab_loop_fini(&s.loop);
	*ret = s.out;
	return s.result;
}

/* Never a value: which secret, and what became of it. */
static void record_secret(struct supervisor *s, size_t i, const char *event, const char *reason)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, s->what->run_id, "secret");
	ab_record_text(&line, "name", s->what->secrets->v[i].name);
	ab_record_text(&line, "event", event);
	if (reason)
		ab_record_text(&line, "reason", reason);
	if (ab_log_write(s->what->log, &line, s->err) < 0)
		give_up(s);
}

static void secret_stale(void *arg, size_t i)
{
	struct supervisor *s = arg;

	ab_broker_secret(s->what->broker, i);
}

static void secret_tripped(void *arg, size_t i)
{
	struct supervisor *s = arg;

	if (s->result < 0)
		return;
	record_secret(s, i, "tripped", NULL);
	ab_fail(s->err, AB_EPROPERTY, 0,
		"a placeholder of %s was on its way to another host: the run "
		"was ended",
		s->what->secrets->v[i].name);
	ab_hint(s->err, "the run's record tells where it was sent");
	give_up(s);
}

static void pass_secret(struct supervisor *s, const struct ab_broker_news *news)
{
	size_t i = news->number;

	if (!s->what->secrets || i >= s->what->secrets->len)
		return;
	record_secret(s, i, news->text ? "read" : "failed", news->text ? NULL : news->error.text);
	if (news->text && s->what->gate)
		ab_box_network_secret(s->what->gate, i, news->text, news->len);
	if (!news->text && !s->told[i])
		s->what->unread(s->what->arg, s->what->secrets->v[i].name, news->error.text);
	s->told[i] = !news->text;
}

static void host_wanted(void *arg, const struct ab_wanted *wanted)
{
	struct supervisor *s = arg;

	ab_steering_wanted(s->steering, wanted);
}

static void host_settled(void *arg, uint32_t number, enum ab_settled how, uint32_t released)
{
	struct supervisor *s = arg;

	ab_steering_settled(s->steering, number, how, released);
}

static void bytes_sent(void *arg, const char *host, uint64_t bytes)
{
	struct supervisor *s = arg;

	ab_steering_sent(s->steering, host, bytes);
}

static void host_opened(void *arg, const char *host)
{
	struct supervisor *s = arg;

	ab_steering_opened(s->steering, host);
}

static void network_surveyed(void *arg, const char *json)
{
	struct supervisor *s = arg;

	ab_steering_surveyed(s->steering, json);
}

static int attach_network(struct supervisor *s)
{
	struct ab_box_network_watch watch = {
		.loop = &s->loop,
		.box = s->what->box,
		.run_id = s->what->run_id,
		.log = s->what->log,
		.failed = fail_run,
		.stale = secret_stale,
		.tripped = secret_tripped,
		.wanted = host_wanted,
		.settled = host_settled,
		.sent = bytes_sent,
		.opened = host_opened,
		.surveyed = network_surveyed,
		.counts = ab_steering_counts(s->what->steering->policy),
		.arg = s,
	};

	return ab_box_network_attach(s->what->gate, s->what->network, &watch, s->err);
}

static void pass_dialled(struct supervisor *s, int errnum, int fd)
{
	if (s->what->gate)
		ab_box_network_dialled(s->what->gate, errnum, fd);
	else
		ab_closep(&fd);
}
