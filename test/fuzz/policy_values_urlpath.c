/*
 * Any bytes as the path of a URL: what has a normal form is no longer than it
 * was, has no dot segment and nothing that two readers could take for two
 * things, is its own normal form, and may mean itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/values/urlpath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_segments(const char *s)
{
	if (strstr(s, "//") || strpbrk(s, "\\#? "))
		abort();
	for (s = strchr(s, '/'); s; s = strchr(s + 1, '/')) {
		size_t n = strcspn(s + 1, "/;");

		if ((n == 1 && s[1] == '.') || (n == 2 && s[1] == '.' && s[2] == '.'))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Copies of exactly this size: reading or writing past them is seen. */
	char *s = malloc(size ? size : 1);
	char *a = malloc(size + 1), *b = malloc(size + 3);
	size_t n, m;
	const char *why = NULL;

	if (!s || !a || !b)
		abort();
	if (size)
		memcpy(s, data, size);
	if (!ab_urlpath_normal(s, size, a, &n, &why)) {
		if (!why || !why[0])
			abort();
	} else {
		if (n > size || strlen(a) != n || a[0] != '/')
			abort();
		check_segments(a);
		if (!ab_urlpath_normal(a, n, b, &m, &why) || m != n || memcmp(a, b, n) != 0)
			abort();
		memcpy(b, "/x", 3);
		(void)ab_urlpath_may_mean(a, b);
		if (!ab_urlpath_may_mean(a, a))
			abort();
	}
	free(s);
	free(a);
	free(b);
	return 0;
}
