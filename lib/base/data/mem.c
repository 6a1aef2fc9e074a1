#include "base/data/mem.h"

#include <malloc.h>

/* Out of memory ends the process: nothing here can continue without memory, and half
 * a policy is worse than none. */
static void *require_memory(void *p)
{
	if (!p)
		abort();
	return p;
}

void *ab_alloc(size_t size)
{
	return require_memory(calloc(1, size ? size : 1));
}

void *ab_realloc(void *p, size_t size)
{
	return require_memory(realloc(p, size ? size : 1));
}

char *ab_strdup(const char *s)
{
	return s ? require_memory(strdup(s)) : NULL;
}

char *ab_strndup(const char *s, size_t n)
{
	return require_memory(strndup(s, n));
}

char *ab_vprintf(const char *fmt, va_list ap)
{
	char *s;

	return require_memory(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
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

void ab_free_wiped(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}
