/*
 * Theory of operation.
 *
 * We resolve a name ourselves, part by part, and links by their text. The kernel would resolve an
 * absolute link from our own root. That has files that the box hides, and the answer would reveal
 * which exist; and mounts that the box does not have, and a dead one would block us for ever.
 */
#include "guard/notify/exec_resolve.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/system/linkwalk.h"
#include "sandbox/plan/engine.h"

struct walk {
	pid_t pid;
	struct ab_linkwalk names;
	int at;
	int above;     /* the folder that contains it, or -1 */
	bool nofollow; /* do not follow the last link */
};

const char *ab_exec_link(struct ab_arena *arena, const char *fmt, ...)
{
	char link[64], target[PATH_MAX];
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vsnprintf(link, sizeof(link), fmt, ap);
	va_end(ap);
	n = readlink(link, target, sizeof(target));
	return n > 0 ? ab_arena_ndup(arena, target, (size_t)n) : NULL;
}

ssize_t ab_exec_proc(pid_t pid, const char *name, char *to, size_t room)
{
	char path[64];
	ab_autoclose int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, room - 1);
	to[n > 0 ? n : 0] = '\0';
	return n;
}

static int go_to(struct walk *w, int fd)
{
	if (fd < 0)
		return errno;
	ab_closep(&w->above);
	w->above = w->at;
	w->at = fd;
	return 0;
}

/* Go to what the process itself has under this name in /proc. */
static int jump_to(struct walk *w, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", w->pid, name);
	return go_to(w, open(path, O_PATH | O_CLOEXEC));
}

static bool is_in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int follow_text(struct walk *w, const char *target)
{
	if (ab_linkwalk_follow(&w->names, target) < 0)
		return errno;
	return target[0] == '/' ? jump_to(w, "root") : 0;
}

static int parse_number(const char *status, const char *word, int which)
{
	const char *p = strstr(status, word);
	int number = -1;

	if (!p)
		return -1;
	for (p += strlen(word); which >= 0 && *p == '\t'; which--) {
		number = (int)strtol(p + 1, NULL, 10);
		p += 1 + strcspn(p + 1, "\t\n");
	}
	return number;
}

int ab_exec_number(pid_t pid, const char *word, enum ab_exec_which which)
{
	char text[4096];

	return ab_exec_proc(pid, "status", text, sizeof(text)) < 0
		       ? -1
		       : parse_number(text, word, which);
}

int ab_exec_own_pid(pid_t pid)
{
	int number = ab_exec_number(pid, "\nNStgid:", AB_NUMBER_BOX);

	return number < 0 ? 0 : number;
}

/* Is this the /proc that we have too? The engine of the box shares it then, and the numbers in it are
 * ours. */
static bool is_shared_proc(int fd)
{
	struct stat ours, theirs;

	return fstat(fd, &theirs) == 0 && stat("/proc", &ours) == 0 && ours.st_dev == theirs.st_dev;
}

/* The process in whose folder of a shared /proc we are; 0: in none. */
static pid_t find_owner(const struct walk *w)
{
	char link[64], path[PATH_MAX];
	const char *at = path;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", w->at);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (strncmp(at, AB_SHARED_PROC "/", strlen(AB_SHARED_PROC "/")) == 0)
		at += strlen(AB_SHARED_PROC "/");
	else if (strncmp(at, "/proc/", 6) == 0)
		at += 6;
	return (pid_t)strtol(at, NULL, 10);
}

/* A shared /proc has processes outside the box, too. We may follow their links, the box may not. */
static bool may_follow(const struct walk *w)
{
	char path[64];
	struct stat own, other;
	pid_t owner = find_owner(w);

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", w->pid);
	if (owner <= 0 || stat(path, &own) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", owner);
	return stat(path, &other) == 0 && ab_stat_same(&own, &other);
}

/* "self" would mean us. We are not in the box's /proc, unless it is shared. Otherwise ours must not be
 * used: it has the host's processes and their roots. */
static int follow_self(struct walk *w, bool shared, bool thread)
{
	char text[4096], target[64];
	int which = shared ? AB_NUMBER_OURS : AB_NUMBER_BOX;
	int n;

	if (ab_exec_proc(w->pid, "status", text, sizeof(text)) < 0)
		return errno;
	n = snprintf(target, sizeof(target), "%d", parse_number(text, "\nNStgid:", which));
	if (thread)
		snprintf(target + n, sizeof(target) - (size_t)n, "/task/%d",
			 parse_number(text, "\nNSpid:", which));
	return follow_text(w, target);
}

static int follow_link(struct walk *w, int link)
{
	const char *name = w->names.name;
	char target[PATH_MAX];
	bool thread = strcmp(name, "thread-self") == 0;
	ssize_t n;

	if (is_in_proc(link)) {
		bool shared = is_shared_proc(link);

		if (thread || strcmp(name, "self") == 0)
			return follow_self(w, shared, thread);
		if (shared && !may_follow(w))
			return EACCES;
		/* To an object that may have no name any more. */
		if (ab_linkwalk_follow(&w->names, NULL) < 0)
			return errno;
		return go_to(w, openat(w->at, name, O_PATH | O_CLOEXEC));
	}
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n < 0)
		return errno;
	target[n] = '\0';
	return follow_text(w, target);
}

/* Is this the process's root? It has called chroot, or this is the root of the box. */
static bool is_at_root(const struct walk *w)
{
	const unsigned int mask = STATX_INO | STATX_MNT_ID;
	struct statx here, root;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", w->pid);
	return statx(w->at, "", AT_EMPTY_PATH, mask, &here) == 0 &&
	       statx(AT_FDCWD, path, 0, mask, &root) == 0 && here.stx_ino == root.stx_ino &&
	       here.stx_mnt_id == root.stx_mnt_id && here.stx_dev_major == root.stx_dev_major &&
	       here.stx_dev_minor == root.stx_dev_minor;
}

static int walk_step(struct walk *w)
{
	bool stays = strcmp(w->names.name, "..") == 0 && is_at_root(w);
	ab_autoclose int fd =
		openat(w->at, stays ? "." : w->names.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno;
	if (S_ISLNK(st.st_mode) && (*w->names.left || !w->nofollow))
		return follow_link(w, fd);
	return go_to(w, ab_take_fd(&fd));
}

static int start_walk(struct walk *w, int dir, const char *path)
{
	char name[32];

	if (path[0] == '/')
		return jump_to(w, "root");
	if (dir == AT_FDCWD)
		return jump_to(w, "cwd");
	snprintf(name, sizeof(name), "fd/%d", dir);
	return jump_to(w, name);
}

/* The caller must release w->names. */
static int walk_path(struct walk *w, int dir, const char *path)
{
	int errnum = strlen(path) < PATH_MAX ? start_walk(w, dir, path) : ENAMETOOLONG;

	ab_linkwalk_init(&w->names, NULL, path);
	while (!errnum && ab_linkwalk_next(&w->names))
		errnum = walk_step(w);
	return errnum;
}

/* The name that was looked up last, and what follows it. */
static const char *join_rest(struct ab_arena *arena, const struct ab_linkwalk *names)
{
	const char *left = *names->left ? ab_arena_cat(arena, "/", names->left) : "";

	return ab_arena_cat(arena, names->name, left);
}

int ab_exec_walk(struct ab_arena *arena, pid_t pid, int dir, const char *path, bool nofollow,
		 struct ab_found *ret)
{
	struct walk w = { .pid = pid, .at = -1, .above = -1, .nofollow = nofollow };

	*ret = (struct ab_found){ .rest = "" };
	ret->errnum = walk_path(&w, dir, path);
	ret->fd = w.at;
	ret->parent = w.above;
	if (ret->errnum && w.names.name)
		ret->rest = join_rest(arena, &w.names);
	ab_linkwalk_fini(&w.names);
	if (ret->fd >= 0 && fstat(ret->fd, &ret->st) == 0)
		return 0;
	ab_found_close(ret);
	return -1;
}

void ab_found_close(struct ab_found *found)
{
	ab_close_all(&found->fd, &found->parent);
}

const char *ab_found_path(struct ab_arena *arena, const struct ab_found *found)
{
	const char *at = ab_exec_link(arena, "/proc/self/fd/%d", found->fd);

	if (!at || !found->rest[0])
		return at;
	if (strcmp(at, "/") != 0)
		at = ab_arena_cat(arena, at, "/");
	return ab_arena_cat(arena, at, found->rest);
}
