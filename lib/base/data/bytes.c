#include "base/data/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"

/* realloc() may leave a copy of the old bytes that nothing erases. */
static void grow_bytes(struct ab_bytes *b, size_t room)
{
	uint8_t *data;

	if (!b->wipe) {
		b->data = ab_realloc(b->data, room);
	} else {
		data = ab_alloc(room);
		if (b->data) {
			memcpy(data, b->data, b->end);
			explicit_bzero(b->data, b->room);
			free(b->data);
		}
		b->data = data;
	}
	b->room = (uint32_t)room;
}

void ab_bytes_add(struct ab_bytes *b, const void *data, size_t len)
{
	size_t have = ab_bytes_len(b);

	if (b->room - b->end < len) {
		if (b->start) {
			memmove(b->data, b->data + b->start, have);
			if (b->wipe)
				explicit_bzero(b->data + have, b->end - have);
			b->start = 0;
			b->end = (uint32_t)have;
		}
		if (b->room - b->end < len) {
			size_t room = b->room ? b->room : 512;

			while (room - have < len)
				room *= 2;
			grow_bytes(b, room);
		}
	}
	if (len)
		memcpy(b->data + b->end, data, len);
	b->end += (uint32_t)len;
}

void ab_bytes_skip(struct ab_bytes *b, size_t len)
{
	if (b->wipe && len)
		explicit_bzero(b->data + b->start, len);
	b->start += (uint32_t)len;
	if (b->start == b->end)
		ab_bytes_fini(b);
}

void ab_bytes_fini(struct ab_bytes *b)
{
	if (b->wipe && b->data)
		explicit_bzero(b->data, b->room);
	free(b->data);
	/* The next bytes in it may be secret as well. */
	*b = (struct ab_bytes){ .wipe = b->wipe };
}
