#pragma once
/*
 * Memory that is freed all at once, for many small objects with the same lifetime
 * (the strings of a policy, the tree of a script): one block instead of many
 * allocations. Zero-initialized is empty.
 */
#include <stdalign.h>

#include "base/data/libc.h"

struct ab_chunk;

struct ab_arena {
	struct ab_chunk *chunks;
	char *free;  /* the rest of the newest block */
	size_t left; /* bytes of it */
};

/* The slow path of ab_arena_alloc(); `size` is rounded up. */
void *ab_arena_grow(struct ab_arena *a, size_t size);

/* Zeroed memory: only now, so that the kernel gives no page for what is not used. Inline: the judge
 * needs dozens of small pieces for each command. */
static inline void *ab_arena_alloc(struct ab_arena *a, size_t size)
{
	char *p = a->free;

	size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!p || size > a->left)
		return ab_arena_grow(a, size);
	a->free += size;
	a->left -= size;
	return memset(p, 0, size);
}

char *ab_arena_ndup(struct ab_arena *a, const char *s, size_t len);
char *ab_arena_dup(struct ab_arena *a, const char *s);
/* The concatenation of both strings. */
char *ab_arena_cat(struct ab_arena *a, const char *s, const char *t);
/* Empty it; the newest block is kept for the next use. */
void ab_arena_reset(struct ab_arena *a);
void ab_arena_fini(struct ab_arena *a);
