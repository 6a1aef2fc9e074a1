#include "base/process/mount_table.h"

enum { MOUNTINFO_MAX = 16 << 20 };

/* In place: mountinfo writes blanks and the like as "\040". */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; to++) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
		    p[3] >= '0' && p[3] <= '7') {
			*to = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
			p += 4;
		} else {
			*to = *p++;
		}
	}
	*to = '\0';
}

/* The next word of the line, which a blank must follow; NULL without one. */
static char *take_word(char **at)
{
	char *word = strsep(at, " ");

	return *at && *word ? word : NULL;
}

/* In place: "36 35 98:0 /root /path options ..." */
static bool parse_line(char *line, struct ab_mount_point *ret)
{
	char *const id = take_word(&line), *const parent = id ? take_word(&line) : NULL;

	ret->dev = parent ? take_word(&line) : NULL;
	ret->root = ret->dev ? take_word(&line) : NULL;
	ret->path = ret->root ? take_word(&line) : NULL;
	/* The root of a namespace's file is "net:[4026531840]". */
	if (!ret->path || ret->path[0] != '/')
		return false;
	line = strstr(line, " - ");
	ret->type = line ? line + 3 : ret->dev + strlen(ret->dev);
	if (line && (line = strchr(ret->type, ' ')))
		*line = '\0';
	unescape(ret->root);
	unescape(ret->path);
	return true;
}

void ab_mount_table_parse(const char *text, struct ab_mount_table *ret)
{
	struct ab_mount_point point;
	char *rest, *line;

	*ret = (struct ab_mount_table){ .text = ab_strdup(text) };
	for (rest = ret->text; (line = strsep(&rest, "\n"));)
		if (parse_line(line, &point))
			*ab_append(ret->v, ret->n) = point;
}

int ab_mount_table_read(struct ab_mount_table *ret)
{
	ab_autofree char *text = NULL;
	size_t len;

	*ret = (struct ab_mount_table){ 0 };
	if (ab_read_file(AT_FDCWD, "/proc/self/mountinfo", 0, MOUNTINFO_MAX, &text, &len) < 0)
		return -1;
	ab_mount_table_parse(text, ret);
	return 0;
}

void ab_mount_table_fini(struct ab_mount_table *table)
{
	free(table->text);
	free(table->v);
	*table = (struct ab_mount_table){ 0 };
}

bool ab_mount_table_has_below(const struct ab_mount_table *table, const char *path)
{
	for (size_t i = 0; i < table->n; i++)
		if (ab_path_within(table->v[i].path, path) && strcmp(table->v[i].path, path) != 0)
			return true;
	return false;
}

/* What follows `above` in `path`, which is in it: "" or "/...". */
static const char *get_rest(const char *path, const char *above)
{
	return above[1] ? path + strlen(above) : path[1] ? path : "";
}

static char *join_rest(const char *above, const char *rest)
{
	return above[1] || !*rest ? ab_printf("%s%s", above, rest) : ab_strdup(rest);
}

/* The deepest one, and of several in one place the last, which covers the others. */
static const struct ab_mount_point *find_mount(const struct ab_mount_table *t, const char *path)
{
	const struct ab_mount_point *found = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (ab_path_within(path, t->v[i].path) &&
		    (!found || strlen(t->v[i].path) >= strlen(found->path)))
			found = &t->v[i];
	return found;
}

void ab_mount_table_others(const struct ab_mount_table *table, const char *path, bool folder,
			   struct ab_strv *ret_own, struct ab_strv *ret_other)
{
	const struct ab_mount_point *at = find_mount(table, path);
	ab_autofree char *inner = at ? join_rest(at->root, get_rest(path, at->path)) : NULL;

	for (size_t i = 0; at && i < table->n; i++) {
		const struct ab_mount_point *m = &table->v[i];

		if (m == at || strcmp(m->dev, at->dev) != 0)
			continue;
		if (ab_path_within(inner, m->root)) {
			ab_strv_add(ret_own, path);
			ab_strv_give(ret_other, join_rest(m->path, get_rest(inner, m->root)));
		} else if (folder && ab_path_within(m->root, inner)) {
			ab_strv_give(ret_own, join_rest(path, get_rest(m->root, inner)));
			ab_strv_add(ret_other, m->path);
		}
	}
}
