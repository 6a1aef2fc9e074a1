/*
 * Files of what the filter let through. No value has a quote, a backslash or a line break in it
 * (value.h), and a key is one of a table or a name of plain characters.
 */
#include "policy/views/tree.h"
#include "policy/views/view.h"

void ab_write_pairs(const struct ab_tree *tree, struct ab_buf *ret)
{
	ab_tree_each(n, tree->v) ab_buf_printf(ret, "%s=%s\n", n->key, n->text);
}

void ab_write_yarn(const struct ab_tree *tree, struct ab_buf *ret)
{
	ab_tree_each(n, tree->v) ab_buf_printf(ret, "\"%s\" \"%s\"\n", n->key, n->text);
}

static void write_pip_value(const struct ab_tree_node *n, struct ab_buf *ret)
{
	bool first = true;

	ab_buf_printf(ret, "%s = ", n->key);
	if (ab_tree_is_value(n)) {
		ab_buf_printf(ret, "%s\n", n->text);
		return;
	}
	ab_tree_each(word, n)
	{
		ab_buf_printf(ret, "%s%s\n", first ? "" : "    ", word->text);
		first = false;
	}
}

void ab_write_pip(const struct ab_tree *tree, struct ab_buf *ret)
{
	ab_tree_each(section, tree->v)
	{
		ab_buf_printf(ret, "[%s]\n", section->key);
		ab_tree_each(n, section) write_pip_value(n, ret);
	}
}

static void write_text(const struct ab_tree_node *n, struct ab_buf *ret)
{
	ab_buf_printf(ret, n->kind == 'w' ? "%s" : "\"%s\"", n->text);
}

/* A TOML value, or an array of values. */
static void write_toml_value(const struct ab_tree_node *n, struct ab_buf *ret)
{
	const char *comma = "";

	if (ab_tree_is_value(n)) {
		write_text(n, ret);
		return;
	}
	ab_buf_puts(ret, "[");
	ab_tree_each(element, n)
	{
		ab_buf_puts(ret, comma);
		write_toml_value(element, ret);
		comma = ", ";
	}
	ab_buf_puts(ret, "]");
}

struct toml {
	struct ab_buf *b;
	struct ab_strv done; /* keys of this table: a key that is there twice is an error */
};

/* "a.b.c = value", each value in a line of its own. */
static void write_toml_pairs(struct toml *t, const char *prefix, const struct ab_tree_node *n)
{
	const char *dot = *prefix ? "." : "";
	bool bare = ab_view_is_name(n->key, strlen(n->key), "_-");
	ab_autofree char *key = ab_printf(bare ? "%s%s%s" : "%s%s\"%s\"", prefix, dot, n->key);

	if (n->kind == '{') {
		ab_tree_each(child, n) write_toml_pairs(t, key, child);
	} else if (!ab_strv_has(&t->done, key)) {
		ab_strv_add(&t->done, key);
		ab_buf_printf(t->b, "%s = ", key);
		write_toml_value(n, t->b);
		ab_buf_puts(t->b, "\n");
	}
}

/* An object that the filter made a list: [[name]]. */
static bool is_table(const struct ab_tree_node *n)
{
	return n->kind == '[' && n[1].key;
}

static void write_toml_table(const struct ab_tree_node *table, struct ab_buf *b)
{
	struct toml t = { .b = b };

	ab_buf_printf(b, "[[%s]]\n", table->key);
	ab_tree_each(n, table) write_toml_pairs(&t, "", n);
	ab_strv_fini(&t.done);
}

void ab_write_toml(const struct ab_tree *tree, struct ab_buf *ret)
{
	struct toml t = { .b = ret };

	ab_tree_each(n, tree->v) if (!is_table(n)) write_toml_pairs(&t, "", n);
	ab_strv_fini(&t.done);
	/* What follows a header would belong to that table. */
	ab_tree_each(n, tree->v) if (is_table(n)) write_toml_table(n, ret);
}

static void write_json(const struct ab_tree_node *n, unsigned depth, struct ab_buf *ret)
{
	const char *comma = "", *gap = depth < 2 ? "\n" : "";

	if (ab_tree_is_value(n)) {
		write_text(n, ret);
		return;
	}
	ab_buf_printf(ret, "%c%s", n->kind, gap);
	ab_tree_each(child, n)
	{
		ab_buf_puts(ret, comma);
		if (child->key)
			ab_buf_printf(ret, "\"%s\": ", child->key);
		write_json(child, depth + 1, ret);
		comma = depth < 2 ? ",\n" : ", ";
	}
	ab_buf_printf(ret, "%s%c", gap, n->kind == '{' ? '}' : ']');
}

void ab_write_json(const struct ab_tree *tree, struct ab_buf *ret)
{
	write_json(tree->v, 0, ret);
	ab_buf_puts(ret, "\n");
}

static bool is_attribute(const struct ab_tree_node *n)
{
	return n->key[0] == '@';
}

static void write_xml(const struct ab_tree_node *n, struct ab_buf *ret)
{
	bool filled = false;

	if (ab_tree_is_value(n)) {
		ab_buf_printf(ret, *n->text ? "<%s>%s</%s>\n" : "<%s />\n", n->key, n->text,
			      n->key);
		return;
	}
	ab_buf_printf(ret, "<%s", n->key);
	ab_tree_each(child, n)
	{
		filled |= !is_attribute(child);
		if (is_attribute(child))
			ab_buf_printf(ret, " %s=\"%s\"", child->key + 1, child->text);
	}
	ab_buf_puts(ret, filled ? ">\n" : " />\n");
	ab_tree_each(child, n) if (!is_attribute(child)) write_xml(child, ret);
	if (filled)
		ab_buf_printf(ret, "</%s>\n", n->key);
}

void ab_write_xml(const struct ab_tree *tree, struct ab_buf *ret)
{
	ab_tree_each(n, tree->v) write_xml(n, ret);
}

/* The values of a mapping are in quotes, the elements of a list need none. */
static void write_yaml(const struct ab_tree_node *object, unsigned indent, struct ab_buf *ret)
{
	ab_tree_each(n, object)
	{
		ab_buf_printf(ret, "%*s", (int)indent, "");
		if (!n->key) {
			ab_buf_printf(ret, "- %s\n", n->text);
			continue;
		}
		ab_buf_printf(ret, n->key[0] == '@' ? "\"%s\":" : "%s:", n->key);
		if (ab_tree_is_value(n)) {
			ab_buf_puts(ret, " ");
			write_text(n, ret);
		}
		ab_buf_puts(ret, "\n");
		if (!ab_tree_is_value(n))
			write_yaml(n, indent + (n->kind == '{' ? 2 : 0), ret);
	}
}

void ab_write_yaml(const struct ab_tree *tree, struct ab_buf *ret)
{
	ab_buf_puts(ret, "---\n");
	write_yaml(tree->v, 0, ret);
}
