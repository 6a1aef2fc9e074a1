/*
 * Theory of operation.
 *
 * The child is the supervisor. It sends its messages and its end as packets (struct packet), and
 * writes its result into a file that both have open. We read the command's output while the child
 * lives, and then what is left in the pipes: the box ends with its supervisor, so another process
 * that holds a pipe open cannot keep us waiting.
 *
 * Should: keep reading and counting beyond the limit; forward every signal that was sent to us
 * alone. A signal from the terminal reached the child as well.
 *
 * Mustn't: wait for anything but the child.
 */
#include "session/run/in_child.h"

#include <jansson.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "consent/request.h"
#include "sandbox/mount/furniture.h"
#include "session/run/run.h"

enum { TEXT_MAX = 32 * 1024 };

enum packet_kind { PACKET_MESSAGE, PACKET_ENDED, PACKET_FAILED };
struct packet {
	uint32_t kind;
	int32_t value; /* message: the level; ended: the status */
	union {
		char text[TEXT_MAX];
		struct ab_error error;
	} u;
};

enum { OUT, ERR, STREAMS };

struct child {
	const struct ab_request *request;
	struct ab_child_run *ret;
	uint64_t capture;
	bool nested;	/* already in a box: the child becomes the command and writes no result */
	int result;	/* a file in memory; nested: only a description of the run */
	int channel[2]; /* our end, the child's end */
	int pipes[STREAMS][2];
	int signals;
	sigset_t before;
	pid_t pid;
	int pidfd;
	bool has_last; /* `last` says how it ended */
	struct packet last;
	siginfo_t end;
};

static void send_message(void *arg, enum ab_level level, const char *text)
{
	struct child *c = arg;
	size_t len = strnlen(text, TEXT_MAX - 1);
	ab_autofree struct packet *packet = ab_alloc(sizeof(*packet));

	packet->kind = PACKET_MESSAGE;
	packet->value = (int32_t)level;
	memcpy(packet->u.text, text, len);
	send(c->channel[1], packet, offsetof(struct packet, u) + len + 1, MSG_NOSIGNAL);
}

/* With capture, the pipes replace the output, and /dev/null replaces a terminal as input. */
static int arrange_stdio(const struct child *c)
{
	int null;

	if (!c->capture)
		return 0;
	if (dup2(c->pipes[OUT][1], STDOUT_FILENO) < 0 || dup2(c->pipes[ERR][1], STDERR_FILENO) < 0)
		return -1;
	if (!isatty(STDIN_FILENO))
		return 0;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return -1;
	close(null);
	return 0;
}

static void close_ours(const struct child *c)
{
	close(c->channel[0]);
	close(c->signals);
	for (size_t i = 0; c->capture && i < STREAMS; i++) {
		close(c->pipes[i][0]);
		close(c->pipes[i][1]);
	}
}

static void report_end(const struct child *c, int result, int status, const struct ab_error *err)
{
	ab_autofree struct packet *packet = ab_alloc(sizeof(*packet));
	size_t len = offsetof(struct packet, u);

	packet->kind = result < 0 ? PACKET_FAILED : PACKET_ENDED;
	packet->value = status;
	if (result < 0) {
		packet->u.error = *err;
		len += sizeof(*err);
	}
	send(c->channel[1], packet, len, MSG_NOSIGNAL);
}

_Noreturn static void be_supervisor(struct child *c, pid_t parent)
{
	struct ab_request request = *c->request;
	struct ab_error err = { 0 };
	char number[16];
	int result = -1, status = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	sigprocmask(SIG_SETMASK, &c->before, NULL);
	snprintf(number, sizeof(number), "%d", c->result);
	request.result = c->nested ? NULL : number;
	request.description = c->nested ? number : NULL;
	request.say = send_message;
	request.arg = c;
	if (arrange_stdio(c) < 0) {
		ab_fail(&err, AB_ESYSTEM, errno, "arrange the streams");
	} else {
		close_ours(c);
		result = ab_run(&request, &status, &err);
	}
	report_end(c, result, status, &err);
	_exit(result < 0 ? ab_exit_status(&err) : status);
}

/* All signals except those that a bug of our own would raise. */
static void choose_signals(sigset_t *ret)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

	sigfillset(ret);
	for (size_t i = 0; i < AB_COUNT(own); i++)
		sigdelset(ret, own[i]);
}

static int open_descriptors(struct child *c, struct ab_error *err)
{
	sigset_t set;

	choose_signals(&set);
	c->result = memfd_create("result", MFD_CLOEXEC);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->result < 0 || c->signals < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->channel) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "prepare the run");
	for (size_t i = 0; c->capture && i < STREAMS; i++)
		if (pipe2(c->pipes[i], O_CLOEXEC) < 0 ||
		    fcntl(c->pipes[i][0], F_SETFL, O_NONBLOCK) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "make a pipe");
	return 0;
}

static int fork_supervisor(struct child *c, struct ab_error *err)
{
	pid_t parent = getpid();
	sigset_t set;

	choose_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Buffered output would be written twice. */
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0)
		be_supervisor(c, parent);
	if (c->pid < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a process");
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "watch the run");
		kill(c->pid, SIGKILL);
		waitid(P_PID, (id_t)c->pid, &c->end, WEXITED);
		return -1;
	}
	/* Our copies of the child's ends would hide that it closes them. */
	ab_close_all(&c->channel[1], &c->pipes[OUT][1], &c->pipes[ERR][1]);
	return 0;
}

/* Reads what is available; false: end of the stream. */
static bool read_stream(const struct child *c, size_t i)
{
	struct ab_stream *s = i == OUT ? &c->ret->out : &c->ret->err;
	char chunk[65536];

	for (;;) {
		ssize_t n = read(c->pipes[i][0], chunk, sizeof(chunk));
		uint64_t left = c->capture - s->len;
		size_t kept;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		kept = (uint64_t)n < left ? (size_t)n : (size_t)left;
		s->total += (uint64_t)n;
		if (kept == 0)
			continue;
		s->data = ab_realloc(s->data, s->len + kept);
		memcpy(s->data + s->len, chunk, kept);
		s->len += kept;
	}
}

/* False: the child has closed the channel. */
static bool read_packets(struct child *c)
{
	ab_autofree struct packet *packet = ab_alloc(sizeof(*packet) + 1);

	for (;;) {
		ssize_t n = recv(c->channel[0], packet, sizeof(*packet), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		((char *)packet)[n] = '\0';
		if ((size_t)n < offsetof(struct packet, u))
			continue;
		if (packet->kind == PACKET_MESSAGE) {
			c->request->say(c->request->arg, (enum ab_level)packet->value,
					packet->u.text);
			continue;
		}
		c->last = *packet;
		c->has_last = true;
	}
}

static bool is_stopped(const struct child *c)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == c->pid;
}

/* So that our parent sees the stop and can continue us. If it continued the whole group, the child
 * already runs. */
static void stop_with_child(const struct child *c)
{
	if (!is_stopped(c))
		return;
	kill(getpid(), SIGSTOP);
	if (is_stopped(c))
		kill(c->pid, SIGCONT);
}

static void take_signals(const struct child *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			stop_with_child(c);
			break;
		case SIGCONT:
		case SIGPIPE:
		case SIGTTIN:
		case SIGTTOU:
			break;
		default:
			if (info.ssi_code != SI_KERNEL)
				kill(c->pid, (int)info.ssi_signo);
		}
	}
}

static void follow_child(struct child *c)
{
	struct pollfd p[] = {
		{ .fd = c->pidfd, .events = POLLIN },
		{ .fd = c->signals, .events = POLLIN },
		{ .fd = c->channel[0], .events = POLLIN },
		{ .fd = c->pipes[OUT][0], .events = POLLIN },
		{ .fd = c->pipes[ERR][0], .events = POLLIN },
	};

	while (!p[0].revents) {
		if (poll(p, AB_COUNT(p), -1) < 0) {
			p[0].revents = 0;
			continue;
		}
		if (p[1].revents)
			take_signals(c);
		if (p[2].revents && !read_packets(c))
			p[2].fd = -1;
		for (size_t i = 0; i < STREAMS; i++)
			if (p[3 + i].revents && !read_stream(c, i))
				p[3 + i].fd = -1;
	}
	/* The child is gone; all output is in the pipes. */
	read_packets(c);
	for (size_t i = 0; c->capture && i < STREAMS; i++)
		read_stream(c, i);
	while (waitid(P_PID, (id_t)c->pid, &c->end, WEXITED) < 0 && errno == EINTR)
		;
}

/* The supervisor was killed before it could report. `agentbox run` would have been killed too; use
 * the status that a shell would show. */
static int conclude_killed(const struct child *c, int *ret_status, struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, 0, "signal %d killed the run's supervisor", c->end.si_status);
	c->request->say(c->request->arg, AB_SAY_WARNING, err->text);
	*ret_status = 128 + c->end.si_status;
	return 0;
}

static int conclude_run(const struct child *c, int *ret_status, struct ab_error *err)
{
	bool exited = c->end.si_code == CLD_EXITED;

	if (c->has_last && c->last.kind == PACKET_FAILED) {
		*err = c->last.u.error;
		return -1;
	}
	if (c->has_last) {
		*ret_status = c->last.value;
		return 0;
	}
	if (c->nested) {
		*ret_status = exited ? c->end.si_status : 128 + c->end.si_status;
		return 0;
	}
	if (!exited)
		return conclude_killed(c, ret_status, err);
	return ab_fail(err, AB_ESYSTEM, 0, "the run's supervisor ended without reporting a result");
}

static void copy_description(const char *text, json_t *result)
{
	static const char *const keys[] = { "command", "cwd",	   "profile",  "decision",
					    "rule",    "approved", "assurance" };
	json_auto_t *known = json_loads(text, 0, NULL);

	for (size_t i = 0; known && i < AB_COUNT(keys); i++)
		if (json_object_get(known, keys[i]))
			json_object_set(result, keys[i], json_object_get(known, keys[i]));
}

/* Inside a box: what the child knew before it became the command, and how that ended. */
static char *complete_result(const struct child *c, char *own)
{
	ab_autofree char *text = NULL;
	json_auto_t *result = NULL;
	size_t len;
	char *whole;

	if (!c->nested || c->result < 0 || lseek(c->result, 0, SEEK_SET) < 0 ||
	    ab_read_all(c->result, AB_RESULT_MAX, &text, &len) < 0 || len == 0)
		return own;
	result = json_loads(own, 0, NULL);
	if (!result)
		return own;
	copy_description(text, result);
	whole = json_dumps(result, JSON_COMPACT);
	if (!whole)
		return own;
	free(own);
	return whole;
}

/* The child wrote no result: describe what is visible from here. */
static char *make_result(const struct child *c, int result, int status,
			 const struct timespec *started, const struct ab_error *err)
{
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_result what = {
		.cwd = ab_request_start(c->request),
		.name = c->request->name,
		.exit = result < 0 ? ab_exit_status(err) : status,
		.ran = result == 0 && c->nested,
		.status = c->end.si_code == CLD_EXITED ? c->end.si_status << 8 : c->end.si_status,
		.error = err->code == AB_ENONE ? NULL : err,
		.started = *started,
	};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec >= started->tv_sec)
		what.duration_ms = (uint64_t)((now.tv_sec - started->tv_sec) * 1000 +
					      (now.tv_nsec - started->tv_nsec) / 1000000);
	ab_result_json(&what, &json);
	return ab_buf_take(&json);
}

int ab_run_in_child(const struct ab_request *request, uint64_t capture, struct ab_child_run *ret,
		    int *ret_status, struct ab_error *err)
{
	struct child *c = ab_alloc(sizeof(*c));
	struct timespec started;
	int result = -1;

	*ret = (struct ab_child_run){ 0 };
	*err = (struct ab_error){ 0 };
	*c = (struct child){ .request = request,
			     .ret = ret,
			     .capture = capture,
			     .nested = ab_furniture_boxed(),
			     .result = -1,
			     .channel = { -1, -1 },
			     .pipes = { { -1, -1 }, { -1, -1 } },
			     .signals = -1,
			     .pidfd = -1 };
	sigprocmask(SIG_SETMASK, NULL, &c->before);
	clock_gettime(CLOCK_REALTIME, &started);
	if (open_descriptors(c, err) == 0 && fork_supervisor(c, err) == 0) {
		follow_child(c);
		result = conclude_run(c, ret_status, err);
	}
	ret->result = c->nested ? NULL : ab_result_read(c->result);
	if (!ret->result)
		ret->result =
			complete_result(c, make_result(c, result, *ret_status, &started, err));
	ab_close_all(&c->result, &c->signals, &c->pidfd);
	for (size_t i = 0; i < 2; i++)
		ab_close_all(&c->channel[i], &c->pipes[OUT][i], &c->pipes[ERR][i]);
	sigprocmask(SIG_SETMASK, &c->before, NULL);
	free(c);
	return result;
}

void ab_child_run_fini(struct ab_child_run *child)
{
	ab_free_all(child->result, child->out.data, child->err.data);
	*child = (struct ab_child_run){ 0 };
}
