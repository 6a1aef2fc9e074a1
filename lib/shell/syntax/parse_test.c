/* [[ ]] has its own operators, and its own words after =~. */
#include "shell/syntax/lex.h"
#include "shell/syntax/name_table.h"

struct operands {
	struct ab_shell_word **tail;
};

/* The text of a word that has no quotes and no expansions. */
static struct ab_text get_plain_text(const struct ab_shell_word *word)
{
	const struct ab_part *p = word->parts;

	if (!p || p->next || p->kind != AB_PART_TEXT || p->quoted)
		return (struct ab_text){ "", 0 };
	return p->text;
}

static bool is_unary(struct ab_text t)
{
	return t.len == 2 && t.s[0] == '-' && t.s[1] &&
	       strchr("abcdefghknoprstuvwxzGLNORS", t.s[1]);
}

static bool at_close(const struct ab_reader *r)
{
	return ab_lex_at2(r, ']', ']') &&
	       (r->at + 2 == r->end || ab_lex_is(r->s[r->at + 2], AB_LEX_BREAK));
}

/* An operand, or an error. */
static struct ab_shell_word *parse_operand(struct ab_reader *r, struct operands *o,
					   enum ab_word_mode mode)
{
	struct ab_shell_word *word;

	ab_lex_skip_blanks(r);
	if (at_close(r) || (!ab_lex_at_word(r) &&
			    !(mode == AB_WORD_REGEX && (ab_lex_at(r, '(') || ab_lex_at(r, '|'))))) {
		if (at_close(r))
			ab_lex_fail(r, r->at, "unexpected `]]`");
		else
			ab_lex_unexpected(r, "]]");
		return NULL;
	}
	word = ab_parse_word(r, mode);
	if (o) {
		*o->tail = word;
		o->tail = &word->next;
	}
	return word;
}

/* The operator and the second operand, if there are any. */
static void parse_comparison(struct ab_reader *r, struct operands *o)
{
	struct ab_shell_word *op;
	struct ab_text text;

	ab_lex_skip_blanks(r);
	if (ab_lex_at2(r, '&', '&') || ab_lex_at2(r, '|', '|') || ab_lex_at(r, ')') || at_close(r))
		return;
	if ((ab_lex_at(r, '<') || ab_lex_at(r, '>')) && !ab_lex_at2(r, r->s[r->at], '(')) {
		r->at++;
		parse_operand(r, o, AB_WORD_PLAIN);
		return;
	}
	op = parse_operand(r, NULL, AB_WORD_PLAIN);
	if (!op)
		return;
	text = get_plain_text(op);
	if (!ab_listed("= == != =~ -nt -ot -ef -eq -ne -lt -le -gt -ge", text)) {
		ab_lex_fail(r, r->at, "an operator is missing in `[[`");
		return;
	}
	parse_operand(r, o, ab_text_is(text, "=~") ? AB_WORD_REGEX : AB_WORD_PLAIN);
}

static void parse_or(struct ab_reader *r, struct operands *o);

static void parse_term(struct ab_reader *r, struct operands *o)
{
	struct ab_shell_word *word;

	do
		ab_lex_skip_newlines(r);
	while (ab_lex_take_keyword(r, AB_KEY_BANG));
	if (ab_lex_take(r, "(")) {
		if (ab_lex_enter(r)) {
			parse_or(r, o);
			ab_lex_leave(r);
		}
		if (!ab_lex_take(r, ")"))
			ab_lex_unexpected(r, ")");
		ab_lex_skip_newlines(r);
		return;
	}
	word = parse_operand(r, o, AB_WORD_PLAIN);
	if (!word)
		return;
	if (is_unary(get_plain_text(word)))
		parse_operand(r, o, AB_WORD_PLAIN);
	else
		parse_comparison(r, o);
	ab_lex_skip_newlines(r);
}

static void parse_and(struct ab_reader *r, struct operands *o)
{
	do
		parse_term(r, o);
	while (ab_lex_take(r, "&&"));
}

static void parse_or(struct ab_reader *r, struct operands *o)
{
	do
		parse_and(r, o);
	while (ab_lex_take(r, "||"));
}

struct ab_shell_node *ab_parse_test(struct ab_reader *r)
{
	struct ab_shell_node *node = ab_parse_node(r, AB_NODE_TEST);
	struct operands o = { &node->expr.words };

	ab_lex_take_keyword(r, AB_KEY_TEST);
	parse_or(r, &o);
	if (at_close(r))
		r->at += 2;
	else
		ab_lex_unexpected(r, "]]");
	return node;
}
