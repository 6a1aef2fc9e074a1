#include "policy/values/image.h"

#include "base/data/glob.h"

static bool is_name_byte(char c, bool pattern)
{
	return ab_is_alnum(c) || (c && strchr("._-/:@", c)) || (pattern && c == '*');
}

static const char *skip_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : s;
}

char *ab_image_short(const char *name, bool pattern)
{
	const char *s = name, *last;
	size_t n = strlen(name);

	if (n == 0 || n > AB_IMAGE_MAX || !(ab_is_alnum(s[0]) || (pattern && s[0] == '*')))
		return NULL;
	/* No component is empty or has only dots. */
	for (size_t i = 0; i < n; i++)
		if (!is_name_byte(s[i], pattern) ||
		    (strchr("./:@", s[i]) && (i + 1 == n || strchr("./:@", s[i + 1]))))
			return NULL;
	s = skip_prefix(skip_prefix(s, "docker.io/"), "library/");
	last = strrchr(s, '/');
	last = last ? last : s;
	/* A pattern that ends with "*" has room for a tag. */
	if (strpbrk(last, ":@") || s[strlen(s) - 1] == '*')
		return ab_strdup(s);
	return ab_printf("%s:latest", s);
}

bool ab_image_matches(const char *pattern, const char *name)
{
	return ab_glob_matches(pattern, strlen(pattern), name, strlen(name), false);
}
