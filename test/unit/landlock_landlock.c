/* Landlock rights by ABI, and what they do to a process that enters. */
#include "landlock/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "tap.h"

static char dir[PATH_MAX];

static void check_names(void)
{
	bool all = true;

	for (int abi = 1; abi <= AB_LL_NEWEST; abi++)
		all &= ab_landlock_brings(abi) && ab_landlock_brings(abi)[0];
	ok(all, "every ABI says what it brought");
	ok(!ab_landlock_brings(0) && !ab_landlock_brings(AB_LL_NEWEST + 1) &&
		   !ab_landlock_brings(-1),
	   "others say nothing");
}

/* As an older kernel would be spoken to, up to this one's ABI. */
static void check_each_abi(int newest)
{
	for (int abi = 1; abi <= newest; abi++) {
		struct ab_error err = { 0 };
		ab_autoclose int set =
			ab_landlock_open(abi, AB_LL_SCOPE_SIGNAL | AB_LL_SCOPE_ABSTRACT, &err);
		ab_autoclose int folder = open("/usr", O_PATH | O_CLOEXEC);
		ab_autoclose int file = open("/etc/passwd", O_PATH | O_CLOEXEC);
		ab_autoclose int device = open("/dev/null", O_PATH | O_CLOEXEC);

		ok(set >= 0, "ABI %d: a ruleset %s", abi, err.text);
		ok(ab_landlock_allow_fd(set, abi, folder, AB_LL_ALL, &err) == 0,
		   "ABI %d: all rights on a folder", abi);
		ok(ab_landlock_allow_fd(set, abi, file, AB_LL_ALL, &err) == 0,
		   "ABI %d: on a file those that it can carry", abi);
		ok(ab_landlock_allow_fd(set, abi, device, AB_LL_ALL, &err) == 0,
		   "ABI %d: on a device too", abi);
		ok(ab_landlock_allow_fd(set, abi, file, AB_LL_MAKE, &err) == 0,
		   "ABI %d: no right at all is no error", abi);
		ok(ab_landlock_allow_fd(set, abi, -1, AB_LL_READ, &err) < 0 && err.errnum == EBADF,
		   "ABI %d: no descriptor is one", abi);
	}
}

static bool can_open(const char *path, int flags)
{
	ab_autoclose int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd >= 0;
}

/* Bits: what must be possible and is not, what must not be and is. */
static int look_around(pid_t outside, int abi)
{
	char path[PATH_MAX + 16], other[PATH_MAX + 16];
	int wrong = 0;

	snprintf(path, sizeof(path), "%s/write/new", dir);
	snprintf(other, sizeof(other), "%s/write/renamed", dir);
	wrong |= can_open(path, O_CREAT | O_WRONLY) ? 0 : 1;
	wrong |= rename(path, other) == 0 ? 0 : 2;
	snprintf(path, sizeof(path), "%s/read/file", dir);
	wrong |= can_open(path, O_RDONLY) ? 0 : 4;
	wrong |= can_open(path, O_WRONLY) ? 8 : 0;
	wrong |= unlink(path) == 0 ? 16 : 0;
	if (abi >= 3)
		wrong |= truncate(path, 0) == 0 ? 32 : 0;
	snprintf(path, sizeof(path), "%s/none/file", dir);
	wrong |= can_open(path, O_RDONLY) ? 64 : 0;
	if (abi >= 6)
		wrong |= kill(outside, 0) == 0 || errno != EPERM ? 128 : 0;
	return wrong;
}

static int in_child(int abi, int sign)
{
	pid_t parent = getpid(), pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct ab_error err;
		char path[PATH_MAX + 16];
		int set = ab_landlock_open(abi, (unsigned int)sign, &err), fd;

		snprintf(path, sizeof(path), "%s/write", dir);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (set < 0 || fd < 0 ||
		    ab_landlock_allow_fd(set, abi, fd, AB_LL_ALL & ~AB_LL_DEVICE, &err) < 0)
			_exit(255);
		snprintf(path, sizeof(path), "%s/read", dir);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd < 0 || ab_landlock_allow_fd(set, abi, fd, AB_LL_READ, &err) < 0 ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || ab_landlock_enter(set) < 0)
			_exit(255);
		_exit(look_around(parent, abi));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void check_walls(int newest)
{
	static const char *const made[] = { "write", "read", "none" };
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
		mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/%s/file", dir, made[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	for (int abi = 1; abi <= newest; abi++) {
		int wrong = in_child(abi, AB_LL_SCOPE_SIGNAL);

		ok(wrong == 0, "ABI %d: the walls stand where they should (%d)", abi, wrong);
		snprintf(path, sizeof(path), "%s/write/renamed", dir);
		unlink(path);
	}
	ok(ab_landlock_enter(-1) < 0, "what is no ruleset is not entered");
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s/file", dir, made[i]);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
		rmdir(path);
	}
}

/* Bits: renames and links between two folders that fail, or work where they must not. */
static int move_about(pid_t outside)
{
	char from[PATH_MAX + 32], to[PATH_MAX + 32];
	int wrong = 0;

	snprintf(from, sizeof(from), "%s/write/one/file", dir);
	snprintf(to, sizeof(to), "%s/write/two/file", dir);
	wrong |= rename(from, to) == 0 ? 0 : 1;
	wrong |= link(to, from) == 0 ? 0 : 2;
	snprintf(to, sizeof(to), "%s/none/file", dir);
	wrong |= link(from, to) == 0 ? 4 : 0;
	wrong |= rename(from, to) == 0 ? 8 : 0;
	wrong |= kill(outside, 0) == 0 || errno != EPERM ? 16 : 0;
	return wrong;
}

/* As init and the command of a box without namespaces: the scope before the files, or after. */
static int move_behind(bool scope_first)
{
	pid_t parent = getpid(), pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct ab_error err;
		char path[PATH_MAX + 16];
		int set = ab_landlock_open(6, 0, &err), fd;

		snprintf(path, sizeof(path), "%s/write", dir);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (ab_landlock_allow_fd(set, 6, fd, AB_LL_ALL & ~AB_LL_DEVICE, &err) < 0 ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    (scope_first && ab_landlock_enter_scope() < 0) || ab_landlock_enter(set) < 0)
			_exit(255);
		/* What it enters last, it still may enter: the folder "/" can be opened. */
		_exit(!scope_first && ab_landlock_enter_scope() < 0 ? 254 : move_about(parent));
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *const tree[] = { "write", "write/one", "write/two", "none" };

static void check_moves(bool scope_first)
{
	char path[PATH_MAX + 32];
	int wrong;

	for (size_t i = 0; i < AB_COUNT(tree); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, tree[i]);
		mkdir(path, 0700);
	}
	snprintf(path, sizeof(path), "%s/write/one/file", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	wrong = move_behind(scope_first);
	ok(wrong == 0, "renames and links between folders, scope %s (%d)",
	   scope_first ? "first" : "last", wrong);
	unlink(path);
	snprintf(path, sizeof(path), "%s/write/two/file", dir);
	unlink(path);
	for (size_t i = AB_COUNT(tree); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", dir, tree[i]);
		rmdir(path);
	}
}

int main(void)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";
	int newest = ab_landlock_abi();

	check_names();
	if (newest == 0) {
		lacks("rulesets", "no Landlock here");
		return done();
	}
	if (newest > AB_LL_NEWEST)
		newest = AB_LL_NEWEST;
	if (!mkdtemp(name) || !realpath(name, dir))
		abort();
	check_each_abi(newest);
	check_walls(newest);
	if (newest >= 6) {
		check_moves(true);
		check_moves(false);
	}
	rmdir(dir);
	return done();
}
