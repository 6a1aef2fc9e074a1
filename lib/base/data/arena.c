#include "base/data/arena.h"

#include "base/data/mem.h"

struct ab_chunk {
	struct ab_chunk *next;
	size_t room;
	max_align_t data[];
};

enum { CHUNK = 32 * 1024 };

void *ab_arena_grow(struct ab_arena *a, size_t size)
{
	size_t room = size > CHUNK ? size : CHUNK;
	struct ab_chunk *c = ab_realloc(NULL, sizeof(*c) + room);

	c->next = a->chunks;
	c->room = room;
	a->chunks = c;
	a->free = (char *)c->data + size;
	a->left = room - size;
	return memset(c->data, 0, size);
}

char *ab_arena_ndup(struct ab_arena *a, const char *s, size_t len)
{
	char *p = ab_arena_alloc(a, len + 1);

	return memcpy(p, s, len);
}

char *ab_arena_dup(struct ab_arena *a, const char *s)
{
	return ab_arena_ndup(a, s, strlen(s));
}

char *ab_arena_cat(struct ab_arena *a, const char *s, const char *t)
{
	size_t n = strlen(s), m = strlen(t);
	char *p = ab_arena_alloc(a, n + m + 1);

	memcpy(p, s, n);
	memcpy(p + n, t, m);
	return p;
}

void ab_arena_reset(struct ab_arena *a)
{
	struct ab_chunk *kept = a->chunks;

	if (!kept)
		return;
	a->chunks = kept->next;
	ab_arena_fini(a);
	kept->next = NULL;
	*a = (struct ab_arena){ kept, (char *)kept->data, kept->room };
}

void ab_arena_fini(struct ab_arena *a)
{
	while (a->chunks) {
		struct ab_chunk *c = a->chunks;

		a->chunks = c->next;
		free(c);
	}
	*a = (struct ab_arena){ 0 };
}
