#include "base/text/text_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(void *arg, char sign, const char *line, size_t len)
{
	size_t *n = arg;

	/* A newline ends a line and is nowhere else in it. */
	if (len == 0 || (memchr(line, '\n', len) && memchr(line, '\n', len) != line + len - 1))
		abort();
	n[0] += sign != '+';
	n[1] += sign != '-';
}

/* Two texts, separated by the first 0x01: all hunks give the new one, none the old one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *old = (const char *)data, *cut = memchr(data, 1, size);
	size_t old_len = cut ? (size_t)(cut - old) : size;
	const char *fresh = cut ? cut + 1 : old;
	size_t new_len = cut ? size - old_len - 1 : size;
	struct ab_buf all = { 0 }, none = { 0 };
	struct ab_hunks h;
	bool *take;

	if (old_len > AB_TEXT_MAX || new_len > AB_TEXT_MAX)
		return 0;
	ab_hunks_find(old, old_len, fresh, new_len, &h);
	take = calloc(h.len + 1, sizeof(take[0]));
	ab_hunks_apply(&h, NULL, &all);
	ab_hunks_apply(&h, take, &none);
	if (all.len != new_len || none.len != old_len ||
	    (new_len && memcmp(all.data, fresh, new_len) != 0) ||
	    (old_len && memcmp(none.data, old, old_len) != 0))
		abort();
	for (size_t i = 0; i < h.len; i++) {
		size_t n[2] = { 0 };

		ab_hunk_each(&h, &h.v[i], check_lines, n);
		if (n[0] != h.v[i].old_n || n[1] != h.v[i].new_n)
			abort();
	}
	free(take);
	ab_buf_fini(&all);
	ab_buf_fini(&none);
	ab_hunks_fini(&h);
	return 0;
}
