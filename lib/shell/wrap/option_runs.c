/* Programs that run a command through an option, a setting or their own language. */
#include "shell/command/known_files.h"
#include "shell/command/sed.h"
#include "shell/syntax/name_table.h"
#include "shell/wrap/wrapper.h"

static bool starts_with_case(struct ab_text t, const char *s)
{
	size_t len = strlen(s);

	return t.len > len && strncasecmp(t.s, s, len) == 0;
}

/* ssh -o ProxyCommand=CMD, -o "ProxyCommand CMD": runs locally. */
static void read_ssh_setting(struct ab_wrapping *w, const struct ab_field *f)
{
	static const char settings[][18] = { "proxycommand", "localcommand", "knownhostscommand" };

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		uint32_t at = (uint32_t)strlen(settings[i]);
		struct ab_field script;

		if (!starts_with_case(f->text, settings[i]))
			continue;
		while (at < f->text.len && strchr(" \t=", f->text.s[at]))
			at++;
		script = ab_field_rest(f, at);
		if (script.text.len && !ab_field_is(&script, "none"))
			ab_wrap_script(w, &script)->flags = 0;
	}
}

void ab_wrap_ssh(struct ab_wrapping *w)
{
	struct ab_opt_walk walk = ab_wrap_options(w);

	while (ab_opt_next(&walk) &&
	       (walk.what != AB_OPT_OPERAND || w->row->operands == AB_WRAP_NEVER))
		if (ab_opt_is(&walk, 'o', NULL) && walk.value.text.s)
			read_ssh_setting(w, &walk.value);
	ab_wrap_plain(w);
}

static void read_begun(struct ab_wrapping *w, const struct ab_field *f)
{
	struct ab_text begins = ab_text_of(w->row->begins);

	while (begins.len) {
		struct ab_text begin = ab_text_cut(&begins, '|');

		if (begin.len < f->text.len && memcmp(begin.s, f->text.s, begin.len) == 0)
			ab_wrap_script_from(w, f, begin.len);
	}
}

/* tar --checkpoint-action=exec=CMD, less +!CMD, sqlite3 FILE '.shell CMD'; their options. */
void ab_wrap_begins(struct ab_wrapping *w)
{
	for (size_t i = 1; i < w->argc; i++)
		read_begun(w, &w->argv[i]);
	if (w->row->operands == AB_WRAP_NEVER)
		ab_wrap_plain(w);
}

/* zip -TT CMD */
void ab_wrap_zip(struct ab_wrapping *w)
{
	for (size_t i = 1; i + 1 < w->argc; i++)
		if (ab_field_is(&w->argv[i], "-TT") || ab_field_is(&w->argv[i], "--unzip-command"))
			ab_wrap_script(w, &w->argv[i + 1]);
}

/* Read every line that is not empty. */
static void read_lines(struct ab_wrapping *w,
		       void (*read)(struct ab_wrapping *w, const struct ab_field *line),
		       const struct ab_field *text)
{
	uint32_t from = 0;

	while (from < text->text.len) {
		uint32_t to = from + ab_text_find(ab_text_rest(text->text, from), '\n');
		struct ab_field line = ab_field_part(text, from, to);

		if (to > from)
			read(w, &line);
		from = to + 1;
	}
}

/*
 * One command of an editor: ":!CMD", "silent !CMD", "w !CMD", "%!CMD". A range
 * and at most two words precede the "!". In "q!" and "w! FILE" the "!" directly
 * follows a word and runs nothing.
 */
static void read_editor_line(struct ab_wrapping *w, const struct ab_field *line)
{
	const char *s = line->text.s;
	uint32_t i = 0, to = line->text.len;

	for (unsigned words = 0; words < 3; words++) {
		while (i < to && strchr(" \t:%.,$0123456789'+-", s[i]))
			i++;
		if (i == to || s[i] == '!' || !ab_is_letter(s[i]))
			break;
		while (i < to && ab_is_letter(s[i]))
			i++;
		if (i < to && s[i] == '!')
			return;
	}
	if (i + 1 < to && s[i] == '!')
		ab_wrap_script_from(w, line, i + 1);
}

/* vim -c CMD +CMD --cmd CMD; ed, ex and vim -es read commands from stdin. */
void ab_wrap_editor(struct ab_wrapping *w)
{
	const struct ab_data *in = &w->command->in;
	struct ab_field text;

	for (size_t i = 1; i < w->argc; i++) {
		const struct ab_field *f = &w->argv[i];

		if (f->text.len > 1 && f->text.s[0] == '+') {
			text = ab_field_rest(f, 1);
			read_lines(w, read_editor_line, &text);
		} else if ((ab_field_is(f, "-c") || ab_field_is(f, "--cmd")) && i + 1 < w->argc) {
			read_lines(w, read_editor_line, &w->argv[++i]);
		}
	}
	if (in->none || !in->text.len)
		return;
	text = ab_data_field(in);
	read_lines(w, read_editor_line, &text);
}

/* One line of a makefile: the recipe after a tab or "x:;", $(shell CMD). Skips a
 * recipe with other make variables: their values are unknown. */
static void read_make_line(struct ab_wrapping *w, const struct ab_field *line)
{
	static const char shell[] = "$(shell ";
	struct ab_field script;
	const char *at;

	at = memmem(line->text.s, line->text.len, shell, sizeof(shell) - 1);
	if (at) {
		script = ab_field_rest(line,
				       (uint32_t)(at - line->text.s) + (uint32_t)sizeof(shell) - 1);
		at = memrchr(script.text.s, ')', script.text.len);
		if (at)
			script.text.len = (uint32_t)(at - script.text.s);
	} else if (ab_text_has(line->text, '$')) {
		return;
	} else if (line->text.s[0] == '\t') {
		script = ab_field_rest(line, 1);
	} else {
		if (!ab_text_has(line->text, ';') || !ab_text_has(line->text, ':'))
			return;
		script = ab_field_rest(line, ab_text_find(line->text, ';') + 1);
	}
	while (script.text.len && strchr("@-+ \t", script.text.s[0]))
		script = ab_field_rest(&script, 1);
	if (script.text.len)
		ab_wrap_script(w, &script);
}

/* make --eval TEXT, make -f - */
void ab_wrap_make(struct ab_wrapping *w)
{
	const struct ab_data *in = &w->command->in;
	struct ab_field text;

	for (struct ab_opt_walk walk = ab_wrap_options(w); ab_opt_next(&walk);) {
		if (ab_opt_is(&walk, 'E', "eval") && walk.value.text.s)
			read_lines(w, read_make_line, &walk.value);
		if (!ab_opt_is(&walk, 'f', "file") || in->none ||
		    (!ab_field_is(&walk.value, "-") && !ab_field_is(&walk.value, "/dev/stdin")))
			continue;
		text = ab_data_field(in);
		read_lines(w, read_make_line, &text);
	}
}

/* Resolve "\/" and "\n" of a replacement; text taken from the line is unknown. */
static struct ab_field unescape_replacement(struct ab_wrapping *w, const struct ab_field *f)
{
	char *text = ab_arena_alloc(w->arena, f->text.len + 1), *p = text;

	for (uint32_t i = 0; i < f->text.len; i++) {
		char c = f->text.s[i];

		if (c == '&')
			c = AB_UNKNOWN;
		if (c == '\\' && i + 1 < f->text.len) {
			c = f->text.s[++i];
			if (c >= '0' && c <= '9')
				c = AB_UNKNOWN;
			else if (c == 'n')
				c = '\n';
		}
		*p++ = c;
	}
	return ab_wrap_field(f, (struct ab_text){ text, (uint32_t)(p - text) });
}

static void add_sed_command(void *arg, enum ab_sed what, const struct ab_field *text)
{
	struct ab_wrapping *w = arg;
	struct ab_field script = *text;

	if (what == AB_SED_WRITES || !text->text.len)
		return;
	if (what == AB_SED_RUNS_LINE)
		script = unescape_replacement(w, text);
	ab_wrap_script(w, &script);
}

void ab_wrap_sed(struct ab_wrapping *w)
{
	ab_sed_each(w->command, add_sed_command, w);
}

/* gdb -ex 'shell CMD', -ex '!CMD' */
void ab_wrap_gdb(struct ab_wrapping *w)
{
	for (size_t i = 1; i + 1 < w->argc; i++)
		if (ab_listed("-ex --ex -iex --eval-command -eval-command", w->argv[i].text))
			read_begun(w, &w->argv[i + 1]);
	ab_wrap_plain(w);
}
