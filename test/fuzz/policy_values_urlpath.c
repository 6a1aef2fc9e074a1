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

/* With slashes in the place of escaped ones it is the same path but for empty segments: there is nothing
 * in it that a server would remove. */
static void check_slashes(const char *s)
{
	size_t n = strlen(s), len = 0, m;
	char *plain = malloc(n + 1), *normal = malloc(n + 1);
	const char *why;

	if (!plain || !normal)
		abort();
	for (size_t i = 0; i < n; i++) {
		bool escaped = strncmp(s + i, "%2F", 3) == 0;
		char c = escaped ? '/' : s[i];

		if (c != '/' || !len || plain[len - 1] != '/')
			plain[len++] = c;
		i += escaped ? 2 : 0;
	}
	plain[len] = '\0';
	if (!ab_urlpath_normal(plain, len, false, normal, &m, &why) || m != len ||
	    memcmp(plain, normal, m) != 0 || !ab_urlpath_may_mean(s, plain))
		abort();
	free(plain);
	free(normal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Copies of exactly this size: reading or writing past them is seen. */
	char *s = malloc(size ? size : 1);
	char *a = malloc(size + 1), *b = malloc(size + 3);
	size_t n, m;
	const char *why = NULL;
	bool slashes = size % 2;

	if (!s || !a || !b)
		abort();
	if (size)
		memcpy(s, data, size);
	if (!ab_urlpath_normal(s, size, slashes, a, &n, &why)) {
		if (!why || !why[0])
			abort();
	} else {
		if (n > size || strlen(a) != n || a[0] != '/')
			abort();
		check_segments(a);
		check_slashes(a);
		if (!ab_urlpath_normal(a, n, slashes, b, &m, &why) || m != n ||
		    memcmp(a, b, n) != 0)
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
