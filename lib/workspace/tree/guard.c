#include "workspace/tree/guard.h"

void ab_guards_add(struct ab_guard **v, size_t *len, const char *path, enum ab_node kind)
{
	ab_make_room(*v, *len);
	(*v)[(*len)++] = (struct ab_guard){ ab_strdup(path), kind };
}

/* '/' sorts before every other byte, so that everything below a folder follows it
 * directly ("a", "a/b", "a-b"). */
static int compare_guards(const void *a, const void *b)
{
	const unsigned char *x = (const void *)((const struct ab_guard *)a)->path;
	const unsigned char *y = (const void *)((const struct ab_guard *)b)->path;

	while (*x && *x == *y)
		x++, y++;
	if (*x == *y)
		return 0;
	if (*x == '\0' || *y == '\0')
		return *x == '\0' ? -1 : 1;
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return *x < *y ? -1 : 1;
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
	for (size_t i = 0; i < len; i++)
		free(v[i].path);
	free(v);
}
