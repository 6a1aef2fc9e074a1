#include "shell/walk/forkbomb.h"

#include "shell/syntax/field.h"

static bool is_word(const struct ab_shell_word *word, struct ab_text name)
{
	const struct ab_part *p = word ? word->parts : NULL;

	return p && !p->next && p->kind == AB_PART_TEXT && ab_text_same(p->text, name);
}

/* Looks through groups and subshells that contain one command. */
static bool calls_function(const struct ab_shell_node *node, struct ab_text name)
{
	while (node && (node->kind == AB_NODE_SUBSHELL || node->kind == AB_NODE_GROUP ||
			(node->kind == AB_NODE_LIST && node->first && !node->first->next)))
		node = node->first;
	return node && node->kind == AB_NODE_SIMPLE && is_word(node->simple.words, name);
}

static bool pipes_itself(const struct ab_shell_node *node, struct ab_text name)
{
	size_t n = 0;

	for (node = node->first; node; node = node->next)
		n += calls_function(node, name);
	return n >= 2;
}

static bool node_multiplies(const struct ab_shell_node *node, struct ab_text name, bool background);

static bool any_multiplies(const struct ab_shell_node *node, struct ab_text name, bool background)
{
	for (; node; node = node->next)
		if (node_multiplies(node, name, background))
			return true;
	return false;
}

static bool arm_multiplies(const struct ab_case_item *item, struct ab_text name, bool background)
{
	for (; item; item = item->next)
		if (item->body && node_multiplies(item->body, name, background))
			return true;
	return false;
}

static bool node_multiplies(const struct ab_shell_node *node, struct ab_text name, bool background)
{
	background = background || node->background;
	switch (node->kind) {
	case AB_NODE_SIMPLE:
		return background && is_word(node->simple.words, name);
	case AB_NODE_PIPELINE:
		return pipes_itself(node, name) || any_multiplies(node->first, name, background);
	case AB_NODE_COPROC:
		return any_multiplies(node->first, name, true);
	case AB_NODE_ANDOR:
	case AB_NODE_LIST:
	case AB_NODE_SUBSHELL:
	case AB_NODE_GROUP:
		return any_multiplies(node->first, name, background);
	case AB_NODE_IF:
	case AB_NODE_WHILE:
		return node_multiplies(node->branch.body, name, background) ||
		       (node->branch.otherwise &&
			node_multiplies(node->branch.otherwise, name, background));
	case AB_NODE_FOR:
		return node->loop.body && node_multiplies(node->loop.body, name, background);
	case AB_NODE_FOR_ARITH:
		return node->expr.body && node_multiplies(node->expr.body, name, background);
	case AB_NODE_CASE:
		return arm_multiplies(node->cases.items, name, background);
	case AB_NODE_FUNCTION: /* checked separately */
	case AB_NODE_TEST:
	case AB_NODE_ARITH:
		break;
	}
	return false;
}

bool ab_forkbomb_function(const struct ab_shell_node *function)
{
	return function->function.body &&
	       node_multiplies(function->function.body, function->function.name, false);
}

/* $0, "$0", ./$0 */
static bool is_itself(const struct ab_shell_node *node)
{
	const struct ab_part *p;

	if (node->kind != AB_NODE_SIMPLE || !node->simple.words)
		return false;
	p = node->simple.words->parts;
	if (p && p->next && p->kind == AB_PART_TEXT && ab_text_is(p->text, "./"))
		p = p->next;
	return p && !p->next && p->kind == AB_PART_PARAM && ab_text_is(p->param.name, "0");
}

bool ab_forkbomb_pipeline(const struct ab_shell_node *pipeline)
{
	size_t n = 0;

	for (const struct ab_shell_node *c = pipeline->first; c; c = c->next)
		n += is_itself(c);
	return n >= 2;
}
