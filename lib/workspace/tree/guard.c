#include "workspace/tree/guard.h"

void ab_guards_add(struct ab_guard **v, size_t *len, const char *path, enum ab_node kind)
{
	ab_make_room(*v, *len);
	(*v)[(*len)++] = (struct ab_guard){ ab_strdup(path), kind };
}

/* A slash sorts before every other byte. */
static int rank_byte(char c)
{
	return c == '\0' ? 0 : c == '/' ? 1 : (unsigned char)c + 2;
}

int ab_path_order(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return rank_byte(*a) - rank_byte(*b);
}

static int compare_guards(const void *a, const void *b)
{
	return ab_path_order(((const struct ab_guard *)a)->path,
			     ((const struct ab_guard *)b)->path);
}

void ab_guards_settle(struct ab_guard *v, size_t *len)
{
	size_t kept = 0;

	if (*len > 1)
		qsort(v, *len, sizeof(*v), compare_guards);
	for (size_t i = 0; i < *len; i++) {
		const struct ab_guard *last = kept ? &v[kept - 1] : NULL;

		if (last && (strcmp(last->path, v[i].path) == 0 ||
			     (last->kind == AB_NODE_DIR && ab_path_within(v[i].path, last->path))))
			free(v[i].path);
		else
			v[kept++] = v[i];
	}
	*len = kept;
}

bool ab_guards_cover(const struct ab_guard *v, size_t len, const char *path)
{
	for (size_t i = 0; i < len; i++)
		if (strcmp(v[i].path, path) == 0 ||
		    (v[i].kind == AB_NODE_DIR && ab_path_within(path, v[i].path)))
			return true;
	return false;
}

void ab_guards_free(struct ab_guard *v, size_t len)
{
	ab_free_rows(v, len, path);
}
