#include "base/text/guess.h"

static unsigned get_min(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Count the edits (insert, delete, replace, swap neighbors) from a to b; anything
 * longer than every key counts as far away. */
static unsigned count_edits(const char *a, const char *b)
{
	enum { MAX = 48 };
	unsigned d[3][MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > MAX || m > MAX)
		return MAX;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = d[i % 3], *up = d[(i + 2) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned other = ab_lower(a[i - 1]) != ab_lower(b[j - 1]);

			row[j] = get_min(up[j - 1] + other, get_min(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && ab_lower(a[i - 1]) == ab_lower(b[j - 2]) &&
			    ab_lower(a[i - 2]) == ab_lower(b[j - 1]))
				row[j] = get_min(row[j], d[(i + 1) % 3][j - 2] + 1);
		}
	}
	return d[n % 3][m];
}

const char *ab_guess(const char *s, const char *const *words, size_t n)
{
	unsigned best = get_min(3, (unsigned)(strlen(s) + 2) / 3 + 1);
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = count_edits(s, words[i]);

		if (d < best) {
			best = d;
			found = words[i];
		}
	}
	return found;
}
