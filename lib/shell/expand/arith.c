#include "shell/expand/arith.h"

enum { DEPTH_MAX = 32, DIGITS_MAX = 15 };

struct reader {
	const struct ab_eval *e;
	struct ab_text rest;
	unsigned depth;
	bool wrong;
};

static void skip_byte(struct reader *r)
{
	r->rest = ab_text_rest(r->rest, 1);
}

static char peek_byte(struct reader *r)
{
	ab_text_skip_set(&r->rest, " \t\n");
	return r->rest.len ? r->rest.s[0] : 0;
}

/* 12, 0x1f, 017; the whole text. */
static bool read_number(struct ab_text t, int64_t *ret)
{
	unsigned base = ab_read_base(&t), digits;

	*ret = (int64_t)ab_read_digits(&t, base, DIGITS_MAX, &digits);
	return digits && !t.len;
}

static int64_t read_name(struct reader *r, struct ab_text name)
{
	const struct ab_var *v = ab_vars_get(r->e->vars, name);
	struct ab_text t = { 0 };
	bool minus;
	int64_t n;

	if (!v || v->next || v->items) {
		r->wrong = true;
		return 0;
	}
	t = v->text;
	minus = ab_text_skip(&t, "-");
	if (!read_number(t, &n)) {
		r->wrong = true;
		return 0;
	}
	return minus ? -n : n;
}

static int64_t read_sum(struct reader *r);

static int64_t read_operand(struct reader *r)
{
	struct ab_text word = { r->rest.s, 0 };
	int64_t n = 0;

	while (word.len < r->rest.len && ab_is_name_byte(word.s[word.len]))
		word.len++;
	r->rest = ab_text_rest(r->rest, word.len);
	if (!word.len)
		r->wrong = true;
	else if (word.s[0] >= '0' && word.s[0] <= '9')
		r->wrong |= !read_number(word, &n);
	else
		n = read_name(r, word);
	return n;
}

static int64_t read_unary(struct reader *r)
{
	char c = peek_byte(r);
	int64_t n;

	if (++r->depth > DEPTH_MAX)
		r->wrong = true;
	if (r->wrong)
		return 0;
	if (c == '-' || c == '+') {
		skip_byte(r);
		/* ++x and --x assign */
		r->wrong |= r->rest.len && r->rest.s[0] == c;
		n = read_unary(r);
		n = c == '-' ? (int64_t)(0 - (uint64_t)n) : n;
	} else if (c == '(') {
		skip_byte(r);
		n = read_sum(r);
		if (peek_byte(r) == ')')
			skip_byte(r);
		else
			r->wrong = true;
	} else {
		n = read_operand(r);
	}
	r->depth--;
	return n;
}

static int64_t read_product(struct reader *r)
{
	int64_t n = read_unary(r);

	for (char c = peek_byte(r); c == '*' || c == '/' || c == '%'; c = peek_byte(r)) {
		int64_t by;

		skip_byte(r);
		by = read_unary(r); /* rejects "**" and "*=" */
		if (r->wrong || (c != '*' && by == 0))
			r->wrong = true;
		else if (c == '*')
			n = (int64_t)((uint64_t)n * (uint64_t)by);
		else if (by == -1)
			n = c == '/' ? (int64_t)(0 - (uint64_t)n) : 0;
		else
			n = c == '/' ? n / by : n % by;
		if (r->wrong)
			return 0;
	}
	return n;
}

static int64_t read_sum(struct reader *r)
{
	int64_t n = read_product(r);

	for (char c = peek_byte(r); c == '+' || c == '-'; c = peek_byte(r)) {
		uint64_t by;

		skip_byte(r);
		r->wrong |= r->rest.len && (r->rest.s[0] == c || r->rest.s[0] == '=');
		by = (uint64_t)read_product(r);
		if (r->wrong)
			return 0;
		n = (int64_t)((uint64_t)n + (c == '+' ? by : 0 - by));
	}
	return n;
}

bool ab_arith(const struct ab_eval *e, struct ab_text text, int64_t *ret)
{
	struct reader r = { .e = e, .rest = text };
	int64_t n = 0;

	if (peek_byte(&r))
		n = read_sum(&r);
	if (r.wrong || peek_byte(&r))
		return false;
	*ret = n;
	return true;
}
