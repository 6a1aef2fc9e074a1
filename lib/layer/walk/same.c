#include "layer/walk/same.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "layer/walk/changes.h"
#include "layer/walk/crew.h"
#include "layer/walk/look.h"

#define CHUNK 65536

/* The first byte at or after `at` that is not in a hole, at most `size`. A file system
 * that does not know holes has none. */
static off_t find_data(int fd, off_t at, off_t size)
{
	off_t data = size <= CHUNK ? at : lseek(fd, at, SEEK_DATA);

	if (data >= 0)
		return data < size ? data : size;
	return errno == ENXIO ? size : at;
}

static ssize_t read_at(int fd, char *to, size_t len, off_t at)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = pread(fd, to + have, len - have, at + (off_t)have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static int compare_content(int a, int b, off_t size)
{
	static _Thread_local char left[CHUNK], right[CHUNK];
	off_t at = 0;

	while (at < size) {
		off_t da = find_data(a, at, size), db = find_data(b, at, size);
		ssize_t na, nb;
		size_t want;

		at = da < db ? da : db;
		if (at >= size)
			break;
		want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		na = read_at(a, left, want, at);
		nb = read_at(b, right, want, at);
		if (na < 0 || nb < 0)
			return -1;
		if (na != nb || na == 0 || memcmp(left, right, (size_t)na) != 0)
			return 0;
		at += na;
	}
	return 1;
}

/* Of one thread. */
struct reader {
	const struct ab_layer_view *view;
	const struct ab_change *changes;
	struct ab_pair *pairs;
	struct ab_parent upper, lower;
};

static int open_known(struct ab_parent *cache, int root, const char *path,
		      const struct ab_identity *id, struct stat *ret)
{
	const char *name;
	int dir = ab_parent_open(cache, root, path, &name);
	ab_autoclose int fd = dir < 0 ? -1 : ab_look_open_file(dir, name);

	if (fd < 0 || fstat(fd, ret) < 0)
		return -1;
	if (!S_ISREG(ret->st_mode) || ret->st_ino != id->ino || ret->st_dev != id->dev) {
		errno = ESTALE;
		return -1;
	}
	return ab_take_fd(&fd);
}

static int compare_files(struct reader *r, const struct ab_change *c)
{
	ab_autoclose int a = -1, b = -1;
	struct stat sa, sb;

	a = open_known(&r->upper, r->view->upper, c->path, &c->layer, &sa);
	b = a < 0 ? -1 : open_known(&r->lower, r->view->lower, c->path, &c->host, &sb);
	if (a < 0 || b < 0)
		return -1;
	return sa.st_size == sb.st_size ? compare_content(a, b, sa.st_size) : 0;
}

static int compare_pair(void *own, size_t i)
{
	struct reader *r = own;
	struct ab_pair *pair = &r->pairs[i];

	pair->same = compare_files(r, &r->changes[pair->change]);
	pair->errnum = pair->same < 0 ? errno : 0;
	return 0;
}

void ab_same_files(const struct ab_layer_view *view, const struct ab_change *changes,
		   struct ab_pair *pairs, size_t len)
{
	struct reader first = { view, changes, pairs, AB_PARENT_NONE, AB_PARENT_NONE };
	struct reader second = first;
	struct ab_crew crew = { .len = len, .work = compare_pair, .own = { &first, &second } };
	size_t at, by;

	(void)ab_crew_run(&crew, &at, &by); /* each pair has its own result */
	ab_parent_fini(&first.upper);
	ab_parent_fini(&first.lower);
	ab_parent_fini(&second.upper);
	ab_parent_fini(&second.lower);
}

int ab_same_links(int upper, int lower, const char *name)
{
	ab_autofree char *a = ab_look_link(upper, name);
	ab_autofree char *b = a ? ab_look_link(lower, name) : NULL;

	if (!b)
		return -1;
	return strcmp(a, b) == 0;
}
