/*
 * The word is laid out flat first, one unit for each unquoted byte and one for
 * each other part, so that braces can be matched by index. A resulting word is
 * a list of slices of that layout, and of texts made by sequences.
 *
 * Matching looks ahead from each "{" as bash does, because the "}" that closes
 * it depends on where reading begins; a budget of steps prevents quadratic time
 * for a row of unclosed braces.
 */
#include "shell/expand/brace.h"

#include "shell/expand/fields.h"
#include "shell/syntax/grow.h"

enum {
	UNITS_MAX = 1 << 16,
	DEPTH_MAX = 64,
	STEPS_PER_UNIT = 16,
	STEPS_LEAST = 1 << 12,
	DIGITS_MAX = 15,
};

struct unit {
	const struct ab_part *part;
	uint32_t at;
};

struct slice {
	const struct ab_part *made; /* NULL: units [from, to) */
	uint32_t from, to;
};

struct slices {
	struct slice *v;
	uint32_t len;
};

struct list { /* of words */
	struct slices *v;
	size_t len, room;
};

struct expander {
	const struct ab_eval *e;
	struct unit *units;
	uint32_t len;
	size_t steps;
	bool over;
};

static bool is_bare(const struct ab_part *part)
{
	return part->kind == AB_PART_TEXT && !part->quoted;
}

bool ab_brace_found(const struct ab_part *parts)
{
	bool open = false, separated = false;

	for (const struct ab_part *p = parts; p; p = p->next) {
		const struct ab_text *t = &p->text;
		uint32_t i = 0;

		if (!is_bare(p) || !t->len)
			continue;
		if (!open) {
			if (p->bytes && !(p->bytes & AB_BYTES_CODE))
				continue;
			i = ab_text_find(*t, '{');
			open = i < t->len;
		}
		for (; i < t->len; i++) {
			separated |= t->s[i] == ',' || t->s[i] == '.';
			if (t->s[i] == '}' && separated)
				return true;
		}
	}
	return false;
}

/* The unquoted byte at unit `i`; 0: another part. */
static char get_byte(const struct expander *x, uint32_t i)
{
	const struct unit *u = &x->units[i];

	return is_bare(u->part) ? u->part->text.s[u->at] : 0;
}

static bool lay_out_word(struct expander *x, const struct ab_part *parts)
{
	size_t n = 0;

	for (const struct ab_part *p = parts; p; p = p->next)
		n += is_bare(p) ? p->text.len : 1;
	if (n > UNITS_MAX)
		return false;
	x->units = ab_arena_alloc(x->e->arena, n * sizeof(*x->units));
	for (const struct ab_part *p = parts; p; p = p->next) {
		uint32_t len = is_bare(p) ? p->text.len : 1;

		for (uint32_t i = 0; i < len; i++)
			x->units[x->len++] = (struct unit){ p, i };
	}
	x->steps = STEPS_PER_UNIT * n + STEPS_LEAST;
	return true;
}

static bool spend_bytes(struct expander *x, size_t bytes)
{
	if (!ab_vars_spend(x->e->vars, bytes))
		x->over = true;
	return !x->over;
}

static bool spend_step(struct expander *x)
{
	if (!x->steps)
		x->over = true;
	else
		x->steps--;
	return !x->over;
}

/* The "}" for the "{" before `from`; `to`: there is none. A "}" before any ","
 * or ".." of this level does not close it. */
static uint32_t find_close(struct expander *x, uint32_t from, uint32_t to)
{
	bool separated = false;
	uint32_t level = 0;

	for (uint32_t i = from; i < to && spend_step(x); i++) {
		char c = get_byte(x, i);

		if (c == '}' && !level && separated)
			return i;
		if (c == '{')
			level++;
		else if (c == '}' && level)
			level--;
		else if (level)
			continue;
		else if (c == ',')
			separated = true;
		else if (c == '.' && i + 2 < to && get_byte(x, i + 1) == '.' &&
			 get_byte(x, i + 2) != '}')
			separated = true;
	}
	return to;
}

static void add_word(struct expander *x, struct list *list, const struct slices *a,
		     const struct slices *b)
{
	struct slices *word;
	size_t n = (size_t)a->len + b->len;

	if (list->len == AB_BUILD_FIELDS_MAX)
		x->over = true;
	if (!spend_bytes(x, n * sizeof(struct slice) + sizeof(*word)))
		return;
	AB_GROW(x->e->arena, list->v, list->len, list->room, 4);
	word = &list->v[list->len++];
	word->v = ab_arena_alloc(x->e->arena, n * sizeof(*word->v));
	if (a->len)
		memcpy(word->v, a->v, a->len * sizeof(*a->v));
	if (b->len)
		memcpy(word->v + a->len, b->v, b->len * sizeof(*b->v));
	word->len = (uint32_t)n;
}

/* Appends each word of `by` to each word so far. */
static void multiply_words(struct expander *x, struct list *words, const struct list *by)
{
	struct list product = { 0 };

	for (size_t i = 0; i < words->len && !x->over; i++)
		for (size_t j = 0; j < by->len && !x->over; j++)
			add_word(x, &product, &words->v[i], &by->v[j]);
	*words = product;
}

static void append_units(struct expander *x, struct list *words, uint32_t from, uint32_t to)
{
	struct slice slice = { NULL, from, to };
	struct slices one = { &slice, 1 };
	struct list by = { &one, 1, 1 };

	if (from < to)
		multiply_words(x, words, &by);
}

static void add_made_word(struct expander *x, struct list *list, const char *s, size_t len)
{
	struct slice slice = { 0 };
	struct slices empty = { 0 }, one = { &slice, 1 };
	struct ab_part *part;

	if (!spend_bytes(x, sizeof(*part)))
		return;
	part = ab_arena_alloc(x->e->arena, sizeof(*part));
	/* Longer than the text: it has no position in the source. */
	part->range = (struct ab_span){ 0, UINT32_MAX };
	part->quoted = true;
	part->text = (struct ab_text){ ab_arena_ndup(x->e->arena, s, len), (uint32_t)len };
	slice.made = part;
	add_word(x, list, &one, &empty);
}

struct term {
	struct ab_text text;
	bool number;
	int64_t n; /* or a letter's code */
};

static bool read_term(struct ab_text t, struct term *ret)
{
	bool minus = t.len && t.s[0] == '-';
	unsigned digits;

	*ret = (struct term){ .text = t };
	if (t.len == 1 && ab_is_letter(t.s[0])) {
		ret->n = t.s[0];
		return true;
	}
	t = ab_text_rest(t, minus || (t.len && t.s[0] == '+'));
	ret->n = (int64_t)ab_read_digits(&t, 10, DIGITS_MAX, &digits);
	ret->n = minus ? -ret->n : ret->n;
	ret->number = true;
	return digits && !t.len;
}

static bool is_padded(struct ab_text t)
{
	uint32_t sign = t.len && t.s[0] == '-';

	return t.len > sign + 1 && t.s[sign] == '0';
}

static void make_sequence(struct expander *x, const struct term v[3], struct list *ret)
{
	int64_t by = v[2].n < 0 ? -v[2].n : v[2].n;
	int64_t n = v[0].n;
	int width = 0;

	by = by ? by : 1;
	if (is_padded(v[0].text) || is_padded(v[1].text))
		width = (int)(v[0].text.len > v[1].text.len ? v[0].text.len : v[1].text.len);
	for (; !x->over && (v[0].n <= v[1].n ? n <= v[1].n : n >= v[1].n);
	     n += v[0].n <= v[1].n ? by : -by) {
		char text[32];
		int len;

		if (v[0].number)
			len = snprintf(text, sizeof(text), "%0*lld", width, (long long)n);
		else
			len = snprintf(text, sizeof(text), "%c", (char)n);
		/* bash treats the backslash between Z and a as a quote */
		add_made_word(x, ret, text, text[0] == '\\' ? 0 : (size_t)len);
	}
}

/* {x..y} and {x..y..step}; false: it is neither. */
static bool expand_sequence(struct expander *x, uint32_t from, uint32_t to, struct list *ret)
{
	struct term v[3] = { 0 };
	char text[3 * (DIGITS_MAX + 2) + 4];
	struct ab_text rest = { text, 0 };
	size_t n = 0;

	if (to - from > sizeof(text))
		return false;
	for (uint32_t i = from; i < to; i++) {
		text[rest.len] = get_byte(x, i);
		if (!text[rest.len++])
			return false;
	}
	for (;;) {
		uint32_t len = ab_text_find(rest, '.');

		if (n == 3 || !read_term((struct ab_text){ rest.s, len }, &v[n++]))
			return false;
		if (len == rest.len)
			break;
		if (len + 1 >= rest.len || rest.s[len + 1] != '.')
			return false;
		rest = ab_text_rest(rest, len + 2);
	}
	if (n < 2 || v[0].number != v[1].number || (n == 3 && !v[2].number))
		return false;
	make_sequence(x, v, ret);
	return true;
}

static void expand(struct expander *x, uint32_t from, uint32_t to, unsigned depth,
		   struct list *ret);

static void expand_choices(struct expander *x, uint32_t from, uint32_t to, unsigned depth,
			   struct list *ret)
{
	struct slices empty = { 0 };
	uint32_t level = 0, begin = from;

	for (uint32_t i = from; i <= to && spend_step(x); i++) {
		struct list words = { 0 };
		char c = i < to ? get_byte(x, i) : ',';

		if (c == '{')
			level++;
		else if (c == '}' && level)
			level--;
		if (i < to && (c != ',' || level))
			continue;
		expand(x, begin, i, depth + 1, &words);
		for (size_t j = 0; j < words.len && !x->over; j++)
			add_word(x, ret, &words.v[j], &empty);
		begin = i + 1;
	}
}

static bool has_comma(struct expander *x, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && spend_step(x); i++)
		if (get_byte(x, i) == ',')
			return true;
	return false;
}

static void expand(struct expander *x, uint32_t from, uint32_t to, unsigned depth, struct list *ret)
{
	struct slices none = { 0 };
	uint32_t literal = from, i = from;

	if (depth > DEPTH_MAX)
		x->over = true;
	add_word(x, ret, &none, &none);
	while (i < to && spend_step(x)) {
		struct list words = { 0 };
		uint32_t close;

		/* {} at the start of a word is not expanded. */
		if (get_byte(x, i) != '{' ||
		    (i == from && i + 1 < to && get_byte(x, i + 1) == '}')) {
			i++;
			continue;
		}
		close = find_close(x, i + 1, to);
		if (close == to) {
			i++;
			continue;
		}
		if (has_comma(x, i + 1, close))
			expand_choices(x, i + 1, close, depth, &words);
		else if (!expand_sequence(x, i + 1, close, &words)) {
			i = close + 1;
			continue;
		}
		append_units(x, ret, literal, i);
		multiply_words(x, ret, &words);
		i = literal = close + 1;
	}
	append_units(x, ret, literal, to);
}

/* Appends a copy of a part. */
static struct ab_part *add_part(struct expander *x, const struct ab_part *from,
				struct ab_part ***link)
{
	struct ab_part *part = ab_arena_alloc(x->e->arena, sizeof(*part));

	*part = *from;
	part->next = NULL;
	**link = part;
	*link = &part->next;
	return part;
}

static void add_units(struct expander *x, const struct slice *slice, struct ab_part ***link)
{
	for (uint32_t i = slice->from, n; i < slice->to; i += n) {
		const struct unit *u = &x->units[i];
		struct ab_part *part = add_part(x, u->part, link);
		bool verbatim = part->range.to - part->range.from == part->text.len;

		n = 1;
		if (!is_bare(part))
			continue;
		while (i + n < slice->to && u[n].part == u->part)
			n++;
		part->text.s += u->at;
		part->text.len = n;
		part->range.from += u->at;
		part->range.to = verbatim ? part->range.from + n : UINT32_MAX;
	}
}

/* $name without braces; $1 and $? are always one byte. */
static bool has_open_name(const struct ab_part *part)
{
	return part->kind == AB_PART_PARAM && !part->quoted && !part->param.op_text.s &&
	       part->param.name.len && ab_is_name_byte(part->param.name.s[0]) &&
	       !ab_is_digit(part->param.name.s[0]);
}

static bool is_made(const struct ab_part *part)
{
	return part->kind == AB_PART_TEXT && part->range.from == 0 && part->range.to == UINT32_MAX;
}

/*
 * The shell expands braces before it reads names: {$v,b}x is "$vx" and "bx", so
 * text that now follows a name belongs to it.
 */
static bool extend_names(struct expander *x, struct ab_part *part)
{
	for (; part; part = part->next) {
		struct ab_part *next = part->next;
		uint32_t n = 0;

		if (!has_open_name(part) || !next || !(is_bare(next) || is_made(next)))
			continue;
		while (n < next->text.len && ab_is_name_byte(next->text.s[n]))
			n++;
		if (!n)
			continue;
		if (!spend_bytes(x, part->param.name.len + n))
			return false;
		part->param.name = ab_text_join(x->e->arena, part->param.name,
						(struct ab_text){ next->text.s, n });
		next->text = ab_text_rest(next->text, n);
		next->range.to = UINT32_MAX;
	}
	return true;
}

bool ab_brace_expand(const struct ab_eval *e, const struct ab_part *parts, struct ab_braces *ret)
{
	struct expander x = { .e = e };
	struct list words = { 0 };

	if (!lay_out_word(&x, parts))
		return false;
	expand(&x, 0, x.len, 0, &words);
	if (x.over)
		return false;
	*ret = (struct ab_braces){
		.v = ab_arena_alloc(e->arena, words.len * sizeof(*ret->v)),
		.len = words.len,
	};
	for (size_t i = 0; i < words.len; i++) {
		struct ab_part *first = NULL, **link = &first;

		for (uint32_t j = 0; j < words.v[i].len; j++) {
			const struct slice *s = &words.v[i].v[j];

			if (!spend_bytes(&x, sizeof(struct ab_part)))
				return false;
			if (s->made)
				add_part(&x, s->made, &link);
			else
				add_units(&x, s, &link);
		}
		if (!extend_names(&x, first))
			return false;
		ret->v[i] = first;
	}
	return true;
}
