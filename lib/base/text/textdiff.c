#include "base/text/textdiff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"

/* Lines of a text as views. */
struct lines {
	const char **at;
	size_t *len;
	size_t n;
};

static struct lines split_lines(const char *text, size_t len)
{
	struct lines l = { 0 };
	size_t most = 1;

	for (size_t i = 0; i < len; i++)
		most += text[i] == '\n';
	l.at = ab_alloc(most * sizeof(l.at[0]));
	l.len = ab_alloc(most * sizeof(l.len[0]));
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		l.at[l.n] = text;
		l.len[l.n++] = n;
		n += end != NULL;
		text += n;
		len -= n;
	}
	return l;
}

static void free_lines(struct lines *l)
{
	free(l->at);
	free(l->len);
}

static bool is_same_line(const struct lines *a, size_t i, const struct lines *b, size_t k)
{
	return a->len[i] == b->len[k] && memcmp(a->at[i], b->at[k], a->len[i]) == 0;
}

static void add_line(struct ab_strv *diff, char sign, const struct lines *l, size_t i)
{
	ab_autofree char *line = ab_strndup(l->at[i], l->len[i]);
	size_t indent = strspn(line, "\t");
	struct ab_buf b = { 0 };

	ab_buf_add(&b, &sign, 1);
	/* Tabs are kept as indentation; elsewhere they could hide something. */
	ab_buf_add(&b, line, indent);
	ab_buf_escape(&b, line + indent);
	ab_strv_give(diff, ab_buf_take(&b));
}

/*
 * Removed lines of a[] ("-") and added lines of b[] ("+"), in order: the longest
 * common subsequence of what is between the common head and tail. Above a bound
 * everything there counts as changed.
 */
static void compare_lines(const struct lines *a, const struct lines *b, struct ab_strv *diff)
{
	enum { CELLS = 1 << 22 };
	size_t head = 0, n = a->n, m = b->n, i, k, w;
	ab_autofree uint16_t *best = NULL;

	while (head < n && head < m && is_same_line(a, head, b, head))
		head++;
	while (n > head && m > head && is_same_line(a, n - 1, b, m - 1)) {
		n--;
		m--;
	}
	w = m - head + 1;
	if (w < UINT16_MAX && n - head < UINT16_MAX && (n - head + 1) * w <= CELLS) {
		best = ab_alloc((n - head + 1) * w * sizeof(best[0]));
		for (i = n; i-- > head;)
			for (k = m; k-- > head;) {
				uint16_t *c = &best[(i - head) * w + k - head];

				*c = is_same_line(a, i, b, k) ? (uint16_t)(c[w + 1] + 1)
				     : c[w] > c[1]	      ? c[w]
							      : c[1];
			}
	}
	i = k = head;
	while (best && i < n && k < m) {
		const uint16_t *c = &best[(i - head) * w + k - head];

		if (is_same_line(a, i, b, k)) {
			i++;
			k++;
		} else if (c[w] >= c[1]) {
			add_line(diff, '-', a, i++);
		} else {
			add_line(diff, '+', b, k++);
		}
	}
	while (i < n)
		add_line(diff, '-', a, i++);
	while (k < m)
		add_line(diff, '+', b, k++);
}

void ab_text_diff(const char *old, size_t old_len, const char *new, size_t new_len,
		  struct ab_strv *ret_diff)
{
	struct lines a = split_lines(old, old_len), b = split_lines(new, new_len);

	compare_lines(&a, &b, ret_diff);
	free_lines(&a);
	free_lines(&b);
}
