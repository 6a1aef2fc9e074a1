#ifndef AB_TEST_SHELL_WALK_H
#define AB_TEST_SHELL_WALK_H
/*
 * Visits all of a tree: every byte of every text is read, every range must
 * lie in the text. Returns the number of things that are wrong.
 */
#include "shell/syntax/ast.h"

struct shell_walk {
	uint32_t len; /* of the whole text */
	size_t wrong, seen;
	unsigned bytes; /* so that reading is not left out */
};

static void walk_node(struct shell_walk *w, const struct ab_shell_node *node);
static void walk_word(struct shell_walk *w, const struct ab_shell_word *word);

static inline void walk_range(struct shell_walk *w, struct ab_span range)
{
	w->seen++;
	w->wrong += range.from > range.to || range.to > w->len;
}

static inline void walk_text(struct shell_walk *w, struct ab_text text)
{
	for (uint32_t i = 0; i < text.len; i++) {
		w->bytes += (unsigned char)text.s[i];
		w->wrong += text.s[i] == AB_UNKNOWN;
	}
}

static inline void walk_parts(struct shell_walk *w, const struct ab_part *parts)
{
	for (const struct ab_part *p = parts; p; p = p->next) {
		walk_range(w, p->range);
		switch (p->kind) {
		case AB_PART_TEXT:
			walk_text(w, p->text);
			w->wrong += p->range.to - p->range.from < p->text.len;
			break;
		case AB_PART_PARAM:
			walk_text(w, p->param.name);
			walk_parts(w, p->param.subscript);
			walk_word(w, p->param.word);
			break;
		case AB_PART_COMMAND:
		case AB_PART_PROCESS_IN:
		case AB_PART_PROCESS_OUT:
			w->wrong += !p->command.script || p->command.script->kind != AB_NODE_LIST;
			walk_node(w, p->command.script);
			break;
		case AB_PART_ARITH:
			walk_parts(w, p->arith);
			break;
		}
	}
}

static void walk_word(struct shell_walk *w, const struct ab_shell_word *word)
{
	for (; word; word = word->next) {
		walk_range(w, word->range);
		walk_parts(w, word->parts);
	}
}

static inline void walk_simple(struct shell_walk *w, const struct ab_shell_node *node)
{
	for (const struct ab_assign *a = node->simple.assigns; a; a = a->next) {
		walk_range(w, a->range);
		walk_text(w, a->name);
		walk_parts(w, a->subscript);
		walk_word(w, a->value);
	}
	walk_word(w, node->simple.words);
}

static inline void walk_one(struct shell_walk *w, const struct ab_shell_node *node)
{
	switch (node->kind) {
	case AB_NODE_SIMPLE:
		walk_simple(w, node);
		break;
	case AB_NODE_PIPELINE:
	case AB_NODE_ANDOR:
		w->wrong += !node->first || !node->first->next;
		walk_node(w, node->first);
		break;
	case AB_NODE_LIST:
		walk_node(w, node->first);
		break;
	case AB_NODE_SUBSHELL:
	case AB_NODE_GROUP:
	case AB_NODE_COPROC:
		w->wrong += !node->first || node->first->next || node->first->kind != AB_NODE_LIST;
		walk_node(w, node->first);
		break;
	case AB_NODE_IF:
	case AB_NODE_WHILE:
		w->wrong += !node->branch.test || !node->branch.body;
		walk_node(w, node->branch.test);
		walk_node(w, node->branch.body);
		walk_node(w, node->branch.otherwise);
		break;
	case AB_NODE_FOR:
		w->wrong += !node->loop.body;
		walk_word(w, node->loop.words);
		walk_node(w, node->loop.body);
		break;
	case AB_NODE_FOR_ARITH:
	case AB_NODE_ARITH:
	case AB_NODE_TEST:
		w->wrong += node->kind == AB_NODE_FOR_ARITH && !node->expr.body;
		walk_parts(w, node->expr.parts);
		walk_word(w, node->expr.words);
		walk_node(w, node->expr.body);
		break;
	case AB_NODE_CASE:
		w->wrong += !node->cases.word;
		walk_word(w, node->cases.word);
		for (const struct ab_case_item *i = node->cases.items; i; i = i->next) {
			w->wrong += !i->body;
			walk_word(w, i->patterns);
			walk_node(w, i->body);
		}
		break;
	case AB_NODE_FUNCTION:
		w->wrong += !node->function.body;
		walk_text(w, node->function.name);
		walk_node(w, node->function.body);
		break;
	}
}

static void walk_node(struct shell_walk *w, const struct ab_shell_node *node)
{
	for (; node; node = node->next) {
		walk_range(w, node->range);
		for (const struct ab_redir *d = node->redirs; d; d = d->next) {
			walk_range(w, d->range);
			w->wrong += !d->target;
			walk_word(w, d->target);
		}
		walk_one(w, node);
	}
}

#endif
