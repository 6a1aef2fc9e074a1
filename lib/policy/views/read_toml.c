/* TOML: the stream of values of base/text/toml.h as a tree. */
#include "base/text/toml.h"

#include "policy/views/tree.h"
#include "policy/views/view.h"

struct toml {
	struct ab_tree *tree;
	unsigned table;
};

static void close_to(struct ab_tree *t, size_t nkeys)
{
	while (t->depth > nkeys + 1)
		ab_tree_close(t);
}

/* Of what is on the way to a value: only the last one can be a list. */
static char find_kind(const struct ab_toml_value *v, size_t i)
{
	return v->element && i + 1 == v->nkeys ? '[' : '{';
}

static bool is_open(const struct ab_tree *t, const struct ab_toml_value *v, size_t i)
{
	return i + 1 < t->depth && ab_tree_opened(t, i)->kind == find_kind(v, i) &&
	       strcmp(ab_tree_opened(t, i)->key, v->keys[i]) == 0;
}

/* Each [[a]], and each inline table in a list "a", makes an object "a" of its own. */
static void add_value(void *arg, const struct ab_toml_value *v)
{
	struct toml *t = arg;
	size_t nkeys = v->nkeys - !v->element, n = 0;

	while (v->table == t->table && n < nkeys && is_open(t->tree, v, n))
		n++;
	close_to(t->tree, n);
	t->table = v->table;
	for (; n < nkeys; n++)
		if (!ab_tree_open(t->tree, v->keys[n], find_kind(v, n)))
			return;
	ab_tree_add(t->tree, v->element ? NULL : v->keys[nkeys], v->kind == '"' ? '"' : 'w',
		    v->text);
}

bool ab_read_toml(const char *text, struct ab_tree *ret)
{
	struct toml t = { .tree = ret };
	unsigned line;
	int r = ab_toml_scan(text, strlen(text), add_value, &t, &line);

	close_to(ret, 0);
	return r == 0 && !ret->full;
}
