#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#include "guard/connect/connect.h"
#include "guard/notify/guard_process.h"

static bool still_waits(void *arg, uint64_t id)
{
	const struct ab_connect_desk *d = arg;

	return ab_guard_waits(d->guard, id);
}

static void finish_one(void *arg, uint64_t id, int fd, int errnum)
{
	struct ab_connect_desk *d = arg;
	struct ab_reply reply = ab_reply_errno(errnum);

	if (!errnum && d->connected)
		d->connected(d, fd);
	ab_guard_unwatch(d->guard, fd);
	ab_guard_reply(d->guard, id, &reply);
}

void ab_connects_set_timer(int timer, uint64_t ms)
{
	struct itimerspec when = { .it_value = { (time_t)(ms / 1000),
						 (long)(ms % 1000) * 1000000 } };

	timerfd_settime(timer, 0, &when, NULL);
}

static void set_timer(const struct ab_connect_desk *d)
{
	uint64_t ms = ab_connects_next_look(d->connects);

	ab_connects_set_timer(d->timer, ms);
	if (ms)
		ab_guard_resume(d->guard, d->timer);
	else
		ab_guard_pause(d->guard, d->timer);
}

/* The timer, or a socket that is connected or has failed. */
static void look_again(struct ab_guard *guard, void *arg, short events)
{
	struct ab_connect_desk *d = arg;

	(void)guard;
	(void)events;
	ab_connects_look(d->connects, &d->hears);
	set_timer(d); /* also makes it unready */
}

static void wake(int sig)
{
	(void)sig;
}

/*
 * Not restarted: it interrupts a connect() that should not have waited. The timer runs forever, but
 * the signal is blocked in between: it comes once and then stays pending, so an idle guard is not
 * woken.
 */
static int take_alarm(void)
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

void ab_connect_desk_open(struct ab_connect_desk *d, struct ab_guard *guard,
			  const struct ab_connect_terms *terms, uint64_t host_net)
{
	*d = (struct ab_connect_desk){ .guard = guard,
				       .terms = terms,
				       .connects = ab_connects_new(terms, host_net),
				       .timer = timerfd_create(CLOCK_MONOTONIC,
							       TFD_CLOEXEC | TFD_NONBLOCK),
				       .hears = { still_waits, finish_one, d } };
	if (d->timer < 0 || take_alarm() < 0 ||
	    ab_guard_watch(guard, d->timer, POLLIN, look_again, d) < 0)
		_exit(1);
	ab_guard_pause(guard, d->timer);
}

static void *open_desk(struct ab_guard *guard, const void *setup)
{
	struct ab_connect_desk *d = ab_alloc(sizeof(*d));
	ab_autoclose int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (own < 0)
		_exit(1);
	ab_connect_desk_open(d, guard, setup, ab_connect_network(own));
	return d;
}

struct ab_reply ab_connect_desk_reply(struct ab_connect_desk *d, const struct ab_held *call,
				      const struct ab_connect_result *r)
{
	struct ab_denied denied;

	if (r->denied && ab_trace_socket(call->arena, r->denied, &denied))
		ab_guard_report(d->guard, call, &denied);
	switch (r->step) {
	case AB_CONNECT_PASS:
		break;
	case AB_CONNECT_DONE:
		return ab_reply_errno(r->errnum);
	case AB_CONNECT_WAITS:
		/* Without room the timer looks at it. */
		if (r->fd >= 0)
			ab_guard_watch(d->guard, r->fd, POLLOUT, look_again, d);
		set_timer(d);
		return (struct ab_reply){ .kind = AB_REPLY_LATER };
	}
	return ab_reply_pass();
}

/* By its registers, which nobody can change: the kernel may carry it out. */
static bool makes_datagrams(const struct seccomp_data *call)
{
	int type = (int)call->args[1] & 0xf;

	return (int)call->args[0] == AF_UNIX && (type == SOCK_DGRAM || type == SOCK_RAW);
}

struct ab_reply ab_connect_desk_datagrams(struct ab_connect_desk *d, const struct ab_held *call)
{
	static const struct ab_denied denied = {
		.access = "create",
		.path = "a Unix datagram socket",
		.rule = "filesystem.unixDatagrams",
		.reason = "it could reach a socket of the host",
		.hint = "",
	};

	if (d->terms->datagrams)
		return ab_reply_pass();
	ab_guard_report(d->guard, call, &denied);
	return ab_reply_errno(EACCES);
}

static struct ab_reply handle_socket(struct ab_guard *guard, void *state,
				     const struct ab_held *call)
{
	struct ab_connect_desk *d = state;
	int nr = call->data->nr;
	struct ab_connect_result r;

	(void)guard;
	if (nr == __NR_connect) {
		r = ab_connects_begin(d->connects, &d->hears, call);
		return ab_connect_desk_reply(d, call, &r);
	}
	if (nr != __NR_socket && nr != __NR_socketpair)
		return ab_reply_next();
	return makes_datagrams(call->data) ? ab_connect_desk_datagrams(d, call) : ab_reply_pass();
}

struct ab_call_handler ab_connect_handler(const struct ab_connect_terms *terms)
{
	return (struct ab_call_handler){ .open = open_desk,
					 .setup = terms,
					 .handle = handle_socket };
}
