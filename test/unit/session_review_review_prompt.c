#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "session/review/reviewer.h"
#include "tap.h"

static int master, tty;
static int pair[2]; /* the supervisor's end, ours */
static const struct ab_review_sum sum = { .changed = 1, .waiting = 1 };

static void open_terminal(void)
{
	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		abort();
	tty = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (tty < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
}

static void close_terminal(void)
{
	close(master);
	close(tty);
	close(pair[0]);
	close(pair[1]);
}

static bool is_cooked(void)
{
	struct termios now;

	return tcgetattr(tty, &now) == 0 && (now.c_lflag & ICANON) && (now.c_lflag & ECHO);
}

/* A person who presses these keys again and again; a key counts only some time after the question
 * was shown. */
static pid_t type_keys(const char *keys)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;)
		for (const char *k = keys; *k; k++) {
			poll(NULL, 0, 300);
			if (write(master, k, 1) != 1)
				_exit(1);
		}
}

static enum ab_review_answer answer_to(const char *keys)
{
	enum ab_review_answer answer;
	pid_t pid;

	open_terminal();
	pid = type_keys(keys);
	answer = ab_review_prompt(tty, pair[1], &sum);
	ok(is_cooked(), "%s: the terminal is as it was", keys);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close_terminal();
	return answer;
}

/* Whenever the supervisor ends: before the question too, when nobody reads the terminal yet. */
static void test_end_of_supervisor(void)
{
	for (int late = 0; late < 2; late++) {
		pid_t pid = -1;

		open_terminal();
		if (late && (pid = fork()) == 0) {
			close(pair[1]);
			poll(NULL, 0, 200);
			_exit(0);
		}
		close(pair[0]);
		pair[0] = -1;
		ok(ab_review_prompt(tty, pair[1], &sum) == AB_REVIEW_INTERRUPTED,
		   "the supervisor ends %s the question", late ? "during" : "before");
		ok(is_cooked(), "and the terminal is as it was");
		if (pid > 0)
			waitpid(pid, NULL, 0);
		close_terminal();
	}
}

int main(void)
{
	alarm(240); /* ends a hopeless wait */
	test_end_of_supervisor();
	ok(answer_to("l") == AB_REVIEW_LATER, "later");
	ok(answer_to("xR") == AB_REVIEW_SHOW, "a capital letter; other keys mean nothing");
	ok(answer_to("dy") == AB_REVIEW_DISCARD, "discard, confirmed");
	ok(answer_to("dna") == AB_REVIEW_APPLY, "discard, not confirmed: it asks again");
	open_terminal();
	close(master);
	ok(ab_review_prompt(tty, pair[1], &sum) == AB_REVIEW_LATER, "a terminal that is gone");
	close_terminal();
	return done();
}
