#ifndef AB_BASE_DATA_MEM_H
#define AB_BASE_DATA_MEM_H
/*
 * Memory: allocation that cannot fail (it aborts instead), and cleanup by scope. A
 * pointer marked ab_autofree is freed when it goes out of scope; ab_take() makes a
 * handover visible.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

void *ab_alloc(size_t size); /* zeroed */
void *ab_realloc(void *p, size_t size);
char *ab_strdup(const char *s); /* NULL stays NULL */
char *ab_strndup(const char *s, size_t n);
char *ab_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
char *ab_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline void ab_freep(void *p)
{
	free(*(void **)p);
}
#define ab_autofree __attribute__((cleanup(ab_freep)))

#define ab_take(p)                          \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#define AB_COUNT(a) (sizeof(a) / sizeof((a)[0]))

#endif
