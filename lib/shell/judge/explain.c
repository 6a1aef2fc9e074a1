#include "shell/judge/judge_report.h"

#include "shell/judge/verdict_rows.h"
#include "shell/syntax/quote.h"

/*
 * The tree for people: one line per command, in source order, after the operator
 * that joins it to the previous one. Nested commands are indented below their
 * parent. Commands that a wrapper runs are not in the tree: they follow the
 * innermost command that contains them.
 */

struct entry {
	const struct ab_judged *judged;
	size_t order;
	bool shown;
};

struct tree {
	const struct ab_judgement *j;
	struct entry *v; /* sorted by range.from, then by order */
	size_t len;
	const struct ab_judged *decided; /* NULL: no single command */
	struct ab_rows rows;
};

static int compare_place(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	uint32_t i = a->judged->range.from, k = b->judged->range.from;

	if (i != k)
		return i < k ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool is_within(struct ab_span in, struct ab_span out)
{
	return in.from >= out.from && in.to <= out.to;
}

static uint32_t get_length(struct ab_span range)
{
	return range.to - range.from;
}

/* The command that the verdict is about: the smallest one around the decisive part
 * that has the same verdict and rule. */
static const struct ab_judged *find_decided(const struct ab_judgement *j)
{
	const struct ab_judged *found = NULL;

	for (const struct ab_judged *c = j->commands; c; c = c->next)
		if (c->decision == j->decision && strcmp(c->rule, j->rule) == 0 &&
		    (is_within(j->range, c->range) || is_within(c->range, j->range)) &&
		    (!found || get_length(c->range) < get_length(found->range) ||
		     (c->via && !found->via)))
			found = c;
	return found;
}

/* The first entry that begins at or after `from`. */
static size_t find_first_at(const struct tree *t, uint32_t from)
{
	size_t low = 0, high = t->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->v[mid].judged->range.from < from)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * The verdict on the command with exactly this range and no wrapper around it; the
 * strictest if it was judged several times (a loop, a function). NULL for a
 * transparent wrapper.
 */
static const struct ab_judged *take_own_verdict(struct tree *t, struct ab_span range,
						bool *ret_decided)
{
	const struct ab_judged *strictest = NULL;

	*ret_decided = false;
	for (size_t i = find_first_at(t, range.from);
	     i < t->len && t->v[i].judged->range.from == range.from; i++) {
		const struct ab_judged *c = t->v[i].judged;

		if (t->v[i].shown || c->via || c->range.to != range.to)
			continue;
		t->v[i].shown = true;
		*ret_decided |= c == t->decided;
		if (!strictest || c->decision > strictest->decision)
			strictest = c;
	}
	return strictest && strictest->decision == AB_ALLOW && !strictest->rule[0] ? NULL
										   : strictest;
}

/* A line that is not a simple command: "if", "for x in a b". */
static void add_label(struct tree *t, size_t depth, const char *lead, const char *words,
		      struct ab_span rest, struct ab_span node)
{
	const struct ab_judged *own = NULL;
	bool decided = false;

	if (get_length(node) > 0)
		own = take_own_verdict(t, node, &decided);
	if (!t->decided && get_length(node) > 0)
		decided = node.from == t->j->range.from && node.to == t->j->range.to;
	ab_row_begin(&t->rows, depth, lead);
	ab_row_text(&t->rows, ab_text_of(words));
	if (get_length(rest) > 0) {
		ab_row_text(&t->rows, ab_text_of(words[0] ? " " : ""));
		ab_row_text(&t->rows, ab_judgement_text(t->j, rest));
	}
	ab_row_end(&t->rows, own, decided);
}

/* The known text, quoted if it would look like several words or none. A pattern is
 * not quoted: it would look like a name. */
static void add_field(struct ab_buf *b, const struct ab_field *f)
{
	ab_autobuf struct ab_buf word = { 0 };

	for (uint32_t k = 0; k < f->text.len; k++)
		if (f->text.s[k] == AB_UNKNOWN)
			ab_buf_puts(&word, "...");
		else
			ab_buf_add(&word, &f->text.s[k], 1);
	ab_buf_puts(&word, "");
	if (f->unknown || f->pattern)
		ab_buf_add(b, word.data, word.len);
	else
		ab_quote(b, word.data);
}

static void add_argv(struct tree *t, const struct ab_judged *c)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < c->argc && b.len <= AB_ROW_TEXT_MAX; i++) {
		ab_buf_puts(&b, i ? " " : "");
		add_field(&b, &c->argv[i]);
	}
	ab_row_text(&t->rows, (struct ab_text){ b.data ? b.data : "", (uint32_t)b.len });
}

/* Show the commands of wrappers below the command that contains them. */
static void show_inner(struct tree *t, struct ab_span range, size_t depth)
{
	for (size_t i = find_first_at(t, range.from);
	     i < t->len && t->v[i].judged->range.from < range.to; i++) {
		const struct ab_judged *c = t->v[i].judged;

		if (t->v[i].shown || !is_within(c->range, range))
			continue;
		t->v[i].shown = true;
		ab_row_begin(&t->rows, depth, "");
		if (c->via) {
			ab_row_text(&t->rows, ab_text_of(c->via));
			ab_row_text(&t->rows, AB_TEXT(" -> "));
		}
		add_argv(t, c);
		ab_row_end(&t->rows, c, c == t->decided);
	}
}

static const struct ab_span none = { 0, 0 };

static void show_node(struct tree *t, const struct ab_shell_node *node, size_t depth,
		      const char *lead);

static void show_parts(struct tree *t, const struct ab_part *part, size_t depth);

static void show_word(struct tree *t, const struct ab_shell_word *word, size_t depth)
{
	for (; word; word = word->next)
		show_parts(t, word->parts, depth);
}

/* The commands in the expansions of a word. */
static void show_parts(struct tree *t, const struct ab_part *part, size_t depth)
{
	for (; part; part = part->next) {
		switch (part->kind) {
		case AB_PART_TEXT:
			break;
		case AB_PART_PARAM:
			show_word(t, part->param.word, depth);
			break;
		case AB_PART_ARITH:
			show_parts(t, part->arith, depth);
			break;
		case AB_PART_COMMAND:
		case AB_PART_PROCESS_IN:
		case AB_PART_PROCESS_OUT:
			add_label(t, depth, "",
				  part->kind == AB_PART_COMMAND	     ? "$( )"
				  : part->kind == AB_PART_PROCESS_IN ? "<( )"
								     : ">( )",
				  none, part->range);
			show_node(t, part->command.script, depth + 1, "");
			break;
		}
	}
}

static void show_redirs(struct tree *t, const struct ab_redir *redir, size_t depth)
{
	for (; redir; redir = redir->next)
		show_word(t, redir->target, depth);
}

static void show_simple(struct tree *t, const struct ab_shell_node *node, size_t depth,
			const char *lead)
{
	bool decided;
	const struct ab_judged *own = take_own_verdict(t, node->range, &decided);

	ab_row_begin(&t->rows, depth, lead);
	ab_row_text(&t->rows, ab_judgement_text(t->j, node->range));
	if (node->background)
		ab_row_text(&t->rows, AB_TEXT(" &"));
	ab_row_end(&t->rows, own, decided);
	for (const struct ab_assign *a = node->simple.assigns; a; a = a->next)
		show_word(t, a->value, depth + 1);
	show_word(t, node->simple.words, depth + 1);
	show_redirs(t, node->redirs, depth + 1);
	show_inner(t, node->range, depth + 1);
}

/* Show children at the same depth: the first takes the place of the parent. */
static void show_row(struct tree *t, const struct ab_shell_node *node, size_t depth,
		     const char *lead)
{
	for (const struct ab_shell_node *n = node->first; n; n = n->next) {
		show_node(t, n, depth, lead);
		if (node->kind == AB_NODE_PIPELINE)
			lead = n->next && n->next->err_too ? "|&" : "|";
		else if (node->kind == AB_NODE_ANDOR)
			lead = n->next && n->next->either ? "||" : "&&";
		else
			lead = "";
	}
}

static void show_branch(struct tree *t, const struct ab_shell_node *node, size_t depth,
			const char *lead)
{
	bool loop = node->kind == AB_NODE_WHILE;

	add_label(t, depth, lead, loop ? "while" : "if", none, node->range);
	show_node(t, node->branch.test, depth + 1, "");
	add_label(t, depth, "", loop ? "do" : "then", none, none);
	show_node(t, node->branch.body, depth + 1, "");
	if (!node->branch.otherwise)
		return;
	add_label(t, depth, "", "else", none, none);
	show_node(t, node->branch.otherwise, depth + 1, "");
}

static struct ab_span get_words_range(const struct ab_shell_word *word)
{
	struct ab_span range = { 0, 0 };

	for (; word; word = word->next) {
		range.from = range.to ? range.from : word->range.from;
		range.to = word->range.to;
	}
	return range;
}

static void show_for(struct tree *t, const struct ab_shell_node *node, size_t depth,
		     const char *lead)
{
	ab_autofree char *name = ab_strndup(node->loop.name.s, node->loop.name.len);
	ab_autofree char *words = ab_printf("for %s%s", name, node->loop.in ? " in" : "");

	add_label(t, depth, lead, words, get_words_range(node->loop.words), node->range);
	show_word(t, node->loop.words, depth + 1);
	show_node(t, node->loop.body, depth + 1, "");
}

static void show_case(struct tree *t, const struct ab_shell_node *node, size_t depth,
		      const char *lead)
{
	add_label(t, depth, lead, "case", get_words_range(node->cases.word), node->range);
	show_word(t, node->cases.word, depth + 1);
	for (const struct ab_case_item *i = node->cases.items; i; i = i->next) {
		add_label(t, depth, "", "in", get_words_range(i->patterns), none);
		show_word(t, i->patterns, depth + 1);
		show_node(t, i->body, depth + 1, "");
	}
}

static void show_function(struct tree *t, const struct ab_shell_node *node, size_t depth,
			  const char *lead)
{
	ab_autofree char *name = ab_strndup(node->function.name.s, node->function.name.len);
	ab_autofree char *words = ab_printf("function %s", name);

	add_label(t, depth, lead, words, none, node->range);
	show_node(t, node->function.body, depth + 1, "");
}

/* "( )", "{ }", "coproc". */
static void show_block(struct tree *t, const struct ab_shell_node *node, const char *words,
		       size_t depth, const char *lead)
{
	add_label(t, depth, lead, words, none, node->range);
	for (const struct ab_shell_node *n = node->first; n; n = n->next)
		show_node(t, n, depth + 1, "");
}

/* "[[ ]]", "(( ))", "for (( ))" */
static void show_expr(struct tree *t, const struct ab_shell_node *node, size_t depth,
		      const char *lead)
{
	bool loop = node->kind == AB_NODE_FOR_ARITH;

	add_label(t, depth, lead, loop ? "for (( ))" : "", loop ? none : node->range, node->range);
	show_parts(t, node->expr.parts, depth + 1);
	show_word(t, node->expr.words, depth + 1);
	if (loop)
		show_node(t, node->expr.body, depth + 1, "");
}

static void show_node(struct tree *t, const struct ab_shell_node *node, size_t depth,
		      const char *lead)
{
	if (!node)
		return;
	switch (node->kind) {
	case AB_NODE_SIMPLE:
		show_simple(t, node, depth, lead);
		return;
	case AB_NODE_PIPELINE:
	case AB_NODE_ANDOR:
	case AB_NODE_LIST:
		show_row(t, node, depth, lead);
		return;
	case AB_NODE_SUBSHELL:
		show_block(t, node, "( )", depth, lead);
		break;
	case AB_NODE_GROUP:
		show_block(t, node, "{ }", depth, lead);
		break;
	case AB_NODE_COPROC:
		show_block(t, node, "coproc", depth, lead);
		break;
	case AB_NODE_IF:
	case AB_NODE_WHILE:
		show_branch(t, node, depth, lead);
		break;
	case AB_NODE_FOR:
		show_for(t, node, depth, lead);
		break;
	case AB_NODE_CASE:
		show_case(t, node, depth, lead);
		break;
	case AB_NODE_FUNCTION:
		show_function(t, node, depth, lead);
		break;
	case AB_NODE_TEST:
	case AB_NODE_ARITH:
	case AB_NODE_FOR_ARITH:
		show_expr(t, node, depth, lead);
		break;
	}
	show_redirs(t, node->redirs, depth + 1);
}

static void sort_commands(struct tree *t)
{
	size_t i = 0;

	t->v = ab_alloc((t->j->ncommands + 1) * sizeof(*t->v));
	for (const struct ab_judged *c = t->j->commands; c && i < t->j->ncommands; c = c->next, i++)
		t->v[i] = (struct entry){ .judged = c, .order = i };
	t->len = i;
	qsort(t->v, t->len, sizeof(*t->v), compare_place);
}

void ab_judgement_explain(const struct ab_judgement *j, struct ab_buf *b)
{
	struct tree t = { .j = j, .decided = find_decided(j) };

	sort_commands(&t);
	show_node(&t, j->script.list, 0, "");
	show_inner(&t, (struct ab_span){ 0, UINT32_MAX }, 0);
	ab_rows_print(&t.rows, b);
	if (j->script.error)
		ab_buf_printf(b, "   byte %u: %s\n", j->script.error_at, j->script.error);
	free(t.v);
	ab_rows_fini(&t.rows);
}
