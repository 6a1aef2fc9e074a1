#include "shell/walk/walk_state.h"

#include "shell/syntax/grow.h"
#include "shell/syntax/name_table.h"

enum { VALUE_MAX = 64 * 1024 };

static const struct ab_var not_known = { .text = { "", 1 }, .unknown = true };

/* Variables that change which program a name means, what it loads or how words are
 * read. */
static const char altering[] =
	"BASHOPTS BASH_ENV DYLD_* ENV EXECIGNORE GCONV_PATH GIT_* IFS LD_* LESS* LOCPATH "
	"MANPAGER NODE_OPTIONS PAGER PATH PERL5* PROMPT_COMMAND PYTHON* RIPGREP_* RUBY* "
	"SHELLOPTS TERMINFO";

struct ab_field ab_walk_field(const struct ab_var *value, struct ab_span range)
{
	return (struct ab_field){ .text = value->text,
				  .unknown = value->unknown,
				  .taint = value->taint,
				  .stream = value->stream,
				  .range = range,
				  .verbatim = AB_NOT_VERBATIM };
}

/* A text like a[$(cmd)] is of use only where the shell evaluates it: ${!x}, $((x)),
 * [[ -v $x ]]. */
static void walk_values(struct ab_walk *w, const struct ab_var *value)
{
	for (; value; value = value->next) {
		const struct ab_field text = ab_walk_field(value, (struct ab_span){ 0 });

		if (value->text.len > 4)
			ab_walk_subscript(w, &text);
	}
}

void ab_walk_put(struct ab_walk *w, struct ab_text name, const struct ab_var *value)
{
	if (ab_matches_listed(altering, name, false))
		w->flags |= AB_SIMPLE_ALTERED;
	walk_values(w, value);
	if (w->joining) {
		AB_GROW(w->arena, w->names, w->nnames, w->names_room, 32);
		w->names[w->nnames++] = name;
	}
	w->sets++;
	ab_vars_set(w->vars, name, value);
}

void ab_walk_set(struct ab_walk *w, struct ab_text name, const struct ab_var *value)
{
	/* No shell goes there, so the folder may be the former one. */
	if (ab_text_is(name, "PWD"))
		value = ab_vars_join(w->arena, ab_vars_get(w->vars, name), value);
	ab_walk_put(w, name, value);
}

const struct ab_var *ab_walk_value(struct ab_walk *w, const struct ab_field *field)
{
	struct ab_var *v = ab_arena_alloc(w->arena, sizeof(*v));

	*v = (struct ab_var){ .text = field->text,
			      .unknown = field->unknown,
			      .pattern = field->pattern,
			      .stream = field->stream,
			      .taint = field->taint };
	if (v->text.len > VALUE_MAX) {
		v->text = AB_UNKNOWN_TEXT;
		v->unknown = true;
	}
	return v;
}

/* The words after the first become "$1" and so on; "$0" remains the name of the
 * shell, which is unknown. */
const struct ab_fields *ab_walk_given(struct ab_walk *w, const struct ab_field *argv, size_t argc)
{
	struct ab_fields *given = ab_fields_of(w->arena, argv, argc);

	given->v[0].text = AB_UNKNOWN_TEXT;
	given->v[0].bytes = 0;
	given->v[0].unknown = true;
	return given;
}

/* Appending copies, so the total is bounded: a loop would be quadratic. */
static const struct ab_var *append_value(struct ab_walk *w, const struct ab_var *former,
					 const struct ab_var *value)
{
	struct ab_var *v = ab_arena_alloc(w->arena, sizeof(*v));
	size_t len = (size_t)former->text.len + value->text.len;

	*v = *value;
	v->unknown |= former->unknown;
	v->taint |= former->taint;
	v->pattern |= former->pattern;
	if (len > VALUE_MAX || w->nested + len > AB_WALK_NESTED_MAX) {
		v->text = AB_UNKNOWN_TEXT;
		v->unknown = true;
		return v;
	}
	w->nested += len;
	v->text = ab_text_join(w->arena, former->text, value->text);
	return v;
}

static const struct ab_var *append_each(struct ab_walk *w, struct ab_text name,
					const struct ab_var *value)
{
	const struct ab_var *former = ab_vars_get(w->vars, name), *all = NULL;

	if (!former)
		return append_value(w, &not_known, value);
	for (; former; former = former->next) {
		const struct ab_var *v = append_value(w, former, value);

		all = all ? ab_vars_join(w->arena, all, v) : v;
	}
	return all;
}

const struct ab_var *ab_walk_array(struct ab_walk *w, const struct ab_fields *items)
{
	struct ab_var *v = ab_arena_alloc(w->arena, sizeof(*v));

	if (items->len)
		*v = *ab_walk_value(w, &items->v[0]);
	else
		v->text = (struct ab_text){ "", 0 };
	v->items = items;
	return v;
}

static const struct ab_var *evaluate_array(struct ab_walk *w, const struct ab_eval *e,
					   const struct ab_assign *assign)
{
	struct ab_fields *items = ab_arena_alloc(w->arena, sizeof(*items));
	const struct ab_var *former;

	former = assign->append ? ab_vars_get(w->vars, assign->name) : NULL;
	if (assign->append && (!former || former->next || !former->items))
		return NULL;
	for (size_t i = 0; former && i < former->items->len; i++)
		*ab_fields_next(w->arena, items) = former->items->v[i];
	for (const struct ab_shell_word *x = assign->value; x; x = x->next)
		ab_eval_word(e, x, items);
	w->commands += items->len;
	return ab_walk_array(w, items);
}

static const struct ab_var *evaluate_scalar(struct ab_walk *w, const struct ab_eval *e,
					    const struct ab_assign *assign)
{
	struct ab_field field = { .text = { "", 0 } };
	const struct ab_var *v;

	if (assign->value)
		ab_eval_single(e, assign->value, &field);
	v = ab_walk_value(w, &field);
	return assign->append ? append_each(w, assign->name, v) : v;
}

void ab_walk_assign(struct ab_walk *w, const struct ab_assign *assign)
{
	struct ab_choices choices = { 0 };
	const struct ab_eval e = { w->arena, w->vars, w->at.source, &choices };
	const struct ab_var *all = NULL;
	bool first = true;

	if (assign->indexed) {
		ab_walk_set(w, assign->name, NULL);
		return;
	}
	do {
		const struct ab_var *v = assign->array ? evaluate_array(w, &e, assign)
						       : evaluate_scalar(w, &e, assign);

		all = first ? v : ab_vars_join(w->arena, all, v);
		first = false;
	} while (ab_choices_next(&choices));
	ab_walk_set(w, assign->name, all);
	for (; all; all = all->next) {
		const struct ab_field value = ab_walk_field(all, ab_walk_map(w, assign->range));

		ab_walk_setting(w, assign->name, &value);
	}
}

/*
 * Only one of several branches runs. The variables set by each are collected and
 * undone, so that no branch sees another's. In the end a variable may have any of
 * these values, and its old value only if some branch does not set it.
 */
struct joined {
	struct ab_text name;
	const struct ab_var *value;
	size_t arms, last;
	struct joined *next;
};

struct ab_walk_join {
	size_t mark, names, arms;
	struct joined *vars;
};

void ab_walk_join_begin(struct ab_walk *w, struct ab_walk_join **ret)
{
	*ret = ab_arena_alloc(w->arena, sizeof(**ret));
	(*ret)->mark = ab_vars_mark(w->vars);
	(*ret)->names = w->nnames;
	w->joining++;
	w->maybes++;
}

/* Searches only the newest: a variable that is missed and added again gets more
 * possible values, never fewer. */
static struct joined *find_joined(struct ab_walk_join *join, struct ab_text name)
{
	struct joined *j = join->vars;

	for (int i = 0; j && i < 32; j = j->next, i++)
		if (ab_text_same(j->name, name))
			return j;
	return NULL;
}

static void collect_variable(struct ab_walk *w, struct ab_walk_join *join, struct ab_text name)
{
	const struct ab_var *value = ab_vars_get(w->vars, name);
	struct joined *j = find_joined(join, name);

	if (!j) {
		j = ab_arena_alloc(w->arena, sizeof(*j));
		*j = (struct joined){ .name = name,
				      .value = value,
				      .arms = 1,
				      .last = join->arms,
				      .next = join->vars };
		join->vars = j;
	} else if (j->last != join->arms) {
		j->value = ab_vars_join(w->arena, j->value, value);
		j->arms++;
		j->last = join->arms;
	}
}

void ab_walk_join_next(struct ab_walk *w, struct ab_walk_join *join)
{
	w->commands += (w->nnames - join->names) / 8;
	if (w->commands <= AB_WALK_COMMANDS_MAX)
		for (size_t i = join->names; i < w->nnames; i++)
			collect_variable(w, join, w->names[i]);
	w->nnames = join->names;
	ab_vars_undo(w->vars, join->mark);
	join->mark = ab_vars_mark(w->vars);
	join->arms++;
}

void ab_walk_join_end(struct ab_walk *w, struct ab_walk_join *join, bool exhaustive)
{
	ab_vars_undo(w->vars, join->mark);
	w->joining--;
	w->maybes--;
	for (const struct joined *j = join->vars; j; j = j->next) {
		const struct ab_var *value = j->value;

		if (!exhaustive || j->arms < join->arms)
			value = ab_vars_join(w->arena, ab_vars_get(w->vars, j->name), value);
		ab_walk_put(w, j->name, value);
	}
}
