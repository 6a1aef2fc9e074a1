#include "shell/expand/fields.h"

/*
 * Operators on a parameter's value: ${x#w} ${x%%w} ${x/a/b} ${x:1:2} ${x^^}.
 * The result is exact or unknown.
 */
enum {
	PATTERN_MAX = 256,
	VALUE_MAX = 4096, /* matching takes quadratic time */
	RESULT_MAX = 64 << 10,
};

struct pattern { /* special[i]: s[i] is * or ?, not quoted */
	char s[PATTERN_MAX];
	bool special[PATTERN_MAX];
	uint32_t len;
	bool any; /* at least one is special */
};

static bool is_ascii(struct ab_text t)
{
	for (uint32_t i = 0; i < t.len; i++)
		if (t.s[i] & 0x80)
			return false;
	return true;
}

/* An operand without its quotes, up to an unquoted `end`. False: it has
 * expansions, brackets or extended patterns. */
static bool read_pattern(struct ab_text *op, char end, struct pattern *ret)
{
	char quote = 0;
	uint32_t i;

	*ret = (struct pattern){ 0 };
	for (i = 0; i < op->len && (quote || op->s[i] != end || !end); i++) {
		char c = op->s[i];
		bool literal = quote;

		if (c == '$' || c == '`' || c == AB_UNKNOWN)
			return false;
		if (c == quote || (!quote && (c == '\'' || c == '"'))) {
			quote = quote ? 0 : c;
			continue;
		}
		if (c == '\\' && quote)
			return false;
		if (c == '\\') {
			if (++i == op->len)
				return false;
			c = op->s[i];
			literal = true;
		}
		if (!literal && strchr("[(~&", c))
			return false;
		if (ret->len == PATTERN_MAX)
			return false;
		ret->special[ret->len] = !literal && (c == '*' || c == '?');
		ret->any |= ret->special[ret->len];
		ret->s[ret->len++] = c;
	}
	*op = ab_text_rest(*op, i);
	return !quote;
}

/* Matches the whole text. */
static bool matches_pattern(const struct pattern *p, struct ab_text t)
{
	uint32_t i = 0, j = 0, star = UINT32_MAX, from = 0;

	while (j < t.len) {
		if (i < p->len && p->special[i] && p->s[i] == '*') {
			star = i++;
			from = j;
		} else if (i < p->len && (p->special[i] || p->s[i] == t.s[j])) {
			i++;
			j++;
		} else if (star != UINT32_MAX) {
			i = star + 1;
			j = ++from;
		} else {
			return false;
		}
	}
	while (i < p->len && p->special[i] && p->s[i] == '*')
		i++;
	return i == p->len;
}

/* # ## % %% */
static bool trim_value(struct ab_text value, struct ab_text op, struct ab_text *ret)
{
	bool front = op.s[0] == '#';
	bool longest = op.len > 1 && op.s[1] == op.s[0];
	struct pattern p;

	op = ab_text_rest(op, 1 + longest);
	if (value.len > VALUE_MAX || !read_pattern(&op, 0, &p) || (p.any && !is_ascii(value)))
		return false;
	*ret = value;
	for (uint32_t i = 0; i <= value.len; i++) {
		uint32_t n = longest ? value.len - i : i;
		struct ab_text cut = { front ? value.s : value.s + value.len - n, n };

		if (!matches_pattern(&p, cut))
			continue;
		*ret = front ? ab_text_rest(value, n) : (struct ab_text){ value.s, value.len - n };
		break;
	}
	return true;
}

/* /a/b //a/b /#a/b /%a/b: `a` without special characters */
static bool replace_text(struct ab_arena *arena, struct ab_text value, struct ab_text op,
			 struct ab_text *ret)
{
	bool all = op.len > 1 && op.s[1] == '/';
	char anchor = op.len > 1 && strchr("#%", op.s[1]) ? op.s[1] : 0;
	struct pattern a, b = { 0 };
	uint32_t len = 0, i = 0;
	size_t room;
	char *s;

	op = ab_text_rest(op, 1 + (all || anchor));
	if (!read_pattern(&op, '/', &a) || a.any || !a.len)
		return false;
	if (op.len) {
		op = ab_text_rest(op, 1);
		if (!read_pattern(&op, 0, &b))
			return false;
	}
	room = value.len + (size_t)(value.len / a.len + 1) * b.len;
	if (room > RESULT_MAX)
		return false;
	s = ab_arena_alloc(arena, room + 1);
	while (i < value.len) {
		bool here = value.len - i >= a.len && memcmp(value.s + i, a.s, a.len) == 0;

		if (anchor == '#')
			here = here && i == 0;
		else if (anchor == '%')
			here = here && i + a.len == value.len;
		if (!here) {
			s[len++] = value.s[i++];
			continue;
		}
		memcpy(s + len, b.s, b.len);
		len += b.len;
		i += a.len;
		if (!all)
			break;
	}
	memcpy(s + len, value.s + i, value.len - i);
	*ret = (struct ab_text){ s, len + value.len - i };
	return true;
}

static bool read_offset(struct ab_text *t, int64_t *ret)
{
	unsigned digits;
	bool minus;

	ab_text_skip_set(t, " ");
	minus = ab_text_skip(t, "-");
	*ret = ab_read_digits(t, 10, 8, &digits);
	*ret = minus ? -*ret : *ret;
	return digits && (!t->len || t->s[0] == ':');
}

/* :offset :offset:length */
static bool cut_value(struct ab_text value, struct ab_text op, struct ab_text *ret)
{
	int64_t from, n;

	op = ab_text_rest(op, 1);
	if (!is_ascii(value) || !read_offset(&op, &from))
		return false;
	if (from < 0)
		from += value.len;
	if (from < 0 || from > value.len)
		from = n = value.len;
	else
		n = value.len - from;
	if (op.len) {
		int64_t len;

		op = ab_text_rest(op, 1);
		if (!read_offset(&op, &len) || op.len)
			return false;
		if (len < 0)
			len += n;
		if (len < 0)
			return false;
		n = len < n ? len : n;
	}
	if (from == value.len)
		n = 0;
	*ret = (struct ab_text){ value.s + from, (uint32_t)n };
	return true;
}

/* ^ ^^ , ,, */
static bool change_case(struct ab_arena *arena, struct ab_text value, struct ab_text op,
			struct ab_text *ret)
{
	bool all = op.len == 2 && op.s[1] == op.s[0];
	char first = op.s[0] == '^' ? 'a' : 'A';
	char *s;

	if ((op.len != 1 && !all) || !is_ascii(value))
		return false;
	s = ab_arena_ndup(arena, value.s, value.len);
	for (uint32_t i = 0; i < value.len && (all || i == 0); i++)
		if (s[i] >= first && s[i] < first + 26)
			s[i] ^= 0x20;
	*ret = (struct ab_text){ s, value.len };
	return true;
}

static bool apply_operator(struct ab_arena *arena, struct ab_text value, struct ab_text op,
			   struct ab_text *ret)
{
	if (!op.len || ab_text_has(value, AB_UNKNOWN))
		return false;
	switch (op.s[0]) {
	case '#':
	case '%':
		return trim_value(value, op, ret);
	case '/':
		return replace_text(arena, value, op, ret);
	case ':':
		return cut_value(value, op, ret);
	case '^':
	case ',':
		return change_case(arena, value, op, ret);
	default:
		return false;
	}
}

static bool is_list(const struct ab_part *part)
{
	return part->param.array || ab_text_is(part->param.name, "@") ||
	       ab_text_is(part->param.name, "*");
}

/* The n-th of a list; missing ones are empty. Unknown if one before it may be several words,
 * which shifts all that follow. */
static struct ab_field pick_field(const struct ab_fields *list, size_t n)
{
	for (size_t i = 0; i < list->len && i <= n; i++)
		if (list->v[i].splits)
			return (struct ab_field){ 0 };
	return n < list->len ? list->v[n] : (struct ab_field){ .text = AB_TEXT("") };
}

/* $1 ${10} */
static struct ab_field get_positional(const struct ab_eval *e, struct ab_text name)
{
	const struct ab_fields *args = ab_vars_args(e->vars);
	unsigned digits;
	size_t n = ab_read_digits(&name, 10, 4, &digits);

	return name.len || !args ? (struct ab_field){ 0 } : pick_field(args, n);
}

/* One of its values; NULL: unknown. */
static const struct ab_var *get_variable(const struct ab_eval *e, struct ab_text name)
{
	const struct ab_var *v = ab_vars_get(e->vars, name);
	size_t n = 0;

	for (const struct ab_var *each = v; each; each = each->next)
		n++;
	if (n > 1)
		for (size_t at = ab_choose(e, v, n); at; at--)
			v = v->next;
	return v;
}

static struct ab_field make_field(const struct ab_var *v)
{
	return (struct ab_field){ .text = v->text, .unknown = v->unknown, .taint = v->taint };
}

/* "[0]" before the operator: selects an item of an array. */
static struct ab_field take_index(const struct ab_fields *items, struct ab_text *op)
{
	struct ab_text rest = *op;
	unsigned digits;
	size_t n;

	if (!ab_text_skip(&rest, "["))
		return (struct ab_field){ 0 };
	n = ab_read_digits(&rest, 10, 8, &digits);
	if (!digits || !ab_text_skip(&rest, "]"))
		return (struct ab_field){ 0 };
	*op = rest;
	return items && n < items->len ? pick_field(items, n) : (struct ab_field){ 0 };
}

/* A parameter's value, as far as known; it may have unknown stretches. text.s NULL: nothing is
 * known. */
static struct ab_field get_value(const struct ab_build *b, const struct ab_part *part,
				 struct ab_text *op)
{
	struct ab_text name = part->param.name;
	const struct ab_var *v;

	if (!name.len)
		return (struct ab_field){ 0 };
	v = ab_is_digit(name.s[0]) ? NULL : get_variable(b->e, name);
	if (part->param.indexed)
		return take_index(v ? v->items : NULL, op);
	if (ab_is_digit(name.s[0]))
		return get_positional(b->e, name);
	return v ? make_field(v) : (struct ab_field){ 0 };
}

static void add_value(struct ab_build *b, const struct ab_field *v, bool quoted)
{
	if (v->text.s)
		ab_build_value(b, v->text, quoted, v->taint);
	else
		ab_build_unknown(b, quoted, v->taint);
}

/* The whole list: separate fields ("$@", unquoted $@ and $*), or joined. */
static void add_list(struct ab_build *b, const struct ab_field *v, size_t n, bool quoted,
		     bool joined)
{
	for (size_t i = 0; i < n && !b->over; i++) {
		if (i && (joined || !b->fields))
			ab_build_value(b, AB_TEXT(" "), true, 0);
		else if (i)
			ab_build_break(b);
		ab_build_value(b, v[i].text, quoted, v[i].taint);
		/* It may be several words, which quotes do not change. */
		if (v[i].splits && b->open)
			b->field.splits |= b->fields && !joined;
	}
}

/* The items of "$@" or an array. False: unknown. */
static bool get_list(const struct ab_build *b, const struct ab_part *part,
		     const struct ab_field **ret_v, size_t *ret_n, struct ab_field *one)
{
	const struct ab_var *v;

	if (!part->param.array) {
		const struct ab_fields *args = ab_vars_args(b->e->vars);

		if (!args)
			return false;
		*ret_v = args->v + (args->len > 0);
		*ret_n = args->len ? args->len - 1 : 0;
		return true;
	}
	v = get_variable(b->e, part->param.name);
	if (!v)
		return false;
	if (v->items) {
		*ret_v = v->items->v;
		*ret_n = v->items->len;
		return true;
	}
	*one = make_field(v);
	*ret_v = one;
	*ret_n = 1;
	return !v->unknown;
}

static bool is_joined(const struct ab_part *part, bool quoted)
{
	struct ab_text op = part->param.op_text;

	if (!quoted)
		return false;
	if (!part->param.array)
		return ab_text_is(part->param.name, "*");
	return op.len > 1 && op.s && op.s[1] == '*';
}

static void add_number(struct ab_build *b, size_t n, bool quoted)
{
	ab_build_value(b, ab_text_number(b->e->arena, (int64_t)n), quoted, 0);
}

static bool splits_any(const struct ab_field *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].splits)
			return true;
	return false;
}

static void add_list_param(struct ab_build *b, const struct ab_part *part, bool quoted)
{
	const struct ab_field *v;
	struct ab_field one;
	size_t n;
	bool known = get_list(b, part, &v, &n, &one);

	switch (part->param.op) {
	case AB_PARAM_PLAIN:
		if (known)
			add_list(b, v, n, quoted, is_joined(part, quoted));
		else
			ab_build_unknown(b, is_joined(part, quoted), 0);
		break;
	case AB_PARAM_LENGTH:
		if (known && !splits_any(v, n))
			add_number(b, n, quoted);
		else
			ab_build_unknown(b, true, 0);
		break;
	case AB_PARAM_DEFAULT:
	case AB_PARAM_ASSIGN:
	case AB_PARAM_ERROR:
	case AB_PARAM_ALTERNATE:
	case AB_PARAM_OTHER:
		ab_build_unknown(b, false, 0);
		break;
	}
}

static void add_operand(struct ab_build *b, const struct ab_part *part, bool quoted)
{
	if (part->param.word)
		ab_build_parts(b, part->param.word->parts, quoted, true);
	if (quoted)
		ab_build_text(b, AB_TEXT(""), true, AB_NOT_VERBATIM, 0);
}

enum state { FILLED, EMPTY, EITHER };

/* Is the value empty for an operator with a colon? For one without, a known
 * value is always FILLED. */
static enum state get_state(const struct ab_field *v, bool colon)
{
	if (!v->text.s)
		return EITHER;
	for (uint32_t i = 0; i < v->text.len; i++)
		if (v->text.s[i] != AB_UNKNOWN)
			return FILLED;
	if (v->text.len)
		return EITHER;
	return colon ? EMPTY : FILLED;
}

/* ${x-w} is the value or the operand, ${x+w} the operand or nothing. EITHER becomes a choice,
 * and is unknown if that remains open. */
static void add_choice(struct ab_build *b, const struct ab_part *part, const struct ab_field *v,
		       enum state state, bool quoted)
{
	bool alternate = part->param.op == AB_PARAM_ALTERNATE;

	/* The address of the name is the same in every round. */
	if (state == EITHER)
		state = (enum state)ab_choose(b->e, part->param.name.s, EITHER);
	if (state == EITHER)
		ab_build_unknown(b, quoted, alternate ? 0 : v->taint);
	else if (alternate == (state == FILLED))
		add_operand(b, part, quoted);
	else if (alternate)
		ab_build_value(b, AB_TEXT(""), quoted, 0);
	else
		add_value(b, v, quoted);
}

static void add_length(struct ab_build *b, const struct ab_field *v, bool quoted)
{
	bool exact = v->text.s && !v->unknown;

	for (uint32_t i = 0; exact && i < v->text.len; i++)
		exact = v->text.s[i] && !(v->text.s[i] & 0x80);
	if (exact)
		add_number(b, v->text.len, quoted);
	else
		ab_build_unknown(b, true, 0);
}

static void add_operator_result(struct ab_build *b, const struct ab_field *v, struct ab_text op,
				bool quoted)
{
	struct ab_text text;

	if (v->text.s && !v->unknown && op.s && ab_vars_spend(b->e->vars, v->text.len) &&
	    apply_operator(b->e->arena, v->text, op, &text))
		ab_build_value(b, text, quoted, v->taint);
	else
		ab_build_unknown(b, quoted, v->taint);
}

/* $? and the like are always one word. */
static bool is_number(struct ab_text name)
{
	return name.len == 1 && strchr("?$#", name.s[0]) && name.s[0];
}

static void add_special(struct ab_build *b, struct ab_text name, bool quoted)
{
	const struct ab_fields *args = ab_vars_args(b->e->vars);

	if (name.s[0] == '#' && args && !splits_any(args->v, args->len))
		add_number(b, args->len ? args->len - 1 : 0, quoted);
	else
		ab_build_unknown(b, true, 0);
}

void ab_build_param(struct ab_build *b, const struct ab_part *part, bool quoted)
{
	struct ab_text op = part->param.op_text;
	struct ab_field v;
	enum state state;

	if (is_list(part)) {
		add_list_param(b, part, quoted);
		return;
	}
	if (is_number(part->param.name) && part->param.op == AB_PARAM_PLAIN) {
		add_special(b, part->param.name, quoted);
		return;
	}
	v = get_value(b, part, &op);
	state = get_state(&v, part->param.colon);
	switch (part->param.op) {
	case AB_PARAM_PLAIN:
		add_value(b, &v, quoted);
		break;
	case AB_PARAM_DEFAULT:
	case AB_PARAM_ASSIGN:
	case AB_PARAM_ALTERNATE:
		add_choice(b, part, &v, state, quoted);
		break;
	case AB_PARAM_ERROR:
		if (state == FILLED)
			add_value(b, &v, quoted);
		else
			ab_build_unknown(b, quoted, v.taint);
		break;
	case AB_PARAM_LENGTH:
		add_length(b, &v, quoted);
		break;
	case AB_PARAM_OTHER:
		add_operator_result(b, &v, op, quoted);
		break;
	}
}
