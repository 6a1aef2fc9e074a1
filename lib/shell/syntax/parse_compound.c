#include "shell/syntax/lex.h"

static void expect_keyword(struct ab_reader *r, enum ab_keyword key, const char *name)
{
	if (!ab_lex_take_keyword(r, key))
		ab_lex_unexpected(r, name);
}

static struct ab_shell_node *parse_subshell(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_SUBSHELL);

	ab_lex_take(r, "(");
	node->first = ab_parse_body(r);
	if (!ab_lex_take(r, ")"))
		ab_lex_unexpected(r, ")");
	return node;
}

static struct ab_shell_node *parse_group(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_GROUP);

	ab_lex_take_keyword(r, AB_KEY_OPEN);
	node->first = ab_parse_body(r);
	expect_keyword(r, AB_KEY_CLOSE, "}");
	return node;
}

static struct ab_shell_node *parse_arith(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_ARITH);
	struct ab_parts parts = { 0 };

	ab_lex_take(r, "((");
	ab_parse_arith(r, &parts);
	node->expr.parts = parts.first;
	return node;
}

/* The test and its body, up to "elif", "else" or "fi". */
static struct ab_shell_node *parse_branch(struct ab_reader *r, uint32_t from)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_IF);

	node->branch.test = ab_parse_body(r);
	expect_keyword(r, AB_KEY_THEN, "then");
	node->branch.body = ab_parse_body(r);
	node->range = ab_lex_since(r, from);
	return node;
}

static struct ab_shell_node *parse_if(struct ab_reader *r)
{
	struct ab_shell_node *node, *last;
	uint32_t from = r->at;

	ab_lex_take_keyword(r, AB_KEY_IF);
	node = last = parse_branch(r, from);
	for (from = r->at; ab_lex_take_keyword(r, AB_KEY_ELIF); from = r->at)
		last = last->branch.otherwise = parse_branch(r, from);
	if (ab_lex_take_keyword(r, AB_KEY_ELSE))
		last->branch.otherwise = ab_parse_body(r);
	expect_keyword(r, AB_KEY_FI, "fi");
	return node;
}

/* do list done; with `braces` also { list }. */
static struct ab_shell_node *parse_do(struct ab_reader *r, bool braces)
{
	struct ab_shell_node *body;

	if (braces && ab_lex_take_keyword(r, AB_KEY_OPEN)) {
		body = ab_parse_body(r);
		expect_keyword(r, AB_KEY_CLOSE, "}");
		return body;
	}
	expect_keyword(r, AB_KEY_DO, "do");
	body = ab_parse_body(r);
	expect_keyword(r, AB_KEY_DONE, "done");
	return body;
}

static struct ab_shell_node *parse_while(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_WHILE);

	if (!ab_lex_take_keyword(r, AB_KEY_WHILE))
		ab_lex_take_keyword(r, AB_KEY_UNTIL);
	node->branch.test = ab_parse_body(r);
	node->branch.body = parse_do(r, false);
	return node;
}

/* A name, as its source text. */
static struct ab_text parse_name(struct ab_reader *r)
{
	struct ab_text name = { r->s + r->at, 0 };
	uint32_t from = r->at;

	if (!ab_lex_at_word(r)) {
		ab_lex_unexpected(r, NULL);
		return name;
	}
	ab_parse_word(r, AB_WORD_PLAIN);
	name.len = r->at - from;
	return name;
}

/* The words after "in", up to the end of the line. */
static struct ab_shell_word *parse_words(struct ab_reader *r)
{
	struct ab_shell_word *first = NULL, **tail = &first;

	for (;;) {
		ab_lex_skip_blanks(r);
		if (!ab_lex_at_word(r))
			break;
		*tail = ab_parse_word(r, AB_WORD_PLAIN);
		tail = &(*tail)->next;
	}
	if (!ab_lex_take(r, ";") && !ab_lex_at(r, '\n'))
		ab_lex_unexpected(r, "do");
	return first;
}

static struct ab_shell_node *parse_for_arith(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_FOR_ARITH);
	struct ab_parts parts = { 0 };

	ab_parse_arith(r, &parts);
	node->expr.parts = parts.first;
	ab_lex_skip_blanks(r);
	ab_lex_take(r, ";");
	ab_lex_skip_newlines(r);
	node->expr.body = parse_do(r, true);
	return node;
}

static struct ab_shell_node *parse_for(struct ab_reader *r)
{
	struct ab_shell_node *node;

	if (!ab_lex_take_keyword(r, AB_KEY_FOR))
		ab_lex_take_keyword(r, AB_KEY_SELECT);
	ab_lex_skip_blanks(r);
	if (ab_lex_take(r, "(("))
		return parse_for_arith(r);
	node = ab_parse_node(r, AB_NODE_FOR);
	node->loop.name = parse_name(r);
	ab_lex_skip_blanks(r);
	if (!ab_lex_take(r, ";")) {
		ab_lex_skip_newlines(r);
		node->loop.in = ab_lex_take_keyword(r, AB_KEY_IN);
		if (node->loop.in)
			node->loop.words = parse_words(r);
	}
	ab_lex_skip_newlines(r);
	node->loop.body = parse_do(r, true);
	return node;
}

/* a | b): after an optional "(". */
static struct ab_shell_word *parse_patterns(struct ab_reader *r)
{
	struct ab_shell_word *first = NULL, **tail = &first;

	do {
		ab_lex_skip_blanks(r);
		if (!ab_lex_at_word(r)) {
			ab_lex_unexpected(r, "esac");
			return first;
		}
		*tail = ab_parse_word(r, AB_WORD_PLAIN);
		tail = &(*tail)->next;
		ab_lex_skip_blanks(r);
	} while (ab_lex_take(r, "|"));
	if (!ab_lex_take(r, ")"))
		ab_lex_unexpected(r, ")");
	return first;
}

static struct ab_shell_node *parse_case(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_CASE);
	struct ab_case_item **tail = &node->cases.items;
	bool more = true;

	ab_lex_take_keyword(r, AB_KEY_CASE);
	ab_lex_skip_blanks(r);
	node->cases.word = ab_lex_new(r, sizeof(*node->cases.word));
	if (!ab_lex_at_word(r))
		ab_lex_unexpected(r, "in");
	else
		node->cases.word = ab_parse_word(r, AB_WORD_PLAIN);
	ab_lex_skip_newlines(r);
	expect_keyword(r, AB_KEY_IN, "in");
	for (ab_lex_skip_newlines(r); more && r->at < r->end && ab_lex_keyword(r) != AB_KEY_ESAC;
	     ab_lex_skip_newlines(r)) {
		struct ab_case_item *item = ab_lex_new(r, sizeof(*item));

		*tail = item;
		tail = &item->next;
		ab_lex_take(r, "(");
		item->patterns = parse_patterns(r);
		item->body = ab_parse_list(r);
		more = ab_lex_take(r, ";;&") || ab_lex_take(r, ";;") || ab_lex_take(r, ";&");
	}
	expect_keyword(r, AB_KEY_ESAC, "esac");
	return node;
}

static struct ab_shell_node *(*const rules[])(struct ab_reader *) = {
	[AB_KEY_TEST] = ab_parse_test, [AB_KEY_CASE] = parse_case,  [AB_KEY_FOR] = parse_for,
	[AB_KEY_IF] = parse_if,	       [AB_KEY_SELECT] = parse_for, [AB_KEY_UNTIL] = parse_while,
	[AB_KEY_WHILE] = parse_while,  [AB_KEY_OPEN] = parse_group, [AB_KEY_CLOSE] = NULL,
};

/* Redirections may follow every compound command. */
static void parse_redirs(struct ab_reader *r, struct ab_shell_node *node, uint32_t from)
{
	struct ab_redir **tail = &node->redirs;

	node->range = ab_lex_since(r, from);
	do
		ab_lex_skip_blanks(r);
	while (ab_parse_redir(r, &tail));
	if (node->redirs)
		node->range = ab_lex_since(r, from);
}

struct ab_shell_node *ab_parse_compound(struct ab_reader *r)
{
	uint32_t from = r->at;
	struct ab_shell_node *node;

	if (ab_lex_at2(r, '(', '(') && ab_parse_is_arith(r, r->at))
		node = parse_arith(r);
	else if (ab_lex_at(r, '('))
		node = parse_subshell(r);
	else if (rules[ab_lex_keyword(r)])
		node = rules[ab_lex_keyword(r)](r);
	else
		return NULL;
	parse_redirs(r, node, from);
	return node;
}

struct ab_shell_node *ab_parse_function(struct ab_reader *r, uint32_t from,
					const struct ab_shell_word *name)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_FUNCTION);
	const struct ab_part *part = name->parts;

	/* bash accepts only plain text as a name. */
	node->function.name = part && part->kind == AB_PART_TEXT && !part->next
				      ? part->text
				      : (struct ab_text){ r->s + from, 0 };
	ab_lex_skip_newlines(r);
	node->function.body = ab_parse_compound(r);
	if (!node->function.body) {
		node->function.body = ab_parse_node(r, AB_NODE_LIST);
		ab_lex_unexpected(r, "{");
	}
	node->range = ab_lex_since(r, from);
	return node;
}

struct ab_shell_node *ab_parse_function_keyword(struct ab_reader *r)
{
	struct ab_shell_word *name;
	uint32_t from = r->at;

	ab_lex_take_keyword(r, AB_KEY_FUNCTION);
	ab_lex_skip_blanks(r);
	if (!ab_lex_at_word(r)) {
		ab_lex_unexpected(r, NULL);
		return ab_parse_node(r, AB_NODE_SIMPLE);
	}
	name = ab_parse_word(r, AB_WORD_PLAIN);
	ab_lex_skip_blanks(r);
	if (ab_lex_take(r, "(")) {
		ab_lex_skip_blanks(r);
		if (!ab_lex_take(r, ")"))
			ab_lex_unexpected(r, ")");
	}
	return ab_parse_function(r, from, name);
}

/* coproc [NAME] compound; a simple command has no name. */
static void skip_coproc_name(struct ab_reader *r)
{
	uint32_t from = r->at;

	ab_lex_name(r);
	ab_lex_skip_blanks(r);
	if (!ab_lex_at(r, '(') && !rules[ab_lex_keyword(r)])
		r->at = from;
}

struct ab_shell_node *ab_parse_coproc(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_COPROC);
	struct ab_shell_node *list = ab_parse_node(r, AB_NODE_LIST);
	uint32_t from = r->at;

	ab_lex_take_keyword(r, AB_KEY_COPROC);
	ab_lex_skip_blanks(r);
	skip_coproc_name(r);
	list->first = ab_parse_compound(r);
	if (!list->first)
		list->first = ab_parse_simple(r);
	list->range = list->first->range;
	node->first = list;
	node->range = ab_lex_since(r, from);
	return node;
}
