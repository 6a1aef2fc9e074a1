#pragma once
/*
 * Memory for secrets: whole pages, zeroed, locked if the limit permits it, not
 * in core files, not in children. Freeing wipes it.
 */
#include "base/base.h"

void *ab_pages_new(size_t size);
void ab_pages_free(void *pages, size_t size);
