#include "shell/wrap/wrap.h"

#include "shell/code/code.h"
#include "shell/command/known_files.h"
#include "shell/command/name_index.h"
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* How many words after an unknown one may start the command. */
enum { GUESSES = 4 };

/* It has the row's flags and the command's standard input. */
static struct ab_inner *add_inner(struct ab_wrapping *w, enum ab_inner_kind kind)
{
	struct ab_inner *inner = ab_arena_alloc(w->arena, sizeof(*inner));

	inner->kind = kind;
	inner->in = w->command->in;
	inner->flags = w->row->flags;
	*w->tail = inner;
	w->tail = &inner->next;
	return inner;
}

struct ab_inner *ab_wrap_add_argv(struct ab_wrapping *w, const struct ab_field *argv, size_t argc)
{
	struct ab_inner *inner = add_inner(w, AB_INNER_ARGV);

	inner->argv = argv;
	inner->argc = argc;
	return inner;
}

void ab_wrap_argv(struct ab_wrapping *w, size_t from)
{
	for (size_t i = from; i < w->argc && i <= from + GUESSES; i++) {
		ab_wrap_add_argv(w, w->argv + i, w->argc - i);
		if (!ab_field_opens_unknown(&w->argv[i]))
			break;
	}
}

struct ab_inner *ab_wrap_script(struct ab_wrapping *w, const struct ab_field *script)
{
	struct ab_inner *inner = add_inner(w, AB_INNER_SCRIPT);

	inner->script = *script;
	/* Unreadable or foreign text needs a verdict of its own. */
	if (script->unknown || script->taint & (AB_TAINT_NETWORK | AB_TAINT_DECODED))
		w->transparent = false;
	return inner;
}

void ab_wrap_script_from(struct ab_wrapping *w, const struct ab_field *f, uint32_t from)
{
	struct ab_field script = ab_field_rest(f, from);

	ab_wrap_script(w, &script);
}

void ab_wrap_joined(struct ab_wrapping *w, size_t from)
{
	struct ab_field script;

	if (from >= w->argc)
		return;
	script = ab_wrap_join(w->arena, w->argv + from, w->argc - from);
	ab_wrap_script(w, &script);
}

void ab_wrap_stdin(struct ab_wrapping *w)
{
	const struct ab_data *in = &w->command->in;
	struct ab_field script = ab_data_field(in);

	if (in->none || (in->taint && ab_data_unread(in)))
		return;
	if (in->unknown && in->text.len == 0)
		script = ab_field_unknown(in->range, in->taint);
	ab_wrap_script(w, &script)->in = (struct ab_data){ .none = true };
}

struct ab_field ab_wrap_field(const struct ab_field *like, struct ab_text text)
{
	return (struct ab_field){
		.text = text,
		.unknown = ab_text_has(text, AB_UNKNOWN),
		.taint = like->taint,
		.range = like->range,
		.verbatim = AB_NOT_VERBATIM,
	};
}

struct ab_field ab_wrap_join(struct ab_arena *arena, const struct ab_field *v, size_t n)
{
	struct ab_field joined = v[0];
	size_t len = n - 1;
	char *text, *p;

	if (n == 1)
		return joined;
	for (size_t i = 0; i < n; i++)
		len += v[i].text.len;
	text = p = ab_arena_alloc(arena, len + 1);
	for (size_t i = 0; i < n; i++) {
		if (i > 0) {
			*p++ = ' ';
			/* Offsets still match the source if one blank separated them. */
			if (v[i].verbatim == AB_NOT_VERBATIM ||
			    v[i].verbatim != joined.verbatim + (p - text))
				joined.verbatim = AB_NOT_VERBATIM;
		}
		if (v[i].text.len)
			memcpy(p, v[i].text.s, v[i].text.len);
		p += v[i].text.len;
		joined.unknown |= v[i].unknown;
		joined.splits |= v[i].splits;
		joined.taint |= v[i].taint;
		if (v[i].range.to > joined.range.to)
			joined.range.to = v[i].range.to;
	}
	joined.text = (struct ab_text){ text, (uint32_t)len };
	joined.bytes = 0;
	return joined;
}

const char *ab_wrap_replace(struct ab_arena *arena, struct ab_text in, struct ab_text mark,
			    struct ab_text by, uint32_t *ret_len)
{
	size_t found = 0, len;
	char *text, *p;

	for (const char *s = in.s; mark.len && in.len;) {
		s = memmem(s, (size_t)(in.s + in.len - s), mark.s, mark.len);
		if (!s)
			break;
		s += mark.len;
		found++;
	}
	if (!found)
		return NULL;
	len = in.len + found * by.len - found * mark.len;
	text = p = ab_arena_alloc(arena, len + 1);
	for (const char *s = in.s, *end = in.s + in.len; s < end;) {
		const char *at = memmem(s, (size_t)(end - s), mark.s, mark.len);
		size_t n = (size_t)((at ? at : end) - s);

		p = (char *)mempcpy(p, s, n);
		s += n;
		if (at) {
			p = (char *)mempcpy(p, by.s, by.len);
			s += mark.len;
		}
	}
	*ret_len = (uint32_t)len;
	return text;
}

/* `slot`: of the name that led to the row. */
static void read_row(struct ab_wrapping *w, const struct ab_name_slot *slot)
{
	static ab_wrap_reader *const readers[] = {
		[AB_WRAP_PLAIN] = ab_wrap_plain,   [AB_WRAP_SUB] = ab_wrap_sub,
		[AB_WRAP_SH] = ab_wrap_sh,	   [AB_WRAP_EVAL] = ab_wrap_eval,
		[AB_WRAP_TRAP] = ab_wrap_trap,	   [AB_WRAP_ALIAS] = ab_wrap_alias,
		[AB_WRAP_SOURCE] = ab_wrap_source, [AB_WRAP_AT] = ab_wrap_at,
		[AB_WRAP_XARGS] = ab_wrap_xargs,   [AB_WRAP_PARALLEL] = ab_wrap_parallel,
		[AB_WRAP_FIND] = ab_wrap_find,	   [AB_WRAP_FD] = ab_wrap_fd,
		[AB_WRAP_GIT] = ab_wrap_git,	   [AB_WRAP_KEYS] = ab_wrap_keys,
		[AB_WRAP_EACH] = ab_wrap_each,	   [AB_WRAP_BWRAP] = ab_wrap_bwrap,
		[AB_WRAP_ENV] = ab_wrap_env,	   [AB_WRAP_RUNUSER] = ab_wrap_runuser,
		[AB_WRAP_FILE] = ab_wrap_file,	   [AB_WRAP_SSH] = ab_wrap_ssh,
		[AB_WRAP_BEGINS] = ab_wrap_begins, [AB_WRAP_ZIP] = ab_wrap_zip,
		[AB_WRAP_EDITOR] = ab_wrap_editor, [AB_WRAP_MAKE] = ab_wrap_make,
		[AB_WRAP_SED] = ab_wrap_sed,	   [AB_WRAP_GDB] = ab_wrap_gdb,
	};

	w->transparent = w->row->transparent;
	w->name = ab_text_of(w->row->name);
	if (!w->name.len && slot)
		w->name = (struct ab_text){ slot->name, slot->len };
	w->opts = w->row->name[0] ? ab_grammar(w->name) : ab_grammar_row(slot);
	readers[w->row->read](w);
}

/* The program's options, then its subcommand. */
void ab_wrap_sub(struct ab_wrapping *w)
{
	struct ab_opt_walk walk = ab_wrap_options(w);
	const struct ab_wrapper *row = NULL;
	const struct ab_name_slot *slot = NULL;
	char name[64];
	size_t len = w->name.len;

	memcpy(name, w->name.s, len);
	name[len++] = ' ';
	while (ab_opt_next(&walk)) {
		if (walk.what != AB_OPT_OPERAND)
			continue;
		if (len + walk.value.text.len <= sizeof(name)) {
			memcpy(name + len, walk.value.text.s, walk.value.text.len);
			slot = ab_name_find(
				(struct ab_text){ name, (uint32_t)len + walk.value.text.len });
		}
		row = AB_SLOT_ROW(ab_wrappers, AB_TABLE_SUBCOMMANDS, slot);
		if (row || !walk.maybe_value)
			break;
	}
	if (!row)
		return;
	w->row = row;
	w->argv += walk.index;
	w->argc -= walk.index;
	read_row(w, slot);
}

void ab_unwrap(struct ab_arena *arena, const struct ab_simple *command, struct ab_unwrapped *ret)
{
	static const struct ab_wrapper file = { .read = AB_WRAP_FILE };
	struct ab_wrapping w = { .arena = arena,
				 .command = command,
				 .row = AB_COMMAND_ROW(ab_wrappers, AB_TABLE_WRAPPERS, command),
				 .argv = command->argv,
				 .argc = command->argc,
				 .tail = &ret->inners };
	struct ab_oneliner code;

	*ret = (struct ab_unwrapped){ 0 };
	if (!w.row && command->files && ab_text_has(command->argv[0].text, '/'))
		w.row = &file;
	if (w.row) {
		read_row(&w, command->slot);
		ret->transparent = w.transparent && ret->inners;
	} else if (ab_command_in(command, AB_TABLE_LANGUAGES)) {
		ab_code_of(arena, command, &code);
		ret->inners = code.inners;
	}
}
