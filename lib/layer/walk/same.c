#include "layer/walk/same.h"

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

/* `left` and `right` have room for CHUNK bytes. */
static int compare_content(int a, int b, off_t size, char *left, char *right)
{
	off_t at = 0;

	while (at < size) {
		off_t da = find_data(a, at, size), db = find_data(b, at, size);
		ssize_t na, nb;
		size_t want;

		at = da < db ? da : db;
		if (at >= size)
			break;
		want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		na = ab_pread_full(a, left, want, at);
		nb = ab_pread_full(b, right, want, at);
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
	char *room; /* for two chunks, from the first file on */
};

static int open_known(struct ab_parent *cache, int root, const char *path,
		      const struct ab_identity *id, struct stat *ret)
{
	const char *name;
	int dir = ab_parent_open(cache, root, path, &name);

	return dir < 0 ? -1 : ab_look_open_known(dir, name, id, ret);
}

static int compare_files(struct reader *r, const struct ab_change *c)
{
	ab_autoclose int a = -1, b = -1;
	struct stat sa, sb;

	a = open_known(&r->upper, r->view->upper, c->path, &c->layer, &sa);
	b = a < 0 ? -1 : open_known(&r->lower, r->view->lower, c->path, &c->host, &sb);
	if (a < 0 || b < 0)
		return -1;
	if (sa.st_size != sb.st_size)
		return 0;
	if (!r->room)
		r->room = ab_alloc(2 * CHUNK);
	return compare_content(a, b, sa.st_size, r->room, r->room + CHUNK);
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
	struct reader first = { view, changes, pairs, AB_PARENT_NONE, AB_PARENT_NONE, NULL };
	struct reader second = first;
	struct ab_crew crew = { .len = len, .work = compare_pair, .own = { &first, &second } };
	size_t at, by;

	(void)ab_crew_run(&crew, &at, &by); /* each pair has its own result */
	ab_parent_fini(&first.upper);
	ab_parent_fini(&first.lower);
	ab_parent_fini(&second.upper);
	ab_parent_fini(&second.lower);
	ab_free_all(first.room, second.room);
}

int ab_same_links(int upper, int lower, const char *name)
{
	ab_autofree char *a = ab_read_link(upper, name);
	ab_autofree char *b = a ? ab_read_link(lower, name) : NULL;

	if (!b)
		return -1;
	return strcmp(a, b) == 0;
}
