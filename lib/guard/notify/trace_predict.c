#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>

#include "guard/notify/exec_read.h"
#include "guard/notify/exec_resolve.h"
#include "guard/notify/trace.h"
#include "sandbox/plan/plan.h"

#ifndef ST_RDONLY
#define ST_RDONLY 1
#endif

struct prediction {
	struct ab_arena *arena;
	const struct ab_trace_terms *terms;
	pid_t pid;
	const struct seccomp_data *call;
	struct ab_denied *ret;
};

static int find_name(const struct prediction *l, int dir, const char *path, bool nofollow,
		     struct ab_found *ret)
{
	/* An empty name means the descriptor itself, which is open. */
	if (!path[0])
		return -1;
	return ab_exec_walk(l->arena, l->pid, dir, path, nofollow, ret);
}

/* Resolve the name in these arguments. */
static int find_at(const struct prediction *l, int dir, int path, bool nofollow,
		   struct ab_found *ret)
{
	const char *text;

	if (ab_exec_path(l->arena, l->pid, l->call->args[path], &text))
		return -1;
	return find_name(l, dir < 0 ? AT_FDCWD : (int)l->call->args[dir], text, nofollow, ret);
}

static bool is_found(const struct ab_found *f)
{
	return f->errnum == 0;
}

/* Is it in a writable folder? Without mounts nothing else tells: we are not behind the box's
 * Landlock. */
static bool is_outside(const struct prediction *l, int fd)
{
	const char *path = ab_exec_link(l->arena, "/proc/self/fd/%d", fd);
	const struct ab_mount *m = path ? ab_plan_find(l->terms->plan, path) : NULL;

	/* Landlock closes /proc: programs look for what they may do there. */
	if (path && ab_path_within(path, "/proc"))
		return false;
	return path && !(m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN));
}

/* Would it be writable without the mount? The kernel checks the permissions first and returns EROFS
 * only if they allow it. */
static bool is_blocked(const struct prediction *l, int fd, int mode)
{
	if (l->terms->no_mounts)
		return syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0 &&
		       is_outside(l, fd);
	return syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) < 0 &&
	       errno == EROFS;
}

static bool is_read_only(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

/* Read-only outside the box as well? Then the box does not deny it. The box sees the host's file
 * under this name. */
static bool is_read_only_outside(const struct prediction *l, int fd)
{
	const char *path = ab_exec_link(l->arena, "/proc/self/fd/%d", fd);
	ab_autoclose int host = -1;

	if (!path)
		return true;
	host = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return host >= 0 && is_read_only(host);
}

/* A mask has a mode without read permission; a file that the box shows inside one has it. */
static bool is_masked(const struct prediction *l, const struct ab_found *f)
{
	const char *path;
	const struct ab_mount *m;

	if ((f->st.st_mode & 0444) && !l->terms->no_mounts)
		return false;
	path = ab_exec_link(l->arena, "/proc/self/fd/%d", f->fd);
	m = path ? ab_plan_find(l->terms->plan, path) : NULL;
	return m && m->op == AB_MOUNT_MASK;
}

/* No process of the box can enter a mask. Our own walk can if we are root, and then finds
 * ENOENT. */
static bool is_behind_mask(const struct prediction *l, const struct ab_found *f)
{
	return (f->errnum == EACCES || (f->errnum == ENOENT && l->terms->uid == 0)) &&
	       is_masked(l, f);
}

static bool report_mask(const struct prediction *l, const struct ab_found *f, const char *access)
{
	const char *path = ab_found_path(l->arena, f);

	return path && ab_trace_mask(l->arena, l->terms, path, access, l->ret);
}

/* `fd` is what cannot be written: the file itself, or its folder. */
static bool report_write(const struct prediction *l, const struct ab_found *f, int fd, bool whole)
{
	const char *path = ab_found_path(l->arena, f);

	/* A file on a standard descriptor: its mount has no name in the box. */
	if (path && !path[1] && !S_ISDIR(f->st.st_mode))
		return false;
	return path && ab_trace_write(l->arena, l->terms, path, whole, l->ret) &&
	       (strcmp(l->ret->rule, "filesystem.write") != 0 || !is_read_only_outside(l, fd));
}

static bool predict_create(const struct prediction *l, const struct ab_found *f)
{
	if (is_behind_mask(l, f))
		return report_mask(l, f, "write");
	/* Only the last name is missing. */
	return f->errnum == ENOENT && S_ISDIR(f->st.st_mode) && !strchr(f->rest, '/') &&
	       is_blocked(l, f->fd, W_OK | X_OK) && report_write(l, f, f->fd, true);
}

static bool is_mount_point(int fd)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* An existing name is removed or replaced. */
static bool predict_remove(const struct prediction *l, const struct ab_found *f)
{
	const char *path;

	if (!is_found(f))
		return is_behind_mask(l, f) && report_mask(l, f, "write");
	if (f->parent < 0)
		return false;
	if (is_blocked(l, f->parent, W_OK | X_OK))
		return report_write(l, f, f->parent, true);
	if (!is_mount_point(f->fd) && !l->terms->no_mounts)
		return false;
	path = ab_found_path(l->arena, f);
	return path && ab_trace_unmount(l->arena, l->terms, path, l->ret);
}

static bool predict_change(const struct prediction *l, const struct ab_found *f)
{
	uid_t self = l->terms->uid;

	if (!is_found(f))
		return is_behind_mask(l, f) && report_mask(l, f, "write");
	if (is_masked(l, f))
		return report_mask(l, f, "write");
	if (!is_blocked(l, f->fd, W_OK) &&
	    !((self == 0 || f->st.st_uid == self) && !l->terms->no_mounts && is_read_only(f->fd)))
		return false;
	return report_write(l, f, f->fd, false);
}

static bool predict_open(const struct prediction *l, const struct ab_found *f, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);

	if (!is_found(f)) {
		if (is_behind_mask(l, f))
			return report_mask(l, f, writes ? "write" : "read");
		return (flags & O_CREAT) && predict_create(l, f);
	}
	if ((flags & O_CREAT) && (flags & O_EXCL))
		return false;
	if (is_masked(l, f))
		return report_mask(l, f, writes ? "write" : "read");
	if (S_ISDIR(f->st.st_mode))
		return (flags & O_TMPFILE) == O_TMPFILE && is_blocked(l, f->fd, W_OK | X_OK) &&
		       report_write(l, f, f->fd, false);
	return writes && S_ISREG(f->st.st_mode) && is_blocked(l, f->fd, W_OK) &&
	       report_write(l, f, f->fd, false);
}

/* The path of a socket; NULL: it has none, or another family. */
static const char *read_address(const struct prediction *l, int arg)
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

static bool predict_connect(const struct prediction *l, const struct ab_found *f)
{
	const char *path;

	if (is_found(f) && S_ISSOCK(f->st.st_mode))
		return false;
	path = ab_found_path(l->arena, f);
	return path && ab_strv_has(l->terms->sockets, path) &&
	       ab_trace_socket(l->arena, path, l->ret);
}

/* Resolve the name of the call. */
static int find_touched(const struct prediction *l, const struct ab_touch *t, bool nofollow,
			struct ab_found *ret)
{
	const char *path;

	if (t->kind != AB_TOUCH_CONNECT && t->kind != AB_TOUCH_BIND)
		return find_at(l, t->dir, t->path, nofollow, ret);
	path = read_address(l, t->path);
	return path ? find_name(l, AT_FDCWD, path, nofollow, ret) : -1;
}

/* Is the last name not followed if it is a link? */
static bool keeps_last_link(const struct ab_touch *t, int flags)
{
	switch (t->kind) {
	case AB_TOUCH_OPEN:
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

static bool predict_kind(const struct prediction *l, const struct ab_touch *t,
			 const struct ab_found *f, int flags)
{
	switch (t->kind) {
	case AB_TOUCH_OPEN:
		return predict_open(l, f, flags);
	case AB_TOUCH_MAKE:
	case AB_TOUCH_BIND:
		return predict_create(l, f);
	case AB_TOUCH_REMOVE:
	case AB_TOUCH_RENAME:
		return predict_remove(l, f);
	case AB_TOUCH_CHANGE:
		return predict_change(l, f);
	case AB_TOUCH_CONNECT:
		return predict_connect(l, f);
	}
	return false;
}

/* The other name of a rename exists or would be created. A folder cannot replace a file, nor a file
 * a folder, and RENAME_NOREPLACE replaces nothing. */
static bool predict_rename_target(const struct prediction *l, const struct ab_touch *t,
				  const struct ab_found *source)
{
	struct ab_found f;
	bool denied;

	if (find_at(l, t->to_dir, t->to_path, true, &f) < 0)
		return false;
	if (!is_found(&f))
		denied = predict_create(l, &f);
	else if (S_ISDIR(f.st.st_mode) != S_ISDIR(source->st.st_mode) ||
		 (l->call->nr == __NR_renameat2 && (l->call->args[4] & RENAME_NOREPLACE)))
		denied = false;
	else
		denied = predict_remove(l, &f);
	ab_found_close(&f);
	return denied;
}

bool ab_trace_look(struct ab_arena *arena, const struct ab_trace_terms *terms, pid_t pid,
		   const struct seccomp_data *call, struct ab_denied *ret)
{
	const struct ab_touch *t = ab_touch_find(call->nr);
	struct prediction l = { arena, terms, pid, call, ret };
	struct ab_found f;
	bool denied, plain;
	int flags;

	if (!t)
		return false;
	/* O_PATH opens a name, without access to the file. */
	if (!ab_touch_flags(t, pid, call, &flags, &plain) || !plain ||
	    (t->kind == AB_TOUCH_OPEN && (flags & O_PATH)) ||
	    find_touched(&l, t, keeps_last_link(t, flags), &f) < 0)
		return false;
	denied = predict_kind(&l, t, &f, flags);
	if (!denied && is_found(&f) && t->kind == AB_TOUCH_RENAME)
		denied = predict_rename_target(&l, t, &f);
	ab_found_close(&f);
	return denied;
}
