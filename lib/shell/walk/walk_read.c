/* Variables that are read: `read`, `mapfile`. */
#include "base/data/arena.h"
#include "shell/command/grammar.h"
#include "shell/walk/walk_state.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The value of the n-th name of `read` in one line; the last gets the rest. */
static struct ab_text pick(struct ab_text line, size_t n, bool last)
{
	uint32_t i = 0, from;

	for (;;) {
		while (i < line.len && is_blank(line.s[i]))
			i++;
		if (!n--)
			break;
		while (i < line.len && !is_blank(line.s[i]))
			i++;
	}
	from = i;
	if (last)
		for (i = line.len; i > from && is_blank(line.s[i - 1]); i--)
			;
	else
		while (i < line.len && !is_blank(line.s[i]))
			i++;
	return (struct ab_text){ line.s + from, i - from };
}

/* Each line of what is read may be the one. */
static const struct ab_var *from_lines(struct ab_walk *w, const struct ab_data *in, size_t n,
				       bool last)
{
	const struct ab_var *all = NULL;
	uint32_t at = 0;

	for (int lines = 0; at < in->text.len; lines++) {
		const char *start = in->text.s + at;
		const char *end = memchr(start, '\n', in->text.len - at);
		uint32_t len = end ? (uint32_t)(end - start) : in->text.len - at;
		struct ab_field f = { .taint = in->taint };
		const struct ab_var *v;

		if (lines == AB_VALUES_MAX)
			return ab_walk_either(w, all, NULL);
		f.text = pick((struct ab_text){ start, len }, n, last);
		f.unknown = memchr(f.text.s, AB_UNKNOWN, f.text.len);
		v = ab_walk_value(w, &f);
		all = all ? ab_walk_either(w, all, v) : v;
		at += len + 1;
	}
	return all;
}

/* An array of the words of the first line, or of all lines; bounded. */
static const struct ab_var *from_words(struct ab_walk *w, const struct ab_data *in, bool lines)
{
	enum { ITEMS_MAX = 256 };
	struct ab_fields *items = ab_arena_alloc(w->arena, sizeof(*items));
	struct ab_var *v = ab_arena_alloc(w->arena, sizeof(*v));
	const char *end;
	uint32_t len, at = 0;

	if (in->none || in->unknown)
		return NULL;
	end = memchr(in->text.s, '\n', in->text.len);
	len = end && !lines ? (uint32_t)(end - in->text.s) : in->text.len;
	while (at < len) {
		struct ab_field item = { .taint = in->taint,
					 .range = in->range,
					 .verbatim = AB_NOT_VERBATIM };
		uint32_t from = at;

		while (at < len && (lines ? in->text.s[at] != '\n' : !is_blank(in->text.s[at])))
			at++;
		item.text = (struct ab_text){ in->text.s + from, at - from };
		if (lines || item.text.len)
			ab_fields_add(w->arena, items, &item);
		if (items->len > ITEMS_MAX)
			return NULL;
		at++;
	}
	if (items->len)
		*v = *ab_walk_value(w, &items->v[0]);
	else
		v->text = (struct ab_text){ "", 0 };
	v->items = items;
	return v;
}

/* mapfile NAME; the newline at the end of an item does not matter here. */
void ab_walk_read_lines(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_of("mapfile");
	struct ab_text name = { "MAPFILE", 7 };
	struct ab_opt_walk o;
	enum ab_opt what;
	bool plain = true;

	ab_opt_begin(&o, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&o)) != AB_OPT_END) {
		if (what == AB_OPT_OPERAND)
			name = o.value.text;
		else if (what == AB_OPT_LETTER)
			plain &= o.letter == 't';
	}
	if (ab_walk_is_name(name))
		ab_walk_set(w, name, plain ? from_words(w, &command->in, true) : NULL);
}

void ab_walk_read_names(struct ab_walk *w, const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_of("read");
	struct ab_opt_walk o;
	struct ab_text names[8];
	size_t n = 0;
	enum ab_opt what;
	bool plain = true, array = false;

	ab_opt_begin(&o, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&o)) != AB_OPT_END) {
		if (what == AB_OPT_OPERAND) {
			if (ab_walk_is_name(o.value.text) && n < 8)
				names[n++] = o.value.text;
		} else if (what == AB_OPT_LETTER && o.letter == 'a') {
			if (ab_walk_is_name(o.value.text))
				ab_walk_set(w, o.value.text, from_words(w, &command->in, false));
			array = true;
		} else if (what == AB_OPT_LETTER && o.letter != 'r') {
			plain = false;
		}
	}
	if (array)
		return;
	if (!n)
		names[n++] = (struct ab_text){ "REPLY", 5 };
	for (size_t i = 0; i < n; i++)
		ab_walk_set(w, names[i],
			    plain && !command->in.none ? from_lines(w, &command->in, i, i + 1 == n)
						       : NULL);
}
