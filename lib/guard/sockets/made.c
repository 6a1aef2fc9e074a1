#include "guard/sockets/made.h"

#include "base/system/folder.h"
#include "base/text/units.h"

enum {
	FIRST_LOOK = 64,
	MOST = 8192,
	SPARE_FDS = 512, /* of the guard itself */
	LISTENERS = 4096,
};

void ab_made_init(struct ab_made_table *t)
{
	rlim_t limit = ab_fd_limit_raise().rlim_max;

	*t = (struct ab_made_table){ .most = MOST, .look = FIRST_LOOK };
	/* A datagram socket may have two twins. */
	if (limit < 3 * MOST + SPARE_FDS)
		t->most = limit > 2 * SPARE_FDS ? (limit - SPARE_FDS) / 3 : 64;
	t->v = ab_alloc(t->most * sizeof(t->v[0]));
	t->listeners = ab_alloc(LISTENERS * sizeof(t->listeners[0]));
}

/* "socket:[123]" */
static uint64_t parse_link(const char *link, size_t len)
{
	static const char head[] = "socket:[";
	const size_t at = sizeof(head) - 1;
	uint64_t inode;

	if (len <= at || memcmp(link, head, at) != 0 || link[len - 1] != ']')
		return 0;
	return ab_parse_digits(link + at, len - at - 1, &inode) ? inode : 0;
}

uint64_t ab_made_inode(pid_t tid, int fd, int *ret_errnum)
{
	char path[64], link[64];
	uint64_t inode = 0;
	ssize_t n;

	*ret_errnum = EBADF;
	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	n = readlink(path, link, sizeof(link));
	if (n < 0)
		return 0;
	inode = parse_link(link, (size_t)n);
	*ret_errnum = ENOTSOCK;
	return inode;
}

struct ab_made *ab_made_find(struct ab_made_table *t, uint64_t inode)
{
	for (size_t i = 0; inode && i < t->len; i++)
		if (t->v[i].inode == inode)
			return &t->v[i];
	return NULL;
}

void ab_made_drop(struct ab_made_table *t, struct ab_made *k)
{
	close(k->fd);
	for (int i = 0; i < 2; i++)
		ab_closep(&k->twins[i]);
	*k = t->v[--t->len];
}

static void forget_inode(uint64_t *v, size_t *len, uint64_t inode)
{
	for (size_t i = 0; i < *len; i++)
		if (v[i] == inode)
			v[i--] = v[--*len];
}

struct ab_made *ab_made_add(struct ab_made_table *t, int fd, int family, enum ab_made_kind kind)
{
	struct ab_made *k;
	struct stat st;

	if (t->len >= t->look) {
		ab_made_sweep(t);
		t->look = t->len < FIRST_LOOK / 2 ? FIRST_LOOK : 2 * t->len;
	}
	if (t->len == t->most || fstat(fd, &st) < 0) {
		close(fd);
		return NULL;
	}
	/* The kernel uses numbers again. */
	forget_inode(t->listeners, &t->nlisteners, st.st_ino);
	forget_inode(t->connecting, &t->nconnecting, st.st_ino);
	k = &t->v[t->len++];
	*k = (struct ab_made){
		.inode = st.st_ino, .fd = fd, .family = family, .kind = kind, .twins = { -1, -1 }
	};
	return k;
}

void ab_made_listens(struct ab_made_table *t, uint64_t inode)
{
	if (t->nlisteners == LISTENERS)
		ab_made_sweep(t);
	if (t->nlisteners < LISTENERS && !ab_made_is_listener(t, inode))
		t->listeners[t->nlisteners++] = inode;
}

bool ab_made_is_listener(const struct ab_made_table *t, uint64_t inode)
{
	for (size_t i = 0; i < t->nlisteners; i++)
		if (t->listeners[i] == inode)
			return true;
	return false;
}

void ab_made_connects(struct ab_made_table *t, uint64_t inode)
{
	if (t->nconnecting == AB_COUNT(t->connecting)) /* the oldest one is answered EISCONN */
		memmove(t->connecting, t->connecting + 1,
			--t->nconnecting * sizeof(t->connecting[0]));
	t->connecting[t->nconnecting++] = inode;
}

bool ab_made_connected(struct ab_made_table *t, uint64_t inode)
{
	size_t before = t->nconnecting;

	forget_inode(t->connecting, &t->nconnecting, inode);
	return t->nconnecting < before;
}

/* Those that are in use come first. */
static void mark_listener(struct ab_made_table *t, size_t *used, uint64_t inode)
{
	for (size_t i = *used; i < t->nlisteners; i++) {
		if (t->listeners[i] != inode)
			continue;
		t->listeners[i] = t->listeners[*used];
		t->listeners[(*used)++] = inode;
		return;
	}
}

static void mark_process(struct ab_made_table *t, size_t *used, int proc, const char *pid)
{
	char path[48], link[64];
	ab_autodir DIR *dir = NULL;
	const char *name;

	snprintf(path, sizeof(path), "%.16s/fd", pid);
	dir = ab_folder_list(proc, path); /* NULL: not the box's, or gone */
	while ((name = ab_folder_next(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), name, link, sizeof(link));
		uint64_t inode = n < 0 ? 0 : parse_link(link, (size_t)n);
		struct ab_made *k = ab_made_find(t, inode);

		if (k)
			k->seen = true;
		else if (inode)
			mark_listener(t, used, inode);
	}
}

void ab_made_sweep(struct ab_made_table *t)
{
	ab_autodir DIR *proc = opendir("/proc");
	const char *name;
	pid_t self = getpid();
	size_t used = 0;

	if (!proc)
		return;
	for (size_t i = 0; i < t->len; i++)
		t->v[i].seen = false;
	while ((name = ab_folder_next(proc)) != NULL) {
		long pid = strtol(name, NULL, 10);

		if (pid > 0 && pid != self)
			mark_process(t, &used, dirfd(proc), name);
	}
	for (size_t i = t->len; i-- > 0;)
		if (!t->v[i].seen)
			ab_made_drop(t, &t->v[i]);
	t->nlisteners = used;
}
