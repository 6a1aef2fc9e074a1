#include "workspace/git/rebase_todo.h"

/* Blanks of git's isspace(), without the line end. */
static bool is_blank(char c)
{
	return ab_is_blank(c) || c == '\r';
}

/* Does the line begin with this word? Then skip it. */
static bool skip_word(const char **p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - *p) < n || memcmp(*p, word, n) != 0)
		return false;
	/* git reads the line as a C string. */
	if (*p + n < end && !is_blank((*p)[n]) && (*p)[n] != '\0')
		return false;
	*p += n;
	return true;
}

static bool find_command(const char **p, const char **end)
{
	static const char *const words[] = { "exec", "x" };
	bool found = false;

	while (*p < *end && ab_is_blank(**p))
		(*p)++;
	for (size_t i = 0; i < AB_COUNT(words) && !found; i++)
		found = skip_word(p, *end, words[i]);
	while (*p < *end && is_blank(**p))
		(*p)++;
	while (*end > *p && is_blank((*end)[-1]))
		(*end)--;
	return found;
}

size_t ab_rebase_execs(const char *data, size_t len, ab_rebase_exec_fn *fn, void *arg)
{
	const char *p = data, *end = data + len;
	size_t n = 0;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *next = eol ? eol + 1 : end;

		if (!eol)
			eol = end;
		if (find_command(&p, &eol)) {
			n++;
			if (fn)
				fn(arg, p, (size_t)(eol - p));
		}
		p = next;
	}
	return n;
}
