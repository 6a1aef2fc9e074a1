#include "shell/command/command_options.h"

#include "shell/syntax/name_table.h"

void ab_opt_begin(struct ab_opt_walk *w, const struct ab_opts *opts, const struct ab_field *argv,
		  size_t argc)
{
	*w = (struct ab_opt_walk){ .opts = opts, .argv = argv, .argc = argc, .next = 1 };
}

/* The bytes from `from` on of a field, as a field. */
static struct ab_field rest_of(const struct ab_field *f, uint32_t from)
{
	struct ab_field rest = *f;

	rest.text.s += from;
	rest.text.len -= from;
	if (rest.verbatim != AB_NOT_VERBATIM)
		rest.verbatim += from;
	return rest;
}

static void take_value(struct ab_opt_walk *w)
{
	if (w->next < w->argc)
		w->value = w->argv[w->next++];
}

/* The listed name that this is, or is the beginning of: all of it, and whether
 * it takes a value. An exact one goes before longer ones. */
static bool complete(const char *longs, struct ab_text *name, bool *ret_value)
{
	struct ab_text found = { 0 }, word;
	bool value = false;

	while (longs && (word = ab_list_next(&longs)).len > 0) {
		bool takes = word.s[word.len - 1] == '=';

		word.len -= takes;
		if (word.len < name->len || word.s[0] != name->s[0] ||
		    memcmp(word.s, name->s, name->len) != 0)
			continue;
		if (found.s && word.len != name->len)
			continue; /* ambiguous: the first */
		found = word;
		value = takes;
		if (word.len == name->len)
			break;
	}
	if (!found.s)
		return false;
	*name = found;
	*ret_value = value;
	return true;
}

static enum ab_opt next_long(struct ab_opt_walk *w, const struct ab_field *f)
{
	const char *equals;
	bool takes = false;

	w->name = (struct ab_text){ f->text.s + 2, f->text.len - 2 };
	equals = memchr(w->name.s, '=', w->name.len);
	if (equals) {
		w->name.len = (uint32_t)(equals - w->name.s);
		w->value = rest_of(f, w->name.len + 3);
	}
	if (w->name.len > 0)
		complete(w->opts->longs, &w->name, &takes);
	if (takes && !equals)
		take_value(w);
	return AB_OPT_LONG;
}

static enum ab_opt next_letter(struct ab_opt_walk *w)
{
	const struct ab_field *f = &w->argv[w->index];
	const char *values = w->opts->values;

	w->letter = f->text.s[w->inside++];
	if (w->letter && values && values[0] && strchr(values, w->letter)) {
		if (w->inside < f->text.len)
			w->value = rest_of(f, w->inside);
		else
			take_value(w);
		w->inside = 0;
	} else if (w->inside == f->text.len) {
		w->inside = 0;
	}
	return AB_OPT_LETTER;
}

enum ab_opt ab_opt_next(struct ab_opt_walk *w)
{
	const struct ab_field *f;

	w->letter = 0;
	w->name = (struct ab_text){ 0 };
	w->value = (struct ab_field){ 0 };
	if (w->inside)
		return next_letter(w);
	if (w->next >= w->argc)
		return AB_OPT_END;
	w->index = w->next++;
	f = &w->argv[w->index];
	if (!w->ended && ab_field_is(f, "--")) {
		w->ended = true;
		return ab_opt_next(w);
	}
	if (!w->ended && f->text.len > 2 && ab_text_starts(f->text, "--"))
		return next_long(w, f);
	if (!w->ended && f->text.len > 1 && f->text.s[0] == '-') {
		w->inside = 1;
		return next_letter(w);
	}
	w->ended = w->ended || w->opts->first;
	w->value = *f;
	return AB_OPT_OPERAND;
}

bool ab_opt_is(const struct ab_opt_walk *w, enum ab_opt what, char letter, const char *name)
{
	if (what == AB_OPT_LETTER)
		return letter && w->letter == letter;
	return what == AB_OPT_LONG && name && name[0] && ab_text_is(w->name, name);
}
