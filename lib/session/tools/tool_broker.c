#include "session/tools/tool_broker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "policy/model/policy.h"
#include "session/tools/tool_calls.h"

/* An order, or the end of the run. */
static void hear_run(struct ab_source *source, uint32_t events)
{
	struct ab_tool_calls *calls = source->owner;
	struct ab_tool_order order;
	struct ab_error err;
	size_t n = 1;
	int fd = -1;

	(void)events;
	if (ab_recv_fds(source->fd, &order, sizeof(order), &fd, &n, 0) == (ssize_t)sizeof(order)) {
		if (n == 1 && ab_tool_calls_listen(calls, fd, &err) < 0)
			_exit(1);
		if (order.number)
			ab_tool_calls_answer(calls, order.number, order.answer);
		return;
	}
	ab_loop_remove(&calls->loop, source);
	ab_tool_calls_end(calls);
}

static void hear_children(struct ab_source *source, uint32_t events)
{
	struct ab_tool_calls *calls = source->owner;
	struct signalfd_siginfo info;

	(void)events;
	if (read(source->fd, &info, sizeof(info)) > 0)
		ab_tool_calls_reap(calls);
}

/* Nothing of the caller's on 0-2: a program that we start gets those of the box. */
static int take_null_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || (null != fd && dup2(null, fd) < 0))
			return -1;
	if (null > 2)
		close(null);
	return 0;
}

static _Noreturn void be_broker(const struct ab_tool_broker_setup *setup, int sock)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	static struct ab_tool_calls calls;
	struct ab_error err;
	sigset_t set;

	prctl(PR_SET_NAME, "agentbox-tools");
	/* Without a terminal: that of the user is not the tools' to ask on. */
	if (setsid() < 0 || take_null_stdio() < 0 || ab_close_others(&sock, 1) < 0)
		_exit(1);
	/* Signals are for the supervisor: when it ends, so does its socket. */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	calls.setup = setup;
	calls.workspace = realpath(setup->policy->workspace, NULL);
	calls.root = calls.workspace ? ab_open_real(calls.workspace) : -1;
	calls.listener.fd = -1;
	calls.children = (struct ab_source){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
					     .ready = hear_children,
					     .owner = &calls };
	calls.supervisor =
		(struct ab_source){ .fd = sock, .ready = hear_run, .owner = &calls };
	if (calls.root < 0 || calls.children.fd < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    ab_loop_init(&calls.loop, &err) < 0 ||
	    ab_loop_add(&calls.loop, &calls.children, EPOLLIN, &err) < 0 ||
	    ab_loop_add(&calls.loop, &calls.supervisor, EPOLLIN, &err) < 0 ||
	    ab_loop_run(&calls.loop, &err) < 0)
		_exit(1);
	_exit(0);
}

int ab_tool_broker_start(const struct ab_tool_broker_setup *setup, struct ab_tool_broker *ret,
			 struct ab_error *err)
{
	struct ab_tool_broker b;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
		return ab_step(err, "tools");
	}
	b.sock = pair[0];
	b.pid = fork();
	if (b.pid == 0)
		be_broker(setup, pair[1]);
	close(pair[1]);
	if (b.pid < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "fork the broker of the tools");
		close(b.sock);
		return ab_step(err, "tools");
	}
	*ret = b;
	return 0;
}

char *ab_tool_settings(const char *number, struct ab_error *err)
{
	enum { SETTINGS_MAX = 1024 * 1024 };
	ab_autoclose int fd = (int)strtol(number, NULL, 10);
	char *text;
	size_t len;

	if (lseek(fd, 0, SEEK_SET) == 0 && ab_read_all(fd, SETTINGS_MAX, &text, &len) == 0)
		return text;
	ab_fail(err, AB_ESYSTEM, errno, "read the settings of the tool");
	return NULL;
}
