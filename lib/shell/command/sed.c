#include "shell/command/sed.h"

#include "shell/command/grammar.h"

enum { CLASS_MAX = 16 }; /* bytes of "[:xdigit:]" and its like */

struct reader {
	const struct ab_field *script;
	uint32_t at;
	bool unclosed; /* no further "]" follows */
	ab_sed_fn *fn;
	void *arg;
};

static char peek_byte(const struct reader *r)
{
	return r->at < r->script->text.len ? r->script->text.s[r->at] : '\0';
}

static bool has_more(const struct reader *r)
{
	return r->at < r->script->text.len;
}

static void skip_set(struct reader *r, const char *set)
{
	while (has_more(r) && peek_byte(r) && strchr(set, peek_byte(r)))
		r->at++;
}

static uint32_t skip_line(struct reader *r)
{
	while (has_more(r) && peek_byte(r) != '\n')
		r->at++;
	return r->at;
}

/* Past the next unescaped delimiter; returns its offset. */
static uint32_t skip_section(struct reader *r, char delimiter)
{
	while (has_more(r) && peek_byte(r) != delimiter)
		r->at += peek_byte(r) == '\\' ? 2 : 1;
	if (r->at > r->script->text.len)
		r->at = r->script->text.len;
	return has_more(r) ? r->at++ : r->at;
}

/* [^]/[:alpha:]]: at its "[". */
static void skip_bracket(struct reader *r)
{
	struct ab_text t = r->script->text;
	uint32_t i = r->at + 1;

	i += i < t.len && t.s[i] == '^';
	i += i < t.len && t.s[i] == ']';
	for (; i < t.len && t.s[i] != ']' && !r->unclosed; i++) {
		const char *end;

		if (t.s[i] != '[' || i + 1 == t.len || t.s[i + 1] != ':')
			continue;
		end = memmem(t.s + i, t.len - i < CLASS_MAX ? t.len - i : CLASS_MAX, ":]", 2);
		if (end)
			i = (uint32_t)(end - t.s) + 1;
	}
	r->unclosed |= i >= t.len;
	r->at = r->unclosed ? r->at + 1 : i + 1;
}

/* A regular expression: in brackets the delimiter is not special. */
static void skip_pattern(struct reader *r, char delimiter)
{
	while (has_more(r) && peek_byte(r) != delimiter) {
		if (peek_byte(r) == '[')
			skip_bracket(r);
		else
			r->at += peek_byte(r) == '\\' ? 2 : 1;
	}
	r->at++;
	if (r->at > r->script->text.len)
		r->at = r->script->text.len;
}

static void skip_address(struct reader *r)
{
	for (;;) {
		skip_set(r, " \t;\n0123456789$,!~+{}");
		if (peek_byte(r) == '\\' && r->at + 1 < r->script->text.len) {
			r->at += 2;
			skip_pattern(r, r->script->text.s[r->at - 1]);
		} else if (peek_byte(r) == '/') {
			r->at++;
			skip_pattern(r, '/');
		} else {
			return;
		}
		skip_set(r, "IM");
	}
}

static void report_text(const struct reader *r, enum ab_sed what, uint32_t from, uint32_t to)
{
	struct ab_field f = ab_field_part(r->script, from, to);

	r->fn(r->arg, what, &f);
}

static void report_line(struct reader *r, enum ab_sed what)
{
	uint32_t from;

	skip_set(r, " \t");
	from = r->at;
	report_text(r, what, from, skip_line(r));
}

static void read_replace(struct reader *r)
{
	char delimiter = peek_byte(r);
	bool runs = false;
	uint32_t from, to;

	r->at++;
	skip_pattern(r, delimiter);
	from = r->at;
	to = skip_section(r, delimiter);
	for (; has_more(r) && peek_byte(r) && strchr("gpiImMe0123456789", peek_byte(r)); r->at++)
		runs |= peek_byte(r) == 'e';
	if (runs)
		report_text(r, AB_SED_RUNS_LINE, from, to);
	if (peek_byte(r) == 'w') {
		r->at++;
		report_line(r, AB_SED_WRITES);
	} else if (has_more(r) && !strchr(";\n}# \t", peek_byte(r))) {
		/* sed would reject this: ignore the rest. */
		r->at = r->script->text.len;
	}
}

static void read_command(struct reader *r)
{
	char what = peek_byte(r);

	r->at++;
	switch (what) {
	case 's':
		read_replace(r);
		break;
	case 'y':
		what = peek_byte(r);
		r->at++;
		skip_section(r, what);
		skip_section(r, what);
		break;
	case 'e':
		report_line(r, AB_SED_RUNS);
		break;
	case 'w':
	case 'W':
		report_line(r, AB_SED_WRITES);
		break;
	case 'a':
	case 'i':
	case 'c':
		/* A backslash at its end continues the line. */
		while (has_more(r) && skip_line(r) && r->script->text.s[r->at - 1] == '\\' &&
		       has_more(r))
			r->at++;
		break;
	case 'r':
	case 'R':
	case '#':
		skip_line(r);
		break;
	case ':':
	case 'b':
	case 't':
	case 'T':
		while (has_more(r) && !strchr(";\n}", peek_byte(r)))
			r->at++;
		break;
	default:
		break;
	}
}

static void read_script(const struct ab_field *script, ab_sed_fn *fn, void *arg)
{
	struct reader r = { .script = script, .fn = fn, .arg = arg };

	for (skip_address(&r); has_more(&r); skip_address(&r))
		read_command(&r);
}

void ab_sed_each(const struct ab_simple *command, ab_sed_fn *fn, void *arg)
{
	const struct ab_field *first = NULL;
	bool given = false;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, "sed"); ab_opt_next(&w);) {
		if (w.what == AB_OPT_OPERAND && !first)
			first = &command->argv[w.index];
		given |= ab_opt_is(&w, 'e', "expression") || ab_opt_is(&w, 'f', "file");
		if (ab_opt_is(&w, 'e', "expression") && w.value.text.s)
			read_script(&w.value, fn, arg);
	}
	if (!given && first)
		read_script(first, fn, arg);
}
