#pragma once
/*
 * A settings file as a tree, whatever its syntax: nodes in the order of the document. The root is an
 * object. The memory is erased after use, because values may be secrets.
 */
#include "base/base.h"

enum { AB_TREE_DEPTH = 12, AB_TREE_NODES = 4096 };

struct ab_tree_node {
	char kind;     /* { an object, [ a list, " a text, w a word (true, 3), u a URL */
	uint32_t span; /* nodes from here to the end of the value */
	char *key;     /* NULL: an element of a list, or the root */
	char *text;    /* of a value; not NULL */
};

struct ab_tree {
	struct ab_tree_node *v;
	size_t len;
	size_t open[AB_TREE_DEPTH], depth; /* objects and lists that are not closed */
	size_t lost;			   /* lines and the like that were not understood */
	bool full;			   /* a bound was exceeded: the tree is not complete */
};

/* Begin an object or a list; false: a bound is exceeded, and it must not be closed. */
bool ab_tree_open(struct ab_tree *t, const char *key, char kind);
void ab_tree_close(struct ab_tree *t);
void ab_tree_add(struct ab_tree *t, const char *key, char kind, const char *text);
/* Of what is open, the outermost below the root is number 0. */
static inline const struct ab_tree_node *ab_tree_opened(const struct ab_tree *t, size_t i)
{
	return &t->v[t->open[i + 1]];
}
/* Remove the nodes from this one on. They must be closed. */
void ab_tree_cut(struct ab_tree *t, size_t at);
void ab_tree_fini(struct ab_tree *t);
#define ab_autotree __attribute__((cleanup(ab_tree_fini)))

/* Call the body for each child of a node. */
#define ab_tree_each(child, node)                                                          \
	for (const struct ab_tree_node *child = (node) + 1; child < (node) + (node)->span; \
	     child += child->span)

static inline bool ab_tree_is_value(const struct ab_tree_node *n)
{
	return n->kind != '{' && n->kind != '[';
}
