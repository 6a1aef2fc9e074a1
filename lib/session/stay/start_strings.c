#include "session/stay/start_strings.h"

static void add_string(struct ab_buf *b, const char *s)
{
	ab_buf_add(b, s, strlen(s) + 1);
}

void ab_start_strings_write(const struct ab_start_strings *s, struct ab_buf *ret)
{
	add_string(ret, s->cwd);
	for (size_t i = 0; i < s->argv.len; i++)
		add_string(ret, s->argv.v[i]);
	if (s->script)
		add_string(ret, s->script);
	for (size_t i = 0; i < s->env.len; i++)
		add_string(ret, s->env.v[i]);
}

/* The next string, or NULL. */
static const char *take_string(const char **at, const char *end)
{
	const char *from = *at, *nul = from < end ? memchr(from, 0, (size_t)(end - from)) : NULL;

	if (nul)
		*at = nul + 1;
	return nul ? from : NULL;
}

static bool take_strings(const char **at, const char *end, size_t n, struct ab_strv *ret)
{
	for (size_t i = 0; i < n; i++) {
		const char *s = take_string(at, end);

		if (!s)
			return false;
		ab_strv_add(ret, s);
	}
	return true;
}

int ab_start_strings_read(const char *data, size_t len, size_t argc, bool script, size_t nenv,
			  struct ab_start_strings *ret, struct ab_error *err)
{
	struct ab_start_strings s = { 0 };
	const char *at = data, *end = data + len, *text = NULL, *cwd = take_string(&at, end);

	if (cwd && cwd[0] == '/' && argc > 0 && take_strings(&at, end, argc, &s.argv) &&
	    (!script || (text = take_string(&at, end)) != NULL) &&
	    take_strings(&at, end, nenv, &s.env) && at == end) {
		s.cwd = ab_strdup(cwd);
		s.script = text ? ab_strdup(text) : NULL;
		*ret = s;
		return 0;
	}
	ab_start_strings_fini(&s);
	return ab_fail(err, AB_EUSAGE, 0, "the request's strings are damaged");
}

void ab_start_strings_fini(struct ab_start_strings *s)
{
	ab_free_all(s->cwd, s->script);
	ab_strv_fini_all(&s->argv, &s->env);
	*s = (struct ab_start_strings){ 0 };
}
