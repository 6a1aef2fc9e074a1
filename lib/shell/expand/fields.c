#include "shell/expand/fields.h"

#include "shell/syntax/grow.h"

enum { CHOICES_MAX = 64 };

void ab_fields_grow(struct ab_arena *arena, struct ab_fields *fields)
{
	AB_GROW(arena, fields->v, fields->len, fields->room, 8);
}

struct ab_fields *ab_fields_of(struct ab_arena *arena, const struct ab_field *v, size_t n)
{
	struct ab_fields *copy = ab_arena_alloc(arena, sizeof(*copy));

	copy->v = ab_arena_alloc(arena, (n + 1) * sizeof(*v));
	copy->len = copy->room = n;
	if (n)
		memcpy(copy->v, v, n * sizeof(*v));
	return copy;
}

bool ab_choices_next(struct ab_choices *c)
{
	if (c->last || !c->len)
		return false;
	if (c->spent) {
		c->len = 0;
		return c->last = true;
	}
	while (c->len) {
		if (++c->v[c->len - 1].at < c->v[c->len - 1].n)
			return true;
		c->product /= c->v[--c->len].n;
	}
	return false;
}

/*
 * The list is a path through a tree of choices: later choices may depend on
 * earlier ones, so ab_choices_next() drops the last one once all its values
 * were used. The product along every path is bounded, and so is the number of
 * rounds.
 */
size_t ab_choose(const struct ab_eval *e, const void *of, size_t n)
{
	struct ab_choices *c = e->choices;
	size_t product;

	if (!c || c->last)
		return n;
	for (size_t i = 0; i < c->len; i++)
		if (c->v[i].of == of)
			return c->v[i].at < n ? c->v[i].at : n;
	product = (c->len ? c->product : 1) * n;
	if (c->len == sizeof(c->v) / sizeof(c->v[0]) || product > CHOICES_MAX)
		return n;
	c->v[c->len].of = of;
	c->v[c->len].n = (uint16_t)n;
	c->v[c->len].at = 0;
	c->len++;
	c->product = product;
	return 0;
}

struct ab_text ab_number_text(int64_t n, char room[static AB_NUMBER_SIZE])
{
	char *end = room + AB_NUMBER_SIZE, *at = end;
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (n < 0)
		*--at = '-';
	return (struct ab_text){ at, (uint32_t)(end - at) };
}

struct ab_text ab_text_number(struct ab_arena *arena, int64_t n)
{
	char room[AB_NUMBER_SIZE];
	struct ab_text text = ab_number_text(n, room);

	return (struct ab_text){ ab_arena_ndup(arena, text.s, text.len), text.len };
}

static void open_field(struct ab_build *b)
{
	if (b->open)
		return;
	b->open = true;
	b->bracket = false;
	b->own = NULL;
	b->field = (struct ab_field){ .text = { "", 0 },
				      .bytes = AB_BYTES_READ,
				      .range = b->range,
				      .verbatim = AB_NOT_VERBATIM };
}

/* Too many: replaces all fields with one that may be any number of words. */
static void collapse_fields(struct ab_build *b)
{
	unsigned taint = 0;

	for (size_t i = b->first; i < b->fields->len; i++)
		taint |= b->fields->v[i].taint;
	b->fields->len = b->first;
	b->over = true;
	*ab_fields_next(b->e->arena, b->fields) = ab_field_unknown(b->range, taint);
}

void ab_build_break(struct ab_build *b)
{
	size_t made;

	if (!b->open || !b->fields)
		return;
	b->open = false;
	if (b->over)
		return;
	made = b->fields->len - b->first;
	if (made == AB_BUILD_FIELDS_MAX ||
	    (made && !ab_vars_spend(b->e->vars, AB_BUILD_FIELD_COST)))
		collapse_fields(b);
	else
		*ab_fields_next(b->e->arena, b->fields) = b->field;
}

static void make_room(struct ab_build *b, uint32_t more)
{
	struct ab_text *text = &b->field.text;
	uint32_t room = text->len + more;
	char *own;

	if (b->own && room <= b->room)
		return;
	room += room / 2 + 32;
	own = ab_arena_alloc(b->e->arena, room);
	if (text->len)
		memcpy(own, text->s, text->len);
	text->s = b->own = own;
	b->room = room;
}

static void append_text(struct ab_build *b, struct ab_text t, uint32_t verbatim, uint8_t bytes)
{
	struct ab_field *f = &b->field;

	open_field(b);
	if (!t.len)
		return;
	f->bytes |= bytes;
	if (!f->text.len) {
		f->text = t;
		f->verbatim = verbatim;
		return;
	}
	if (f->verbatim != AB_NOT_VERBATIM &&
	    (verbatim == AB_NOT_VERBATIM || verbatim != f->verbatim + f->text.len))
		f->verbatim = AB_NOT_VERBATIM;
	if (!b->own && f->text.s + f->text.len == t.s) {
		f->text.len += t.len;
		return;
	}
	make_room(b, t.len);
	memcpy(b->own + f->text.len, t.s, t.len);
	f->text.len += t.len;
}

static void mark_pattern(struct ab_build *b, struct ab_text t)
{
	struct ab_field *f = &b->field;

	for (uint32_t i = 0; i < t.len && !f->pattern; i++) {
		if (t.s[i] == '*' || t.s[i] == '?')
			f->pattern = true;
		else if (t.s[i] == '[')
			b->bracket = true;
		else if (t.s[i] == ']')
			f->pattern = b->bracket;
	}
}

void ab_build_text(struct ab_build *b, struct ab_text text, bool quoted, uint32_t verbatim,
		   uint8_t bytes)
{
	if (!bytes)
		bytes = ab_bytes_read(text.s, text.len);
	append_text(b, text, verbatim, bytes);
	if (!quoted && bytes & AB_BYTES_PATTERN)
		mark_pattern(b, text);
	if (bytes & AB_BYTES_UNKNOWN && ab_text_has(text, AB_UNKNOWN)) {
		b->field.unknown = true;
		b->field.splits |= !quoted && b->fields;
	}
}

void ab_build_unknown(struct ab_build *b, bool whole, unsigned taint)
{
	append_text(b, AB_UNKNOWN_TEXT, AB_NOT_VERBATIM, AB_BYTES_UNKNOWN);
	b->field.unknown = true;
	b->field.splits |= !whole && b->fields;
	b->field.taint |= taint;
}

/* A run without separators. */
static void add_run(struct ab_build *b, struct ab_text run, bool quoted, unsigned taint)
{
	ab_build_text(b, run, quoted, AB_NOT_VERBATIM, 0);
	b->field.taint |= taint;
}

/*
 * Blanks of IFS around a separator belong to it; any other character of IFS
 * ends a field, even an empty one.
 */
static void split_value(struct ab_build *b, struct ab_text value, struct ab_text ifs,
			unsigned taint)
{
	bool blank = false;
	uint32_t i = 0;

	while (i < value.len && !b->over) {
		uint32_t from = i;

		while (i < value.len && !(value.s[i] && ab_text_has(ifs, value.s[i])))
			i++;
		if (i > from) {
			add_run(b, (struct ab_text){ value.s + from, i - from }, false, taint);
			blank = false;
			continue;
		}
		if (ab_separates_words(value.s[i])) {
			blank |= b->open;
			ab_build_break(b);
		} else {
			if (!b->open && !blank)
				open_field(b);
			ab_build_break(b);
			blank = false;
		}
		i++;
	}
}

/* False: several values, or unknown. */
static bool get_ifs(const struct ab_eval *e, struct ab_text *ret)
{
	const struct ab_var *v = ab_vars_get(e->vars, AB_TEXT("IFS"));

	if (!v || v->next || v->unknown)
		return false;
	*ret = v->text;
	return true;
}

void ab_build_value(struct ab_build *b, struct ab_text value, bool quoted, unsigned taint)
{
	struct ab_text ifs;

	if (value.len > b->left || !ab_vars_spend(b->e->vars, value.len)) {
		ab_build_unknown(b, quoted, taint);
		return;
	}
	b->left -= value.len;
	if (quoted || !b->fields) {
		if (quoted || value.len)
			add_run(b, value, quoted, taint);
		return;
	}
	if (!value.len)
		return;
	if (get_ifs(b->e, &ifs))
		split_value(b, value, ifs, taint);
	else
		ab_build_unknown(b, false, taint);
}
