#include "policy/views/tree.h"

static bool add_node(struct ab_tree *t, const char *key, char kind, const char *text)
{
	if (t->len == AB_TREE_NODES) {
		t->full = true;
		return false;
	}
	*ab_append(t->v, t->len) = (struct ab_tree_node){
		.kind = kind, .span = 1, .key = ab_strdup(key), .text = ab_strdup(text)
	};
	return true;
}

bool ab_tree_open(struct ab_tree *t, const char *key, char kind)
{
	if (t->depth == AB_TREE_DEPTH)
		t->full = true;
	if (t->full || !add_node(t, key, kind, NULL))
		return false;
	t->open[t->depth++] = t->len - 1;
	return true;
}

void ab_tree_close(struct ab_tree *t)
{
	size_t at = t->open[--t->depth];

	t->v[at].span = (uint32_t)(t->len - at);
}

void ab_tree_add(struct ab_tree *t, const char *key, char kind, const char *text)
{
	add_node(t, key, kind, text);
}

void ab_tree_cut(struct ab_tree *t, size_t at)
{
	while (t->len > at) {
		struct ab_tree_node *n = &t->v[--t->len];

		ab_free_wiped(n->key);
		ab_free_wiped(n->text);
	}
}

void ab_tree_fini(struct ab_tree *t)
{
	ab_tree_cut(t, 0);
	free(t->v);
	*t = (struct ab_tree){ 0 };
}
