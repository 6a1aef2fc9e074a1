#include "base/text/text_diff.h"

#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

static bool is_text(const struct ab_buf *b, const char *text, size_t len)
{
	return b->len == len && (len == 0 || memcmp(b->data, text, len) == 0);
}

/* The hunks one after the other, as `diff -u` would print them. */
static void add_line(void *arg, char sign, const char *line, size_t len)
{
	struct ab_buf *b = arg;

	ab_buf_add(b, &sign, 1);
	ab_buf_add(b, line, len);
	if (!len || line[len - 1] != '\n')
		ab_buf_puts(b, "\n\\ No newline at end of file\n");
}

static char *print_hunks(const struct ab_hunks *h)
{
	struct ab_buf b = { 0 };
	char header[AB_HUNK_HEADER];

	for (size_t i = 0; i < h->len; i++) {
		ab_buf_printf(&b, "%s\n", ab_hunk_header(&h->v[i], header));
		ab_hunk_each(h, &h->v[i], add_line, &b);
	}
	return ab_buf_take(&b);
}

/* The outputs of `diff -U3`. */
static const struct {
	const char *name, *old, *fresh, *want;
} cases[] = {
	{ "equal texts have no hunks", "a\nb\n", "a\nb\n", "" },
	{ "two empty texts", "", "", "" },
	{ "a new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n" },
	{ "a file that becomes empty", "a\n", "", "@@ -1 +0,0 @@\n-a\n" },
	{ "a changed line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n" },
	{ "an added last newline", "a", "a\n",
	  "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n" },
	{ "no newline on both sides", "a\nb", "x\nb",
	  "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n" },
	{ "a carriage return is a part of its line", "a\r\nb\r\n", "a\nb\r\n",
	  "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n" },
	{ "context of three lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
	  "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n" },
	{ "changes with six lines between them are one hunk", "a\n1\n2\n3\n4\n5\n6\nb\n",
	  "A\n1\n2\n3\n4\n5\n6\nB\n", "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n" },
	{ "changes with seven lines between them are two", "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
	  "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
	  "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n" },
	{ "an added block is shown as late as possible", "f {\n}\n\nh {\n}\n",
	  "f {\n}\n\ng {\n}\n\nh {\n}\n", "@@ -1,5 +1,8 @@\n f {\n }\n \n+g {\n+}\n+\n h {\n }\n" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autohunks struct ab_hunks h = { 0 };
		ab_autofree char *got = NULL;

		ab_hunks_find(cases[i].old, strlen(cases[i].old), cases[i].fresh,
			      strlen(cases[i].fresh), &h);
		got = print_hunks(&h);
		is_str(got, cases[i].want, cases[i].name);
	}
}

/* The length of the longest common subsequence of two short texts of lines "X\n". */
static size_t count_common(const char *a, size_t n, const char *b, size_t m)
{
	size_t best[64][64] = { 0 };

	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;)
			best[i][k] = a[2 * i] == b[2 * k]	       ? best[i + 1][k + 1] + 1
				     : best[i + 1][k] > best[i][k + 1] ? best[i + 1][k]
								       : best[i][k + 1];
	return best[0][0];
}

static size_t make_text(char *ret, size_t most, unsigned int letters, unsigned int *seed)
{
	size_t n = (size_t)rand_r(seed) % most;

	for (size_t i = 0; i < n; i++) {
		ret[2 * i] = (char)('a' + (unsigned int)rand_r(seed) % letters);
		ret[2 * i + 1] = '\n';
	}
	return n;
}

/* Every subset of hunks gives a text in which each hunk is old or new, and the lines
 * between them are as they were. */
static bool applies(const struct ab_hunks *h, const char *old, size_t old_len, const char *fresh,
		    size_t new_len)
{
	bool take[64] = { 0 }, fine = true;

	for (unsigned int bits = 0; bits < 1u << (h->len < 5 ? h->len : 5); bits++) {
		ab_autobuf struct ab_buf got = { 0 };
		size_t added = 0, removed = 0, lines = 0;

		for (size_t i = 0; i < h->len; i++) {
			take[i] = i < 5 && bits >> i & 1;
			for (size_t k = 0; take[i] && k < h->v[i].nedits; k++) {
				added += h->edits[h->v[i].first + k].new_n;
				removed += h->edits[h->v[i].first + k].old_n;
			}
		}
		ab_hunks_apply(h, take, &got);
		for (size_t i = 0; i < got.len; i++)
			lines += got.data[i] == '\n';
		fine &= lines == h->old.n - removed + added;
		fine &= bits != 0 || is_text(&got, old, old_len);
	}
	{
		ab_autobuf struct ab_buf all = { 0 };

		ab_hunks_apply(h, NULL, &all);
		fine &= is_text(&all, fresh, new_len);
	}
	return fine;
}

static bool is_valid(const struct ab_hunks *h)
{
	size_t at = 0, to = 0, first = 0;

	for (size_t i = 0; i < h->nedits; i++) {
		const struct ab_edit *e = &h->edits[i];

		/* Unchanged lines before it, except for the first one. */
		if (e->old_at - at != e->new_at - to || (i && e->old_at == at) ||
		    (!e->old_n && !e->new_n))
			return false;
		at = e->old_at + e->old_n;
		to = e->new_at + e->new_n;
	}
	for (size_t i = 0; i < h->len; i++) {
		if (h->v[i].first != first || !h->v[i].nedits)
			return false;
		first += h->v[i].nedits;
	}
	return h->old.n - at == h->fresh.n - to && first == h->nedits;
}

static void test_random(void)
{
	unsigned int seed = 1;
	size_t wrong = 0, long_ones = 0;

	for (int i = 0; i < 6000; i++) {
		char a[128], b[128];
		unsigned int letters = 1 + (unsigned int)i % 12;
		size_t n = make_text(a, 60, letters, &seed), m = make_text(b, 60, letters, &seed);
		ab_autohunks struct ab_hunks h = { 0 };

		ab_hunks_find(a, 2 * n, b, 2 * m, &h);
		wrong += !is_valid(&h) || !applies(&h, a, 2 * n, b, 2 * m) || h.coarse;
		long_ones += h.added + h.removed != n + m - 2 * count_common(a, n, b, m);
	}
	ok(wrong == 0, "hunks of random texts can be applied in any selection");
	ok(long_ones == 0, "and no shorter ones exist");
}

/* Bytes of all kinds, and texts that end where memory ends. */
static void test_bytes(void)
{
	unsigned int seed = 7;
	size_t wrong = 0;

	for (int i = 0; i < 3000; i++) {
		char a[200], b[200];
		size_t n = (size_t)rand_r(&seed) % sizeof(a), m = (size_t)rand_r(&seed) % sizeof(b);
		ab_autohunks struct ab_hunks h = { 0 };
		ab_autobuf struct ab_buf all = { 0 };

		for (size_t k = 0; k < n; k++)
			a[k] = "\n\n\r\0x\xff"[rand_r(&seed) % 6];
		memcpy(b, a, m < n ? m : n);
		for (size_t k = m < n ? m * 3 / 4 : n * 3 / 4; k < m; k++)
			b[k] = "\n\n\r\0y\xfe"[rand_r(&seed) % 6];
		ab_hunks_find(a, n, guarded(b, m), m, &h);
		ab_hunks_apply(&h, NULL, &all);
		wrong += !is_valid(&h) || !is_text(&all, b, m);
	}
	ok(wrong == 0, "any bytes can be compared");
}

/* n lines with numbers that have nothing to do with each other. */
static char *make_numbers(size_t n, unsigned int seed, size_t *ret_len)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < n; i++)
		ab_buf_printf(&b, "%d\n", rand_r(&seed));
	*ret_len = b.len;
	return ab_buf_take(&b);
}

static void test_large(void)
{
	static const struct {
		const char *name;
		size_t n;
		unsigned int letters; /* 0: all lines differ */
		bool coarse;
	} large[] = {
		{ "two texts with nothing in common", 30000, 0, false },
		{ "two long texts of few different lines", 100000, 2, true },
		{ "too many lines", 300000, 0, true },
	};

	for (size_t i = 0; i < AB_COUNT(large); i++) {
		size_t n, m;
		ab_autofree char *a = make_numbers(large[i].n, 1, &n);
		ab_autofree char *b = make_numbers(large[i].n, 2, &m);
		ab_autohunks struct ab_hunks h = { 0 };
		ab_autobuf struct ab_buf all = { 0 };
		unsigned int seed = 5;

		for (size_t k = 0; large[i].letters && k < 2 * large[i].n; k++) {
			a[k] = k % 2 ? '\n' : (char)('a' + rand_r(&seed) % 2);
			b[k] = k % 2 ? '\n' : (char)('a' + rand_r(&seed) % 2);
		}
		if (large[i].letters)
			n = m = 2 * large[i].n;
		ab_hunks_find(a, n < AB_TEXT_MAX ? n : AB_TEXT_MAX, b,
			      m < AB_TEXT_MAX ? m : AB_TEXT_MAX, &h);
		ab_hunks_apply(&h, NULL, &all);
		ok(is_valid(&h) && is_text(&all, b, m < AB_TEXT_MAX ? m : AB_TEXT_MAX),
		   "%s: all hunks give the new one", large[i].name);
		ok(h.coarse == large[i].coarse, "%s: %s", large[i].name,
		   large[i].coarse ? "is compared coarsely, and says so" : "is compared");
	}
}

/* Small changes in a long text stay small. */
static void test_long_line(void)
{
	size_t n;
	ab_autofree char *a = make_numbers(150000, 3, &n), *b = ab_strndup(a, n);
	ab_autohunks struct ab_hunks h = { 0 };
	char *at = strchr(b + n / 2, '\n');

	at[1] = 'x';
	ab_hunks_find(a, n, b, n, &h);
	ok(h.len == 1 && h.added == 1 && h.removed == 1 && !h.coarse,
	   "one changed line of 150,000 is one change");
	for (char *p = a; *p; p++)
		*p = *p == '\n' ? ' ' : *p;
	ab_hunks_fini(&h);
	ab_hunks_find(a, n, a, n - 1, &h);
	ok(h.len == 1 && h.added == 1 && h.removed == 1, "a line of a megabyte");
}

int main(void)
{
	test_cases();
	test_random();
	test_bytes();
	test_large();
	test_long_line();
	ok(ab_is_binary("a\0b", 3) && !ab_is_binary("a\nb\xff", 4) && !ab_is_binary("", 0),
	   "a NUL byte makes a file binary");
	return done();
}
