#include "base/data/mem.h"

#include <stdio.h>
#include <string.h>

/* Nothing here can go on without memory, and a half-made policy is worse
 * than none: out of memory ends the process. */
static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

void *ab_alloc(size_t size)
{
	return must(calloc(1, size ? size : 1));
}

void *ab_realloc(void *p, size_t size)
{
	return must(realloc(p, size ? size : 1));
}

char *ab_strdup(const char *s)
{
	return s ? must(strdup(s)) : NULL;
}

char *ab_strndup(const char *s, size_t n)
{
	return must(strndup(s, n));
}

char *ab_vprintf(const char *fmt, va_list ap)
{
	char *s;

	return must(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

char *ab_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = ab_vprintf(fmt, ap);
	va_end(ap);
	return s;
}
