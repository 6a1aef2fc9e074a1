#include "layer/walk/known.h"

#include "layer/walk/changes.h"
#include "layer/walk/records.h"
#include "workspace/tree/guard.h"

static const char kind[8] ab_unterminated = "ab-known";

static int find_path(const void *path, const void *file)
{
	return ab_path_order(path, ((const struct ab_known_file *)file)->path);
}

bool ab_known_is(const struct ab_known *known, const char *path, const struct ab_identity *now)
{
	const struct ab_known_file *file;

	if (known->len == 0)
		return false;
	file = bsearch(path, known->v, known->len, sizeof(known->v[0]), find_path);
	return file && file->ino == now->ino && ab_time_same(file->ctime, now->ctime);
}

void ab_known_add(struct ab_known *known, const char *path, ino_t ino, struct timespec ctime)
{
	*ab_append(known->v, known->len) =
		(struct ab_known_file){ .path = ab_strdup(path), .ino = ino, .ctime = ctime };
}

static int by_path(const void *a, const void *b)
{
	const struct ab_known_file *x = a, *y = b;
	int order = ab_path_order(x->path, y->path);

	if (order)
		return order;
	/* A file's ctime only grows: the later one was recorded last. */
	return ab_time_later(x->ctime, y->ctime) ? -1 : ab_time_later(y->ctime, x->ctime);
}

void ab_known_sort(struct ab_known *known)
{
	size_t kept = 0;

	if (known->len)
		qsort(known->v, known->len, sizeof(known->v[0]), by_path);
	for (size_t i = 0; i < known->len; i++) {
		if (kept && strcmp(known->v[kept - 1].path, known->v[i].path) == 0)
			free(known->v[i].path);
		else
			known->v[kept++] = known->v[i];
	}
	known->len = kept;
}

void ab_known_fini(struct ab_known *known)
{
	ab_free_rows(known->v, known->len, path);
	*known = (struct ab_known){ 0 };
}

void ab_known_read(struct ab_known *known, int dir, const char *name)
{
	struct ab_record_reader r;
	ab_autofree char *file = NULL;
	uint64_t n;

	if (ab_record_file_load(dir, name, kind, &file, &r) < 0)
		return;
	n = ab_record_get(&r);
	for (uint64_t i = 0; i < n && i < AB_KNOWN_MAX && !r.bad; i++) {
		ab_autofree char *path = ab_record_get_text(&r);
		ino_t ino = ab_record_get(&r);
		struct timespec ctime = ab_record_get_time(&r);

		if (!r.bad)
			ab_known_add(known, path, ino, ctime);
	}
	ab_known_sort(known);
}

int ab_known_write(const struct ab_known *known, int dir, const char *name)
{
	size_t n = known->len < AB_KNOWN_MAX ? known->len : AB_KNOWN_MAX;
	ab_autobuf struct ab_buf b = { 0 };

	ab_record_put(&b, n);
	for (size_t i = 0; i < n; i++) {
		ab_record_put_text(&b, known->v[i].path);
		ab_record_put(&b, known->v[i].ino);
		ab_record_put_time(&b, known->v[i].ctime);
	}
	return ab_record_file_save(dir, name, kind, &b);
}
