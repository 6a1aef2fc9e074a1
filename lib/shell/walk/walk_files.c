/*
 * Files that a command line writes and reads again: `cat > x.sh <<E`, then
 * `sh x.sh`. Tracked by name and bounded; other files are unknown.
 */
#include "base/data/arena.h"
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
	const struct ab_opts opts = ab_grammar_as(command, "tee");
	struct ab_opt_walk o;
	enum ab_opt what;
	bool append = false;

	ab_opt_begin(&o, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&o)) != AB_OPT_END) {
		append |= ab_opt_is(&o, what, 'a', "append");
		if (what == AB_OPT_OPERAND)
			remember_file(w, command, &command->argv[o.index], &command->in, append);
	}
}

/* cp FROM TO; with more operands the target is a folder. */
static void remember_copy(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_for(command);
	const struct ab_field *v[2] = { 0 };
	const struct ab_data *known;
	struct ab_opt_walk o;
	enum ab_opt what;
	size_t n = 0;

	ab_opt_begin(&o, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&o)) != AB_OPT_END)
		if (what == AB_OPT_OPERAND && n++ < 2)
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
	const char *end = memchr(name.text.s, '?', name.text.len), *slash;

	if (end)
		name.text.len = (uint32_t)(end - name.text.s);
	slash = memrchr(name.text.s, '/', name.text.len);
	if (slash) {
		name.text.len -= (uint32_t)(slash + 1 - name.text.s);
		name.text.s = slash + 1;
	}
	return name;
}

/* The file gets the given name, or the last part of the URL. */
static void remember_download(struct ab_walk *w, const struct ab_simple *command, char letter,
			      const char *name, bool by_address)
{
	const struct ab_opts opts = ab_grammar_for(command);
	const struct ab_data data = ab_data_unknown(AB_TAINT_NETWORK, command->range);
	bool named = false;
	struct ab_opt_walk o;
	enum ab_opt what;

	ab_opt_begin(&o, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&o)) != AB_OPT_END) {
		by_address |= ab_opt_is(&o, what, 'O', "remote-name") && letter != 'O';
		if (ab_opt_is(&o, what, letter, name) && o.value.text.s) {
			named = true;
			remember_file(w, command, &o.value, &data, false);
		}
	}
	if (named || !by_address)
		return;
	ab_opt_begin(&o, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&o)) != AB_OPT_END) {
		struct ab_field file;

		if (what != AB_OPT_OPERAND || !o.value.text.len)
			continue;
		file = cut_url_name(&o.value);
		remember_file(w, command, &file, &data, false);
	}
}

static void remember_curl(struct ab_walk *w, const struct ab_simple *command)
{
	remember_download(w, command, 'o', "output", false);
}

static void remember_wget(struct ab_walk *w, const struct ab_simple *command)
{
	remember_download(w, command, 'O', "output-document", true);
}

static void remember_output(struct ab_walk *w, const struct ab_simple *command)
{
	remember_download(w, command, 'o', "out", true);
}

/* lwp-download URL FILE */
static void remember_second(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_data data = ab_data_unknown(AB_TAINT_NETWORK, command->range);

	if (command->argc > 2)
		remember_file(w, command, &command->argv[command->argc - 1], &data, false);
}

/* Sorted by name. */
static const struct {
	const char *name;
	void (*run)(struct ab_walk *w, const struct ab_simple *command);
} writers[] = {
	{ "aria2c", remember_output },
	{ "axel", remember_output },
	{ "cp", remember_copy },
	{ "curl", remember_curl },
	{ "fetch", remember_output },
	{ "install", remember_copy },
	{ "lwp-download", remember_second },
	{ "mv", remember_copy },
	{ "tee", remember_tee },
	{ "wget", remember_wget },
};

void ab_walk_written(struct ab_walk *w, const struct ab_simple *command)
{
	size_t i = 0;

	if (!ab_command_in(command, AB_TABLE_REMEMBERED))
		return;
	while (i < sizeof(writers) / sizeof(writers[0]) &&
	       !ab_text_is(command->name, writers[i].name))
		i++;
	if (i < sizeof(writers) / sizeof(writers[0]))
		writers[i].run(w, command);
}
