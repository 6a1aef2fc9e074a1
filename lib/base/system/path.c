#include "base/system/path.h"

#include "base/data/mem.h"
#include "base/data/strv.h"

static char *clean_path(char *path)
{
	char *out = path, *in = path;

	while (*in) {
		size_t n;

		while (*in == '/')
			in++;
		n = strcspn(in, "/");
		if (n == 0)
			break;
		if (n == 1 && in[0] == '.') {
			in += n;
			continue;
		}
		if (n == 2 && in[0] == '.' && in[1] == '.') {
			while (out > path && *--out != '/')
				;
			in += n;
			continue;
		}
		*out++ = '/';
		memmove(out, in, n);
		out += n;
		in += n;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
	return path;
}

char *ab_path_resolve(const char *path, const char *base, const char *home)
{
	if (path[0] == '\0')
		return NULL;
	if (path[0] == '/')
		return clean_path(ab_printf("%s", path));
	if (path[0] == '~') {
		if (!home || (path[1] != '\0' && path[1] != '/'))
			return NULL;
		return clean_path(ab_printf("%s/%s", home, path + 1));
	}
	return clean_path(ab_printf("%s/%s", base, path));
}

bool ab_path_within(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (n == 1)
		return true;
	return strncmp(path, top, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool ab_paths_overlap(const char *a, const char *b)
{
	return ab_path_within(a, b) || ab_path_within(b, a);
}

bool ab_path_within_any(const char *path, const struct ab_strv *tops)
{
	for (size_t i = 0; i < tops->len; i++)
		if (ab_path_within(path, tops->v[i]))
			return true;
	return false;
}

bool ab_path_contains_any(const char *path, const struct ab_strv *paths)
{
	for (size_t i = 0; i < paths->len; i++)
		if (ab_path_within(paths->v[i], path))
			return true;
	return false;
}

char *ab_path_join(const char *dir, const char *name)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir), rest = strlen(name) + 1;
	char *path = ab_alloc(len + 1 + rest);

	/* A start joins hundreds of them, and a format costs ten times as much. */
	memcpy(path, dir, len);
	path[len] = '/';
	memcpy(path + len + 1, name, rest);
	return path;
}

char *ab_path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return ab_strdup("/");
	return ab_strndup(path, (size_t)(slash - path));
}

const char *ab_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool ab_path_is_pattern(const char *path)
{
	/* For short names strpbrk() is slower: it begins with a table of all bytes. */
	while (*path && *path != '*' && *path != '?' && *path != '[')
		path++;
	return *path != '\0';
}
