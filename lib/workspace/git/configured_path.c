#include "workspace/git/configured_path.h"

#include "workspace/git/gitkeys.h"
#include "workspace/git/gitlink.h"

/* Keys of these sections name no file: a command that people type, an address or a rule about
 * addresses, or repositories. */
static const char *const not_files[] = {
	"alias.", "branch.", "maintenance.", "protocol.", "remote.", "safe.", "submodule.", "url.",
};

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

/* The file in a value such as "!./filter.sh -x"; NULL if it is looked up in PATH, if a shell
 * would compute it, or if it is a URL. */
static char *find_program(const char *value)
{
	const char *p = value + strspn(value, "! \t");
	size_t n = strcspn(p, " \t\n\"'\\;|&<>()$`");

	if (n == 0 || p[0] == '-' || !memchr(p, '/', n) || strstr(p, "://"))
		return NULL;
	return ab_strndup(p, n);
}

char *ab_git_configured_path(const char *key, const char *value, bool *ret_include)
{
	static const struct ab_gitkeys_terms terms = { .made = true };

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
	return ab_gitkeys_allow(key, value, &terms) ? NULL : find_program(value);
}

bool ab_git_is_checkout(const char *path)
{
	ab_autofree char *git = ab_path_join(path, ".git");

	return access(git, F_OK) == 0 || ab_is_gitdir(path);
}
