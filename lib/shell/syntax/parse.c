#include "shell/syntax/parse.h"

#include "shell/syntax/lex.h"

struct ab_shell_node *ab_parse_node(struct ab_reader *r, enum ab_node_kind kind)
{
	struct ab_shell_node *node = ab_lex_new(r, sizeof(*node));

	node->kind = kind;
	return node;
}
struct ab_shell_node *ab_parse_command(struct ab_reader *r)
{
	struct ab_shell_node *node;

	if (ab_lex_keyword(r) == AB_KEY_NONE && !ab_lex_at(r, '('))
		return ab_parse_simple(r);
	if (ab_lex_keyword(r) == AB_KEY_FUNCTION)
		return ab_parse_function_keyword(r);
	if (ab_lex_keyword(r) == AB_KEY_COPROC)
		return ab_parse_coproc(r);
	node = ab_parse_compound(r);
	return node ? node : ab_parse_simple(r);
}

/* Any number of "!" and "time". */
static void parse_prefix(struct ab_reader *r, bool *ret_negated, bool *ret_timed)
{
	for (;;) {
		ab_lex_skip_blanks(r);
		if (ab_lex_take_keyword(r, AB_KEY_BANG)) {
			*ret_negated = !*ret_negated;
		} else if (ab_lex_take_keyword(r, AB_KEY_TIME)) {
			*ret_timed = true;
			ab_lex_skip_blanks(r);
			if (ab_lex_take(r, "-p"))
				ab_lex_skip_blanks(r);
			if (ab_lex_at2(r, '-', '-') &&
			    (r->at + 2 == r->end || ab_lex_is(r->s[r->at + 2], AB_LEX_BREAK)))
				r->at += 2;
		} else {
			return;
		}
	}
}

static bool at_pipe(struct ab_reader *r, bool *ret_err_too)
{
	uint32_t from = r->at;

	if (!ab_lex_at(r, '|') && !ab_lex_at(r, '\\'))
		return false;
	/* Most are followed by a blank. */
	if (ab_lex_at2(r, '|', ' ')) {
		*ret_err_too = false;
		r->at++;
		return true;
	}
	if (ab_lex_take(r, "||")) {
		r->at = from;
		return false;
	}
	*ret_err_too = ab_lex_take(r, "|&");
	return *ret_err_too || ab_lex_take(r, "|");
}

/* "!" and "time" need no command. */
static bool at_end_of_command(const struct ab_reader *r)
{
	return r->at >= r->end || r->s[r->at] == '\n' || r->s[r->at] == ';';
}

static struct ab_shell_node *parse_prefixed_command(struct ab_reader *r)
{
	bool negated = false, timed = false;
	struct ab_shell_node *node;
	uint32_t from = r->at;

	parse_prefix(r, &negated, &timed);
	if (r->at > from && at_end_of_command(r))
		node = ab_parse_node(r, AB_NODE_SIMPLE);
	else
		node = ab_parse_command(r);
	node->negated = negated;
	node->timed = timed;
	return node;
}

static struct ab_shell_node *parse_pipeline(struct ab_reader *r)
{
	uint32_t from = r->at;
	struct ab_shell_node *node = parse_prefixed_command(r), *last = node, *all = NULL;
	bool err_too;

	ab_lex_skip_blanks(r);
	while (at_pipe(r, &err_too)) {
		if (!all) {
			all = ab_parse_node(r, AB_NODE_PIPELINE);
			all->first = node;
			all->negated = node->negated;
			all->timed = node->timed;
			node->negated = node->timed = false;
		}
		ab_lex_skip_newlines(r);
		last = last->next = ab_parse_command(r);
		last->err_too = err_too;
		all->range = ab_lex_since(r, from);
		ab_lex_skip_blanks(r);
	}
	return all ? all : node;
}

static struct ab_shell_node *parse_andor(struct ab_reader *r)
{
	uint32_t from = r->at;
	struct ab_shell_node *node = parse_pipeline(r), *last = node;
	struct ab_shell_node *all = NULL;

	for (;;) {
		bool either = ab_lex_take(r, "||");

		if (!either && !ab_lex_take(r, "&&"))
			break;
		if (!all) {
			all = ab_parse_node(r, AB_NODE_ANDOR);
			all->first = node;
		}
		ab_lex_skip_newlines(r);
		last = last->next = parse_pipeline(r);
		last->either = either;
		all->range = ab_lex_since(r, from);
	}
	return all ? all : node;
}

/* Keywords after a list. */
#define ENDS_LIST                                                                      \
	(1u << AB_KEY_DO | 1u << AB_KEY_DONE | 1u << AB_KEY_ELIF | 1u << AB_KEY_ELSE | \
	 1u << AB_KEY_ESAC | 1u << AB_KEY_FI | 1u << AB_KEY_THEN | 1u << AB_KEY_CLOSE)

static bool at_end_of_list(struct ab_reader *r)
{
	if (r->at >= r->end || ab_lex_at(r, ')') || ab_lex_at2(r, ';', ';') ||
	    ab_lex_at2(r, ';', '&'))
		return true;
	return ENDS_LIST >> ab_lex_keyword(r) & 1;
}

/* ";" "&" or the end of the line; false: no other command can follow. */
static bool parse_separator(struct ab_reader *r, struct ab_shell_node *node)
{
	ab_lex_skip_blanks(r);
	if (ab_lex_at2(r, ';', ';') || ab_lex_at2(r, ';', '&'))
		return false;
	if (ab_lex_take(r, ";") || ab_lex_at(r, '\n'))
		return true;
	node->background = ab_lex_take(r, "&");
	return node->background;
}

struct ab_shell_node *ab_parse_list(struct ab_reader *r)
{
	struct ab_shell_node *list = ab_parse_node(r, AB_NODE_LIST);
	struct ab_shell_node **tail = &list->first;
	uint32_t from;

	if (!ab_lex_enter(r))
		return list;
	ab_lex_skip_newlines(r);
	from = r->at;
	list->range = ab_lex_since(r, from);
	while (!at_end_of_list(r)) {
		struct ab_shell_node *node = parse_andor(r);
		bool more;

		*tail = node;
		tail = &node->next;
		list->range = ab_lex_since(r, from);
		more = parse_separator(r, node);
		if (!more)
			break;
		ab_lex_skip_newlines(r);
	}
	ab_lex_leave(r);
	return list;
}

struct ab_shell_node *ab_parse_body(struct ab_reader *r)
{
	struct ab_shell_node *list = ab_parse_list(r);

	if (!list->first)
		ab_lex_unexpected(r, NULL);
	return list;
}

uint64_t ab_parse(struct ab_arena *arena, struct ab_text text, struct ab_script *ret)
{
	struct ab_reader r = {
		.arena = arena,
		.s = text.s,
		.end = text.len,
		.key_at = UINT32_MAX,
		.blanks_to = UINT32_MAX,
	};

	if (text.len > AB_SHELL_TEXT_MAX) {
		r.end = 0;
		ab_lex_fail(&r, 0, "it is too long");
	}
	ret->list = ab_parse_list(&r);
	if (r.at < r.end)
		ab_lex_unexpected(&r, NULL);
	ab_parse_heredoc_bodies(&r);
	ret->error = r.error ? r.error : r.passed;
	ret->error_at = r.error ? r.error_at : r.passed_at;
	return r.work;
}
