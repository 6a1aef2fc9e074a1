#ifndef AB_PROXY_SECRETS_LOCKED_PAGES_H
#define AB_PROXY_SECRETS_LOCKED_PAGES_H
/*
 * Memory for secrets: whole pages, zeroed, locked if the limit permits it, not
 * in core files, not in children. Freeing wipes it.
 */
#include <stdbool.h>
#include <stddef.h>

void *ab_pages_new(size_t size, bool *ret_locked);
void ab_pages_free(void *pages, size_t size);

#endif
