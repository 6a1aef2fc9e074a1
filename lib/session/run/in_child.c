/*
 * Theory of operation.
 *
 * The child is the supervisor. It tells us what it has to say, and how it
 * ended, by packets (struct word); its result is in a file that both have. We
 * read what the command writes, as long as the child lives and then what is
 * left in the pipes: with the supervisor everything of the box has ended, so
 * nobody who still holds an end of them can keep us waiting.
 *
 * Should: read on when there is enough, and count; pass on every signal that
 * was sent to us alone. One of the terminal's went to the child as well.
 * Mustn't: wait for anything but the child.
 */
#include "session/run/in_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "sandbox/mount/furniture.h"
#include "session/consent/request.h"
#include "session/run/run.h"

enum { TEXT_MAX = 32 * 1024, RESULT_MAX = 64 << 20 };

/* From the child. */
enum word_kind { WORD_SAID, WORD_ENDED, WORD_FAILED };
struct word {
	uint32_t kind;
	int32_t value; /* said: the level; ended: the status */
	union {
		char text[TEXT_MAX];
		struct ab_error error;
	} u;
};

enum { OUT, ERR, STREAMS };

struct apart {
	const struct ab_request *request;
	struct ab_child_run *ret;
	uint64_t capture;
	bool nested;  /* in a box already: the child becomes the
				 * command, and has no result */
	int result;   /* a file in memory */
	int words[2]; /* ours, the child's */
	int pipes[STREAMS][2];
	int signals;
	sigset_t before;
	pid_t pid;
	int pidfd;
	bool heard; /* how it ended: */
	struct word last;
	siginfo_t end;
};

static void say_by_word(void *arg, enum ab_level level, const char *text)
{
	struct apart *a = arg;
	size_t len = strnlen(text, TEXT_MAX - 1);
	struct word *word = ab_alloc(sizeof(*word));

	word->kind = WORD_SAID;
	word->value = (int32_t)level;
	memcpy(word->u.text, text, len);
	send(a->words[1], word, offsetof(struct word, u) + len + 1, MSG_NOSIGNAL);
	free(word);
}

/* What is not its own must not keep us waiting for its end. */
static int arrange_stdio(const struct apart *a)
{
	int null;

	if (!a->capture)
		return 0;
	if (dup2(a->pipes[OUT][1], STDOUT_FILENO) < 0 || dup2(a->pipes[ERR][1], STDERR_FILENO) < 0)
		return -1;
	if (!isatty(STDIN_FILENO))
		return 0;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		return -1;
	close(null);
	return 0;
}

static void close_ours(const struct apart *a)
{
	close(a->words[0]);
	close(a->signals);
	for (size_t i = 0; a->capture && i < STREAMS; i++) {
		close(a->pipes[i][0]);
		close(a->pipes[i][1]);
	}
}

static void report(const struct apart *a, int result, int status, const struct ab_error *err)
{
	struct word *word = ab_alloc(sizeof(*word));
	size_t len = offsetof(struct word, u);

	word->kind = result < 0 ? WORD_FAILED : WORD_ENDED;
	word->value = status;
	if (result < 0) {
		word->u.error = *err;
		len += sizeof(*err);
	}
	send(a->words[1], word, len, MSG_NOSIGNAL);
	free(word);
}

_Noreturn static void be_supervisor(struct apart *a, pid_t parent)
{
	struct ab_request request = *a->request;
	struct ab_error err = { 0 };
	char number[16];
	int result = -1, status = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	sigprocmask(SIG_SETMASK, &a->before, NULL);
	snprintf(number, sizeof(number), "%d", a->result);
	request.result = a->nested ? NULL : number;
	request.say = say_by_word;
	request.arg = a;
	if (arrange_stdio(a) < 0) {
		ab_fail(&err, AB_ESYSTEM, errno, "arrange the streams");
	} else {
		close_ours(a);
		result = ab_run(&request, &status, &err);
	}
	report(a, result, status, &err);
	_exit(result < 0 ? ab_exit_status(&err) : status);
}

/* Everything but what a mistake of our own would raise. */
static void choose_signals(sigset_t *ret)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };

	sigfillset(ret);
	for (size_t i = 0; i < AB_COUNT(own); i++)
		sigdelset(ret, own[i]);
}

static int open_all(struct apart *a, struct ab_error *err)
{
	sigset_t set;

	choose_signals(&set);
	if (!a->nested)
		a->result = memfd_create("result", MFD_CLOEXEC);
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if ((a->result < 0 && !a->nested) || a->signals < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a->words) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "prepare the run");
	for (size_t i = 0; a->capture && i < STREAMS; i++)
		if (pipe2(a->pipes[i], O_CLOEXEC) < 0 ||
		    fcntl(a->pipes[i][0], F_SETFL, O_NONBLOCK) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "make a pipe");
	return 0;
}

static int start(struct apart *a, struct ab_error *err)
{
	pid_t parent = getpid();
	sigset_t set;

	choose_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* What is buffered would be written twice. */
	fflush(NULL);
	a->pid = fork();
	if (a->pid == 0)
		be_supervisor(a, parent);
	if (a->pid < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a process");
	a->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pidfd < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "watch the run");
		kill(a->pid, SIGKILL);
		waitid(P_PID, (id_t)a->pid, &a->end, WEXITED);
		return -1;
	}
	/* Ours of the child's ends would hide that it closes them. */
	ab_closep(&a->words[1]);
	a->words[1] = -1;
	for (size_t i = 0; i < STREAMS; i++) {
		ab_closep(&a->pipes[i][1]);
		a->pipes[i][1] = -1;
	}
	return 0;
}

/* All that there is now; false: its end. */
static bool read_stream(const struct apart *a, size_t i)
{
	struct ab_stream *s = i == OUT ? &a->ret->out : &a->ret->err;
	char chunk[65536];

	for (;;) {
		ssize_t n = read(a->pipes[i][0], chunk, sizeof(chunk));
		uint64_t left = a->capture - s->len;
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

/* false: there will be no more of them. */
static bool hear_words(struct apart *a)
{
	ab_autofree struct word *word = ab_alloc(sizeof(*word) + 1);

	for (;;) {
		ssize_t n = recv(a->words[0], word, sizeof(*word), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		((char *)word)[n] = '\0';
		if ((size_t)n < offsetof(struct word, u))
			continue;
		if (word->kind == WORD_SAID) {
			a->request->say(a->request->arg, (enum ab_level)word->value, word->u.text);
			continue;
		}
		a->last = *word;
		a->heard = true;
	}
}

static bool is_stopped(const struct apart *a)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)a->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == a->pid;
}

/* So that who waits for us sees it stopped, and can have it continued. Whoever
 * continues all of our group has done so already. */
static void stop_with_child(const struct apart *a)
{
	if (!is_stopped(a))
		return;
	kill(getpid(), SIGSTOP);
	if (is_stopped(a))
		kill(a->pid, SIGCONT);
}

static void take_signals(const struct apart *a)
{
	struct signalfd_siginfo info;

	while (read(a->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			stop_with_child(a);
			break;
		case SIGCONT:
		case SIGPIPE:
		case SIGTTIN:
		case SIGTTOU:
			break;
		default:
			if (info.ssi_code != SI_KERNEL)
				kill(a->pid, (int)info.ssi_signo);
		}
	}
}

static void attend(struct apart *a)
{
	struct pollfd p[] = {
		{ .fd = a->pidfd, .events = POLLIN },
		{ .fd = a->signals, .events = POLLIN },
		{ .fd = a->words[0], .events = POLLIN },
		{ .fd = a->pipes[OUT][0], .events = POLLIN },
		{ .fd = a->pipes[ERR][0], .events = POLLIN },
	};

	while (!p[0].revents) {
		if (poll(p, AB_COUNT(p), -1) < 0) {
			p[0].revents = 0;
			continue;
		}
		if (p[1].revents)
			take_signals(a);
		if (p[2].revents && !hear_words(a))
			p[2].fd = -1;
		for (size_t i = 0; i < STREAMS; i++)
			if (p[3 + i].revents && !read_stream(a, i))
				p[3 + i].fd = -1;
	}
	/* The child is gone, and what it and the command wrote is there. */
	hear_words(a);
	for (size_t i = 0; a->capture && i < STREAMS; i++)
		read_stream(a, i);
	while (waitid(P_PID, (id_t)a->pid, &a->end, WEXITED) < 0 && errno == EINTR)
		;
}

/* It was killed before it could tell: so is who calls run, and the shell says
 * as much by the status. */
static int conclude_killed(const struct apart *a, int *ret_status, struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, 0, "the run's supervisor was ended by signal %d",
		a->end.si_status);
	a->request->say(a->request->arg, AB_SAY_WARNING, err->text);
	*ret_status = 128 + a->end.si_status;
	return 0;
}

static int conclude(const struct apart *a, int *ret_status, struct ab_error *err)
{
	bool exited = a->end.si_code == CLD_EXITED;

	if (a->heard && a->last.kind == WORD_FAILED) {
		*err = a->last.u.error;
		return -1;
	}
	if (a->heard) {
		*ret_status = a->last.value;
		return 0;
	}
	if (a->nested) {
		*ret_status = exited ? a->end.si_status : 128 + a->end.si_status;
		return 0;
	}
	if (!exited)
		return conclude_killed(a, ret_status, err);
	return ab_fail(err, AB_ESYSTEM, 0, "the run's supervisor has ended without a word");
}

/* The child could not write it, so it is what can be seen from here. */
static char *make_result(const struct apart *a, int result, int status,
			 const struct timespec *started, const struct ab_error *err)
{
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_result what = {
		.cwd = a->request->policy.cwd,
		.name = a->request->name,
		.exit = result < 0 ? ab_exit_status(err) : status,
		.ran = result == 0 && a->nested,
		.status = a->end.si_code == CLD_EXITED ? a->end.si_status << 8 : a->end.si_status,
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

static char *read_result(const struct apart *a)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (a->result < 0 || lseek(a->result, 0, SEEK_SET) < 0 ||
	    ab_read_all(a->result, RESULT_MAX, &text, &len) < 0 || len < 2 || text[len - 1] != '\n')
		return NULL;
	text[len - 1] = '\0';
	return ab_take(text);
}

static void close_all(struct apart *a)
{
	ab_closep(&a->result);
	ab_closep(&a->signals);
	ab_closep(&a->pidfd);
	for (size_t i = 0; i < 2; i++) {
		ab_closep(&a->words[i]);
		ab_closep(&a->pipes[OUT][i]);
		ab_closep(&a->pipes[ERR][i]);
	}
}

int ab_run_in_child(const struct ab_request *request, uint64_t capture, struct ab_child_run *ret,
		    int *ret_status, struct ab_error *err)
{
	struct apart *a = ab_alloc(sizeof(*a));
	struct timespec started;
	int result = -1;

	*ret = (struct ab_child_run){ 0 };
	*err = (struct ab_error){ 0 };
	*a = (struct apart){ .request = request,
			     .ret = ret,
			     .capture = capture,
			     .nested = access(AB_MARKER, F_OK) == 0,
			     .result = -1,
			     .words = { -1, -1 },
			     .pipes = { { -1, -1 }, { -1, -1 } },
			     .signals = -1,
			     .pidfd = -1 };
	sigprocmask(SIG_SETMASK, NULL, &a->before);
	clock_gettime(CLOCK_REALTIME, &started);
	if (open_all(a, err) == 0 && start(a, err) == 0) {
		attend(a);
		result = conclude(a, ret_status, err);
	}
	ret->result = read_result(a);
	if (!ret->result)
		ret->result = make_result(a, result, *ret_status, &started, err);
	close_all(a);
	sigprocmask(SIG_SETMASK, &a->before, NULL);
	free(a);
	return result;
}

void ab_child_run_fini(struct ab_child_run *apart)
{
	free(apart->result);
	free(apart->out.data);
	free(apart->err.data);
	*apart = (struct ab_child_run){ 0 };
}
