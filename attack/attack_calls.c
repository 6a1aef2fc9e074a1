/* System calls that no program in the box needs, and the terminal. */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "attack/attack.h"
#include "attack/kernel_calls.h"

/* Only the error of a filter or a missing capability counts as held. */
static enum ab_hold make_call(struct ab_attacker *a, const struct ab_try *t)
{
	if (t->call() >= 0)
		return ab_broken(a, "it worked");
	if (errno == EPERM || errno == ENOSYS)
		return ab_held(a, "%s", strerror(errno));
	return ab_broken(a, "the kernel handled it: %s", strerror(errno));
}

static const char *read_personality(struct ab_attacker *a)
{
	return personality(0xffffffff) < 0 ? "reading the personality" : NULL;
}

static enum ab_hold make_foreign_call(struct ab_attacker *a, const struct ab_try *t)
{
#if defined(__x86_64__)
	/* getpid of the x32 interface, or of the 32-bit one. */
	if (t->number)
		return ab_refused(a, syscall(SYS_getpid | 0x40000000));
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	errno = r < 0 ? (int)-r : 0;
	return ab_refused(a, r < 0 ? -1 : r);
#else
	return ab_untried(a, "needs a 32-bit program on this machine");
#endif
}

static enum ab_hold check_filter(struct ab_attacker *a, const struct ab_try *t)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2 ? ab_held(a, "in force")
						      : ab_broken(a, "no filter is in force");
}

static const struct ab_try calls[] = {
	{ "run without a filter", check_filter },
#define ROW(title, function) { title, make_call, .call = function, .twin = read_personality },
	AB_KERNEL_CALLS(ROW){ "a 32-bit system call", make_foreign_call, NULL, 0 },
	{ "an x32 system call", make_foreign_call, NULL, 1 },
};
const struct ab_tries ab_tries_calls = { "system calls", calls, AB_COUNT(calls) };

/* Open a terminal of the box; -1 on failure. */
static int open_own_terminal(int *ret_master)
{
	int locked = 0;

	*ret_master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_master < 0 || ioctl(*ret_master, TIOCSPTLCK, &locked) < 0)
		return -1;
	return ioctl(*ret_master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* The kernel ignores the upper half of the number, so the filter must, too. */
static enum ab_hold type_keys(struct ab_attacker *a, const struct ab_try *t)
{
	ab_autoclose int master = -1, slave = open_own_terminal(&master);
	char key[2] = { 0 };
	int status = 0;
	pid_t pid;

	if (slave < 0)
		return ab_untried(a, "no terminal: %s", strerror(errno));
	/* A controlling terminal needs a new session, which a group leader such
	 * as this process cannot create. */
	pid = fork();
	if (pid == 0) {
		if (setsid() < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
			_exit(255);
		_exit(syscall(SYS_ioctl, slave, t->number, key) < 0 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 255)
		return ab_untried(a, "cannot create a session");
	errno = WEXITSTATUS(status);
	return ab_refused(a, errno ? -1 : 0);
}

static const char *use_terminal(struct ab_attacker *a)
{
	ab_autoclose int master = -1, slave = open_own_terminal(&master);
	struct winsize size;
	char byte = 0;

	if (slave < 0 || ioctl(slave, TIOCGWINSZ, &size) < 0 || write(slave, "x", 1) != 1 ||
	    read(master, &byte, 1) != 1 || byte != 'x')
		return "using its own terminal";
	return NULL;
}

static enum ab_hold open_terminal(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, open(t->arg, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

#define HIGH (1L << 32)
static const struct ab_try terminal[] = {
	{ "type keys (TIOCSTI)", type_keys, NULL, TIOCSTI, use_terminal },
	{ "type keys, high bits set", type_keys, NULL, TIOCSTI | HIGH },
	{ "paste on a console (TIOCLINUX)", type_keys, NULL, TIOCLINUX },
	{ "paste on a console, high bits set", type_keys, NULL, TIOCLINUX | HIGH },
	{ "load a line discipline (TIOCSETD)", type_keys, NULL, TIOCSETD },
	{ "open the caller's terminal", open_terminal, "/dev/tty" },
	{ "open the console", open_terminal, "/dev/console" },
	{ "open a virtual console", open_terminal, "/dev/tty1" },
	{ "open another user's terminal", open_terminal, "/dev/pts/0" },
};
const struct ab_tries ab_tries_terminal = { "terminal", terminal, AB_COUNT(terminal) };
