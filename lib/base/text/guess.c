#include "base/text/guess.h"

#include <string.h>

#include "base/text/ascii.h"

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap neighbours) from a to b; what is
 * longer than any key counts as far away. */
static unsigned distance(const char *a, const char *b)
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

			row[j] = least(up[j - 1] + other, least(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && ab_lower(a[i - 1]) == ab_lower(b[j - 2]) &&
			    ab_lower(a[i - 2]) == ab_lower(b[j - 1]))
				row[j] = least(row[j], d[(i + 1) % 3][j - 2] + 1);
		}
	}
	return d[n % 3][m];
}

const char *ab_guess(const char *s, const char *const *words, size_t n)
{
	unsigned best = least(3, (unsigned)(strlen(s) + 2) / 3 + 1);
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned d = distance(s, words[i]);

		if (d < best) {
			best = d;
			found = words[i];
		}
	}
	return found;
}
