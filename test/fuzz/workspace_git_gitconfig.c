#include "workspace/git/gitconfig.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/git/configured_path.h"
#include "workspace/git/gitkeys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every key has a section and a name, and no upper case outside of a
 * subsection. */
static void check(void *arg, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	size_t *calls = arg;
	static const struct ab_gitkeys_terms old = { 0 }, made = { .made = true };
	bool include;
	char *path;

	(*calls)++;
	if (!first || !last[1])
		abort();
	for (const char *p = key; *p; p++)
		if ((p < first || p > last) && *p >= 'A' && *p <= 'Z')
			abort();
	ab_gitkeys_explain(key);
	free(ab_gitkeys_remote(key, value));
	/* The name of a remote is no path, and what is free in any repository is so in a new one. */
	if (ab_gitkeys_names_remote(key, value) && strchr(value, '/'))
		abort();
	if (ab_gitkeys_allow(key, value, &old) && !ab_gitkeys_allow(key, value, &made))
		abort();
	path = ab_git_configured_path(key, value, &include);
	/* It is a part of the value, and all of it for a further file. */
	if (path && (!path[0] || !strstr(value, path) || (include && strcmp(path, value) != 0)))
		abort();
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t calls = 0;
	unsigned bad = ab_gitconfig_parse((const char *)data, size, check, &calls);

	if (calls > size || bad > size + 1)
		abort();
	return 0;
}
