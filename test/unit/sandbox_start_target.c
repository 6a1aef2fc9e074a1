/* What the command's process does with messages that come before `go`. */
#include "sandbox/start/target.c"

#include "tap.h"

enum { MOST = 4 };

static const struct {
	const char *name;
	struct ab_msg msgs[MOST];
	int pending; /* a signal, or 0 */
	bool starts;
} cases[] = {
	{ "go", { { .type = AB_MSG_GO } }, 0, true },
	{ "a signal to go on before it",
	  { { .type = AB_MSG_RESUME }, { .type = AB_MSG_GO } },
	  0,
	  true },
	{ "two of them",
	  { { .type = AB_MSG_RESUME }, { .type = AB_MSG_RESUME }, { .type = AB_MSG_GO } },
	  0,
	  true },
	{ "a signal, which is kept",
	  { { .type = AB_MSG_SIGNAL, .value = SIGUSR1 }, { .type = AB_MSG_GO } },
	  SIGUSR1,
	  true },
	{ "a stop, which would keep init",
	  { { .type = AB_MSG_SIGNAL, .value = SIGTSTP }, { .type = AB_MSG_GO } },
	  0,
	  true },
	{ "signals and no go",
	  { { .type = AB_MSG_RESUME }, { .type = AB_MSG_SIGNAL, .value = SIGUSR2 } },
	  SIGUSR2,
	  false },
	{ "nothing at all", { { 0 } }, 0, false },
	{ "another message", { { .type = AB_MSG_STATUS } }, 0, false },
};

static void check_messages(size_t i)
{
	const char *name = cases[i].name;
	struct ab_error err = { 0 };
	sigset_t all, pending;
	int sock[2], sig = cases[i].pending, r;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		abort();
	for (size_t k = 0; k < MOST && cases[i].msgs[k].type; k++)
		if (send(sock[1], &cases[i].msgs[k], AB_MSG_LEN(0), 0) < 0)
			abort();
	/* Then it ends, so that no message is missed. */
	close(sock[1]);
	r = wait_for_go(sock[0], &err);
	close(sock[0]);
	ok((r == 0) == cases[i].starts, "%s: %s", name,
	   cases[i].starts ? "starts" : "does not start");
	ok(r == 0 || strcmp(err.step, "go") == 0, "%s: the reason", name);
	sigpending(&pending);
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&pending, s) == 1 && s != sig)
			ok(false, "%s: signal %d", name, s);
	ok(!sig || sigtimedwait(&all, NULL, &(struct timespec){ 0 }) == sig, "%s: what waits",
	   name);
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++)
		check_messages(i);
	return done();
}
