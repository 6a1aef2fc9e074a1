#include "shell/command/command_options.h"

#include "shell/syntax/name_table.h"

bool ab_opt_listed(const struct ab_opt_walk *w, const char *list)
{
	struct ab_text letter = { &w->letter, 1 };

	if (w->what == AB_OPT_OPERAND)
		return false;
	return ab_listed(list, w->what == AB_OPT_LETTER ? letter : w->name);
}

/* The value is the bytes of this word from `from` on. */
static void cut_value(struct ab_opt_walk *w, const struct ab_field *f, uint32_t from)
{
	w->value = *f;
	w->value.text = ab_text_rest(f->text, from);
	if (w->value.verbatim != AB_NOT_VERBATIM)
		w->value.verbatim += from;
}

static void take_value(struct ab_opt_walk *w)
{
	if (w->next < w->argc)
		w->value = w->argv[w->next++];
}

/* Adds the names in one list that begin with `name`; an equal one ends the search. */
static bool find_name(const char *list, bool exact, struct ab_text name, struct ab_text *found,
		      unsigned *count)
{
	struct ab_text word;

	while ((word = ab_list_next(&list)).len > 0) {
		uint32_t len = word.len - (word.s[word.len - 1] == '=');

		if (len < name.len || (exact && len != name.len) || word.s[0] != name.s[0] ||
		    memcmp(word.s, name.s, name.len) != 0)
			continue;
		*found = word;
		if (len == name.len)
			return true;
		(*count)++;
	}
	return false;
}

/* Do all names of a list come after this one? */
static bool is_after(const char *list, struct ab_text name)
{
	for (uint32_t i = 0; i < name.len; i++)
		if (list[i] != name.s[i])
			return list[i] > name.s[i] && list[i] != '=';
	return list[name.len] != '=' && list[name.len] != ' ';
}

/* The listed name, with "=" if it takes a value; len 0: not listed, or the beginning of
 * several names: then both readings are judged. */
static struct ab_text find_long(const struct ab_grammar *opts, struct ab_text name)
{
	const struct ab_grammar *row = opts, *last = opts + opts->more;
	struct ab_text found = { 0 };
	unsigned count = 0;

	if (name.len == 0)
		return found;
	while (row < last && !is_after(row[1].longs, name))
		row++;
	if (find_name(row->longs, opts->exact, name, &found, &count) ||
	    (row < last && find_name(row[1].longs, opts->exact, name, &found, &count)))
		return found;
	return count > 1 ? (struct ab_text){ 0 } : found;
}

/* Apart from ab_opt_next(), which is faster without its variables. */
static __attribute__((noinline)) enum ab_opt read_long(struct ab_opt_walk *w,
						       const struct ab_field *f)
{
	struct ab_text found;
	bool equals;

	w->name = ab_text_rest(f->text, 2);
	w->name.len = ab_text_find(w->name, '=');
	equals = w->name.len + 2 < f->text.len;
	if (equals)
		cut_value(w, f, w->name.len + 3);
	found = find_long(w->opts, w->name);
	w->unsure = !found.len && !equals ? AB_UNKNOWN_LONG : AB_NO_UNKNOWN;
	if (found.len && found.s[found.len - 1] == '=') {
		found.len--;
		if (!equals)
			take_value(w);
	}
	if (found.len)
		w->name = found;
	return AB_OPT_LONG;
}

static enum ab_opt read_letter(struct ab_opt_walk *w)
{
	const struct ab_field *f = &w->argv[w->index];
	const char *known = w->opts->values;
	bool takes = true;

	w->letter = f->text.s[w->inside++];
	for (; *known && *known != w->letter; known++)
		takes = takes && *known != '-';
	w->unsure = !*known && w->inside == f->text.len ? AB_UNKNOWN_LETTER : AB_NO_UNKNOWN;
	if (*known && takes && w->letter != '-') {
		if (w->inside < f->text.len)
			cut_value(w, f, w->inside);
		else
			take_value(w);
		w->inside = 0;
	} else if (w->inside == f->text.len) {
		w->inside = 0;
	}
	return AB_OPT_LETTER;
}

static enum ab_opt read_next(struct ab_opt_walk *w)
{
	const struct ab_field *f;
	enum ab_unknown_option unsure = w->unsure;

	w->letter = 0;
	w->name = (struct ab_text){ 0 };
	w->value = (struct ab_field){ 0 };
	w->unsure = AB_NO_UNKNOWN;
	if (w->inside)
		return read_letter(w);
	if (w->next >= w->argc)
		return AB_OPT_END;
	w->index = w->next++;
	f = &w->argv[w->index];
	if (!w->ended && f->text.len > 1 && f->text.s[0] == '-') {
		if (f->text.s[1] == '-' && f->text.len > 2)
			return read_long(w, f);
		if (f->text.s[1] == '-') {
			w->ended = true;
			return read_next(w);
		}
		w->inside = 1;
		return read_letter(w);
	}
	w->maybe_value = unsure;
	/* It may be the value of an unknown long option: do not count it. */
	if (unsure != AB_UNKNOWN_LONG)
		w->operands++;
	w->ended |= w->opts->ends && w->operands >= w->opts->ends;
	w->value = *f;
	return AB_OPT_OPERAND;
}

bool ab_opt_next(struct ab_opt_walk *w)
{
	w->what = read_next(w);
	return w->what != AB_OPT_END;
}

bool ab_opt_next_operand(struct ab_opt_walk *w)
{
	while (ab_opt_next(w))
		if (w->what == AB_OPT_OPERAND)
			return true;
	return false;
}

bool ab_opt_given(struct ab_opt_walk w, const char *list)
{
	while (ab_opt_next(&w))
		if (ab_opt_listed(&w, list))
			return true;
	return false;
}
