#include "workspace/git/gittodo.h"

#include <stdbool.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"

/* git takes a space, a tab or the line's end after the word, and skips space before it. */
static size_t skip_word(const char *line, size_t len)
{
	static const char *const words[] = { "exec", "x" };

	for (size_t i = 0; i < AB_COUNT(words); i++) {
		size_t n = strlen(words[i]);

		if (len > n && memcmp(line, words[i], n) == 0 && ab_is_blank(line[n]))
			return n;
	}
	return 0;
}

static void read_line(const char *line, size_t len, ab_gittodo_fn *fn, void *arg)
{
	ab_autofree char *command = NULL;
	size_t n;

	while (len > 0 && (ab_is_blank(line[0]) || line[0] == '\r'))
		line++, len--;
	n = skip_word(line, len);
	if (n == 0)
		return;
	while (n < len && ab_is_blank(line[n]))
		n++;
	command = ab_strndup(line + n, len - n);
	fn(arg, command);
}

void ab_gittodo_parse(const char *data, size_t len, ab_gittodo_fn *fn, void *arg)
{
	if (len > AB_GITTODO_MAX)
		len = AB_GITTODO_MAX;
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		read_line(data, n, fn, arg);
		n += end != NULL;
		data += n;
		len -= n;
	}
}
