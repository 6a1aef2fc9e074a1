#include "shell/syntax/lex.h"

static struct ab_part *new_part(struct ab_reader *r, struct ab_parts *parts, enum ab_part_kind kind,
				bool quoted)
{
	struct ab_part *part = ab_lex_new(r, sizeof(*part));

	part->kind = kind;
	part->quoted = quoted;
	ab_parts_add(parts, part);
	return part;
}

/*
 * The commands up to `close`. A here-document still pending at the end of the
 * substitution has its body after this line, before those of the outer command.
 */
static struct ab_shell_node *parse_script(struct ab_reader *r, const char *close)
{
	struct ab_heredoc *outer = r->heredocs, **tail = r->heredocs_tail;
	bool in_command = r->in_command;
	struct ab_shell_node *list;

	r->heredocs = NULL;
	r->in_command = true;
	list = ab_parse_list(r);
	if (!ab_lex_take(r, close))
		ab_lex_unexpected(r, close);
	r->in_command = in_command;
	if (!r->heredocs) {
		r->heredocs = outer;
		r->heredocs_tail = tail;
	} else if (outer) {
		*r->heredocs_tail = outer;
		r->heredocs_tail = tail;
	}
	return list;
}

/* $( ), after the "$(". */
static void parse_substitution(struct ab_reader *r, struct ab_parts *parts, enum ab_part_kind kind,
			       bool quoted, uint32_t from, const char *close)
{
	struct ab_part *part = new_part(r, parts, kind, quoted);

	part->command.script = parse_script(r, close);
	part->range = ab_lex_span(r, from, r->at);
}

void ab_parse_process(struct ab_reader *r, struct ab_parts *parts)
{
	enum ab_part_kind kind = ab_lex_at(r, '<') ? AB_PART_PROCESS_IN : AB_PART_PROCESS_OUT;
	uint32_t from = r->at;

	r->at += 2;
	parse_substitution(r, parts, kind, false, from, ")");
}

/* The first backquote that no backslash escapes. */
static uint32_t find_backquote(struct ab_reader *r, bool *ret_escapes)
{
	uint32_t at = r->at;

	*ret_escapes = false;
	while (at < r->end && r->s[at] != '`') {
		if (r->s[at] == '\\') {
			*ret_escapes = true;
			at++;
		}
		at++;
	}
	r->work += at - r->at;
	return at;
}

/* Reads [r->at, to) as the inner shell sees it, with the source of each byte. */
static struct ab_reader unescape_script(struct ab_reader *r, uint32_t to, bool between_quotes)
{
	uint32_t len = to - r->at, n = 0;
	char *text = ab_arena_alloc(r->arena, len + 1);
	uint32_t *map = ab_arena_alloc(r->arena, (len + 1) * sizeof(*map));
	struct ab_reader inner;

	for (uint32_t at = r->at; at < to; at++) {
		char next = to - at >= 2 ? r->s[at + 1] : '\0';

		if (r->s[at] == '\\' &&
		    (next == '\\' || next == '`' || next == '$' || (next == '"' && between_quotes)))
			at++;
		map[n] = r->map ? r->map[at] : at;
		text[n++] = r->s[at];
	}
	map[n] = r->map ? r->map[to] : to;
	r->work += len;
	inner = ab_lex_inner(r, text, 0, n);
	inner.map = map;
	return inner;
}

void ab_parse_backquote(struct ab_reader *r, struct ab_parts *parts, bool quoted,
			bool between_quotes)
{
	struct ab_part *part = new_part(r, parts, AB_PART_COMMAND, quoted);
	struct ab_reader inner;
	uint32_t from = r->at, to;
	bool escapes;

	part->range = ab_lex_span(r, from, from);
	part->command.script = ab_parse_node(r, AB_NODE_LIST);
	if (r->error)
		return;
	r->at++;
	to = find_backquote(r, &escapes);
	if (to >= r->end) {
		ab_lex_fail(r, from, "a backquote is not closed");
		return;
	}
	inner = escapes ? unescape_script(r, to, between_quotes) : ab_lex_inner(r, r->s, r->at, to);
	part->command.script = ab_parse_list(&inner);
	if (inner.at < inner.end)
		ab_lex_unexpected(&inner, NULL);
	ab_parse_heredoc_bodies(&inner);
	r->at = to + 1;
	part->range = ab_lex_span(r, from, r->at);
	ab_lex_outer(r, &inner);
}

static bool is_special_name(char c)
{
	return c && strchr("@*#?-$!", c);
}

/* A subscript, at its "[". */
static void parse_subscript(struct ab_reader *r, struct ab_part *part)
{
	struct ab_parts parts = { 0 };
	uint32_t from = ++r->at;

	ab_parse_balanced(r, &parts, '[', ']', true);
	if (r->at == from + 2 && (r->s[from] == '@' || r->s[from] == '*')) {
		part->param.array = true;
		return;
	}
	part->param.indexed = true;
	part->param.subscript = parts.first;
}

/* Up to the "}" of the expansion. */
static struct ab_shell_word *parse_operand(struct ab_reader *r, bool quoted)
{
	struct ab_parts parts = { 0 };
	struct ab_shell_word *word;
	uint32_t from = r->at;

	if (!quoted) {
		word = ab_parse_word(r, AB_WORD_OPERAND);
		if (!ab_lex_take(r, "}"))
			ab_lex_unexpected(r, "}");
		return word;
	}
	word = ab_lex_new(r, sizeof(*word));
	ab_parse_balanced(r, &parts, '\0', '}', true);
	word->parts = parts.first;
	word->range = ab_lex_span(r, from, r->error ? r->at : r->at - 1);
	return word;
}

static enum ab_param_op find_operator(char c)
{
	static const uint8_t operators[256] = {
		['-'] = AB_PARAM_DEFAULT,
		['='] = AB_PARAM_ASSIGN,
		['?'] = AB_PARAM_ERROR,
		['+'] = AB_PARAM_ALTERNATE,
	};
	enum ab_param_op found = operators[(unsigned char)c];

	return found ? found : AB_PARAM_OTHER;
}

/* After the name: an operator and its operand, and the "}". */
static void parse_operator(struct ab_reader *r, struct ab_part *part)
{
	enum ab_param_op op;
	uint32_t at;

	r->at = ab_lex_joined(r, r->at);
	if (ab_lex_take(r, "}"))
		return;
	at = r->at;
	part->param.colon = ab_lex_take(r, ":");
	r->at = ab_lex_joined(r, r->at);
	op = r->at < r->end ? find_operator(r->s[r->at]) : AB_PARAM_OTHER;
	if (part->param.op == AB_PARAM_PLAIN)
		part->param.op = op;
	if (op != AB_PARAM_OTHER) {
		r->at++;
	} else {
		part->param.colon = false;
		r->at = at;
	}
	part->param.word = parse_operand(r, part->quoted);
}

/* ${$(x)} and the like have an expansion in place of a name. */
static bool at_nested(const struct ab_reader *r)
{
	return ab_lex_at2(r, '$', '(') || ab_lex_at2(r, '$', '{') || ab_lex_at2(r, '$', '[');
}

static struct ab_text parse_param_name(struct ab_reader *r)
{
	struct ab_text name = ab_lex_name(r);

	if (!name.len && r->at < r->end && is_special_name(r->s[r->at]) && !at_nested(r)) {
		name = (struct ab_text){ r->s + r->at, 1 };
		r->at++;
	}
	return name;
}

/* "#" and "!" before a name; alone they are names themselves. */
static void parse_param_prefix(struct ab_reader *r, struct ab_part *part)
{
	uint32_t next;

	if (!ab_lex_at(r, '#') && !ab_lex_at(r, '!'))
		return;
	next = ab_lex_joined(r, r->at + 1);
	if (next >= r->end)
		return;
	if (ab_lex_is(r->s[next], AB_LEX_NAME) ||
	    (is_special_name(r->s[next]) && r->end - next >= 2 && r->s[next + 1] == '}')) {
		part->param.op = ab_lex_at(r, '#') ? AB_PARAM_LENGTH : AB_PARAM_OTHER;
		r->at = next;
	}
}

/* ${, at the byte after it. */
static void parse_param(struct ab_reader *r, struct ab_parts *parts, bool quoted, uint32_t from)
{
	struct ab_part *part = new_part(r, parts, AB_PART_PARAM, quoted);
	uint32_t behind;

	if (!ab_lex_enter(r))
		return;
	r->at = ab_lex_joined(r, r->at);
	parse_param_prefix(r, part);
	part->param.name = parse_param_name(r);
	if (!part->param.name.len)
		part->param.op = AB_PARAM_OTHER;
	behind = r->at;
	if (ab_lex_at(r, '['))
		parse_subscript(r, part);
	parse_operator(r, part);
	if (!r->error)
		part->param.op_text = (struct ab_text){ r->s + behind, r->at - 1 - behind };
	part->range = ab_lex_span(r, from, r->at);
	ab_lex_leave(r);
}

/* $name, at the name: a digit, a special character or a variable. */
static bool parse_variable(struct ab_reader *r, struct ab_parts *parts, bool quoted, uint32_t from)
{
	struct ab_text name = { r->s + r->at, 1 };
	struct ab_part *part;

	if (is_special_name(*name.s) || ab_lex_is(*name.s, AB_LEX_DIGIT))
		r->at++;
	else
		name = ab_lex_name(r);
	if (!name.len)
		return false;
	part = new_part(r, parts, AB_PART_PARAM, quoted);
	part->param.name = name;
	part->range = ab_lex_span(r, from, r->error ? from : r->at);
	return true;
}

static void parse_arith_part(struct ab_reader *r, struct ab_parts *parts, bool quoted,
			     uint32_t from, bool brackets)
{
	struct ab_part *part = new_part(r, parts, AB_PART_ARITH, quoted);
	struct ab_parts inner = { 0 };

	if (brackets)
		ab_parse_balanced(r, &inner, '[', ']', true);
	else
		ab_parse_arith(r, &inner);
	part->arith = inner.first;
	part->range = ab_lex_span(r, from, r->at);
}

/* ${ list; } and ${| list; } are command substitutions in newer shells. */
static bool at_command_brace(const struct ab_reader *r)
{
	return r->at < r->end && strchr(" \t\n|", r->s[r->at]) && r->s[r->at];
}

static void parse_brace(struct ab_reader *r, struct ab_parts *parts, bool quoted, uint32_t from)
{
	if (at_command_brace(r)) {
		ab_lex_take(r, "|");
		parse_substitution(r, parts, AB_PART_COMMAND, quoted, from, "}");
	} else {
		parse_param(r, parts, quoted, from);
	}
}

void ab_parse_dollar(struct ab_reader *r, struct ab_parts *parts, bool quoted)
{
	uint32_t from = r->at, next = ab_lex_joined(r, from + 1);
	char c = next < r->end ? r->s[next] : '\0';

	r->at = next;
	if (c == '(' && ab_lex_at2(r, '(', '(') && ab_parse_is_arith(r, next)) {
		r->at = next + 2;
		parse_arith_part(r, parts, quoted, from, false);
	} else if (c == '(') {
		r->at++;
		parse_substitution(r, parts, AB_PART_COMMAND, quoted, from, ")");
	} else if (c == '{') {
		r->at++;
		parse_brace(r, parts, quoted, from);
	} else if (c == '[') {
		r->at++;
		parse_arith_part(r, parts, quoted, from, true);
	} else if (!c || !parse_variable(r, parts, quoted, from)) {
		r->at = from + 1;
		ab_parts_text(r, parts, from, from + 1, quoted);
	}
}
