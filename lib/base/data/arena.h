#ifndef AB_BASE_DATA_ARENA_H
#define AB_BASE_DATA_ARENA_H
/*
 * Memory that is freed all at once, for many small objects with the same lifetime
 * (the strings of a policy, the tree of a script): one block instead of many
 * allocations. Zero-initialized is empty.
 */
#include <stddef.h>

struct ab_chunk;

struct ab_arena {
	struct ab_chunk *chunks;
	size_t used, room;
};

void *ab_arena_alloc(struct ab_arena *a, size_t size); /* zeroed */
char *ab_arena_ndup(struct ab_arena *a, const char *s, size_t len);
char *ab_arena_dup(struct ab_arena *a, const char *s);
/* The concatenation of both strings. */
char *ab_arena_cat(struct ab_arena *a, const char *s, const char *t);
/* Empty it; the newest block is kept for the next use. */
void ab_arena_reset(struct ab_arena *a);
void ab_arena_fini(struct ab_arena *a);

#endif
