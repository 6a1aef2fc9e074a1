/* TOML: the stream of values of base/text/toml.h as a tree. */
#include "base/text/toml.h"

#include "policy/views/tree.h"
#include "policy/views/view.h"

struct toml {
	struct ab_tree *tree;
	char *keys[AB_TREE_DEPTH]; /* of what is open */
	char kinds[AB_TREE_DEPTH];
	size_t nkeys;
	unsigned table;
};

static void close_to(struct toml *t, size_t nkeys)
{
	while (t->nkeys > nkeys) {
		ab_free_wiped(t->keys[--t->nkeys]);
		ab_tree_close(t->tree);
	}
}

/* Of what is on the way to a value: only the last one can be a list. */
static char find_kind(const struct ab_toml_value *v, size_t i)
{
	return v->element && i + 1 == v->nkeys ? '[' : '{';
}

/* How many of what is open are on the way to the value? */
static size_t count_common(const struct toml *t, const struct ab_toml_value *v, size_t nkeys)
{
	size_t n = 0;

	if (v->table != t->table)
		return 0;
	while (n < t->nkeys && n < nkeys && t->kinds[n] == find_kind(v, n) &&
	       strcmp(t->keys[n], v->keys[n]) == 0)
		n++;
	return n;
}

static bool open_key(struct toml *t, const char *key, char kind)
{
	if (t->nkeys == AB_TREE_DEPTH)
		t->tree->full = true;
	if (t->tree->full || !ab_tree_open(t->tree, key, kind))
		return false;
	t->kinds[t->nkeys] = kind;
	t->keys[t->nkeys++] = ab_strdup(key);
	return true;
}

/* Each [[a]], and each inline table in a list "a", makes an object "a" of its own. */
static void add_value(void *arg, const struct ab_toml_value *v)
{
	struct toml *t = arg;
	size_t nkeys = v->nkeys - !v->element;

	close_to(t, count_common(t, v, nkeys));
	t->table = v->table;
	while (t->nkeys < nkeys)
		if (!open_key(t, v->keys[t->nkeys], find_kind(v, t->nkeys)))
			return;
	ab_tree_add(t->tree, v->element ? NULL : v->keys[nkeys], v->kind == '"' ? '"' : 'w',
		    v->text);
}

bool ab_read_toml(const char *text, struct ab_tree *ret)
{
	struct toml t = { .tree = ret };
	unsigned line;
	int r = ab_toml_scan(text, strlen(text), add_value, &t, &line);

	close_to(&t, 0);
	return r == 0 && !ret->full;
}
