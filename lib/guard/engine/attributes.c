#include "guard/engine/attributes.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <utime.h>

#include "guard/notify/exec_read.h"
#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "guard/notify/trace.h"
#include "sandbox/plan/plan.h"

enum kind {
	MODE,	/* a number */
	OWNER,	/* two numbers */
	UTIME,	/* struct utimbuf */
	UTIMES, /* struct timeval[2] */
	TIMES,	/* struct timespec[2] */
};

/* Numbers of arguments; -1: it has none. */
static const struct change {
	int nr;
	enum kind kind;
	int dir, path; /* path -1: `dir` is the file itself */
	int value;
	int flags;
	bool nofollow;
} changes[] = {
	{ __NR_fchmod, MODE, 0, -1, 1, -1, false },
	{ __NR_fchmodat, MODE, 0, 1, 2, -1, false },
	{ 452, MODE, 0, 1, 2, 3, false }, /* fchmodat2 */
	{ __NR_fchown, OWNER, 0, -1, 1, -1, false },
	{ __NR_fchownat, OWNER, 0, 1, 2, 4, false },
	{ __NR_utimensat, TIMES, 0, 1, 2, 3, false },
#ifdef __NR_chmod
	{ __NR_chmod, MODE, -1, 0, 1, -1, false },
	{ __NR_chown, OWNER, -1, 0, 1, -1, false },
	{ __NR_lchown, OWNER, -1, 0, 1, -1, true },
	{ __NR_utime, UTIME, -1, 0, 1, -1, false },
	{ __NR_utimes, UTIMES, -1, 0, 1, -1, false },
	{ __NR_futimesat, UTIMES, 0, 1, 2, -1, false },
#endif
};

static const struct change *find_change(int nr)
{
	for (size_t i = 0; i < AB_COUNT(changes); i++)
		if (changes[i].nr == nr)
			return &changes[i];
	return NULL;
}

/* The caller's descriptor, as a name of the same file. -errno. */
static int open_descriptor(pid_t pid, int fd)
{
	char path[48];
	int found;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	found = open(path, O_PATH | O_CLOEXEC);
	return found < 0 ? -EBADF : found;
}

static int open_name(const struct ab_held *call, int dir, const char *text, bool nofollow)
{
	struct ab_found f;
	int fd;

	if (ab_exec_walk(call->arena, call->pid, dir, text, nofollow, &f) < 0)
		return -EACCES;
	fd = f.errnum ? -f.errnum : ab_take_fd(&f.fd);
	ab_found_close(&f);
	return fd;
}

/* The file that is to be changed, or -errno. */
static int open_object(const struct ab_held *call, const struct change *c)
{
	const __u64 *args = call->data->args;
	int dir = c->dir < 0 ? AT_FDCWD : (int)args[c->dir];
	unsigned int flags = c->flags < 0 ? 0 : (unsigned int)args[c->flags];
	const char *text = "";

	if (flags & ~(unsigned int)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	/* utimensat() and futimesat() without a name mean the descriptor. */
	if (c->path < 0 || (args[c->path] == 0 && c->kind >= UTIMES && c->dir >= 0))
		return open_descriptor(call->pid, dir);
	if (ab_exec_path(call->arena, call->pid, args[c->path], &text))
		return -EFAULT;
	if (!text[0] && !(flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (!text[0] && dir != AT_FDCWD)
		return open_descriptor(call->pid, dir);
	return open_name(call, dir, text[0] ? text : ".",
			 c->nofollow || (flags & AT_SYMLINK_NOFOLLOW));
}

/* May the box change it? A file without a name (a pipe, a socket, a removed file) is not a file of
 * the host that the policy protects: the box got its descriptor from itself or from the caller. */
static bool is_allowed(const struct ab_plan *plan, const char *path, const struct stat *st)
{
	const struct ab_mount *m;

	if (path[0] != '/' || st->st_nlink == 0)
		return true;
	m = ab_plan_find(plan, path);
	return m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN);
}

static int change_mode(int fd, unsigned int mode)
{
	char path[32];

	/* Only Linux 6.6 changes the mode of a descriptor that is only a name. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fchmodat(AT_FDCWD, path, mode, 0) < 0 ? errno : 0;
}

static bool is_microsecond(const struct timeval *t)
{
	return t->tv_usec >= 0 && t->tv_usec < 1000000;
}

/* 0, or an errno. *ret is NULL if the times are to be the current time. */
static int read_times(const struct ab_held *call, const struct change *c, struct timespec room[2],
		      const struct timespec **ret)
{
	uint64_t at = call->data->args[c->value];
	struct timeval tv[2];
	struct utimbuf buf;
	int errnum;

	*ret = at ? room : NULL;
	if (!at)
		return 0;
	if (c->kind == TIMES)
		return ab_exec_bytes(call->pid, at, room, 2 * sizeof(room[0]));
	if (c->kind == UTIME) {
		errnum = ab_exec_bytes(call->pid, at, &buf, sizeof(buf));
		room[0] = (struct timespec){ .tv_sec = buf.actime };
		room[1] = (struct timespec){ .tv_sec = buf.modtime };
		return errnum;
	}
	errnum = ab_exec_bytes(call->pid, at, tv, sizeof(tv));
	if (!errnum && (!is_microsecond(&tv[0]) || !is_microsecond(&tv[1])))
		return EINVAL;
	for (int i = 0; !errnum && i < 2; i++)
		room[i] = (struct timespec){ tv[i].tv_sec, tv[i].tv_usec * 1000 };
	return errnum;
}

static int change_times(const struct ab_held *call, const struct change *c, int fd)
{
	struct timespec room[2] = { 0 };
	const struct timespec *times;
	int errnum = read_times(call, c, room, &times);

	if (errnum)
		return errnum;
	return syscall(SYS_utimensat, fd, "", times, AT_EMPTY_PATH) < 0 ? errno : 0;
}

static int change_object(const struct ab_held *call, const struct change *c, int fd)
{
	const __u64 *args = call->data->args;

	switch (c->kind) {
	case MODE:
		return change_mode(fd, (unsigned int)args[c->value]);
	case OWNER:
		return fchownat(fd, "", (uid_t)args[c->value], (gid_t)args[c->value + 1],
				AT_EMPTY_PATH) < 0
			       ? errno
			       : 0;
	case UTIME:
	case UTIMES:
	case TIMES:
		break;
	}
	return change_times(call, c, fd);
}

/* Behind the guard's filter, and called through a pointer: scripts/check-calls looks for it. */
static struct ab_reply handle_change(struct ab_guard *guard, void *state,
				     const struct ab_held *call)
{
	const struct change *c = find_change(call->data->nr);
	ab_autoclose int fd = c ? open_object(call, c) : -1;
	struct ab_denied denied;
	const char *path;
	struct stat st;

	(void)state;
	if (!c)
		return ab_reply_next();
	if (fd < 0)
		return ab_reply_errno(-fd);
	path = ab_exec_link(call->arena, "/proc/self/fd/%d", fd);
	if (!path || fstat(fd, &st) < 0)
		return ab_reply_errno(EPERM);
	if (!is_allowed(ab_guard_terms(guard)->plan, path, &st)) {
		if (ab_trace_write(call->arena, ab_guard_terms(guard), path, false, &denied))
			ab_guard_report(guard, call, &denied);
		return ab_reply_errno(EPERM);
	}
	/* Else what was read may be about another process. */
	return ab_reply_errno(ab_guard_waits(guard, call->id) ? change_object(call, c, fd) : EPERM);
}

struct ab_call_handler ab_attributes_handler(void)
{
	return (struct ab_call_handler){ .handle = handle_change };
}
