#include "layer/journal/stack.h"

#include "layer/store/store.h"
#include "layer/walk/look.h"
#include "layer/walk/records.h"
#include "workspace/tree/remove_tree.h"

#define EARLIER "before-"

static unsigned get_number(const char *name)
{
	return (unsigned)strtoul(name + strlen(EARLIER), NULL, 10);
}

static int by_number(const void *a, const void *b)
{
	unsigned x = get_number(*(char *const *)a), y = get_number(*(char *const *)b);

	return x < y ? 1 : x > y ? -1 : 0;
}

int ab_undo_earlier(int undo, struct ab_strv *ret)
{
	ab_autolisting struct ab_listing names = { 0 };
	ab_autoclose int dir = ab_open_same_mount(undo, ".", O_RDONLY | O_DIRECTORY);

	if (dir < 0 || ab_listing_read(&names, dir, SIZE_MAX) < 0)
		return -1;
	for (size_t i = 0; i < names.len; i++)
		if (strncmp(names.v[i].name, EARLIER, strlen(EARLIER)) == 0)
			ab_strv_add(ret, names.v[i].name);
	if (ret->len)
		qsort(ret->v, ret->len, sizeof(ret->v[0]), by_number);
	return 0;
}

int ab_undo_push(int undo)
{
	ab_autostrv struct ab_strv earlier = { 0 };
	ab_autofree char *name = NULL;

	if (ab_undo_earlier(undo, &earlier) < 0)
		return -1;
	name = ab_printf(EARLIER "%u", earlier.len ? get_number(earlier.v[0]) + 1 : 1);
	return ab_rename_new(undo, "last", undo, name) < 0 && errno != ENOENT ? -1 : 0;
}

int ab_undo_mark(int dir, const char *name)
{
	ab_autoclose int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : 0;
}

int ab_undo_pop(int undo)
{
	ab_autostrv struct ab_strv earlier = { 0 };
	ab_autofree char *later = NULL;

	if (faccessat(undo, "last", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != ENOENT || ab_undo_earlier(undo, &earlier) < 0)
		return -1;
	if (!earlier.len)
		return 0;
	/* What is in the layer now may have come back with a later apply. */
	later = ab_printf("%s/later", earlier.v[0]);
	return ab_undo_mark(undo, later) < 0 ? -1 : ab_rename_new(undo, earlier.v[0], undo, "last");
}

/* What a journal takes on the disk. It is counted once, and noted in it. */
static uint64_t get_size(int undo, const char *name)
{
	static const char kind[8] ab_unterminated = "ab-size1";
	ab_autoclose int dir = ab_open_same_mount(undo, name, O_RDONLY | O_DIRECTORY);
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *file = NULL;
	struct ab_record_reader r;
	struct ab_layer_size size;

	if (dir < 0)
		return 0;
	if (ab_record_file_load(dir, "size", kind, &file, &r) == 0)
		return ab_record_get(&r);
	ab_layer_size_of(dir, false, AB_LAYER_ENTRIES_MAX, &size);
	ab_record_put(&b, size.bytes);
	(void)ab_record_file_save(dir, "size", kind, &b); /* or it is counted again */
	return size.bytes;
}

int ab_undo_drop(int undo, const char *name)
{
	if (ab_remove_object(undo, "gone") < 0 || renameat(undo, name, undo, "gone") < 0)
		return -1;
	return ab_remove_object(undo, "gone");
}

int ab_undo_trim(int undo, uint64_t bytes, size_t *ret)
{
	ab_autostrv struct ab_strv earlier = { 0 };
	uint64_t sum = get_size(undo, "last");
	size_t keep = 0;

	*ret = 0;
	if (ab_undo_earlier(undo, &earlier) < 0)
		return -1;
	while (keep < earlier.len && keep < AB_UNDO_MAX - 1 &&
	       (sum += get_size(undo, earlier.v[keep])) <= bytes)
		keep++;
	for (size_t i = earlier.len; i-- > keep; ++*ret)
		if (ab_undo_drop(undo, earlier.v[i]) < 0)
			return -1;
	return 0;
}

int ab_undo_open_newest(int undo)
{
	ab_autostrv struct ab_strv earlier = { 0 };
	int last = ab_open_same_mount(undo, "last", O_RDONLY | O_DIRECTORY);

	if (last >= 0 || errno != ENOENT || ab_undo_earlier(undo, &earlier) < 0)
		return last;
	return earlier.len ? ab_open_same_mount(undo, earlier.v[0], O_RDONLY | O_DIRECTORY)
			   : ab_errno(ENOENT);
}
