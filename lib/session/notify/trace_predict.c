#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/system/fd.h"
#include "sandbox/plan/plan.h"
#include "session/notify/exec_read.h"
#include "session/notify/exec_resolve.h"
#include "session/notify/trace.h"

#ifndef ST_RDONLY
#define ST_RDONLY 1
#endif

struct look {
	struct ab_arena *arena;
	const struct ab_trace_terms *terms;
	pid_t pid;
	const struct seccomp_data *call;
	struct ab_denied *ret;
};

static int find(const struct look *l, int dir, const char *path, bool nofollow,
		struct ab_found *ret)
{
	/* An empty name stands for the descriptor itself, which is open. */
	if (!path[0])
		return -1;
	return ab_exec_walk(l->arena, l->pid, dir, path, nofollow, ret);
}

/* The name in these arguments. */
static int find_at(const struct look *l, int dir, int path, bool nofollow, struct ab_found *ret)
{
	const char *text;

	if (ab_exec_path(l->arena, l->pid, l->call->args[path], &text))
		return -1;
	return find(l, dir < 0 ? AT_FDCWD : (int)l->call->args[dir], text, nofollow, ret);
}

static bool is_there(const struct ab_found *f)
{
	return f->errnum == 0;
}

/* Nothing but one name is missing. */
static bool can_be_made(const struct ab_found *f)
{
	return f->errnum == ENOENT && S_ISDIR(f->st.st_mode) && !strchr(f->rest, '/');
}

/*
 * Would it be writable, were it not for the mount? The kernel looks at the
 * permissions first, and says EROFS where they permit it.
 */
static bool is_held_back(int fd, int mode)
{
	return syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) < 0 &&
	       errno == EROFS;
}

static bool is_read_only(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

/* Outside of the box as well: then it is not the box that refuses. What the
 * box sees under this name is what the host has there. */
static bool is_read_only_outside(const struct look *l, int fd)
{
	const char *path = ab_exec_link(l->arena, "/proc/self/fd/%d", fd);
	ab_autoclose int host = -1;

	if (!path)
		return true;
	host = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return host >= 0 && is_read_only(host);
}

/* What masks are made of cannot be read by its mode; a file that the box shows
 * in one can. */
static bool is_masked(const struct look *l, const struct ab_found *f)
{
	const char *path;
	const struct ab_mount *m;

	if (f->st.st_mode & 0444)
		return false;
	path = ab_exec_link(l->arena, "/proc/self/fd/%d", f->fd);
	m = path ? ab_plan_find(l->terms->plan, path) : NULL;
	return m && m->op == AB_MOUNT_MASK;
}

/* Into a mask nobody can go; root, whom the box has not, does not see that. */
static bool is_cut_off(const struct look *l, const struct ab_found *f)
{
	return (f->errnum == EACCES || (f->errnum == ENOENT && l->terms->uid == 0)) &&
	       is_masked(l, f);
}

static bool say_mask(const struct look *l, const struct ab_found *f, const char *access)
{
	const char *path = ab_found_path(l->arena, f);

	return path && ab_trace_mask(l->arena, l->terms, path, access, l->ret);
}

/* `fd` is what cannot be written: the thing itself, or the folder. */
static bool say_write(const struct look *l, const struct ab_found *f, int fd, bool whole)
{
	const char *path = ab_found_path(l->arena, f);

	return path && ab_trace_write(l->arena, l->terms, path, whole, l->ret) &&
	       (strcmp(l->ret->rule, "filesystem.write") != 0 || !is_read_only_outside(l, fd));
}

static bool look_make(const struct look *l, const struct ab_found *f)
{
	if (is_cut_off(l, f))
		return say_mask(l, f, "write");
	return can_be_made(f) && is_held_back(f->fd, W_OK | X_OK) && say_write(l, f, f->fd, true);
}

static bool is_mount_point(int fd)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A name that is there is to go, or another to take its place. */
static bool look_remove(const struct look *l, const struct ab_found *f)
{
	const char *path;

	if (!is_there(f))
		return is_cut_off(l, f) && say_mask(l, f, "write");
	if (f->parent < 0)
		return false;
	if (is_held_back(f->parent, W_OK | X_OK))
		return say_write(l, f, f->parent, true);
	if (!is_mount_point(f->fd))
		return false;
	path = ab_found_path(l->arena, f);
	return path && ab_trace_unmount(l->arena, l->terms, path, l->ret);
}

static bool look_change(const struct look *l, const struct ab_found *f)
{
	uid_t self = l->terms->uid;

	if (!is_there(f))
		return is_cut_off(l, f) && say_mask(l, f, "write");
	if (is_masked(l, f))
		return say_mask(l, f, "write");
	if (!is_held_back(f->fd, W_OK) &&
	    !((self == 0 || f->st.st_uid == self) && is_read_only(f->fd)))
		return false;
	return say_write(l, f, f->fd, false);
}

static bool look_open(const struct look *l, const struct ab_found *f, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);

	if (!is_there(f)) {
		if (is_cut_off(l, f))
			return say_mask(l, f, writes ? "write" : "read");
		return (flags & O_CREAT) && look_make(l, f);
	}
	if ((flags & O_CREAT) && (flags & O_EXCL))
		return false;
	if (is_masked(l, f))
		return say_mask(l, f, writes ? "write" : "read");
	if (S_ISDIR(f->st.st_mode))
		return (flags & O_TMPFILE) == O_TMPFILE && is_held_back(f->fd, W_OK | X_OK) &&
		       say_write(l, f, f->fd, false);
	return writes && S_ISREG(f->st.st_mode) && is_held_back(f->fd, W_OK) &&
	       say_write(l, f, f->fd, false);
}

/* The name of a socket; NULL: it has none, or is of another family. */
static const char *read_address(const struct look *l, int arg)
{
	struct sockaddr_un un = { 0 };
	size_t len = (uint32_t)l->call->args[arg + 1];

	if (len <= offsetof(struct sockaddr_un, sun_path) || len > sizeof(un))
		return NULL;
	if (ab_exec_bytes(l->pid, l->call->args[arg], &un, len) || un.sun_family != AF_UNIX ||
	    !un.sun_path[0])
		return NULL;
	return ab_arena_ndup(l->arena, un.sun_path, strnlen(un.sun_path, sizeof(un.sun_path)));
}

static bool look_connect(const struct look *l, const struct ab_found *f)
{
	const char *path;

	if (is_there(f) && S_ISSOCK(f->st.st_mode))
		return false;
	path = ab_found_path(l->arena, f);
	return path && ab_trace_socket(l->arena, l->terms, path, l->ret);
}

static bool look_socket(const struct look *l, const struct ab_touch *t)
{
	const char *path = read_address(l, t->path);
	struct ab_found f;
	bool told;

	if (!path || find(l, AT_FDCWD, path, t->kind == AB_TOUCH_BIND, &f) < 0)
		return false;
	told = t->kind == AB_TOUCH_BIND ? look_make(l, &f) : look_connect(l, &f);
	ab_found_close(&f);
	return told;
}

/* openat2: false where its names mean something of their own. */
static bool read_how(const struct look *l, const struct ab_touch *t, int *ret)
{
	uint64_t how[3]; /* struct open_how: flags, mode, resolve */

	if (l->call->args[t->flags + 1] < sizeof(how) ||
	    ab_exec_bytes(l->pid, l->call->args[t->flags], how, sizeof(how)) || how[2] != 0)
		return false;
	*ret = (int)how[0];
	return true;
}

static bool read_flags(const struct look *l, const struct ab_touch *t, int *ret)
{
	switch (t->kind) {
	case AB_TOUCH_OPEN2:
		return read_how(l, t, ret);
	case AB_TOUCH_CREAT:
		*ret = O_CREAT | O_WRONLY | O_TRUNC;
		break;
	case AB_TOUCH_OPEN:
	case AB_TOUCH_MAKE:
	case AB_TOUCH_REMOVE:
	case AB_TOUCH_RENAME:
	case AB_TOUCH_CHANGE:
	case AB_TOUCH_CONNECT:
	case AB_TOUCH_BIND:
		*ret = t->flags < 0 ? 0 : (int)l->call->args[t->flags];
		break;
	}
	return true;
}

/* open: what has no access to the file is no access. */
static bool is_only_name(const struct ab_touch *t, int flags)
{
	return (t->kind == AB_TOUCH_OPEN || t->kind == AB_TOUCH_OPEN2) && (flags & O_PATH);
}

/* Is the last name one that is not followed? */
static bool stays(const struct ab_touch *t, int flags)
{
	switch (t->kind) {
	case AB_TOUCH_OPEN:
	case AB_TOUCH_OPEN2:
	case AB_TOUCH_CREAT:
		return (flags & O_NOFOLLOW) || ((flags & O_CREAT) && (flags & O_EXCL));
	case AB_TOUCH_CHANGE:
		return t->nofollow || (flags & AT_SYMLINK_NOFOLLOW);
	case AB_TOUCH_MAKE:
	case AB_TOUCH_REMOVE:
	case AB_TOUCH_RENAME:
	case AB_TOUCH_BIND:
		return true;
	case AB_TOUCH_CONNECT:
		break;
	}
	return false;
}

static bool look_at(const struct look *l, const struct ab_touch *t, const struct ab_found *f,
		    int flags)
{
	switch (t->kind) {
	case AB_TOUCH_OPEN:
	case AB_TOUCH_OPEN2:
	case AB_TOUCH_CREAT:
		return look_open(l, f, flags);
	case AB_TOUCH_MAKE:
		return look_make(l, f);
	case AB_TOUCH_REMOVE:
	case AB_TOUCH_RENAME:
		return look_remove(l, f);
	case AB_TOUCH_CHANGE:
		return look_change(l, f);
	case AB_TOUCH_CONNECT:
	case AB_TOUCH_BIND:
		break;
	}
	return false;
}

/* The other name of a rename: there, or to be made. A folder takes no file's
 * place, nor the other way round, and some ask for an empty place. */
static bool look_target(const struct look *l, const struct ab_touch *t,
			const struct ab_found *source)
{
	struct ab_found f;
	bool told;

	if (find_at(l, t->to_dir, t->to_path, true, &f) < 0)
		return false;
	if (!is_there(&f))
		told = look_make(l, &f);
	else if (S_ISDIR(f.st.st_mode) != S_ISDIR(source->st.st_mode) ||
		 (l->call->nr == __NR_renameat2 && (l->call->args[4] & RENAME_NOREPLACE)))
		told = false;
	else
		told = look_remove(l, &f);
	ab_found_close(&f);
	return told;
}

bool ab_trace_look(struct ab_arena *arena, const struct ab_trace_terms *terms, pid_t pid,
		   const struct seccomp_data *call, struct ab_denied *ret)
{
	const struct ab_touch *t = ab_touch_find(call->nr);
	struct look l = { arena, terms, pid, call, ret };
	struct ab_found f;
	int flags = 0;
	bool told;

	if (!t)
		return false;
	if (t->kind == AB_TOUCH_CONNECT || t->kind == AB_TOUCH_BIND)
		return look_socket(&l, t);
	if (!read_flags(&l, t, &flags) || is_only_name(t, flags) ||
	    find_at(&l, t->dir, t->path, stays(t, flags), &f) < 0)
		return false;
	told = look_at(&l, t, &f, flags);
	if (!told && is_there(&f) && t->kind == AB_TOUCH_RENAME)
		told = look_target(&l, t, &f);
	ab_found_close(&f);
	return told;
}
