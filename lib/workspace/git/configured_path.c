#include "workspace/git/configured_path.h"

#include <string.h>

#include "base/data/mem.h"
#include "workspace/git/gitconfig.h"

/* Keys of these sections name a program too, but it is part of a command that people
 * type, an address, or a rule about addresses. */
static const char *const not_files[] = { "alias.", "url.", "remote.", "submodule.", "protocol." };

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_include(const char *key)
{
	size_t n = strlen(key);

	return strcmp(key, "include.path") == 0 ||
	       (has_prefix(key, "includeif.") && n > 15 && strcmp(key + n - 5, ".path") == 0);
}

/* The file in a value such as "!./filter.sh -x"; NULL if it is looked up in PATH, or if
 * a shell would compute it. */
static char *find_program(const char *value)
{
	const char *p = value + strspn(value, "! \t");
	size_t n = strcspn(p, " \t\n\"'\\;|&<>()$`");

	if (n == 0 || p[0] == '-' || !memchr(p, '/', n))
		return NULL;
	return ab_strndup(p, n);
}

char *ab_git_configured_path(const char *key, const char *value, bool *ret_include)
{
	*ret_include = false;
	if (!value || !value[0])
		return NULL;
	if (is_include(key)) {
		*ret_include = true;
		return ab_strdup(value);
	}
	if (strcmp(key, "core.hookspath") == 0)
		return ab_strdup(value);
	for (size_t i = 0; i < AB_COUNT(not_files); i++)
		if (has_prefix(key, not_files[i]))
			return NULL;
	return ab_gitconfig_runs(key, value) ? find_program(value) : NULL;
}
