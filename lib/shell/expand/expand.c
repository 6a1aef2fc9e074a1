#include "shell/expand/expand.h"

#include "shell/expand/arith.h"
#include "shell/expand/brace.h"
#include "shell/expand/fields.h"

struct ab_span ab_nesting_map(const struct ab_nesting *source, struct ab_span range)
{
	if (source->verbatim == AB_NOT_VERBATIM)
		return source->where;
	return (struct ab_span){ range.from + source->verbatim, range.to + source->verbatim };
}

/* Offset of the bytes of a TEXT part in the outermost text. */
static uint32_t find_verbatim(const struct ab_eval *e, const struct ab_part *part)
{
	uint32_t base = e->source->verbatim;

	if (base == AB_NOT_VERBATIM || part->range.to - part->range.from != part->text.len)
		return AB_NOT_VERBATIM;
	return base + part->range.from;
}

static void add_text(struct ab_build *b, const struct ab_part *part, uint32_t from, uint32_t to,
		     bool quoted, bool operand)
{
	struct ab_text t = { part->text.s + from, to - from };
	uint32_t verbatim = find_verbatim(b->e, part);

	if (operand && !quoted) {
		ab_build_value(b, t, false, 0);
		return;
	}
	if (verbatim != AB_NOT_VERBATIM)
		verbatim += from;
	ab_build_text(b, t, quoted, verbatim, part->bytes);
}

static void add_variable(struct ab_build *b, const char *name)
{
	const struct ab_var *v = ab_vars_get(b->e->vars, ab_text_of(name));

	if (v && !v->next)
		ab_build_value(b, v->text, true, v->taint);
	else
		ab_build_unknown(b, true, 0);
}

/*
 * "~", "~user" at byte `from` of an unquoted TEXT: all bytes up to the next "/"
 * (or ":" in an assignment) or the end of the word must be unquoted. Returns
 * the number of bytes consumed; 0: not a tilde prefix.
 */
static uint32_t add_tilde(struct ab_build *b, const struct ab_part *part, uint32_t from,
			  bool assignment)
{
	const struct ab_text *t = &part->text;
	uint32_t to = from + 1;
	struct ab_text user;

	if (from >= t->len || t->s[from] != '~')
		return 0;
	while (to < t->len && t->s[to] != '/' && !(assignment && t->s[to] == ':'))
		to++;
	if (to == t->len && part->next)
		return 0;
	user = (struct ab_text){ t->s + from + 1, to - from - 1 };
	if (!user.len)
		add_variable(b, "HOME");
	else if (ab_text_is(user, "+"))
		add_variable(b, "PWD");
	else if (ab_text_is(user, "-"))
		add_variable(b, "OLDPWD");
	else if (ab_text_is(user, "root"))
		ab_build_text(b, AB_TEXT("/root"), true, AB_NOT_VERBATIM, 0);
	else
		ab_build_unknown(b, true, 0);
	return to - from;
}

/* Where the value begins in a word like an assignment; 0: not one. */
static uint32_t find_value(const struct ab_part *part)
{
	const struct ab_text *t = &part->text;
	uint32_t i = 0;

	if (part->kind != AB_PART_TEXT || part->quoted || !t->len ||
	    (part->bytes && !(part->bytes & AB_BYTES_SEPARATOR)))
		return 0;
	while (i < t->len && ab_is_name_byte(t->s[i]))
		i++;
	if (!i || ab_is_digit(t->s[0]))
		return 0;
	if (i + 1 < t->len && t->s[i] == '+')
		i++;
	return i < t->len && t->s[i] == '=' ? i + 1 : 0;
}

/* A TEXT with tildes expanded at `at` and, in an assignment, after colons. */
static void add_tildes(struct ab_build *b, const struct ab_part *part, uint32_t at, bool assignment,
		       bool operand)
{
	const struct ab_text *t = &part->text;
	uint32_t from = 0;

	for (;;) {
		uint32_t took;

		if (at < t->len && t->s[at] == '~') {
			if (at > from)
				add_text(b, part, from, at, false, operand);
			from = at;
			took = add_tilde(b, part, at, assignment);
			from += took;
			at += took;
		}
		if (!assignment || at >= t->len)
			break;
		at += ab_text_find(ab_text_rest(*t, at), ':') + 1;
		if (at > t->len)
			break;
	}
	if (from < t->len)
		add_text(b, part, from, t->len, false, operand);
}

static void add_output(struct ab_build *b, const struct ab_data *output, bool quoted)
{
	struct ab_text t;

	if (!output) {
		ab_build_unknown(b, quoted, 0);
		return;
	}
	t = output->none ? AB_TEXT("") : output->text;
	ab_build_value(b, ab_text_trim(t, "\n"), quoted, output->taint);
}

static void add_process(struct ab_build *b, const struct ab_data *output)
{
	ab_build_text(b, AB_TEXT("/dev/fd/"), true, AB_NOT_VERBATIM, 0);
	ab_build_unknown(b, true, output ? output->taint : 0);
	b->field.stream = output;
}

static void add_arith(struct ab_build *b, const struct ab_part *part, bool quoted)
{
	struct ab_build text = { .e = b->e, .range = b->range, .left = b->left };
	int64_t n;

	ab_build_parts(&text, part->arith, true, false);
	if (!text.field.unknown && ab_arith(b->e, text.field.text, &n))
		ab_build_value(b, ab_text_number(b->e->arena, n), quoted, text.field.taint);
	else
		ab_build_unknown(b, true, 0);
}

static void add_part(struct ab_build *b, const struct ab_part *part, bool quoted, bool operand)
{
	switch (part->kind) {
	case AB_PART_TEXT:
		add_text(b, part, 0, part->text.len, quoted, operand);
		break;
	case AB_PART_PARAM:
		ab_build_param(b, part, quoted);
		break;
	case AB_PART_COMMAND:
		add_output(b, part->command.output, quoted);
		break;
	case AB_PART_ARITH:
		add_arith(b, part, quoted);
		break;
	case AB_PART_PROCESS_IN:
	case AB_PART_PROCESS_OUT:
		add_process(b, part->command.output);
		break;
	}
}

void ab_build_parts(struct ab_build *b, const struct ab_part *parts, bool quoted, bool operand)
{
	const struct ab_part *part = parts;

	if (part && part->kind == AB_PART_TEXT && !part->quoted && !quoted) {
		uint32_t value = operand || !b->fields ? 0 : find_value(part);
		bool assignment = value || (!operand && !b->fields);

		add_tildes(b, part, value, assignment, operand);
		part = part->next;
	}
	for (; part; part = part->next)
		add_part(b, part, quoted || part->quoted, operand);
}

/* `rm$IFS-rf`: the only purpose of $IFS here is to be split. */
static bool is_glued(const struct ab_part *part)
{
	if (!part || !part->next)
		return false;
	for (; part; part = part->next)
		if (part->kind == AB_PART_PARAM && !part->quoted &&
		    ab_text_is(part->param.name, "IFS"))
			return true;
	return false;
}

/* Charges each round with choices for the words it evaluates. */
static void charge_round(const struct ab_eval *e, const struct ab_shell_word *word)
{
	size_t size = word->range.to - word->range.from;

	if (e->choices && e->choices->len && !ab_vars_spend(e->vars, size + AB_BUILD_FIELD_COST))
		e->choices->spent = true;
}

/* One text in which nothing is expanded: most words. */
static bool is_plain(const struct ab_part *part)
{
	const unsigned expanded = AB_BYTES_SEPARATOR | AB_BYTES_CODE | AB_BYTES_PATTERN;

	return part && !part->next && part->kind == AB_PART_TEXT && part->text.len && part->bytes &&
	       !(part->bytes & AB_BYTES_UNKNOWN) &&
	       (part->quoted || (!(part->bytes & expanded) && part->text.s[0] != '~'));
}

static void add_plain(const struct ab_eval *e, const struct ab_shell_word *word,
		      struct ab_fields *fields)
{
	const struct ab_part *part = word->parts;

	*ab_fields_next(e->arena, fields) = (struct ab_field){
		.text = part->text,
		.bytes = part->bytes,
		.range = ab_nesting_map(e->source, word->range),
		.verbatim = find_verbatim(e, part),
	};
}

/* Not inlined: most words need no room for a build. */
static __attribute__((noinline)) void
add_expanded(const struct ab_eval *e, const struct ab_shell_word *word, struct ab_fields *fields)
{
	struct ab_build b = {
		.e = e,
		.fields = fields,
		.first = fields->len,
		.range = ab_nesting_map(e->source, word->range),
		.left = AB_BUILD_BYTES_MAX,
	};
	if (ab_brace_found(word->parts)) {
		struct ab_braces braces;

		if (!ab_brace_expand(e, word->parts, &braces)) {
			ab_build_unknown(&b, false, 0);
			ab_build_break(&b);
			return;
		}
		for (size_t i = 0; i < braces.len && !b.over; i++) {
			ab_build_parts(&b, braces.v[i], false, false);
			ab_build_break(&b);
		}
	} else {
		ab_build_parts(&b, word->parts, false, false);
		ab_build_break(&b);
	}
	if (is_glued(word->parts))
		for (size_t i = b.first; i < fields->len; i++)
			fields->v[i].taint |= AB_TAINT_GLUED;
}

void ab_eval_word(const struct ab_eval *e, const struct ab_shell_word *word,
		  struct ab_fields *fields)
{
	charge_round(e, word);
	if (is_plain(word->parts))
		add_plain(e, word, fields);
	else
		add_expanded(e, word, fields);
}

void ab_eval_single(const struct ab_eval *e, const struct ab_shell_word *word, struct ab_field *ret)
{
	struct ab_build b = {
		.e = e,
		.range = ab_nesting_map(e->source, word->range),
		.left = AB_BUILD_BYTES_MAX,
	};

	charge_round(e, word);
	ab_build_parts(&b, word->parts, false, false);
	if (!b.open)
		ab_build_text(&b, AB_TEXT(""), true, AB_NOT_VERBATIM, 0);
	*ret = b.field;
}
