/* Which arguments of a call are names. The list of calls is that of the filter (`seen` in
 * sandbox/seccomp/target.c) without execve. */
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "guard/notify/exec_read.h"
#include "guard/notify/trace.h"

#ifndef __NR_fchmodat2 /* Linux 6.6 */
#define __NR_fchmodat2 452
#endif

/* clang-format off */
#define AT(n, k, d, p, f) { __NR_##n, AB_TOUCH_##k, (d), (p), (f), -1, -1, false }
#define HERE(n, k, p, f) { __NR_##n, AB_TOUCH_##k, -1, (p), (f), -1, -1, false }
#define LINK(n, k, p) { __NR_##n, AB_TOUCH_##k, -1, (p), -1, -1, -1, true }
#define MOVE(n, d, p, td, tp) { __NR_##n, AB_TOUCH_RENAME, (d), (p), -1, (td), (tp), false }

static const struct ab_touch touches[] = {
	AT(openat, OPEN, 0, 1, 2),
	AT(openat2, OPEN, 0, 1, 2),
	AT(mkdirat, MAKE, 0, 1, -1),
	AT(mknodat, MAKE, 0, 1, -1),
	AT(symlinkat, MAKE, 1, 2, -1),
	AT(linkat, MAKE, 2, 3, -1),
	AT(unlinkat, REMOVE, 0, 1, -1),
	MOVE(renameat2, 0, 1, 2, 3),
	HERE(truncate, CHANGE, 0, -1),
	AT(fchmodat, CHANGE, 0, 1, -1),
	AT(fchmodat2, CHANGE, 0, 1, 3),
	AT(fchownat, CHANGE, 0, 1, 4),
	AT(utimensat, CHANGE, 0, 1, 3),
	HERE(setxattr, CHANGE, 0, -1),
	LINK(lsetxattr, CHANGE, 0),
	HERE(removexattr, CHANGE, 0, -1),
	LINK(lremovexattr, CHANGE, 0),
	HERE(connect, CONNECT, 1, -1),
	HERE(bind, BIND, 1, -1),
#ifdef __NR_renameat
	MOVE(renameat, 0, 1, 2, 3),
#endif
#ifdef __NR_open /* not on newer architectures */
	HERE(open, OPEN, 0, 1),
	HERE(creat, OPEN, 0, -1),
	HERE(mkdir, MAKE, 0, -1),
	HERE(mknod, MAKE, 0, -1),
	HERE(symlink, MAKE, 1, -1),
	HERE(link, MAKE, 1, -1),
	HERE(unlink, REMOVE, 0, -1),
	HERE(rmdir, REMOVE, 0, -1),
	MOVE(rename, -1, 0, -1, 1),
	HERE(chmod, CHANGE, 0, -1),
	HERE(chown, CHANGE, 0, -1),
	LINK(lchown, CHANGE, 0),
	HERE(utime, CHANGE, 0, -1),
	HERE(utimes, CHANGE, 0, -1),
	AT(futimesat, CHANGE, 0, 1, -1),
#endif
};
/* clang-format on */

const struct ab_touch *ab_touch_find(int nr)
{
	for (size_t i = 0; i < AB_COUNT(touches); i++)
		if (touches[i].nr == nr)
			return &touches[i];
	return NULL;
}

bool ab_touch_flags(const struct ab_touch *t, pid_t pid, const struct seccomp_data *call, int *ret,
		    bool *ret_plain)
{
	uint64_t how[3]; /* struct open_how: flags, mode, resolve */

	*ret_plain = true;
	*ret = t->kind == AB_TOUCH_OPEN ? O_CREAT | O_WRONLY | O_TRUNC : 0; /* creat() */
	if (t->flags >= 0)
		*ret = (int)call->args[t->flags];
	if (t->nr != __NR_openat2)
		return true;
	if (call->args[t->flags + 1] < sizeof(how) ||
	    ab_exec_bytes(pid, call->args[t->flags], how, sizeof(how)))
		return false;
	*ret = (int)how[0];
	*ret_plain = how[2] == 0;
	return true;
}
