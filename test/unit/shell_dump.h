#ifndef AB_TEST_SHELL_DUMP_H
#define AB_TEST_SHELL_DUMP_H
/*
 * A tree as one line of text. A simple command is (words), quoted text stands
 * in single quotes, an expansion that is quoted has a ' before it.
 */
#include "base/data/buf.h"
#include "shell/syntax/ast.h"

static void dump_node(struct ab_buf *b, const struct ab_shell_node *node);
static void dump_word(struct ab_buf *b, const struct ab_shell_word *word);
static void dump_parts(struct ab_buf *b, const struct ab_part *parts);

static inline void dump_text(struct ab_buf *b, struct ab_text t)
{
	for (uint32_t i = 0; i < t.len; i++) {
		if (t.s[i] == '\n')
			ab_buf_puts(b, "\\n");
		else
			ab_buf_add(b, t.s + i, 1);
	}
}

static inline void dump_param(struct ab_buf *b, const struct ab_part *p)
{
	static const char *const ops[] = { "", "-", "=", "?", "+", "#", "~" };

	ab_buf_puts(b, "${");
	dump_text(b, p->param.name);
	if (p->param.array)
		ab_buf_puts(b, "[@]");
	if (p->param.indexed) {
		ab_buf_puts(b, "[");
		dump_parts(b, p->param.subscript);
		ab_buf_puts(b, "]");
	}
	if (p->param.op != AB_PARAM_PLAIN || p->param.word)
		ab_buf_puts(b, " ");
	if (p->param.colon)
		ab_buf_puts(b, ":");
	ab_buf_puts(b, ops[p->param.op]);
	if (p->param.word)
		dump_word(b, p->param.word);
	ab_buf_puts(b, "}");
}

static inline void dump_part(struct ab_buf *b, const struct ab_part *p)
{
	const char *quote = p->quoted ? "'" : "";

	ab_buf_puts(b, quote);
	switch (p->kind) {
	case AB_PART_TEXT:
		dump_text(b, p->text);
		ab_buf_puts(b, quote);
		break;
	case AB_PART_PARAM:
		dump_param(b, p);
		break;
	case AB_PART_COMMAND:
		ab_buf_puts(b, "$(");
		dump_node(b, p->command.script);
		ab_buf_puts(b, ")");
		break;
	case AB_PART_ARITH:
		ab_buf_puts(b, "$((");
		dump_parts(b, p->arith);
		ab_buf_puts(b, "))");
		break;
	case AB_PART_PROCESS_IN:
	case AB_PART_PROCESS_OUT:
		ab_buf_puts(b, p->kind == AB_PART_PROCESS_IN ? "<(" : ">(");
		dump_node(b, p->command.script);
		ab_buf_puts(b, ")");
		break;
	}
}

static void dump_parts(struct ab_buf *b, const struct ab_part *parts)
{
	for (; parts; parts = parts->next)
		dump_part(b, parts);
}

static void dump_word(struct ab_buf *b, const struct ab_shell_word *word)
{
	dump_parts(b, word->parts);
}

static inline void dump_words(struct ab_buf *b, const char **sep, const struct ab_shell_word *words)
{
	for (; words; words = words->next) {
		ab_buf_puts(b, *sep);
		dump_word(b, words);
		*sep = " ";
	}
}

static inline void dump_redirs(struct ab_buf *b, const char **sep, const struct ab_redir *redirs)
{
	static const char *const ops[] = { "<",	 ">",  ">>",  ">|", "<>", "<&",
					   ">&", "&>", "&>>", "<<", "<<<" };

	for (; redirs; redirs = redirs->next) {
		ab_buf_puts(b, *sep);
		if (redirs->fd == -2)
			ab_buf_puts(b, "{}");
		else if (redirs->fd >= 0)
			ab_buf_printf(b, "%d", redirs->fd);
		ab_buf_puts(b, ops[redirs->op]);
		dump_word(b, redirs->target);
		*sep = " ";
	}
}

static inline void dump_simple(struct ab_buf *b, const struct ab_shell_node *node)
{
	const char *sep = "";

	ab_buf_puts(b, "(");
	for (const struct ab_assign *a = node->simple.assigns; a; a = a->next) {
		const char *inner = "";

		ab_buf_puts(b, sep);
		dump_text(b, a->name);
		if (a->indexed) {
			ab_buf_puts(b, "[");
			dump_parts(b, a->subscript);
			ab_buf_puts(b, "]");
		}
		ab_buf_puts(b, a->append ? "+=" : "=");
		ab_buf_puts(b, a->array ? "(" : "");
		dump_words(b, &inner, a->value);
		ab_buf_puts(b, a->array ? ")" : "");
		sep = " ";
	}
	dump_words(b, &sep, node->simple.words);
	dump_redirs(b, &sep, node->redirs);
	ab_buf_puts(b, ")");
}

static inline void dump_children(struct ab_buf *b, const struct ab_shell_node *first,
				 const char *sep)
{
	for (const struct ab_shell_node *n = first; n; n = n->next) {
		if (n != first)
			ab_buf_puts(b, n->either ? " || " : n->err_too ? " |& " : sep);
		dump_node(b, n);
	}
}

static inline void dump_case(struct ab_buf *b, const struct ab_shell_node *node)
{
	ab_buf_puts(b, "case ");
	dump_word(b, node->cases.word);
	for (const struct ab_case_item *i = node->cases.items; i; i = i->next) {
		const char *sep = " ";

		dump_words(b, &sep, i->patterns);
		ab_buf_puts(b, ") ");
		dump_node(b, i->body);
	}
}

static inline void dump_branch(struct ab_buf *b, const struct ab_shell_node *node)
{
	ab_buf_puts(b, node->kind == AB_NODE_IF ? "if " : "while ");
	dump_node(b, node->branch.test);
	ab_buf_puts(b, node->kind == AB_NODE_IF ? " then " : " do ");
	dump_node(b, node->branch.body);
	if (node->branch.otherwise) {
		ab_buf_puts(b, " else ");
		dump_node(b, node->branch.otherwise);
	}
}

static inline void dump_loop(struct ab_buf *b, const struct ab_shell_node *node)
{
	const char *sep = " ";

	ab_buf_puts(b, "for ");
	dump_text(b, node->loop.name);
	if (node->loop.in)
		ab_buf_puts(b, " in");
	dump_words(b, &sep, node->loop.words);
	ab_buf_puts(b, " do ");
	dump_node(b, node->loop.body);
}

static inline void dump_compound(struct ab_buf *b, const struct ab_shell_node *node)
{
	const char *sep = " ";

	switch (node->kind) {
	case AB_NODE_SIMPLE:
	case AB_NODE_LIST:
		break;
	case AB_NODE_PIPELINE:
		dump_children(b, node->first, " | ");
		break;
	case AB_NODE_ANDOR:
		dump_children(b, node->first, " && ");
		break;
	case AB_NODE_SUBSHELL:
		ab_buf_puts(b, "sub ");
		dump_node(b, node->first);
		break;
	case AB_NODE_GROUP:
		ab_buf_puts(b, "group ");
		dump_node(b, node->first);
		break;
	case AB_NODE_COPROC:
		ab_buf_puts(b, "coproc ");
		dump_node(b, node->first);
		break;
	case AB_NODE_IF:
	case AB_NODE_WHILE:
		dump_branch(b, node);
		break;
	case AB_NODE_FOR:
		dump_loop(b, node);
		break;
	case AB_NODE_FOR_ARITH:
		ab_buf_puts(b, "for ((");
		dump_parts(b, node->expr.parts);
		ab_buf_puts(b, ")) ");
		dump_node(b, node->expr.body);
		break;
	case AB_NODE_CASE:
		dump_case(b, node);
		break;
	case AB_NODE_FUNCTION:
		ab_buf_puts(b, "function ");
		dump_text(b, node->function.name);
		ab_buf_puts(b, " ");
		dump_node(b, node->function.body);
		break;
	case AB_NODE_TEST:
		ab_buf_puts(b, "test");
		dump_words(b, &sep, node->expr.words);
		break;
	case AB_NODE_ARITH:
		ab_buf_puts(b, "arith ");
		dump_parts(b, node->expr.parts);
		break;
	}
	dump_redirs(b, &sep, node->redirs);
}

static void dump_node(struct ab_buf *b, const struct ab_shell_node *node)
{
	ab_buf_puts(b, node->negated ? "! " : "");
	ab_buf_puts(b, node->timed ? "time " : "");
	if (node->kind == AB_NODE_SIMPLE) {
		dump_simple(b, node);
	} else if (node->kind == AB_NODE_LIST) {
		dump_children(b, node->first, "; ");
	} else {
		ab_buf_puts(b, "[");
		dump_compound(b, node);
		ab_buf_puts(b, "]");
	}
	ab_buf_puts(b, node->background ? "&" : "");
}

#endif
