/*
 * Changes by builtins to the shell itself: its folder, variables and descriptors.
 */
#include "shell/command/grammar.h"
#include "shell/command/known_files.h"
#include "shell/command/name_index.h"
#include "shell/output/printed.h"
#include "shell/syntax/name_table.h"
#include "shell/walk/walk_state.h"

static const struct ab_text pwd = { "PWD", 3 }, oldpwd = { "OLDPWD", 6 }, home = { "HOME", 4 };

static struct ab_text join_path(struct ab_walk *w, struct ab_text base, struct ab_text path)
{
	char *out = ab_arena_alloc(w->arena, (size_t)base.len + path.len + 2);
	uint32_t len = ab_files_join(base, path, out);

	if (!len)
		out[len++] = '/';
	return (struct ab_text){ out, len };
}

static void change_folder(struct ab_walk *w, const struct ab_simple *command)
{
	static const struct ab_grammar none = { 0 };
	const struct ab_var *former = ab_vars_get(w->vars, oldpwd);
	struct ab_opt_walk o = ab_opt_begin(&none, command->argv, command->argc);
	struct ab_var *v;

	ab_opt_next_operand(&o);
	ab_walk_set(w, oldpwd, ab_vars_get(w->vars, pwd));
	if (o.what == AB_OPT_OPERAND && ab_field_is(&o.value, "-") &&
	    ab_text_is(command->name, "cd")) {
		ab_walk_put(w, pwd, former);
		return;
	}
	if (o.what == AB_OPT_END) {
		ab_walk_put(w, pwd, ab_vars_get(w->vars, home));
		return;
	}
	if (o.value.unknown || o.value.pattern || ab_field_is(&o.value, "-") ||
	    (o.value.text.len && o.value.text.s[0] != '/' &&
	     ab_text_has(command->cwd, AB_UNKNOWN))) {
		ab_walk_put(w, pwd, NULL);
		return;
	}
	v = ab_arena_alloc(w->arena, sizeof(*v));
	v->text = join_path(w, command->cwd, o.value.text);
	v->taint = o.value.taint;
	w->nested += v->text.len;
	ab_walk_put(w, pwd, v);
}

static void forget_folder(struct ab_walk *w, const struct ab_simple *command)
{
	(void)command;
	ab_walk_put(w, pwd, NULL);
}

bool ab_walk_is_name(struct ab_text t)
{
	for (uint32_t i = 0; i < t.len; i++)
		if (!ab_is_name_byte(t.s[i]))
			return false;
	return t.len > 0 && !ab_is_digit(t.s[0]);
}

/* Split NAME=VALUE or NAME; returns false for anything else. */
static bool split_assignment(const struct ab_field *f, struct ab_text *ret_name,
			     struct ab_field *ret_value)
{
	*ret_name = f->text;
	ret_name->len = ab_text_find(f->text, '=');
	ret_value->text.s = NULL;
	if (ret_name->len < f->text.len) {
		*ret_value = *f;
		ret_value->text = ab_text_rest(f->text, ret_name->len + 1);
		ret_value->unknown = ab_text_has(ret_value->text, AB_UNKNOWN);
	}
	if (ret_name->len && ret_name->s[ret_name->len - 1] == '+')
		ret_name->len--;
	return ab_walk_is_name(*ret_name);
}

/* declare -n: the value is the name of a variable. */
static bool is_reference(const struct ab_simple *command)
{
	static const struct ab_grammar none = { .ends = 1 };

	return ab_opt_given(ab_opt_begin(&none, command->argv, command->argc), "n");
}

static void set_variables(struct ab_walk *w, const struct ab_simple *command)
{
	bool local = !ab_listed("export readonly", command->name);
	bool reference = local && is_reference(command);

	for (size_t i = 1; i < command->argc; i++) {
		struct ab_walk_local *l;
		struct ab_text name;
		struct ab_field value;

		if (!split_assignment(&command->argv[i], &name, &value))
			continue;
		if (local && w->calls) {
			l = ab_arena_alloc(w->arena, sizeof(*l));
			*l = (struct ab_walk_local){ name, ab_vars_get(w->vars, name), w->locals };
			w->locals = l;
		}
		if (!value.text.s)
			continue;
		if (reference) {
			ab_walk_set(w, name, NULL);
			ab_walk_set(w, value.text, NULL);
			continue;
		}
		ab_walk_set(w, name, ab_walk_value(w, &value));
		ab_walk_setting(w, name, &value);
	}
}

static void walk_subscripts(struct ab_walk *w, const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++)
		ab_walk_subscript(w, &command->argv[i]);
}

static void unset_variables(struct ab_walk *w, const struct ab_simple *command)
{
	static const struct ab_var empty = { .text = { "", 0 } };

	walk_subscripts(w, command);
	for (size_t i = 1; i < command->argc; i++)
		if (ab_walk_is_name(command->argv[i].text))
			ab_walk_set(w, command->argv[i].text, &empty);
}

static void forget_variables(struct ab_walk *w, const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++)
		if (ab_walk_is_name(command->argv[i].text))
			ab_walk_set(w, command->argv[i].text, NULL);
}

/* The text that `printf -v NAME` assigns. */
static const struct ab_var *format_printed(struct ab_walk *w, const struct ab_simple *command)
{
	struct ab_simple bare = *command;
	struct ab_field value;
	struct ab_data data;

	bare.argv += 2;
	bare.argc -= 2;
	bare.nredirects = 0;
	ab_printed_output(w->arena, &bare, &data);
	value = ab_data_field(&data);
	return ab_walk_value(w, &value);
}

/* printf -v NAME */
static void set_printed(struct ab_walk *w, const struct ab_simple *command)
{
	if (command->argc > 2 && ab_field_is(&command->argv[1], "-v"))
		ab_walk_subscript(w, &command->argv[2]);
	if (command->argc > 3 && ab_field_is(&command->argv[1], "-v") &&
	    ab_walk_is_name(command->argv[2].text))
		ab_walk_set(w, command->argv[2].text, format_printed(w, command));
}

/* `set -- a b`, `set a b`: "$1" and "$2". -o takes the next word. */
static void set_positional(struct ab_walk *w, const struct ab_simple *command)
{
	size_t i = 1;

	while (i < command->argc && command->argv[i].text.len > 1 &&
	       strchr("-+", command->argv[i].text.s[0]) && !ab_field_is(&command->argv[i], "--"))
		i += 1 + (command->argv[i].text.s[command->argv[i].text.len - 1] == 'o');
	if (i >= command->argc)
		return;
	i -= !ab_field_is(&command->argv[i], "--");
	ab_vars_positional(w->vars, ab_walk_given(w, &command->argv[i], command->argc - i));
}

/* Shift by one if it certainly happens once; else the arguments become unknown. */
static void shift_positional(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_fields *args = ab_vars_args(w->vars);
	struct ab_fields *left;

	if (!args || args->len < 2 || command->argc > 1 || w->maybes || args->v[1].splits) {
		ab_vars_positional(w->vars, NULL);
		return;
	}
	left = ab_fields_of(w->arena, args->v + 1, args->len - 1);
	left->v[0] = args->v[0];
	w->nested += left->len * sizeof(*left->v);
	ab_vars_positional(w->vars, left);
}

static void add_aliases(struct ab_walk *w, const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text name;
		struct ab_field value;

		split_assignment(&command->argv[i], &name, &value);
		if (value.text.s && name.len)
			ab_walk_alias(w, name, value.text);
	}
}

/* `exec < file` redirects the rest of the script. */
static void redirect_here(struct ab_walk *w, const struct ab_simple *command)
{
	if (command->argc > 1)
		return;
	w->in = command->in;
	w->files = command->files;
}
/* The value of the n-th name of `read` in one line; the last gets the rest. */
static struct ab_text pick_word(struct ab_text line, size_t n, bool last)
{
	uint32_t i = 0, from;

	for (;;) {
		while (i < line.len && ab_is_blank(line.s[i]))
			i++;
		if (!n--)
			break;
		while (i < line.len && !ab_is_blank(line.s[i]))
			i++;
	}
	from = i;
	if (last)
		for (i = line.len; i > from && ab_is_blank(line.s[i - 1]); i--)
			;
	else
		while (i < line.len && !ab_is_blank(line.s[i]))
			i++;
	return (struct ab_text){ line.s + from, i - from };
}

/* Any line of the input may be the one that is read. */
static const struct ab_var *read_line_values(struct ab_walk *w, const struct ab_data *in, size_t n,
					     bool last)
{
	const struct ab_var *all = NULL;
	struct ab_text rest = in->text;

	for (int lines = 0; rest.len; lines++) {
		struct ab_field f = { .taint = in->taint };
		const struct ab_var *v;

		if (lines == AB_VALUES_MAX)
			return ab_vars_join(w->arena, all, NULL);
		f.text = pick_word(ab_text_cut(&rest, '\n'), n, last);
		f.unknown = ab_text_has(f.text, AB_UNKNOWN);
		v = ab_walk_value(w, &f);
		all = all ? ab_vars_join(w->arena, all, v) : v;
	}
	return all;
}

/* An array of all lines, or of the words of the first line; bounded. */
static const struct ab_var *read_array(struct ab_walk *w, const struct ab_data *in, bool lines)
{
	enum { ITEMS_MAX = 256 };
	struct ab_fields *items = ab_arena_alloc(w->arena, sizeof(*items));
	struct ab_text rest = in->text;

	if (in->none || in->unknown)
		return NULL;
	if (!lines)
		rest = ab_text_cut(&rest, '\n');
	while (rest.len) {
		struct ab_field item = { .taint = in->taint,
					 .range = in->range,
					 .verbatim = AB_NOT_VERBATIM };

		item.text = rest;
		while (rest.len && (lines ? rest.s[0] != '\n' : !ab_is_blank(rest.s[0])))
			rest = ab_text_rest(rest, 1);
		item.text.len -= rest.len;
		if (lines || item.text.len)
			*ab_fields_next(w->arena, items) = item;
		if (items->len > ITEMS_MAX)
			return NULL;
		rest = ab_text_rest(rest, rest.len > 0);
	}
	return ab_walk_array(w, items);
}

/* mapfile NAME; the newline at the end of an item does not matter here. */
static void read_lines(struct ab_walk *w, const struct ab_simple *command)
{
	struct ab_text name = { "MAPFILE", 7 };
	bool plain = true;

	for (struct ab_opt_walk o = ab_opt_begin_as(command, "mapfile"); ab_opt_next(&o);) {
		if (o.what == AB_OPT_OPERAND)
			name = o.value.text;
		else if (o.what == AB_OPT_LETTER)
			plain &= o.letter == 't';
	}
	if (ab_walk_is_name(name))
		ab_walk_set(w, name, plain ? read_array(w, &command->in, true) : NULL);
}

static void read_names(struct ab_walk *w, const struct ab_simple *command)
{
	struct ab_text names[8];
	size_t n = 0;
	bool plain = true, array = false;

	for (struct ab_opt_walk o = ab_opt_begin_as(command, "read"); ab_opt_next(&o);) {
		if (o.what == AB_OPT_OPERAND) {
			if (ab_walk_is_name(o.value.text) && n < 8)
				names[n++] = o.value.text;
		} else if (o.what == AB_OPT_LETTER && o.letter == 'a') {
			if (ab_walk_is_name(o.value.text))
				ab_walk_set(w, o.value.text, read_array(w, &command->in, false));
			array = true;
		} else if (o.what == AB_OPT_LETTER && o.letter != 'r') {
			plain = false;
		}
	}
	if (array)
		return;
	if (!n)
		names[n++] = (struct ab_text){ "REPLY", 5 };
	for (size_t i = 0; i < n; i++)
		ab_walk_set(w, names[i],
			    plain && !command->in.none
				    ? read_line_values(w, &command->in, i, i + 1 == n)
				    : NULL);
}

/* hash -p FILE NAME, enable -f FILE NAME: a name means another program. */
static void alter_name(struct ab_walk *w, const struct ab_simple *command)
{
	if (command->argc > 2)
		w->flags |= AB_SIMPLE_ALTERED;
}

static const struct builtin {
	void (*run)(struct ab_walk *w, const struct ab_simple *command);
} builtins[] = {
	AB_PROGRAMS("[ let test", walk_subscripts),
	AB_PROGRAMS("alias", add_aliases),
	AB_PROGRAMS("cd chdir pushd", change_folder),
	AB_PROGRAMS("declare export local readonly typeset", set_variables),
	AB_PROGRAMS("enable hash", alter_name),
	AB_PROGRAMS("exec", redirect_here),
	AB_PROGRAMS("getopts", forget_variables),
	AB_PROGRAMS("mapfile readarray", read_lines),
	AB_PROGRAMS("popd", forget_folder),
	AB_PROGRAMS("printf", set_printed),
	AB_PROGRAMS("read", read_names),
	AB_PROGRAMS("set", set_positional),
	AB_PROGRAMS("shift", shift_positional),
	AB_PROGRAMS("unset", unset_variables),
};

void ab_walk_builtin(struct ab_walk *w, const struct ab_simple *command)
{
	const struct builtin *b;

	if (!command->argc || !command->name.len || command->name.len != command->argv[0].text.len)
		return;
	b = AB_COMMAND_ROW(builtins, AB_TABLE_BUILTINS, command);
	if (b)
		b->run(w, command);
}
