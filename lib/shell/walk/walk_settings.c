/*
 * Text that runs although it is not written as a command: variables that name a
 * command for a program or the shell, and expansions in prompts and arithmetic.
 */
#include "base/data/arena.h"
#include "shell/command/known_files.h"
#include "shell/syntax/name_table.h"
#include "shell/walk/walk_state.h"

enum kind {
	COMMAND,
	PROMPT,	  /* only its expansions run */
	START_UP, /* a file that a shell runs at start */
};

/* Sorted by name. */
static const struct setting {
	char name[20];
	enum kind kind;
} settings[] = {
	{ "BASH_ENV", START_UP },
	{ "BROWSER", COMMAND },
	{ "EDITOR", COMMAND },
	{ "ENV", START_UP },
	{ "FCEDIT", COMMAND },
	{ "GIT_ASKPASS", COMMAND },
	{ "GIT_EDITOR", COMMAND },
	{ "GIT_EXTERNAL_DIFF", COMMAND },
	{ "GIT_PAGER", COMMAND },
	{ "GIT_PROXY_COMMAND", COMMAND },
	{ "GIT_SEQUENCE_EDITOR", COMMAND },
	{ "GIT_SSH", COMMAND },
	{ "GIT_SSH_COMMAND", COMMAND },
	{ "LESSCLOSE", COMMAND },
	{ "LESSOPEN", COMMAND },
	{ "MANPAGER", COMMAND },
	{ "PAGER", COMMAND },
	{ "PROMPT_COMMAND", COMMAND },
	{ "PS0", PROMPT },
	{ "PS1", PROMPT },
	{ "PS2", PROMPT },
	{ "PS4", PROMPT },
	{ "RSYNC_RSH", COMMAND },
	{ "SSH_ASKPASS", COMMAND },
	{ "SUDO_ASKPASS", COMMAND },
	{ "SYSTEMD_PAGER", COMMAND },
	{ "VISUAL", COMMAND },
};

static bool has_command(struct ab_text t)
{
	return t.len && (memmem(t.s, t.len, "$(", 2) || memchr(t.s, '`', t.len));
}

/* Walk it as a here-document, where quotes have no meaning. */
void ab_walk_expansions(struct ab_walk *w, const struct ab_field *text)
{
	static const char before[] = ": <<END_OF_TEXT\n";
	static const char after[] = "\nEND_OF_TEXT\n";
	size_t len = sizeof(before) + sizeof(after) - 2 + text->text.len;
	struct ab_field script = *text;
	char *s;

	if (!has_command(text->text))
		return;
	s = ab_arena_alloc(w->arena, len);
	memcpy(s, before, sizeof(before) - 1);
	memcpy(s + sizeof(before) - 1, text->text.s, text->text.len);
	memcpy(s + len - sizeof(after) + 1, after, sizeof(after) - 1);
	script.text = (struct ab_text){ s, (uint32_t)len };
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
	const struct setting *s = AB_LOOKUP(settings, name);
	struct ab_field script = *value;

	if (!s || !value->text.len || (value->unknown && value->text.s[0] == AB_UNKNOWN))
		return;
	switch (s->kind) {
	case COMMAND:
		/* "|lesspipe %s" */
		while (script.text.len && strchr("|-", script.text.s[0])) {
			script.text.s++;
			script.text.len--;
			script.verbatim = AB_NOT_VERBATIM;
		}
		ab_walk_text(w, &script);
		break;
	case PROMPT:
		ab_walk_expansions(w, value);
		break;
	case START_UP:
		run_start_up(w, value);
		break;
	}
}

/* Where a variable name is expected, x[$(cmd)] runs cmd even if quoted. */
void ab_walk_subscript(struct ab_walk *w, const struct ab_field *text)
{
	if (text->text.len && memchr(text->text.s, '[', text->text.len))
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
