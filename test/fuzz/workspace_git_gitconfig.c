#include "workspace/git/gitconfig.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every key has a section and a name, and no upper case outside of a
 * subsection. */
static void check(void *arg, const char *key, const char *value)
{
	const char *first = strchr(key, '.'), *last = strrchr(key, '.');
	size_t *calls = arg;

	(*calls)++;
	if (!first || !last[1])
		abort();
	for (const char *p = key; *p; p++)
		if ((p < first || p > last) && *p >= 'A' && *p <= 'Z')
			abort();
	ab_gitconfig_runs(key, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t calls = 0;
	unsigned bad = ab_gitconfig_parse((const char *)data, size, check, &calls);

	if (calls > size || bad > size + 1)
		abort();
	return 0;
}
