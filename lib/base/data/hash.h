#pragma once
/* FNV-1a: for tables in memory, and to notice a change. Somebody who chooses the bytes can make two
 * that have the same hash. */
#include <stddef.h>
#include <stdint.h>

#define AB_HASH_START UINT64_C(0xcbf29ce484222325)

/* With these bytes behind those before. It begins with AB_HASH_START, perhaps mixed with a seed. */
static inline uint64_t ab_hash(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}
