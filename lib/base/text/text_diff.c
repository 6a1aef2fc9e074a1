/*
 * Theory of operation.
 *
 * Equal lines get equal numbers: the lines of both texts are sorted by a hash, then by
 * their bytes. A hostile text can make hashes collide, which costs comparisons of bytes
 * and no more. The numbers are compared with Myers' algorithm in linear space: the
 * shortest path of edits is searched from both ends of a box at once, and where the two
 * searches meet, the box is cut in two. A search that has become too expensive cuts the
 * box at the point where it got farthest. All searches together have a budget; when it
 * is used up, every box that is left counts as replaced.
 */
#include "base/text/text_diff.h"

#include "base/data/hash.h"

enum {
	LINES_MAX = 200000, /* of one text between the common head and tail */
	COST_MAX = 768,	    /* edits that one search from both ends looks for */
	BUDGET = 48000000,  /* steps of all searches */
};

/* A part of both texts. */
struct box {
	int a0, a1, b0, b1;
};

struct search {
	const uint32_t *a, *b; /* numbers of the lines */
	bool *a_changed, *b_changed;
	int *forward, *backward; /* the farthest line of a on each diagonal */
	int64_t budget;
	struct box *stack;
	size_t len;
};

static void split_lines(const char *text, size_t len, struct ab_lines *ret)
{
	ret->text = text;
	for (const char *p = text; p < text + len;) {
		const char *end = memchr(p, '\n', (size_t)(text + len - p));

		*ab_append(ret->at, ret->n) = (uint32_t)(p - text);
		p = end ? end + 1 : text + len;
	}
	ab_make_room(ret->at, ret->n);
	ret->at[ret->n] = (uint32_t)len;
}

static bool is_same_line(const struct ab_lines *a, size_t i, const struct ab_lines *b, size_t k)
{
	size_t n, m;
	const char *p = ab_line_at(a, i, &n), *q = ab_line_at(b, k, &m);

	return n == m && memcmp(p, q, n) == 0;
}

/* A line on its way to a number. */
struct keyed {
	uint64_t hash;
	const char *line;
	uint32_t len;
	uint32_t index; /* of both texts, one behind the other */
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return a->line == b->line ? 0 : memcmp(a->line, b->line, a->len);
}

static void add_keys(struct keyed *keys, size_t at, const struct ab_lines *lines, size_t head,
		     size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len;
		const char *line = ab_line_at(lines, head + i, &len);

		keys[at + i] = (struct keyed){ ab_hash(AB_HASH_START, line, len), line,
					       (uint32_t)len, (uint32_t)(at + i) };
	}
}

/* Numbers for n lines of a and m lines of b, both from `head` on. */
static uint32_t *number_lines(const struct ab_lines *a, size_t n, const struct ab_lines *b,
			      size_t m, size_t head)
{
	ab_autofree struct keyed *keys = ab_alloc((n + m + 1) * sizeof(keys[0]));
	uint32_t *numbers = ab_alloc((n + m + 1) * sizeof(numbers[0]));
	uint32_t number = 0;

	add_keys(keys, 0, a, head, n);
	add_keys(keys, n, b, head, m);
	qsort(keys, n + m, sizeof(keys[0]), compare_lines);
	for (size_t i = 0; i < n + m; i++) {
		if (i && compare_lines(&keys[i - 1], &keys[i]) != 0)
			number++;
		numbers[keys[i].index] = number;
	}
	return numbers;
}

static void push_box(struct search *s, int a0, int a1, int b0, int b1)
{
	*ab_append(s->stack, s->len) = (struct box){ a0, a1, b0, b1 };
}

static void mark_changed(struct search *s, const struct box *b)
{
	for (int i = b->a0; i < b->a1; i++)
		s->a_changed[i] = true;
	for (int i = b->b0; i < b->b1; i++)
		s->b_changed[i] = true;
}

/* The diagonals that one search has reached, every second one of them. */
struct reach {
	int low, high;
};

/* One more diagonal on each side, unless the box ends there. */
static void widen_reach(struct reach *r, int *v, int least, int most, int beyond)
{
	if (r->low > least)
		v[--r->low - 1] = beyond;
	else
		r->low++;
	if (r->high < most)
		v[++r->high + 1] = beyond;
	else
		r->high--;
}

/* Extend each path from the start by one edit and the equal lines behind it. True: it met
 * a path from the end, at line *x of a on diagonal *d. */
static bool step_forward(struct search *s, const struct box *b, struct reach *f,
			 const struct reach *met, int *ret_x, int *ret_d)
{
	int *v = s->forward;

	widen_reach(f, v, b->a0 - b->b1, b->a1 - b->b0, -1);
	for (int d = f->high; d >= f->low; d -= 2) {
		int x = v[d - 1] < v[d + 1] ? v[d + 1] : v[d - 1] + 1;
		int from = x;

		while (x < b->a1 && x - d < b->b1 && s->a[x] == s->b[x - d])
			x++;
		v[d] = x;
		s->budget -= x - from + 1;
		if (met && met->low <= d && d <= met->high && s->backward[d] <= x) {
			*ret_x = x;
			*ret_d = d;
			return true;
		}
	}
	return false;
}

static bool step_backward(struct search *s, const struct box *b, struct reach *r,
			  const struct reach *met, int *ret_x, int *ret_d)
{
	int *v = s->backward;

	widen_reach(r, v, b->a0 - b->b1, b->a1 - b->b0, INT32_MAX);
	for (int d = r->high; d >= r->low; d -= 2) {
		int x = v[d - 1] < v[d + 1] ? v[d - 1] : v[d + 1] - 1;
		int from = x;

		while (x > b->a0 && x - d > b->b0 && s->a[x - 1] == s->b[x - d - 1])
			x--;
		v[d] = x;
		s->budget -= from - x + 1;
		if (met && met->low <= d && d <= met->high && x <= s->forward[d]) {
			*ret_x = x;
			*ret_d = d;
			return true;
		}
	}
	return false;
}

/* The point that is farthest from its end of the box. */
static void pick_farthest(const struct search *s, const struct box *b, const struct reach *f,
			  const struct reach *r, int *ret_x, int *ret_d)
{
	int64_t best = -1, far;

	for (int d = f->high; d >= f->low; d -= 2) {
		int x = s->forward[d] < b->a1 ? s->forward[d] : b->a1;

		if (x - d > b->b1)
			x = b->b1 + d;
		far = (int64_t)(x - b->a0) + (x - d - b->b0);
		if (far > best) {
			best = far;
			*ret_x = x;
			*ret_d = d;
		}
	}
	for (int d = r->high; d >= r->low; d -= 2) {
		int x = s->backward[d] > b->a0 ? s->backward[d] : b->a0;

		if (x - d < b->b0)
			x = b->b0 + d;
		far = (int64_t)(b->a1 - x) + (b->b1 - (x - d));
		if (far > best) {
			best = far;
			*ret_x = x;
			*ret_d = d;
		}
	}
}

/* Where to cut a box whose first and last lines differ. False: the budget is used up. */
static bool find_cut(struct search *s, const struct box *b, int *ret_x, int *ret_d)
{
	struct reach f = { b->a0 - b->b0, b->a0 - b->b0 };
	struct reach r = { b->a1 - b->b1, b->a1 - b->b1 };
	bool odd = (f.low - r.low) & 1;

	s->forward[f.low] = b->a0;
	s->backward[r.low] = b->a1;
	for (int cost = 1; s->budget > 0; cost++) {
		if (step_forward(s, b, &f, odd ? &r : NULL, ret_x, ret_d) ||
		    step_backward(s, b, &r, odd ? NULL : &f, ret_x, ret_d))
			return true;
		if (cost >= COST_MAX) {
			pick_farthest(s, b, &f, &r, ret_x, ret_d);
			return true;
		}
	}
	return false;
}

/* A cut at a corner makes no progress. */
static bool is_inner_cut(const struct box *b, int x, int y)
{
	if (x < b->a0 || x > b->a1 || y < b->b0 || y > b->b1)
		return false;
	return (x > b->a0 || y > b->b0) && (x < b->a1 || y < b->b1);
}

/* False: at least one box was marked as a whole. */
static bool compare_boxes(struct search *s)
{
	bool fine = true;

	while (s->len > 0) {
		struct box b = s->stack[--s->len];
		int x = 0, d = 0;
		bool empty, cut;

		while (b.a0 < b.a1 && b.b0 < b.b1 && s->a[b.a0] == s->b[b.b0]) {
			b.a0++;
			b.b0++;
		}
		while (b.a0 < b.a1 && b.b0 < b.b1 && s->a[b.a1 - 1] == s->b[b.b1 - 1]) {
			b.a1--;
			b.b1--;
		}
		empty = b.a0 == b.a1 || b.b0 == b.b1;
		cut = !empty && find_cut(s, &b, &x, &d);
		fine &= empty || cut;
		if (!cut || !is_inner_cut(&b, x, x - d)) {
			mark_changed(s, &b);
			continue;
		}
		push_box(s, b.a0, x, b.b0, x - d);
		push_box(s, x, b.a1, x - d, b.b1);
	}
	return fine;
}

/* Compare n lines of a with m of b from `head` on; both marks are set there. */
static bool compare_numbers(const struct ab_lines *a, size_t n, const struct ab_lines *b, size_t m,
			    size_t head, bool *a_changed, bool *b_changed)
{
	ab_autofree uint32_t *numbers = number_lines(a, n, b, m, head);
	size_t diagonals = n + m + 3;
	ab_autofree int *room = ab_alloc(2 * diagonals * sizeof(room[0]));
	struct search s = {
		.a = numbers,
		.b = numbers + n,
		.a_changed = a_changed + head,
		.b_changed = b_changed + head,
		.forward = room + m + 1, /* diagonal 0 */
		.backward = room + diagonals + m + 1,
		.budget = BUDGET,
	};
	bool fine;

	push_box(&s, 0, (int)n, 0, (int)m);
	fine = compare_boxes(&s);
	free(s.stack);
	return fine;
}

static void collect_edits(struct ab_hunks *h, const bool *a_changed, const bool *b_changed)
{
	size_t i = 0, k = 0;

	while (i < h->old.n || k < h->fresh.n) {
		struct ab_edit e = { i, 0, k, 0 };

		while (i < h->old.n && a_changed[i])
			i++;
		while (k < h->fresh.n && b_changed[k])
			k++;
		e.old_n = i - e.old_at;
		e.new_n = k - e.new_at;
		if (e.old_n || e.new_n) {
			*ab_append(h->edits, h->nedits) = e;
		} else {
			i++;
			k++;
		}
	}
}

/* Lines that were only added or only removed often fit in several places: "}" and a blank
 * line, say. Take the last one, as people expect it from other tools. */
static size_t slide_edit(const struct ab_hunks *h, struct ab_edit *e, size_t gap)
{
	const struct ab_lines *lines = e->old_n ? &h->old : &h->fresh;
	size_t at = e->old_n ? e->old_at : e->new_at, n = e->old_n ? e->old_n : e->new_n;
	size_t by = 0;

	if (e->old_n && e->new_n)
		return gap;
	while (by < gap && is_same_line(lines, at + by, lines, at + n + by))
		by++;
	e->old_at += by;
	e->new_at += by;
	return gap - by;
}

static void slide_edits(struct ab_hunks *h)
{
	size_t kept = h->nedits; /* edits from here on are done */

	for (size_t i = h->nedits; i-- > 0;) {
		struct ab_edit e = h->edits[i];
		const struct ab_edit *next = kept < h->nedits ? &h->edits[kept] : NULL;
		size_t gap = (next ? next->old_at : h->old.n) - (e.old_at + e.old_n);

		if (slide_edit(h, &e, gap) == 0 && next) {
			e.old_n += next->old_n;
			e.new_n += next->new_n;
			kept++;
		}
		h->edits[--kept] = e;
	}
	memmove(h->edits, h->edits + kept, (h->nedits - kept) * sizeof(h->edits[0]));
	h->nedits -= kept;
}

static void find_edits(struct ab_hunks *h)
{
	const struct ab_lines *a = &h->old, *b = &h->fresh;
	ab_autofree bool *a_changed = ab_alloc(a->n + 1), *b_changed = ab_alloc(b->n + 1);
	size_t head = 0, n = a->n, m = b->n;

	while (head < n && head < m && is_same_line(a, head, b, head))
		head++;
	while (n > head && m > head && is_same_line(a, n - 1, b, m - 1)) {
		n--;
		m--;
	}
	if (n == head || m == head || n - head > LINES_MAX || m - head > LINES_MAX) {
		memset(a_changed + head, true, n - head);
		memset(b_changed + head, true, m - head);
		h->coarse = n > head && m > head;
	} else {
		h->coarse = !compare_numbers(a, n - head, b, m - head, head, a_changed, b_changed);
	}
	collect_edits(h, a_changed, b_changed);
	if (h->nedits)
		slide_edits(h);
}

static void add_hunk(struct ab_hunks *h, size_t first, size_t nedits)
{
	const struct ab_edit *from = &h->edits[first], *to = &h->edits[first + nedits - 1];
	size_t before = from->old_at < AB_HUNK_CONTEXT ? from->old_at : AB_HUNK_CONTEXT;
	size_t old_end = to->old_at + to->old_n, new_end = to->new_at + to->new_n;
	size_t after = h->old.n - old_end;

	if (after > AB_HUNK_CONTEXT)
		after = AB_HUNK_CONTEXT;
	*ab_append(h->v, h->len) = (struct ab_hunk){
		.old_at = from->old_at - before,
		.old_n = old_end + after - (from->old_at - before),
		.new_at = from->new_at - before,
		.new_n = new_end + after - (from->new_at - before),
		.first = first,
		.nedits = nedits,
	};
}

static void group_edits(struct ab_hunks *h)
{
	size_t first = 0;

	for (size_t i = 0; i < h->nedits; i++) {
		const struct ab_edit *e = &h->edits[i];

		h->removed += e->old_n;
		h->added += e->new_n;
		if (i + 1 == h->nedits ||
		    e[1].old_at - (e->old_at + e->old_n) > 2 * AB_HUNK_CONTEXT) {
			add_hunk(h, first, i + 1 - first);
			first = i + 1;
		}
	}
}

void ab_hunks_find(const char *old, size_t old_len, const char *fresh, size_t new_len,
		   struct ab_hunks *ret)
{
	*ret = (struct ab_hunks){ 0 };
	split_lines(old, old_len, &ret->old);
	split_lines(fresh, new_len, &ret->fresh);
	find_edits(ret);
	group_edits(ret);
}

void ab_hunks_fini(struct ab_hunks *hunks)
{
	ab_free_all(hunks->old.at, hunks->fresh.at, hunks->edits, hunks->v);
	*hunks = (struct ab_hunks){ 0 };
}

static void add_lines(struct ab_buf *b, const struct ab_lines *lines, size_t from, size_t n)
{
	ab_buf_add(b, lines->text + lines->at[from], lines->at[from + n] - lines->at[from]);
}

void ab_hunks_apply(const struct ab_hunks *hunks, const bool *take, struct ab_buf *ret)
{
	size_t at = 0;

	for (size_t i = 0; i < hunks->len; i++) {
		const struct ab_hunk *hunk = &hunks->v[i];

		for (size_t k = 0; k < hunk->nedits && (!take || take[i]); k++) {
			const struct ab_edit *e = &hunks->edits[hunk->first + k];

			add_lines(ret, &hunks->old, at, e->old_at - at);
			add_lines(ret, &hunks->fresh, e->new_at, e->new_n);
			at = e->old_at + e->old_n;
		}
	}
	add_lines(ret, &hunks->old, at, hunks->old.n - at);
}

static void each_line(const struct ab_lines *lines, size_t from, size_t n, char sign,
		      ab_hunk_fn *fn, void *arg)
{
	for (size_t i = from; i < from + n; i++) {
		size_t len;
		const char *line = ab_line_at(lines, i, &len);

		fn(arg, sign, line, len);
	}
}

void ab_hunk_each(const struct ab_hunks *hunks, const struct ab_hunk *hunk, ab_hunk_fn *fn,
		  void *arg)
{
	size_t at = hunk->old_at;

	for (size_t i = 0; i < hunk->nedits; i++) {
		const struct ab_edit *e = &hunks->edits[hunk->first + i];

		each_line(&hunks->old, at, e->old_at - at, ' ', fn, arg);
		each_line(&hunks->old, e->old_at, e->old_n, '-', fn, arg);
		each_line(&hunks->fresh, e->new_at, e->new_n, '+', fn, arg);
		at = e->old_at + e->old_n;
	}
	each_line(&hunks->old, at, hunk->old_at + hunk->old_n - at, ' ', fn, arg);
}

/* Lines count from 1; an empty range names the line before it. */
static int format_range(char *ret, size_t room, size_t at, size_t n)
{
	if (n == 1)
		return snprintf(ret, room, "%zu", at + 1);
	return snprintf(ret, room, "%zu,%zu", n ? at + 1 : at, n);
}

const char *ab_hunk_header(const struct ab_hunk *hunk, char ret[AB_HUNK_HEADER])
{
	char old[44], fresh[44];

	format_range(old, sizeof(old), hunk->old_at, hunk->old_n);
	format_range(fresh, sizeof(fresh), hunk->new_at, hunk->new_n);
	snprintf(ret, AB_HUNK_HEADER, "@@ -%s +%s @@", old, fresh);
	return ret;
}

static void add_changed_line(void *arg, char sign, const char *line, size_t len)
{
	size_t indent = 0;
	struct ab_buf b = { 0 };

	if (sign == ' ')
		return;
	len -= line[len - 1] == '\n';
	while (indent < len && line[indent] == '\t')
		indent++;
	ab_buf_add(&b, &sign, 1);
	/* Tabs are kept as indentation; elsewhere they could hide something. */
	ab_buf_add(&b, line, indent);
	ab_buf_escape_n(&b, line + indent, len - indent);
	ab_strv_give(arg, ab_buf_take(&b));
}

static void add_ended(struct ab_buf *b, const char *text, size_t len)
{
	ab_buf_add(b, text, len);
	ab_buf_puts(b, len && text[len - 1] != '\n' ? "\n" : "");
}

void ab_text_diff(const char *old, size_t old_len, const char *fresh, size_t new_len,
		  struct ab_strv *ret_diff)
{
	ab_autobuf struct ab_buf before = { 0 }, after = { 0 };
	ab_autohunks struct ab_hunks hunks = { 0 };

	add_ended(&before, old, old_len);
	add_ended(&after, fresh, new_len);
	ab_hunks_find(before.data, before.len, after.data, after.len, &hunks);
	for (size_t i = 0; i < hunks.len; i++)
		ab_hunk_each(&hunks, &hunks.v[i], add_changed_line, ret_diff);
}

bool ab_is_binary(const char *data, size_t len)
{
	return len && memchr(data, '\0', len);
}
