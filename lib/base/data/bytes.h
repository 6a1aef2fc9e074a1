#ifndef AB_BASE_DATA_BYTES_H
#define AB_BASE_DATA_BYTES_H
/*
 * A queue of bytes that owns its memory: added at the end, consumed from the
 * front. Zero-initialised is empty.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_bytes {
	uint8_t *data;
	uint32_t start, end, room;
	bool wipe; /* contains values of secrets: every byte is erased after use;
		    * set before the first byte, it outlasts _fini */
};

static inline size_t ab_bytes_len(const struct ab_bytes *b)
{
	return b->end - b->start;
}
static inline const uint8_t *ab_bytes_head(const struct ab_bytes *b)
{
	return b->data + b->start;
}
void ab_bytes_add(struct ab_bytes *b, const void *data, size_t len);
void ab_bytes_skip(struct ab_bytes *b, size_t len); /* frees when empty */
void ab_bytes_fini(struct ab_bytes *b);

#endif
