/* Shells, and shell builtins that run text as commands. */
#include "shell/command/known_files.h"
#include "shell/expand/expand.h"
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

/* The options of a shell invocation. */
struct call {
	bool command;	  /* -c */
	bool input;	  /* -s */
	bool dry;	  /* -n: reads the script without running it */
	bool interactive; /* -i: disables -n */
	size_t at;	  /* the first operand */
};

static bool is_option(const struct ab_field *f)
{
	return f->text.len > 1 && (f->text.s[0] == '-' || f->text.s[0] == '+');
}

/* Read bundled letters; returns how many words follow as values: -o, -O and fish's
 * -C take one each. */
static size_t read_letters(const struct ab_field *f, struct call *call)
{
	size_t values = 0;

	for (uint32_t i = 1; i < f->text.len; i++) {
		char c = f->text.s[i];

		values += c == 'o' || c == 'O' || c == 'C';
		if (f->text.s[0] == '+') {
			call->dry &= c != 'n';
			continue;
		}
		call->command |= c == 'c';
		call->input |= c == 's';
		call->dry |= c == 'n';
		call->interactive |= c == 'i';
	}
	return values;
}

static void read_call(const struct ab_wrapping *w, struct call *call)
{
	size_t i = 1;

	*call = (struct call){ 0 };
	for (; i < w->argc && is_option(&w->argv[i]); i++) {
		const struct ab_field *f = &w->argv[i];

		if (ab_field_is(f, "--")) {
			i++;
			break;
		}
		if (ab_field_is(f, "--command"))
			call->command = true;
		else if (ab_text_starts(f->text, "--"))
			i += ab_listed("--init-command --init-file --rcfile", f->text);
		else
			i += read_letters(f, call);
	}
	if (i < w->argc && ab_field_is(&w->argv[i], "-"))
		i++;
	call->at = i < w->argc ? i : w->argc;
}

static const struct ab_fields *copy_positional(struct ab_wrapping *w, size_t from)
{
	return ab_fields_of(w->arena, w->argv + from, w->argc - from);
}

static void add_data_script(struct ab_wrapping *w, const struct ab_data *data, size_t args)
{
	struct ab_field script = ab_data_field(data);

	if (!ab_data_unread(data))
		ab_wrap_script(w, &script)->positional =
			args <= w->argc ? copy_positional(w, args) : NULL;
}

/* Read a script from a stream or from a file whose content is known. The words
 * after it are the script's arguments. */
static void read_file(struct ab_wrapping *w, size_t at)
{
	const struct ab_field *file = &w->argv[at];
	const struct ab_file *known = NULL;
	struct ab_field script;

	if (ab_listed("/dev/fd/0 /dev/stdin /proc/self/fd/0", file->text)) {
		ab_wrap_stdin(w);
	} else if (file->stream) {
		add_data_script(w, file->stream, at);
	} else if ((known = ab_files_next(w->command, file, NULL))) {
		for (; known; known = ab_files_next(w->command, file, known))
			add_data_script(w, &known->data, at);
	} else if (file->unknown && file->text.len == 1 &&
		   file->taint & (AB_TAINT_NETWORK | AB_TAINT_DECODED)) {
		script = ab_field_unknown(file->range, file->taint);
		ab_wrap_script(w, &script);
	}
}

/* The "#!" line names a shell or is missing. */
static bool is_for_shell(struct ab_text text)
{
	return !ab_text_starts(text, "#!") || ab_text_contains(ab_text_cut(&text, '\n'), "sh");
}

/* ./FILE, where an earlier command wrote FILE. A download may be a binary: only a
 * name ending in .sh marks it as a script. */
void ab_wrap_file(struct ab_wrapping *w)
{
	const struct ab_file *known = NULL;
	struct ab_text name = w->argv[0].text;

	while ((known = ab_files_next(w->command, &w->argv[0], known)))
		if (known->data.text.len > 1 ? is_for_shell(known->data.text)
					     : name.len > 3 && ab_text_ends(name, ".sh"))
			add_data_script(w, &known->data, 0);
}

void ab_wrap_sh(struct ab_wrapping *w)
{
	struct call call;

	read_call(w, &call);
	if (call.dry && !call.interactive)
		return;
	if (call.command && call.at < w->argc) {
		size_t at = call.at;

		/* A word that splits may be empty: the script may be the next one. */
		for (; at < w->argc; at++) {
			ab_wrap_script(w, &w->argv[at])->positional = copy_positional(w, at + 1);
			if (!w->argv[at].splits || at > call.at + 2)
				break;
		}
	} else if (!call.command && (call.input || call.at == w->argc)) {
		ab_wrap_stdin(w);
	} else if (!call.command) {
		read_file(w, call.at);
	}
}

/* Where the operands of a builtin without options begin. */
static size_t skip_dashes(const struct ab_wrapping *w)
{
	return w->argc > 1 && ab_field_is(&w->argv[1], "--") ? 2 : 1;
}

void ab_wrap_eval(struct ab_wrapping *w)
{
	ab_wrap_joined(w, skip_dashes(w));
}

void ab_wrap_trap(struct ab_wrapping *w)
{
	size_t at = skip_dashes(w);
	const struct ab_field *action = &w->argv[at];

	if (at + 1 >= w->argc || action->text.len == 0 || action->text.s[0] == '-' ||
	    ab_text_trim(action->text, "0123456789").len == 0)
		return;
	ab_wrap_script(w, action);
}

void ab_wrap_alias(struct ab_wrapping *w)
{
	for (size_t i = 1; i < w->argc; i++) {
		const struct ab_field *f = &w->argv[i];
		uint32_t value = ab_text_find(f->text, '=') + 1;

		if (value < f->text.len && f->text.s[0] != '-')
			ab_wrap_script_from(w, f, value);
	}
}

void ab_wrap_source(struct ab_wrapping *w)
{
	if (w->argc > 1)
		read_file(w, 1);
}

/* at TIME and batch read standard input, except with -f or to list or edit jobs. */
void ab_wrap_at(struct ab_wrapping *w)
{
	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next(&walk);)
		if (walk.what == AB_OPT_LETTER && strchr("flcrdV", walk.letter))
			return;
	ab_wrap_stdin(w);
}
