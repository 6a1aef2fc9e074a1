#include "hosttools/tool_broker.h"

#include <sys/signalfd.h>

#include "base/process/helper.h"
#include "hosttools/tool_calls.h"
#include "policy/model/policy.h"

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

static int serve_tools(int sock, void *arg)
{
	static struct ab_tool_calls calls;
	const struct ab_tool_broker_setup *setup = arg;
	struct ab_error err;
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_SETMASK, &children, NULL);
	calls.setup = setup;
	calls.workspace = realpath(setup->policy->workspace, NULL);
	calls.root = calls.workspace ? ab_open_real(AT_FDCWD, calls.workspace, O_PATH, 0) : -1;
	calls.listener.fd = -1;
	return calls.root < 0 || ab_loop_init(&calls.loop, &err) < 0 ||
	       ab_loop_watch(&calls.loop, &calls.children,
			     signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), hear_children,
			     &calls, &err) < 0 ||
	       ab_loop_watch(&calls.loop, &calls.supervisor, sock, hear_run, &calls, &err) < 0 ||
	       ab_loop_run(&calls.loop, &err) < 0;
}

int ab_tool_broker_start(const struct ab_tool_broker_setup *setup, struct ab_helper *ret,
			 struct ab_error *err)
{
	const struct ab_helper_setup helper = {
		.name = "agentbox-tools",
		.what = "the broker of the tools",
		.socket = SOCK_SEQPACKET,
		/* Without a terminal: that of the user is not the tools' to ask on. */
		.session = true,
		.hidden = true,
		/* They are for the supervisor: when it ends, so does its socket. */
		.signals = AB_HELPER_IGNORES,
		.serve = serve_tools,
		.arg = (void *)(uintptr_t)setup,
	};

	return ab_helper_start(&helper, ret, err) < 0 ? ab_step(err, "tools") : 0;
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
