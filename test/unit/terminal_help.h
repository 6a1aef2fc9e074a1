#ifndef AB_TEST_TERMINAL_HELP_H
#define AB_TEST_TERMINAL_HELP_H
/*
 * A real terminal that plays the caller's: the test holds its master (keyboard
 * and screen). A session leader plays the shell, its child is the supervisor,
 * which does what letters on a socket say: obey(), of the test. The box's
 * terminal is another one, whose slave the test holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "base/system/loop.h"
#include "terminal/terminal.h"

enum { MEGABYTE = 1 << 20, WAIT_MS = 60000 };

static struct {
	int master;  /* of the caller's terminal */
	int slave;   /* of the box's */
	int control; /* one letter asks, one letter answers */
	pid_t shell, supervisor;
	char screen[2 * MEGABYTE];
	size_t seen;
} env;

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_pty(int *ret_slave)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int locked = 0;

	check(master >= 0 && ioctl(master, TIOCSPTLCK, &locked) == 0, "pty");
	*ret_slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	check(*ret_slave >= 0, "slave");
	return master;
}

/* Both terminals; the slave of the caller's. */
static int open_terminals(int *ret_box_master)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int slave;

	env.seen = 0;
	env.master = open_pty(&slave);
	*ret_box_master = open_pty(&env.slave);
	fcntl(env.master, F_SETFL, O_RDWR | O_NONBLOCK);
	fcntl(env.slave, F_SETFL, O_RDWR | O_NONBLOCK);
	ioctl(slave, TIOCSWINSZ, &size);
	return slave;
}

/* --- the supervisor's side --- */

static struct ab_terminal *terminal;
static struct ab_loop loop;
static int box_master;

/* What to answer; 0: nothing, it is the end. */
static char obey(char letter);

static void asked(struct ab_source *source, uint32_t events)
{
	char letter = 'q';

	(void)events;
	if (read(source->fd, &letter, 1) != 1)
		_exit(1);
	letter = obey(letter);
	if (letter && write(source->fd, &letter, 1) != 1)
		_exit(1);
}

/* Alone on the pipe's other end: its end is the supervisor's. */
static void start_broker(int control, const struct ab_terminal_rescue *rescue)
{
	int ends[2];
	char c;

	check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
	if (fork() != 0) {
		close(ends[0]);
		return;
	}
	close(ends[1]);
	close(control);
	if (read(ends[0], &c, 1) == 0)
		ab_terminal_rescue(rescue);
	_exit(0);
}

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

static void serve(int control)
{
	struct ab_source source = { .fd = control, .ready = asked };
	struct ab_error err;

	if (write(control, "y", 1) != 1 || ab_loop_init(&loop, &err) < 0 ||
	    ab_loop_add(&loop, &source, EPOLLIN, &err) < 0 || ab_loop_run(&loop, &err) < 0)
		_exit(4);
}

/* The child of the leader of a session on this terminal; the leader stays in
 * here. */
static void fork_as_shell(int slave, int control)
{
	pid_t child;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	setsid();
	check(ioctl(slave, TIOCSCTTY, 0) == 0, "controlling terminal");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		return;
	}
	close(control);
	close(env.master);
	if (write(env.control, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	while (waitpid(child, &status, 0) < 0)
		;
	/* The end of a session leader hangs its terminal up. */
	if (WIFSIGNALED(status))
		pause();
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

/* --- the test's side --- */

static char ask(char letter)
{
	struct pollfd ready = { .fd = env.control, .events = POLLIN };
	char answer = 0;

	if (letter && write(env.control, &letter, 1) != 1)
		return 0;
	if (poll(&ready, 1, WAIT_MS) != 1 || read(env.control, &answer, 1) != 1)
		return 0;
	return answer;
}

/* The process that is to be the shell: its side of the control is returned,
 * and -1 in the test. */
static int fork_shell(void)
{
	int control[2], pids[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, control) == 0 &&
		      socketpair(AF_UNIX, SOCK_STREAM, 0, pids) == 0,
	      "sockets");
	env.control = pids[1];
	env.shell = fork();
	if (env.shell == 0) {
		close(control[0]);
		close(pids[0]);
		close(env.slave);
		return control[1];
	}
	close(control[1]);
	close(pids[1]);
	close(box_master);
	check(read(pids[0], &env.supervisor, sizeof(pid_t)) == sizeof(pid_t), "pid");
	close(pids[0]);
	env.control = control[0];
	return -1;
}

/* Until the screen shows it; false: nothing came for that long. */
static bool shows_in(const char *text, size_t len, int ms)
{
	size_t from = 0;

	while (!memmem(env.screen + from, env.seen - from, text, len)) {
		struct pollfd ready = { .fd = env.master, .events = POLLIN };
		ssize_t n;

		if (poll(&ready, 1, ms) != 1)
			return false;
		from = env.seen > len ? env.seen - len : 0;
		n = read(env.master, env.screen + env.seen, sizeof(env.screen) - env.seen);
		if (n > 0)
			env.seen += (size_t)n;
		else if (n == 0 || errno != EAGAIN)
			return false;
	}
	return true;
}

static bool shows_text(const char *text)
{
	return shows_in(text, strlen(text), WAIT_MS);
}

static bool type(const char *text)
{
	return ab_write_all(env.master, text, strlen(text)) == 0;
}

static bool print(const char *text)
{
	return ab_write_all(env.slave, text, strlen(text)) == 0;
}

static const char *line_of(int fd, int ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	static char line[256];
	ssize_t n;

	if (poll(&ready, 1, ms) != 1)
		return "(nothing)";
	n = read(fd, line, sizeof(line) - 1);
	line[n < 0 ? 0 : n] = '\0';
	return line;
}

#endif
