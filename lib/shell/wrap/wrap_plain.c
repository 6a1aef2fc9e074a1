/*
 * Wrappers with options, some operands, then the command: sudo, timeout, ssh,
 * docker exec. What a row says is enough for them.
 */
#include "base/data/arena.h"
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* What was seen on the way to the command. */
struct way {
	const struct ab_wrapper *row;
	bool alone, joined, plain, shell, scripted;
	const char *dir;
	unsigned operands;
	unsigned unknown; /* of them, or they may be the value of an option */
	struct ab_binding *bindings;
	size_t nbindings;
};

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool has_letter(const char *letters, char letter)
{
	if (letters[0] == '^')
		return is_letter_or_digit(letter) && !strchr(letters, letter);
	return letter && letters[0] && strchr(letters, letter);
}

static bool always(const char *letters)
{
	return letters[0] == '*';
}

/* NULL where it is not known: better the command's own than none. */
static const char *folder(struct ab_wrapping *w, const struct ab_field *dir)
{
	struct ab_text cwd = w->command->cwd;
	const char *name;

	if (dir->unknown || dir->text.len == 0)
		return NULL;
	name = ab_arena_ndup(w->arena, dir->text.s, dir->text.len);
	if (name[0] == '/')
		return name;
	if (cwd.len == 0 || memchr(cwd.s, AB_UNKNOWN, cwd.len))
		return NULL;
	return ab_arena_cat(w->arena,
			    ab_arena_cat(w->arena, ab_arena_ndup(w->arena, cwd.s, cwd.len), "/"),
			    name);
}

static void see_option(struct ab_wrapping *w, struct way *way, const struct ab_opt_walk *walk,
		       enum ab_opt what)
{
	const struct ab_wrapper *row = way->row;
	char c = what == AB_OPT_LETTER ? walk->letter : 0;

	way->alone |= has_letter(row->alone, c);
	way->joined |= has_letter(row->joined, c);
	way->plain |= has_letter(row->plain, c);
	way->shell |= has_letter(row->shell, c);
	if (!walk->value.text.s)
		return;
	if (has_letter(row->script, c) ||
	    (what == AB_OPT_LONG && ab_listed(row->script_long, walk->name))) {
		ab_wrap_script(w, &walk->value);
		way->scripted = true;
	}
	if (has_letter(row->dir, c) || ab_opt_is(walk, what, 0, row->dir_long))
		way->dir = folder(w, &walk->value);
}

static bool take_assignment(struct ab_wrapping *w, struct way *way, const struct ab_field *f)
{
	const char *equals = f->text.len ? memchr(f->text.s, '=', f->text.len) : NULL;
	uint32_t len;

	if (!equals || equals == f->text.s)
		return false;
	if (!way->bindings)
		way->bindings = ab_arena_alloc(w->arena, w->argc * sizeof(*way->bindings));
	len = (uint32_t)(equals - f->text.s);
	way->bindings[way->nbindings++] = (struct ab_binding){
		.name = { f->text.s, len },
		.value = ab_wrap_rest(f, len + 1),
	};
	return true;
}

/* True: this operand is not yet the command. */
static bool pass_operand(struct ab_wrapping *w, struct way *way, const struct ab_field *f)
{
	if (ab_field_is(f, "-") && way->operands == 0)
		return true;
	if (way->row->assigns && take_assignment(w, way, f))
		return true;
	if (way->operands == way->row->operands)
		return false;
	way->operands++;
	way->unknown += ab_field_opens_unknown(f);
	return true;
}

static void finish(struct ab_wrapping *w, struct way *way, struct ab_inner **from)
{
	for (struct ab_inner *i = *from; i; i = i->next) {
		i->bindings = way->bindings;
		i->nbindings = way->nbindings;
		i->cwd = way->dir;
	}
	/* With a folder of its own it is still nothing by itself. */
	w->transparent = w->transparent && !way->alone;
}

/* The command starts here; behind operands that may be none or several it may
 * also start later. */
static void take_command(struct ab_wrapping *w, struct way *way, size_t at)
{
	if ((way->joined || always(way->row->joined)) && !way->plain) {
		struct ab_field script = ab_wrap_join(w->arena, w->argv + at, w->argc - at);

		ab_wrap_script(w, &script);
		return;
	}
	ab_wrap_argv(w, at);
	for (size_t i = 0; i < way->unknown && at + i + 1 < w->argc && i < 4; i++)
		ab_wrap_argv(w, at + i + 1);
}

static size_t after_word(const struct ab_wrapping *w)
{
	for (size_t i = 1; w->row->after[0] && i < w->argc; i++)
		if (ab_field_is(&w->argv[i], w->row->after))
			return i + 1;
	return 0;
}

void ab_wrap_plain(struct ab_wrapping *w)
{
	struct ab_inner **from = w->tail;
	struct way way = { .row = w->row };
	size_t after = after_word(w), at = w->argc;
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &w->opts, w->argv, after ? after : w->argc);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END) {
		if (what != AB_OPT_OPERAND) {
			see_option(w, &way, &walk, what);
			continue;
		}
		way.unknown += walk.maybe_value == AB_UNKNOWN_LONG;
		if (!after && !pass_operand(w, &way, &walk.value)) {
			at = walk.index;
			break;
		}
	}
	if (after)
		at = after;
	if (way.alone)
		*(w->tail = from) = NULL;
	else if (at < w->argc)
		take_command(w, &way, at);
	else if (!way.scripted && (way.shell || always(w->row->shell)))
		ab_wrap_stdin(w);
	finish(w, &way, from);
}

/* env -S 'cmd args': the words in the text, then the others. */
void ab_wrap_env(struct ab_wrapping *w)
{
	struct ab_opt_walk walk;
	enum ab_opt what;

	ab_opt_begin(&walk, &w->opts, w->argv, w->argc);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END && what != AB_OPT_OPERAND) {
		struct ab_field *words, script;
		size_t n;

		if (!ab_opt_is(&walk, what, 'S', "split-string") || !walk.value.text.s)
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

/* runuser -u USER CMD, else it is as su. */
void ab_wrap_runuser(struct ab_wrapping *w)
{
	struct ab_wrapper row = *w->row;
	struct ab_opt_walk walk;
	enum ab_opt what;

	row.operands = AB_WRAP_NEVER;
	row.shell[0] = '*';
	ab_opt_begin(&walk, &w->opts, w->argv, w->argc);
	while ((what = ab_opt_next(&walk)) != AB_OPT_END)
		if (ab_opt_is(&walk, what, 'u', "user")) {
			row.operands = 0;
			row.shell[0] = '\0';
			break;
		}
	w->row = &row;
	ab_wrap_plain(w);
}
