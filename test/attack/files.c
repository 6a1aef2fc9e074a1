/*
 * File calls that no ordinary tool makes: "exchange A B", "whiteout A B",
 * "replace A B", "link A B", "link-fd FD B", "reopen FD", "write PATH",
 * "tmpfile DIR", "above FD", "held NAME", and ioctls of a terminal: "TIOCSTI
 * FD".
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "attack.h"

static int fd_of(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int exchange(char **a)
{
	return renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE);
}

static int whiteout(char **a)
{
	return renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_WHITEOUT);
}

static int replace(char **a)
{
	return rename(a[0], a[1]);
}

static int make_link(char **a)
{
	return link(a[0], a[1]);
}

/* By the name in /proc and by the descriptor itself. */
static int link_fd(char **a)
{
	char path[32];

	if (linkat(fd_of(a[0]), "", AT_FDCWD, a[1], AT_EMPTY_PATH) == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of(a[0]));
	return linkat(AT_FDCWD, path, AT_FDCWD, a[1], AT_SYMLINK_FOLLOW);
}

static int open_again(const char *fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd_of(fd));
	return open(path, flags);
}

static int reopen(char **a)
{
	int fd = open_again(a[0], O_WRONLY);

	return fd < 0 ? -1 : (int)pwrite(fd, "evil", 4, 0);
}

static int reopen_truncate(char **a)
{
	return open_again(a[0], O_RDONLY | O_TRUNC);
}

static int reopen_read(char **a)
{
	return open_again(a[0], O_RDONLY);
}

static int write_path(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT | O_APPEND, 0644);

	return fd < 0 ? -1 : (int)write(fd, "evil\n", 5);
}

static int tmpfile_in(char **a)
{
	return open(a[0], O_TMPFILE | O_WRONLY, 0600);
}

/* A folder that came in as a descriptor leads out. */
static int above(char **a)
{
	return openat(fd_of(a[0]), "..", O_RDONLY | O_DIRECTORY);
}

/*
 * Make a folder, hold it open until somebody has taken it away, and look where
 * it is now: its parent is then a folder of theirs.
 */
static int held(char **a)
{
	struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	struct stat st;
	int dir, up;

	if (mkdir(a[0], 0755) < 0)
		exit(2);
	dir = open(a[0], O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 2000 && stat(a[0], &st) == 0; i++)
		nanosleep(&pause, NULL);
	if (stat(a[0], &st) == 0)
		exit(2); /* nobody did */
	up = openat(dir, "..", O_RDONLY | O_DIRECTORY);
	return up < 0 ? -1 : openat(up, "evil", O_WRONLY | O_CREAT, 0600);
}

/* Numbers of terminal commands, as the kernel reads them and with rubbish in
 * the upper half of the register. */
static int command(int fd, unsigned long number)
{
	char byte = 'x';

	return (int)syscall(SYS_ioctl, fd, number, &byte);
}

#define HIGH (1UL << 32)
#define PUSH(name, number)                           \
	static int name(char **a)                    \
	{                                            \
		return command(fd_of(a[0]), number); \
	}
PUSH(tiocsti, TIOCSTI)
PUSH(tiocsti_high, TIOCSTI | HIGH)
PUSH(tiocsti_top, TIOCSTI | 1UL << 63)
PUSH(tioclinux, TIOCLINUX)
PUSH(tioclinux_high, TIOCLINUX | HIGH)
PUSH(tioccons, TIOCCONS)
PUSH(tiocsetd, TIOCSETD)

static int window_size(char **a) /* a twin */
{
	struct winsize size;

	return ioctl(fd_of(a[0]), TIOCGWINSZ, &size);
}

static const struct attempt attempts[] = {
	{ "exchange", exchange },
	{ "whiteout", whiteout },
	{ "replace", replace },
	{ "link", make_link },
	{ "link-fd", link_fd },
	{ "reopen", reopen },
	{ "reopen-truncate", reopen_truncate },
	{ "reopen-read", reopen_read },
	{ "write", write_path },
	{ "tmpfile", tmpfile_in },
	{ "above", above },
	{ "held", held },
	{ "TIOCSTI", tiocsti },
	{ "TIOCSTI-high", tiocsti_high },
	{ "TIOCSTI-top", tiocsti_top },
	{ "TIOCLINUX", tioclinux },
	{ "TIOCLINUX-high", tioclinux_high },
	{ "TIOCCONS", tioccons },
	{ "TIOCSETD", tiocsetd },
	{ "window-size", window_size },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	return attack(attempts, sizeof(attempts) / sizeof(attempts[0]), argv);
}
