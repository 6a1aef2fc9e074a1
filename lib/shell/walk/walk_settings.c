/*
 * Text that runs although it is not written as a command: variables that name a
 * command for a program or the shell, and expansions in prompts and arithmetic.
 */
#include "shell/command/known_files.h"
#include "shell/syntax/name_table.h"
#include "shell/walk/walk_state.h"

/* Variables that name a command, a prompt of which only the expansions run, and a file that a
 * shell runs at start. */
static const char commands[] =
	"BROWSER EDITOR FCEDIT GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER "
	"GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND LESSCLOSE LESSOPEN "
	"MANPAGER PAGER PROMPT_COMMAND RSYNC_RSH SSH_ASKPASS SUDO_ASKPASS SYSTEMD_PAGER "
	"VISUAL";
static const char prompts[] = "PS0 PS1 PS2 PS4";
static const char start_ups[] = "BASH_ENV ENV";

/* Walk it as a here-document, where quotes have no meaning. */
void ab_walk_expansions(struct ab_walk *w, const struct ab_field *text)
{
	struct ab_field script = *text;

	if (!ab_text_contains(text->text, "$(") && !ab_text_has(text->text, '`'))
		return;
	script.text = ab_text_join(w->arena, AB_TEXT(": <<END_OF_TEXT\n"), text->text);
	script.text = ab_text_join(w->arena, script.text, AB_TEXT("\nEND_OF_TEXT\n"));
	script.bytes = 0;
	script.verbatim = AB_NOT_VERBATIM;
	ab_walk_text(w, &script);
}

static void run_start_up(struct ab_walk *w, const struct ab_field *file)
{
	const struct ab_simple here = { .files = w->files, .cwd = ab_walk_folder(w) };
	const struct ab_data *known = ab_files_read(&here, file);
	struct ab_field script;

	ab_walk_expansions(w, file);
	if (!known || ab_data_unread(known) || !known->text.len)
		return;
	script = ab_data_field(known);
	ab_walk_text(w, &script);
}

void ab_walk_setting(struct ab_walk *w, struct ab_text name, const struct ab_field *value)
{
	struct ab_field script = *value;

	if (!value->text.len || (value->unknown && value->text.s[0] == AB_UNKNOWN))
		return;
	if (ab_listed(commands, name)) {
		/* "|lesspipe %s" */
		while (ab_text_skip(&script.text, "|") || ab_text_skip(&script.text, "-"))
			script.verbatim = AB_NOT_VERBATIM;
		ab_walk_text(w, &script);
	} else if (ab_listed(prompts, name)) {
		ab_walk_expansions(w, value);
	} else if (ab_listed(start_ups, name)) {
		run_start_up(w, value);
	}
}

/* Where a variable name is expected, x[$(cmd)] runs cmd even if quoted. */
void ab_walk_subscript(struct ab_walk *w, const struct ab_field *text)
{
	if (ab_text_has(text->text, '['))
		ab_walk_expansions(w, text);
}

void ab_walk_test(struct ab_walk *w, const struct ab_shell_word *words)
{
	for (const struct ab_shell_word *x = words; x; x = x->next)
		for (const struct ab_part *p = x->parts; p; p = p->next) {
			const struct ab_field text = {
				.text = p->text,
				.range = ab_walk_map(w, x->range),
			};

			if (p->kind == AB_PART_TEXT && p->quoted)
				ab_walk_subscript(w, &text);
		}
}
