#include "guard/notify/exec_read.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "guard/notify/exec_resolve.h"

enum {
	PAGE = 4096, /* the smallest; larger pages are aligned to it */
	PIECE = 512, /* few texts are longer */
	WORD = 64,
	POINTERS = 64,
	FORKNOEXEC = 0x40, /* the kernel's PF_FORKNOEXEC */
};

struct reader {
	pid_t pid;
	struct ab_arena *arena;
	struct ab_buf *bytes; /* every text, each with its NUL */
};

/* Up to `max` bytes, within one page except for the first `min`; -errno. */
static ssize_t peek_memory(pid_t pid, uint64_t at, void *to, size_t min, size_t max)
{
	size_t left = PAGE - at % PAGE;
	struct iovec here = { .iov_base = to }, there;
	ssize_t n;

	here.iov_len = max < left ? max : left < min ? min : left;
	there = (struct iovec){ .iov_base = (void *)(uintptr_t)at, .iov_len = here.iov_len };
	n = process_vm_readv(pid, &here, 1, &there, 1, 0);
	if (n < 0)
		return -errno;
	return (size_t)n < min ? -EFAULT : n;
}

static int read_text(struct reader *r, uint64_t at, size_t *ret_offset)
{
	char piece[PIECE];
	const char *end = NULL;
	ssize_t n;

	*ret_offset = r->bytes->len;
	for (; !end; at += (size_t)n) {
		n = peek_memory(r->pid, at, piece, 1, sizeof(piece));
		if (n < 0)
			return (int)-n;
		end = memchr(piece, '\0', (size_t)n);
		ab_buf_add(r->bytes, piece, end ? (size_t)(end - piece) + 1 : (size_t)n);
		if (r->bytes->len > AB_EXEC_BYTES)
			return E2BIG;
	}
	return 0;
}

int ab_exec_bytes(pid_t pid, uint64_t at, void *to, size_t len)
{
	ssize_t n = peek_memory(pid, at, to, len, len);

	return n < 0 ? (int)-n : 0;
}

int ab_exec_path(struct ab_arena *arena, pid_t pid, uint64_t at, const char **ret)
{
	char text[PATH_MAX];
	size_t len = 0;

	while (len < sizeof(text)) {
		size_t room = sizeof(text) - len;
		ssize_t n = peek_memory(pid, at + len, text + len, 1, room < PIECE ? room : PIECE);
		const char *end;

		if (n < 0)
			return (int)-n;
		end = memchr(text + len, '\0', (size_t)n);
		len += (size_t)n;
		if (!end)
			continue;
		*ret = ab_arena_dup(arena, text);
		return 0;
	}
	return ENAMETOOLONG;
}

struct words { /* offsets */
	size_t *v;
	size_t len;
};

static int add_word(struct reader *r, uint64_t at, const char *piece, struct words *w)
{
	if (w->len == AB_EXEC_WORDS)
		return E2BIG;
	ab_make_room(w->v, w->len);
	if (!piece)
		return read_text(r, at, &w->v[w->len++]);
	w->v[w->len++] = r->bytes->len;
	ab_buf_add(r->bytes, piece, strlen(piece) + 1);
	return r->bytes->len > AB_EXEC_BYTES ? E2BIG : 0;
}

/* Most words are short: read the beginnings of all of them in one call. */
static int add_words(struct reader *r, const uint64_t *p, size_t n, struct words *w)
{
	char pieces[POINTERS][WORD];
	struct iovec here[POINTERS] = { 0 }, there[POINTERS] = { 0 };
	ssize_t got;
	int errnum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t left = PAGE - p[i] % PAGE;

		left = left < WORD ? left : WORD;
		here[i] = (struct iovec){ pieces[i], left };
		there[i] = (struct iovec){ (void *)(uintptr_t)p[i], left };
	}
	got = process_vm_readv(r->pid, here, n, there, n, 0);
	for (size_t i = 0; i < n && !errnum; i++) {
		bool whole =
			got >= (ssize_t)here[i].iov_len && memchr(pieces[i], '\0', here[i].iov_len);

		got -= (ssize_t)here[i].iov_len;
		errnum = add_word(r, p[i], whole ? pieces[i] : NULL, w);
	}
	return errnum;
}

/* The kernel treats a NULL vector as an empty one. */
static int read_words(struct reader *r, uint64_t at, struct words *w)
{
	while (at) {
		uint64_t p[POINTERS];
		ssize_t got = peek_memory(r->pid, at, p, sizeof(p[0]), sizeof(p));
		size_t n = (size_t)got / sizeof(p[0]), words = 0;
		int errnum;

		if (got < 0)
			return (int)-got;
		while (words < n && p[words])
			words++;
		errnum = words ? add_words(r, p, words, w) : 0;
		if (errnum || words < n)
			return errnum;
		at += n * sizeof(p[0]);
	}
	return 0;
}

static void find_file(const struct reader *r, int dir, const char *path, struct ab_exec *a)
{
	struct ab_found f;
	bool known = ab_exec_walk(r->arena, r->pid, dir, path, false, &f) == 0;

	if (known && !f.errnum)
		a->real = ab_found_path(r->arena, &f);
	if (f.errnum == ENOENT || f.errnum == ENOTDIR)
		a->absent = f.errnum;
	if (known)
		ab_found_close(&f);
}

/* execveat: the path is relative to a descriptor, or is the descriptor itself. */
static const char *join_descriptor_path(const struct reader *r, int fd, const char *path)
{
	const char *start = ab_exec_link(r->arena, "/proc/%d/fd/%d", r->pid, fd);

	if (!start || !path[0])
		return start ? start : path;
	return ab_arena_cat(r->arena, ab_arena_cat(r->arena, start, "/"), path);
}

static int read_call(struct reader *r, const struct seccomp_data *call, struct words *w,
		     struct ab_exec *ret)
{
	bool at = call->nr == __NR_execveat;
	int dir = at ? (int)call->args[0] : AT_FDCWD;
	size_t path;
	int errnum = read_text(r, call->args[at], &path);

	if (!errnum)
		errnum = read_words(r, call->args[1 + at], w);
	if (errnum)
		return errnum;
	*ret = (struct ab_exec){ .path = r->bytes->data + path };
	ret->argv = ab_arena_alloc(r->arena, (w->len + 1) * sizeof(ret->argv[0]));
	for (size_t i = 0; i < w->len; i++)
		ret->argv[i] = r->bytes->data + w->v[i];
	find_file(r, dir, ret->path, ret);
	if (ret->path[0] != '/' && dir != AT_FDCWD)
		ret->path = join_descriptor_path(r, dir, ret->path);
	ret->argc = w->len;
	if (w->len == 0)
		ret->argv[ret->argc++] = ret->path;
	return 0;
}

int ab_exec_read(struct ab_arena *arena, pid_t pid, const struct seccomp_data *call,
		 struct ab_exec *ret)
{
	static struct ab_buf bytes;
	struct reader r = { .pid = pid, .arena = arena, .bytes = &bytes };
	struct words words = { 0 };
	int errnum;

	bytes.len = 0;
	errnum = read_call(&r, call, &words, ret);
	free(words.v);
	if (errnum)
		return errnum;
	ret->cwd = ab_exec_link(arena, "/proc/%d/cwd", pid);
	return 0;
}

bool ab_exec_is_first(pid_t pid)
{
	char stat[512];
	char *p;

	if (ab_exec_proc(pid, "stat", stat, sizeof(stat)) <= 0)
		return false;
	/* "2 (na)me) S 1 2 2 0 -1 FLAGS ...": the name may contain anything. */
	p = strrchr(stat, ')');
	for (int blanks = 0; p && blanks < 7; blanks++)
		p = strchr(p + 1, ' ');
	return p && (strtoul(p, NULL, 10) & FORKNOEXEC);
}

void ab_exec_by(pid_t pid, char ret[16])
{
	/* At most 15 bytes and a newline. */
	char name[17];
	size_t len;

	ab_exec_proc(pid, "comm", name, sizeof(name));
	len = strcspn(name, "\n");
	len = len < 15 ? len : 15;
	memcpy(ret, name, len);
	ret[len] = '\0';
}
