#include "workspace/git/gitlink.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path is part of the input, not empty, and does not end in a line end, unless a NUL cut it. */
static void check(char *path, const uint8_t *data, size_t size)
{
	size_t n = path ? strlen(path) : 1;

	if (path && (n == 0 || n > size || (path[n - 1] == '\n' && !memchr(data, '\0', size))))
		abort();
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(ab_gitlink_parse((const char *)data, size), data, size);
	check(ab_gitlink_line((const char *)data, size), data, size);
	return 0;
}
