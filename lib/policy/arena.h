#ifndef AB_POLICY_ARENA_H
#define AB_POLICY_ARENA_H
/*
 * Memory that is given back all at once. A policy is some hundred short
 * strings that live and die together: one block instead of one allocation
 * each keeps the launch short. Zero-initialised is empty.
 */
#include <stddef.h>

struct ab_chunk;

struct ab_arena {
	struct ab_chunk *chunks;
	size_t used, room;
};

void *ab_arena_alloc(struct ab_arena *a, size_t size);	/* zeroed */
char *ab_arena_ndup(struct ab_arena *a, const char *s, size_t len);
char *ab_arena_dup(struct ab_arena *a, const char *s);
/* "ab" as one string. */
char *ab_arena_cat(struct ab_arena *a, const char *s, const char *t);
void ab_arena_fini(struct ab_arena *a);

#endif
