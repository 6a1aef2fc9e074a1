#include "base/text/toml.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

static struct ab_buf seen;

static void note(void *arg, const struct ab_toml_value *v)
{
	(void)arg;
	for (size_t i = 0; i < v->nkeys; i++)
		ab_buf_printf(&seen, "%s%s", i ? "." : "", v->keys[i]);
	ab_buf_printf(&seen, "%s%c%s@%u/%u ", v->element ? "[]" : "", v->kind, v->text, v->line,
		      v->table);
}

static const char *scan(const char *text)
{
	unsigned line = 0;
	int r;

	ab_buf_fini(&seen);
	ab_buf_puts(&seen, " ");
	r = ab_toml_scan(guarded(text, strlen(text)), strlen(text), note, NULL, &line);
	if (r < 0)
		ab_buf_printf(&seen, "line %u", line);
	return seen.data + 1;
}

static const struct {
	const char *text, *seen;
} cases[] = {
	{ "", "" },
	{ "a = 1\nb=\"x\" # c\nc = 'y\\n'\n", "a01@1/0 b\"x@2/0 c\"y\\n@3/0 " },
	{ "[t]\na.b = true\n[t.\"u.v\"]\nc = false\r\n", "t.a.bttrue@2/0 t.u.v.cffalse@4/0 " },
	{ "x = [ \"a\", # no\n \"b\",\n]\n", "x[]\"a@1/0 x[]\"b@2/0 " },
	{ "x = { a = 1, b = { c = 'd' } }\n", "x.a01@1/0 x.b.c\"d@1/0 " },
	{ "[[i]]\nu = 1\n[[i]]\nu = 2\n", "i.u01@2/1 i.u02@4/2 " },
	{ "s = \"\"\"\na\\\n   b\"\"\"\"\nt=1", "s\"ab\"@1/0 t01@4/0 " },
	{ "s = '''a\nb'''\n", "s\"a\nb@1/0 " },
	{ "s = \"\\u00e4\\t\\\"\"", "s\"\xc3\xa4\t\"@1/0 " },
	{ "d = 1979-05-27T07:32:00Z\nf = -1.5e3\n", "d01979-05-27T07:32:00Z@1/0 f0-1.5e3@2/0 " },
	{ "a = 1\nb = \n", "a01@1/0 line 2" },
	{ "a\n", "line 1" },
	{ "a = \"x\nb = 1\n", "line 1" },
	{ "a = 1 b = 2\n", "a01@1/0 line 1" },
	{ "[a\n", "line 1" },
	{ "a = [1, 2\n", "a[]01@1/0 a[]02@1/0 line 2" },
	{ "a = \"\\q\"", "line 1" },
	{ "a = \"\\ud800\"", "line 1" },
	{ "a = [[[[[[[[[[1]]]]]]]]]]", "line 1" },
	{ "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1", "line 1" },
	{ "a = nonsense!\n", "a0nonsense@1/0 line 1" },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);

		is_str(scan(cases[i].text), cases[i].seen, cases[i].text);
		/* Cut at every byte: it must end, and inside the text. */
		for (size_t n = 0; n < len; n++) {
			unsigned line;

			ab_buf_fini(&seen);
			ab_toml_scan(guarded(cases[i].text, n), n, note, NULL, &line);
		}
	}
	ab_buf_fini(&seen);
	return done();
}
