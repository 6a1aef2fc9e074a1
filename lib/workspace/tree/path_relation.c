#include "workspace/tree/path_relation.h"

#include <fnmatch.h>

/* fnmatch() takes far longer to compare two names, and most have no pattern. */
static bool matches(const char *pattern, const char *name)
{
	return ab_path_is_pattern(pattern) ? fnmatch(pattern, name, 0) == 0
					   : strcmp(pattern, name) == 0;
}

enum ab_path_relation ab_path_relate(const char *pattern, const char *path)
{
	while (*pattern && *path) {
		char a[NAME_MAX + 1], b[NAME_MAX + 1];
		size_t n, m;

		pattern++, path++;
		n = strcspn(pattern, "/");
		m = strcspn(path, "/");
		if (n > NAME_MAX || m > NAME_MAX)
			return AB_PATH_APART;
		memcpy(a, pattern, n);
		memcpy(b, path, m);
		a[n] = b[m] = '\0';
		if (!matches(a, b))
			return AB_PATH_APART;
		pattern += n;
		path += m;
	}
	if (!*pattern && !*path)
		return AB_PATH_SAME;
	return *path ? AB_PATH_ABOVE : AB_PATH_BELOW;
}

bool ab_path_can_search(const char *text, bool exception)
{
	const char *first = strstr(text, "/**/");

	return strcmp(text, "/**") != 0 &&
	       (!first || (!exception && first != text && !strstr(first + 3, "/**/")));
}
