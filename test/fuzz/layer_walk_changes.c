/*
 * A layer and a host folder built from bytes, then walked: the walk ends, stays in
 * order, names only what is there, and never opens anything but the regular files that
 * it looked at.
 *
 * Each byte pair is an operation and a name: the tree has few names, so that both
 * sides meet.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/data/error.h"
#include "workspace/tree/remove_tree.h"
#include "layer/walk/look.h"
#include "workspace/tree/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int top = -1;

static const char *const names[] = { "a", "b", "a\nb", "d", ".git", "d-e", "\x1b[2J", "x" };

/* A folder three levels deep, or -1. `dir` is kept open. */
static int enter(int root, uint8_t path)
{
	int dir = dup(root);

	for (int level = 0; level < 2 && dir >= 0; level++, path >>= 3) {
		int next;

		if (!(path & 7))
			break;
		next = openat(dir, names[path & 7],
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			break;
		close(dir);
		dir = next;
	}
	return dir;
}

static void write_file(int dir, const char *name, const uint8_t *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	if (write(fd, data, len) < 0 && errno != ENXIO)
		abort();
	close(fd);
}

static void mark_opaque(int dir)
{
	(void)!fsetxattr(dir, "user.overlay.opaque", "y", 1, 0);
}

static void build(int root, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 2 < size; i += 3) {
		int dir = enter(root, data[i + 1]);
		const char *name = names[data[i + 2] & 7];

		if (dir < 0)
			continue;
		switch (data[i] % 10) {
		case 0:
		case 1:
			write_file(dir, name, data + i, data[i] % 5 < 3 ? 1 : size - i);
			break;
		case 2:
		case 3:
			(void)!mkdirat(dir, name, 0755);
			break;
		case 4:
			(void)!symlinkat(names[data[i] & 7], dir, name);
			break;
		case 5:
			(void)!mknodat(dir, name, S_IFCHR | 0600, 0);
			break;
		case 6:
			(void)!mknodat(dir, name, S_IFIFO | 0600, 0);
			break;
		case 7:
			mark_opaque(dir);
			break;
		case 8:
			(void)!fchmodat(dir, name, data[i + 1] | 0400, 0);
			break;
		case 9:
			(void)!unlinkat(dir, name, 0);
			break;
		}
		close(dir);
	}
}

static int make_root(const char *name)
{
	int fd;

	if (ab_remove_object(top, name) < 0 || mkdirat(top, name, 0755) < 0)
		abort();
	fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void check_change(const struct ab_layer_view *view, const struct ab_change *c)
{
	struct stat st;
	int fd = ab_look_open_known(view->upper, c->path, &c->layer, &st);

	if (c->path[0] == '/' || strstr(c->path, "//") || strstr(c->path, ".."))
		abort();
	if (fd >= 0 && (!S_ISREG(st.st_mode) || c->is != AB_TYPE_FILE))
		abort();
	if (fd < 0 && c->is == AB_TYPE_FILE && !c->refused && errno != EACCES)
		abort();
	if (fd >= 0)
		close(fd);
	if (c->is == AB_TYPE_OTHER && !c->refused)
		abort();
}

static void walk(const struct ab_layer_view *view, const struct ab_changes_limits *limits)
{
	struct ab_changes changes = { 0 };
	struct ab_error err;

	if (ab_changes_collect(view, limits, &changes, &err) < 0)
		abort();
	for (size_t i = 0; i < changes.len; i++) {
		if (i && ab_path_order(changes.v[i - 1].path, changes.v[i].path) >= 0)
			abort();
		if (ab_changes_find(&changes, changes.v[i].path) != &changes.v[i])
			abort();
		check_change(view, &changes.v[i]);
	}
	ab_changes_fini(&changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_layer_view view = { .latest = { 0 } };
	struct ab_changes_limits limits = { .entries = 7, .depth = 2, .path = 9 };
	size_t half;

	if (top < 0) {
		char name[] = "/tmp/agentbox-fuzz-XXXXXX";

		top = mkdtemp(name) ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
		if (top < 0)
			abort();
	}
	if (size < 2 || size > 300)
		return 0;
	half = 1 + data[0] % (size - 1);
	view.copy = data[0] & 0x80;
	view.upper = make_root("upper");
	view.lower = make_root("lower");
	build(view.upper, data + 1, half - 1);
	build(view.lower, data + half, size - half);
	walk(&view, NULL);
	walk(&view, &limits);
	close(view.upper);
	close(view.lower);
	return 0;
}
