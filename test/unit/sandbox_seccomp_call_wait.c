/*
 * The wait for a call that a listener holds: calls and messages on a socket come at any time, and
 * neither is missed. A wait that is not stopped ends with the alarm.
 */
#include "sandbox/seccomp/call_wait.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "tap.h"

enum { CALLS = 3000, MESSAGES = 3000, ANSWER = 4711 };

struct seen {
	unsigned int calls, messages, wrong;
};

/* getppid() is held. */
static int make_listener(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &prog);
}

/* Makes `calls` calls when it is told to, and exits when its socket is closed: with 0 if all were
 * answered. */
static pid_t start_caller(unsigned int calls, int *ret_listener, int *ret_tell)
{
	int pair[2];
	size_t n = 1;
	char c;
	pid_t pid;

	*ret_listener = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		int fd = make_listener();
		unsigned int wrong = 0;

		alarm(60);
		close(pair[0]);
		if (ab_send_fds(pair[1], "", 1, &fd, fd >= 0) < 0 || fd < 0)
			_exit(2);
		close(fd);
		if (read(pair[1], &c, 1) != 1)
			_exit(3);
		for (unsigned int i = 0; i < calls; i++)
			wrong += syscall(SYS_getppid) != ANSWER;
		/* A listener without a process ends each wait. */
		while (read(pair[1], &c, 1) > 0)
			;
		_exit(wrong != 0);
	}
	close(pair[1]);
	if (ab_recv_fds(pair[0], &c, 1, ret_listener, &n, 0) < 0)
		abort();
	*ret_tell = pair[0];
	return pid;
}

/* Sends a message, waits until it was read, and so on. */
static pid_t start_teller(unsigned int messages, int *ret_sock)
{
	int pair[2];
	pid_t pid;
	char c;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		alarm(60);
		close(pair[0]);
		for (unsigned int i = 0; i < messages; i++)
			if (write(pair[1], "m", 1) != 1 || read(pair[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(pair[1]);
	*ret_sock = pair[0];
	return pid;
}

static void answer_call(int listener, const struct seccomp_notif *call, struct seen *seen)
{
	struct seccomp_notif_resp answer = { .id = call->id, .val = ANSWER };

	seen->calls++;
	seen->wrong += call->data.nr != __NR_getppid;
	seen->wrong += ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0;
}

/* False: the other end is closed. */
static bool read_message(int sock, struct seen *seen)
{
	char c;
	ssize_t n = recv(sock, &c, 1, MSG_DONTWAIT);

	if (n < 0)
		return true;
	seen->messages += n == 1;
	return n == 1 && write(sock, "a", 1) == 1;
}

static void serve(int listener, int sock, struct seen *seen, unsigned int calls)
{
	bool open = true;

	while (open || seen->calls < calls) {
		const struct seccomp_notif *call = ab_call_wait(listener);

		if (call) {
			answer_call(listener, call, seen);
			continue;
		}
		seen->wrong += errno != EINTR;
		ab_call_wait_again();
		open = open && read_message(sock, seen);
	}
}

static int reap(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

/* Nothing but the signal can end these waits. */
static void test_messages(int listener)
{
	struct seen seen = { 0 };
	int sock;
	pid_t teller = start_teller(MESSAGES, &sock);

	ok(ab_call_wait_open(sock), "a socket tells when it has something");
	serve(listener, sock, &seen, 0);
	ok(reap(teller) == 0 && seen.messages == MESSAGES && !seen.calls && !seen.wrong,
	   "each message ends a wait for a call, and so does the end");
	close(sock);
}

static void test_both(int listener, int tell, pid_t caller)
{
	struct seen seen = { 0 };
	int sock;
	pid_t teller = start_teller(MESSAGES, &sock);

	ab_call_wait_open(sock);
	if (write(tell, "g", 1) != 1)
		abort();
	serve(listener, sock, &seen, CALLS);
	close(tell);
	ok(reap(caller) == 0 && seen.calls == CALLS, "each call is received once");
	ok(reap(teller) == 0 && seen.messages == MESSAGES && !seen.wrong,
	   "and messages that come meanwhile stop the wait");
	close(sock);
}

int main(void)
{
	int listener, tell;
	pid_t caller = start_caller(CALLS, &listener, &tell);

	if (listener < 0) {
		reap(caller);
		lacks("held calls", "a listener is not possible here");
		return done();
	}
	alarm(60);
	test_messages(listener);
	test_both(listener, tell, caller);
	return done();
}
