#include "steer/client/tool_client.h"

#include <sys/signalfd.h>
#include <sys/un.h>

#include "hosttools/tool_streams.h"
#include "hosttools/tool_wire.h"
#include "sandbox/plan/spec.h"

bool ab_tool_client_is(const char *name)
{
	ab_autofree char *path = NULL;
	struct stat st;

	if (!*name || strchr(name, '/') || strcmp(name, "agentbox") == 0)
		return false;
	path = ab_printf("%s/%s", AB_TOOLS_FOLDER, name);
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static int connect_broker(struct ab_error *err)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = AB_TOOLS_SOCKET };
	ab_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "connect to the broker of the tools");
	return ab_take_fd(&fd);
}

/* A closed stream is handed over as an empty one. */
static int open_streams(int fds[AB_TOOL_FDS], struct ab_error *err)
{
	if (ab_occupy_stdio(err) < 0)
		return -1;
	for (int fd = 0; fd < 3; fd++)
		fds[fd] = fd;
	/* In the background we may not read the terminal, so the program must not either. */
	if (tcgetpgrp(0) >= 0 && tcgetpgrp(0) != getpgrp())
		fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fds[AB_TOOL_FD_CWD] = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fds[0] < 0 || fds[AB_TOOL_FD_CWD] < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the current folder");
	return 0;
}

static int send_request(int sock, const char *name, const char *const *words, size_t n,
			struct ab_error *err)
{
	ab_autofree const char **argv = ab_alloc((n + 1) * sizeof(*argv));
	ab_autostrv struct ab_strv env = { 0 };
	ab_autobuf struct ab_buf b = { 0 };
	char cwd[PATH_MAX];
	struct ab_tool_request request = { .cwd = getcwd(cwd, sizeof(cwd)),
					   .argv = argv,
					   .argc = n + 1 };
	int fds[AB_TOOL_FDS];
	const char *wrong;

	if (!request.cwd)
		return ab_fail(err, AB_ESYSTEM, errno, "find the current folder");
	argv[0] = name;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = words[i];
	for (char **e = environ; *e; e++)
		if (ab_tool_variable(*e, strcspn(*e, "=")) && strchr(*e, '='))
			ab_strv_add(&env, *e);
	request.env = (const char **)env.v;
	request.nenv = env.len;
	wrong = ab_tool_request_write(&request, &b);
	if (wrong)
		return ab_fail(err, AB_EUSAGE, 0, "%s", wrong);
	if (open_streams(fds, err) < 0)
		return -1;
	if (ab_send_fds(sock, b.data, b.len, fds, AB_TOOL_FDS) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "send the request");
	return 0;
}

static void pass_signal(int sock, int signals)
{
	struct signalfd_siginfo info;
	struct ab_tool_signal message;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	message.signal = (int)info.ssi_signo;
	(void)send(sock, &message, sizeof(message), MSG_NOSIGNAL);
}

/* As the program did: our shell notices it, and continues us later. */
static void stop_too(int sock)
{
	struct ab_tool_signal message = { .signal = SIGCONT };

	kill(getpid(), SIGSTOP);
	(void)send(sock, &message, sizeof(message), MSG_NOSIGNAL);
}

/* 1: it has ended. */
static int take_reply(int sock, int *ret_status, int *ret_signal, struct ab_error *err)
{
	struct ab_tool_reply reply;
	ssize_t n = recv(sock, &reply, sizeof(reply), 0);

	if (n < 0 && errno == EINTR)
		return 0;
	if (n != (ssize_t)sizeof(reply))
		return ab_fail(err, AB_ESYSTEM, 0, "the broker of the tools has ended");
	reply.text[sizeof(reply.text) - 1] = '\0';
	switch ((enum ab_tool_event)reply.event) {
	case AB_TOOL_STOPPED:
		stop_too(sock);
		return 0;
	case AB_TOOL_ENDED:
		*ret_status = reply.status;
		return 1;
	case AB_TOOL_KILLED:
		*ret_signal = reply.status;
		*ret_status = 128 + reply.status;
		return 1;
	case AB_TOOL_REFUSED:
		return ab_fail(err, AB_EREFUSED, 0, "%s", reply.text);
	}
	return 0;
}

int ab_tool_client_run(const char *name, const char *const *words, size_t n, int *ret_signal,
		       struct ab_error *err)
{
	static const int passed[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGTERM,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGWINCH };
	ab_autoclose int sock = connect_broker(err), signals = -1;
	int status = 0, r = 0;
	sigset_t set;

	*ret_signal = 0;
	if (sock < 0)
		return -1;
	sigemptyset(&set);
	for (size_t i = 0; i < AB_COUNT(passed); i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a signalfd");
	if (send_request(sock, name, words, n, err) < 0)
		return -1;
	/* The tool has copies. If we kept ours open, the reader of a pipe would not see that it ended. */
	for (int fd = 0; fd < 2; fd++)
		close(fd);
	while (r == 0) {
		struct pollfd p[] = { { .fd = sock, .events = POLLIN },
				      { .fd = signals, .events = POLLIN } };

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return ab_fail(err, AB_ESYSTEM, errno, "wait for the tool");
		if (p[1].revents)
			pass_signal(sock, signals);
		if (p[0].revents)
			r = take_reply(sock, &status, ret_signal, err);
	}
	return r < 0 ? -1 : status;
}
