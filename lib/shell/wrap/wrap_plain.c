/*
 * Wrappers with options, some operands, then the command: sudo, timeout, ssh,
 * docker exec. Their table row describes them completely.
 */
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* State collected from the words before the command. */
struct prefix {
	const struct ab_wrapper *row;
	bool alone, joined, plain, shell, scripted;
	const char *dir;
	unsigned operands;
	unsigned unknown; /* operands that are unknown or may be the value of an option */
	struct ab_binding *bindings;
	size_t nbindings;
};

static bool has_letter(const char *letters, char letter)
{
	if (letters[0] == '^')
		return (ab_is_letter(letter) || ab_is_digit(letter)) && !strchr(letters, letter);
	return letter && letters[0] && strchr(letters, letter);
}

/* NULL if unknown: the caller then keeps the command's own folder. */
static const char *resolve_folder(struct ab_wrapping *w, const struct ab_field *dir)
{
	struct ab_text cwd = w->command->cwd;
	const char *name;

	if (dir->unknown || dir->text.len == 0)
		return NULL;
	name = ab_arena_ndup(w->arena, dir->text.s, dir->text.len);
	if (name[0] == '/')
		return name;
	if (cwd.len == 0 || ab_text_has(cwd, AB_UNKNOWN))
		return NULL;
	return ab_arena_cat(w->arena,
			    ab_arena_cat(w->arena, ab_arena_ndup(w->arena, cwd.s, cwd.len), "/"),
			    name);
}

static void read_option(struct ab_wrapping *w, struct prefix *prefix,
			const struct ab_opt_walk *walk)
{
	const struct ab_wrapper *row = prefix->row;
	char c = walk->letter;

	prefix->alone |= has_letter(row->alone, c);
	prefix->joined |= has_letter(row->joined, c);
	prefix->plain |= has_letter(row->plain, c);
	prefix->shell |= has_letter(row->shell, c);
	if (!walk->value.text.s)
		return;
	if (has_letter(row->script, c) ||
	    (walk->what == AB_OPT_LONG && ab_listed(row->script_long, walk->name))) {
		ab_wrap_script(w, &walk->value);
		prefix->scripted = true;
	}
	if (has_letter(row->dir, c) || ab_opt_is(walk, 0, row->dir_long))
		prefix->dir = resolve_folder(w, &walk->value);
}

static bool take_assignment(struct ab_wrapping *w, struct prefix *prefix, const struct ab_field *f)
{
	uint32_t len = ab_text_find(f->text, '=');

	if (len == 0 || len == f->text.len)
		return false;
	if (!prefix->bindings)
		prefix->bindings = ab_arena_alloc(w->arena, w->argc * sizeof(*prefix->bindings));
	prefix->bindings[prefix->nbindings++] = (struct ab_binding){
		.name = { f->text.s, len },
		.value = ab_field_rest(f, len + 1),
	};
	return true;
}

/* Returns true if this operand precedes the command. */
static bool pass_operand(struct ab_wrapping *w, struct prefix *prefix, const struct ab_field *f)
{
	if (ab_field_is(f, "-") && prefix->operands == 0)
		return true;
	if (prefix->row->assigns && take_assignment(w, prefix, f))
		return true;
	if (prefix->operands == prefix->row->operands)
		return false;
	prefix->operands++;
	prefix->unknown += ab_field_opens_unknown(f);
	return true;
}

static void finish_inners(struct ab_wrapping *w, struct prefix *prefix, struct ab_inner **from)
{
	for (struct ab_inner *i = *from; i; i = i->next) {
		i->bindings = prefix->bindings;
		i->nbindings = prefix->nbindings;
		i->cwd = prefix->dir;
	}
	w->transparent = w->transparent && !prefix->alone;
}

/* The command starts at `at`, or later if operands before it are unknown: each may
 * be several words or none. */
static void take_command(struct ab_wrapping *w, struct prefix *prefix, size_t at)
{
	if ((prefix->joined || prefix->row->joined[0] == '*') && !prefix->plain) {
		ab_wrap_joined(w, at);
		return;
	}
	ab_wrap_argv(w, at);
	for (size_t i = 0; i < prefix->unknown && at + i + 1 < w->argc && i < 4; i++)
		ab_wrap_argv(w, at + i + 1);
}

static size_t find_after_word(const struct ab_wrapping *w)
{
	for (size_t i = 1; w->row->after[0] && i < w->argc; i++)
		if (ab_field_is(&w->argv[i], w->row->after))
			return i + 1;
	return 0;
}

void ab_wrap_plain(struct ab_wrapping *w)
{
	struct ab_inner **from = w->tail;
	struct prefix prefix = { .row = w->row };
	size_t after = find_after_word(w), at = w->argc;

	for (struct ab_opt_walk walk = ab_opt_begin(w->opts, w->argv, after ? after : w->argc);
	     ab_opt_next(&walk);) {
		if (walk.what != AB_OPT_OPERAND) {
			read_option(w, &prefix, &walk);
			continue;
		}
		prefix.unknown += walk.maybe_value == AB_UNKNOWN_LONG;
		if (!after && !pass_operand(w, &prefix, &walk.value)) {
			at = walk.index;
			break;
		}
	}
	if (after)
		at = after;
	if (prefix.alone)
		*(w->tail = from) = NULL;
	else if (at < w->argc)
		take_command(w, &prefix, at);
	else if (!prefix.scripted && (prefix.shell || w->row->shell[0] == '*'))
		ab_wrap_stdin(w);
	finish_inners(w, &prefix, from);
}

/* env -S 'cmd args': the words of the text, then the remaining words. */
void ab_wrap_env(struct ab_wrapping *w)
{
	struct ab_opt_walk walk = ab_wrap_options(w);

	while (ab_opt_next(&walk) && walk.what != AB_OPT_OPERAND) {
		struct ab_field *words, script;
		size_t n;

		if (!ab_opt_is(&walk, 'S', "split-string") || !walk.value.text.s)
			continue;
		n = w->argc - walk.next + 1;
		words = ab_arena_alloc(w->arena, n * sizeof(*words));
		words[0] = walk.value;
		memcpy(words + 1, w->argv + walk.next, (n - 1) * sizeof(*words));
		script = ab_wrap_join(w->arena, words, n);
		ab_wrap_script(w, &script);
		return;
	}
	ab_wrap_plain(w);
}

/* runuser -u USER CMD; without -u it works like su. */
void ab_wrap_runuser(struct ab_wrapping *w)
{
	struct ab_wrapper row = *w->row;

	row.operands = AB_WRAP_NEVER;
	row.shell[0] = '*';
	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next(&walk);)
		if (ab_opt_is(&walk, 'u', "user")) {
			row.operands = 0;
			row.shell[0] = '\0';
			break;
		}
	w->row = &row;
	ab_wrap_plain(w);
}
