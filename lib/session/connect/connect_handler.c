#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "session/connect/connect.h"
#include "session/notify/judge_process.h"

struct desk {
	struct ab_judge *judge;
	const struct ab_connect_terms *terms;
	struct ab_connects *connects;
	int timer; /* looks at those that wait */
};

static bool takes_socket(int nr)
{
	return nr == __NR_connect || nr == __NR_socket || nr == __NR_socketpair;
}

static struct ab_reply reply_with(int errnum)
{
	return (struct ab_reply){ .kind = errnum ? AB_REPLY_ERROR : AB_REPLY_VALUE,
				  .errnum = errnum };
}

static bool still_waits(void *arg, uint64_t id)
{
	const struct desk *d = arg;

	return ab_judge_waits(d->judge, id);
}

static void finish_one(void *arg, uint64_t id, int fd, int errnum)
{
	const struct desk *d = arg;
	struct ab_reply reply = reply_with(errnum);

	ab_judge_unwatch(d->judge, fd);
	ab_judge_reply(d->judge, id, &reply);
}

static void set_timer(const struct desk *d)
{
	uint64_t ms = ab_connects_next_look(d->connects);
	struct itimerspec when = { .it_value = { (time_t)(ms / 1000),
						 (long)(ms % 1000) * 1000000 } };

	timerfd_settime(d->timer, 0, &when, NULL);
	if (ms)
		ab_judge_resume(d->judge, d->timer);
	else
		ab_judge_pause(d->judge, d->timer);
}

/* The timer, or a socket that is connected or has failed. */
static void look_again(struct ab_judge *judge, void *arg, short events)
{
	struct desk *d = arg;
	struct ab_connect_events hears = { still_waits, finish_one, d };

	(void)judge;
	(void)events;
	ab_connects_look(d->connects, &hears);
	set_timer(d); /* also makes it unready */
}

static void wake(int sig)
{
	(void)sig;
}

/*
 * Not restarted: it interrupts a connect() that should not have waited. The timer runs forever, but
 * the signal is blocked in between: it comes once and then stays pending, so an idle judge is not
 * woken.
 */
int ab_connects_take_alarm(void)
{
	const struct timeval interval = { 0, AB_ALARM_MS * 1000 };
	const struct itimerval every = { interval, interval };
	const struct sigaction action = { .sa_handler = wake };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || sigaction(SIGALRM, &action, NULL) < 0)
		return -1;
	return setitimer(ITIMER_REAL, &every, NULL);
}

void ab_connects_heed_alarm(bool on)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

static void *open_desk(struct ab_judge *judge, const void *setup)
{
	struct desk *d = ab_alloc(sizeof(*d));
	ab_autoclose int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (own < 0 || ab_connects_take_alarm() < 0)
		_exit(1);
	*d = (struct desk){ .judge = judge,
			    .terms = setup,
			    .connects = ab_connects_new(setup, ab_connect_network(own)),
			    .timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK) };
	if (d->timer < 0 || ab_judge_watch(judge, d->timer, POLLIN, look_again, d) < 0)
		_exit(1);
	ab_judge_pause(judge, d->timer);
	return d;
}

static void report_socket(struct ab_judge *judge, const struct ab_held *call, const char *path)
{
	struct ab_denied denied;

	if (ab_trace_socket(call->arena, path, &denied))
		ab_judge_report(judge, call, &denied);
}

static struct ab_reply handle_connect(struct ab_judge *judge, struct desk *d,
				      const struct ab_held *call)
{
	const struct ab_connect_events hears = { still_waits, finish_one, d };
	struct ab_connect_result r = ab_connects_begin(d->connects, call->arena, &hears, call->id,
						       call->pid, call->data);

	if (r.denied)
		report_socket(judge, call, r.denied);
	switch (r.step) {
	case AB_CONNECT_PASS:
		break;
	case AB_CONNECT_DONE:
		return reply_with(r.errnum);
	case AB_CONNECT_WAITS:
		/* Without room the timer looks at it. */
		if (r.fd >= 0)
			ab_judge_watch(judge, r.fd, POLLOUT, look_again, d);
		set_timer(d);
		return (struct ab_reply){ .kind = AB_REPLY_LATER };
	}
	return (struct ab_reply){ .kind = AB_REPLY_CONTINUE };
}

/* By its registers, which nobody can change: the kernel may carry it out. */
static bool makes_datagrams(const struct seccomp_data *call)
{
	int type = (int)call->args[1] & 0xf;

	return (int)call->args[0] == AF_UNIX && (type == SOCK_DGRAM || type == SOCK_RAW);
}

static struct ab_reply handle_datagrams(struct ab_judge *judge, const struct desk *d,
					const struct ab_held *call)
{
	static const struct ab_denied denied = {
		.access = "create",
		.path = "a Unix datagram socket",
		.rule = "filesystem.unixDatagrams",
		.reason = "it could reach a socket of the host",
		.hint = "",
	};

	if (d->terms->datagrams || !makes_datagrams(call->data))
		return (struct ab_reply){ .kind = AB_REPLY_CONTINUE };
	ab_judge_report(judge, call, &denied);
	return reply_with(EACCES);
}

static struct ab_reply handle_socket(struct ab_judge *judge, void *state,
				     const struct ab_held *call)
{
	return call->data->nr == __NR_connect ? handle_connect(judge, state, call)
					      : handle_datagrams(judge, state, call);
}

struct ab_call_handler ab_connect_handler(const struct ab_connect_terms *terms)
{
	return (struct ab_call_handler){
		.open = open_desk, .setup = terms, .takes = takes_socket, .handle = handle_socket
	};
}
