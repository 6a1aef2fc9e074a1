#pragma once
/*
 * Objects that are found by a text: each begins with a pointer to its own. The tree (search.h)
 * keeps itself balanced, so who chooses the texts cannot make a search slow.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

static inline int ab_tree_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* NULL: there is none. */
static inline void *ab_tree_find(void *const *root, const char *text)
{
	void **node = tfind(&text, root, ab_tree_compare);

	return node ? *node : NULL;
}

/* Unless there is one with its text. */
static inline void ab_tree_add(void **root, void *object)
{
	if (!tsearch(object, root, ab_tree_compare))
		abort(); /* out of memory aborts everywhere */
}

/* The one with its text. */
static inline void ab_tree_remove(void **root, const void *object)
{
	tdelete(object, root, ab_tree_compare);
}
