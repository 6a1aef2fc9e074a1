#include "proxy/secrets/locked_pages.h"

#include <sys/mman.h>

void *ab_pages_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		abort(); /* out of memory aborts everywhere */
	/* Keep them out of core files and children. */
	if (madvise(p, size, MADV_DONTDUMP) < 0 || madvise(p, size, MADV_DONTFORK) < 0)
		abort();
	/* RLIMIT_MEMLOCK may be too small; only root can read swapped pages. */
	(void)!mlock(p, size);
	return p;
}

void ab_pages_free(void *pages, size_t size)
{
	if (!pages)
		return;
	explicit_bzero(pages, size);
	munmap(pages, size);
}
