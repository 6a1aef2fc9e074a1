#include "base/process/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "tap.h"

/* What a helper sees of itself. */
struct seen {
	char name[16];
	unsigned open; /* descriptors from 3 on */
	bool null[3], kept, leads_session, leads_group, dumpable, at_root;
	bool blocks_term, blocks_int, ignores_int;
	int end_signal;
};

static bool is_null(int fd)
{
	struct stat st, null;

	return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
}

static bool is_at_root(void)
{
	char cwd[8];

	return getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/") == 0;
}

static int tell_all(int sock, void *arg)
{
	const int *kept = arg;
	struct seen seen = { .leads_session = getsid(0) == getpid(),
			     .leads_group = getpgid(0) == getpid(),
			     .dumpable = prctl(PR_GET_DUMPABLE) == 1,
			     .at_root = is_at_root(),
			     .kept = fcntl(*kept, F_GETFD) >= 0 };
	struct sigaction action;
	sigset_t set;

	prctl(PR_GET_NAME, seen.name);
	prctl(PR_GET_PDEATHSIG, &seen.end_signal);
	for (int fd = 0; fd < 3; fd++)
		seen.null[fd] = is_null(fd);
	for (int fd = 3; fd < 1024; fd++)
		seen.open += fcntl(fd, F_GETFD) >= 0;
	sigprocmask(SIG_SETMASK, NULL, &set);
	seen.blocks_term = sigismember(&set, SIGTERM);
	seen.blocks_int = sigismember(&set, SIGINT);
	sigaction(SIGINT, NULL, &action);
	seen.ignores_int = action.sa_handler == SIG_IGN;
	return ab_send_fds(sock, &seen, sizeof(seen), NULL, 0) < 0;
}

static struct seen look(struct ab_helper_setup setup, int *kept)
{
	struct ab_error err = { 0 };
	struct seen seen = { 0 };
	struct ab_helper helper;

	setup.what = "a helper";
	setup.socket = SOCK_SEQPACKET;
	setup.serve = tell_all;
	setup.arg = kept;
	if (ab_helper_start(&setup, &helper, &err) < 0)
		abort();
	if (recv(helper.sock, &seen, sizeof(seen), 0) != (ssize_t)sizeof(seen))
		memset(&seen, 0xff, sizeof(seen));
	if (setup.orphan)
		ok(helper.pid == 0, "an orphan has no pid for us");
	ab_closep(&helper.pidfd);
	if (!setup.orphan)
		ab_helper_end(&helper);
	else
		close(helper.sock);
	return seen;
}

static void test_descriptors(void)
{
	int kept = open("/", O_PATH | O_CLOEXEC), other = open("/etc", O_PATH);
	int streams[3] = { other, other, other };
	struct seen seen = look((struct ab_helper_setup){ .keep = &kept, .nkeep = 1 }, &kept);

	ok(seen.open == 2 && seen.kept, "it keeps its socket and what it was given (%u)",
	   seen.open);
	ok(seen.null[0] && seen.null[1] && seen.null[2], "0-2 are /dev/null");
	seen = look((struct ab_helper_setup){ .keep = &other, .nkeep = 1 }, &kept);
	ok(!seen.kept, "it does not keep another one");
	seen = look((struct ab_helper_setup){ .keep = (int[]){ 2, -1 }, .nkeep = 2 }, &kept);
	ok(seen.null[0] && !seen.null[2] && seen.open == 1, "a kept stream stays the caller's");
	seen = look((struct ab_helper_setup){ .stdio = streams }, &kept);
	ok(!seen.null[0] && !seen.null[2] && seen.open == 1, "0-2 are the given ones");
	close(kept);
	close(other);
}

static void test_signals(void)
{
	sigset_t mask;
	int kept = 0;
	struct seen seen = look((struct ab_helper_setup){ 0 }, &kept);

	ok(seen.blocks_term && seen.blocks_int, "signals are blocked");
	seen = look((struct ab_helper_setup){ .signals = AB_HELPER_TERM }, &kept);
	ok(!seen.blocks_term && seen.blocks_int, "all but SIGTERM are blocked");
	seen = look((struct ab_helper_setup){ .signals = AB_HELPER_IGNORES }, &kept);
	ok(!seen.blocks_term && seen.ignores_int, "signals are ignored");
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	seen = look((struct ab_helper_setup){ .signals = AB_HELPER_MASK, .mask = &mask }, &kept);
	ok(!seen.blocks_term && seen.blocks_int && !seen.ignores_int, "the mask is the given one");
}

static void test_ties(void)
{
	int kept = 0;
	struct seen seen = look((struct ab_helper_setup){ 0 }, &kept);

	ok(!seen.leads_session && !seen.leads_group && seen.dumpable && !seen.end_signal &&
		   !seen.at_root,
	   "nothing that was not asked for");
	seen = look((struct ab_helper_setup){ .name = "agentbox-test",
					      .session = true,
					      .hidden = true,
					      .outside = true,
					      .end_signal = SIGKILL },
		    &kept);
	ok(strcmp(seen.name, "agentbox-test") == 0, "its name");
	ok(seen.leads_session && !seen.dumpable && seen.at_root && seen.end_signal == SIGKILL,
	   "a session, hidden, at the root, and an end with us");
	seen = look((struct ab_helper_setup){ .group = true, .watch = true }, &kept);
	ok(seen.leads_group && !seen.leads_session, "a group");
	seen = look((struct ab_helper_setup){ .orphan = true }, &kept);
	ok(seen.open == 1, "an orphan serves as others do");
}

static int return_arg(const void *arg)
{
	const int *status = arg;

	if (*status < 0)
		abort();
	return *status;
}

static void test_in_child(void)
{
	ok(ab_in_child(return_arg, &(int){ 7 }) == 7, "what a child returns");
	ok(ab_in_child(return_arg, &(int){ -1 }) == -1 && errno == EIO, "a child that dies");
	ok(ab_await(getpid()) == -1, "nothing to wait for");
}

static int fail_late(int sock, void *arg)
{
	(void)sock;
	(void)arg;
	return 3;
}

static void test_too_many(void)
{
	int keep[64];
	struct ab_helper_setup setup = { .what = "a helper", .serve = fail_late, .keep = keep };
	struct ab_error err = { 0 };
	struct ab_helper helper;
	int status;

	memset(keep, -1, sizeof(keep));
	setup.nkeep = AB_COUNT(keep);
	ok(ab_helper_start(&setup, &helper, &err) == 0 && helper.sock == -1 && helper.pidfd == -1,
	   "without a socket");
	status = ab_await(helper.pid);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == AB_HELPER_FAILED,
	   "it does not serve if its descriptors cannot be arranged");
	setup.nkeep = 0;
	ok(ab_helper_start(&setup, &helper, &err) == 0, "started");
	status = ab_await(helper.pid);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "its status is what serve returns");
}

int main(void)
{
	test_descriptors();
	test_signals();
	test_ties();
	test_in_child();
	test_too_many();
	return done();
}
