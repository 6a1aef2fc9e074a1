/*
 * Files that a command line writes and reads again: `cat > x.sh <<E`, then
 * `sh x.sh`. Tracked by name and bounded; other files are unknown.
 */
#include "shell/command/grammar.h"
#include "shell/command/known_files.h"
#include "shell/command/name_index.h"
#include "shell/syntax/name_table.h"
#include "shell/walk/walk_state.h"

static void add_file(struct ab_walk *w, struct ab_text name, const struct ab_data *data)
{
	struct ab_file *file;

	if (w->nfiles++ >= AB_FILES_MAX)
		return;
	file = ab_arena_alloc(w->arena, sizeof(*file));
	*file = (struct ab_file){ .name = name,
				  .data = *data,
				  .maybe = w->maybes > 0,
				  .older = w->files ? w->files->older + 1 : 0,
				  .next = w->files };
	/* With unknown content, treat it like any other file. */
	if (data->unknown && data->text.len <= 1)
		file->data.taint |= AB_TAINT_FILE;
	w->files = file;
}

static struct ab_data append_data(struct ab_walk *w, const struct ab_data *former,
				  const struct ab_data *data)
{
	struct ab_outlet *out = w->out;
	struct ab_outlet both = { .data = *former, .any = true, .maybes = w->maybes };

	w->out = &both;
	ab_outlet_add(w, data);
	w->out = out;
	w->nested += both.data.text.len;
	return both.data;
}

static void remember_file(struct ab_walk *w, const struct ab_simple *command,
			  const struct ab_field *name, const struct ab_data *data, bool append)
{
	const struct ab_simple now = { .files = w->files, .cwd = command->cwd };
	const struct ab_file *former = NULL;
	struct ab_data all = *data;
	char clean[AB_FILE_NAME_MAX];
	uint32_t len = ab_files_clean(command->cwd, name->text, clean);

	if (!len || name->stream || ab_text_starts(name->text, "/dev/"))
		return;
	if (append)
		former = ab_files_next(&now, name, NULL);
	if (former && !ab_data_unread(&former->data))
		all = append_data(w, &former->data, data);
	add_file(w, (struct ab_text){ ab_arena_ndup(w->arena, clean, len), len }, &all);
}

void ab_walk_printed(struct ab_walk *w, const struct ab_simple *command,
		     const struct ab_redirect *to, const struct ab_outlet *printed)
{
	struct ab_data data = printed->data;

	if (!printed->any)
		data = (struct ab_data){ .none = true, .text = { "", 0 } };
	remember_file(w, command, &to->file, &data,
		      to->op == AB_REDIR_APPEND || to->op == AB_REDIR_BOTH_APPEND);
}

static void remember_tee(struct ab_walk *w, const struct ab_simple *command)
{
	bool append = false;

	for (struct ab_opt_walk o = ab_opt_begin_as(command, "tee"); ab_opt_next(&o);) {
		append |= ab_opt_is(&o, 'a', "append");
		if (o.what == AB_OPT_OPERAND)
			remember_file(w, command, &command->argv[o.index], &command->in, append);
	}
}

/* cp FROM TO; with more operands the target is a folder. */
static void remember_copy(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_field *v[2] = { 0 };
	const struct ab_data *known;
	size_t n = 0;

	for (struct ab_opt_walk o = ab_opt_begin_own(command); ab_opt_next_operand(&o);)
		if (n++ < 2)
			v[n - 1] = &command->argv[o.index];
	if (n != 2)
		return;
	known = ab_files_read(command, v[0]);
	if (known)
		remember_file(w, command, v[1], known, false);
}

/* "https://host/a/b.sh?x": b.sh */
static struct ab_field cut_url_name(const struct ab_field *url)
{
	struct ab_field name = *url;

	name.text = ab_text_base(ab_text_cut(&name.text, '?'));
	return name;
}

/* The file gets the given name, or the last part of the URL. */
static void remember_download(struct ab_walk *w, const struct ab_simple *command, char letter,
			      const char *name, bool by_address)
{
	const struct ab_data data = ab_data_unknown(command->range, AB_TAINT_NETWORK);
	bool named = false;

	for (struct ab_opt_walk o = ab_opt_begin_own(command); ab_opt_next(&o);) {
		by_address |= ab_opt_is(&o, 'O', "remote-name") && letter != 'O';
		if (ab_opt_is(&o, letter, name) && o.value.text.s) {
			named = true;
			remember_file(w, command, &o.value, &data, false);
		}
	}
	if (named || !by_address)
		return;
	for (struct ab_opt_walk o = ab_opt_begin_own(command); ab_opt_next_operand(&o);) {
		struct ab_field file = cut_url_name(&o.value);

		if (o.value.text.len)
			remember_file(w, command, &file, &data, false);
	}
}

/* lwp-download URL FILE */
static void remember_second(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_data data = ab_data_unknown(command->range, AB_TAINT_NETWORK);

	if (command->argc > 2)
		remember_file(w, command, &command->argv[command->argc - 1], &data, false);
}

static const struct writer {
	void (*run)(struct ab_walk *w, const struct ab_simple *command); /* NULL: a download */
	/* The option that names the file; does the address name it otherwise? */
	char letter, name[16];
	bool by_address;
} writers[] = {
	AB_PROGRAMS("aria2c axel fetch", NULL, 'o', "out", true),
	AB_PROGRAMS("cp install mv", remember_copy),
	AB_PROGRAMS("curl", NULL, 'o', "output", false),
	AB_PROGRAMS("lwp-download", remember_second),
	AB_PROGRAMS("tee", remember_tee),
	AB_PROGRAMS("wget", NULL, 'O', "output-document", true),
};

void ab_walk_written(struct ab_walk *w, const struct ab_simple *command)
{
	const struct writer *row = AB_COMMAND_ROW(writers, AB_TABLE_REMEMBERED, command);

	if (row && row->run)
		row->run(w, command);
	else if (row)
		remember_download(w, command, row->letter, row->name, row->by_address);
}
