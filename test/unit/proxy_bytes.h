#ifndef AB_TEST_PROXY_BYTES_H
#define AB_TEST_PROXY_BYTES_H
/* Bytes for parsers: copied so that the byte behind the last one is in a page
 * that cannot be touched. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD_ROOM = 256 * 1024, GUARD_PAGE = 65536 };

/* Good until the next call. */
static inline const uint8_t *guarded(const void *bytes, size_t n)
{
	static uint8_t *room;

	if (!room) {
		room = mmap(NULL, GUARD_ROOM + GUARD_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED || mprotect(room + GUARD_ROOM, GUARD_PAGE, PROT_NONE) < 0)
			abort();
	}
	if (n > GUARD_ROOM)
		abort();
	if (n > 0)
		memcpy(room + GUARD_ROOM - n, bytes, n);
	return room + GUARD_ROOM - n;
}

/* A text with NULs and its length, for tables of cases. */
#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

#endif
