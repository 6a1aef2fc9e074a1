#include "shell/command/command_options.h"

#include "base/data/mem.h"
#include "shell_inner.h"
#include "tap.h"

/* Letters as "-x", long ones as "--name", values after "=", operands as they
 * are. */
static const struct {
	const char *values, *longs;
	bool first;
	const char *line, *want;
} cases[] = {
	{ NULL, NULL, false, "x", "" },
	{ NULL, NULL, false, "x -ab c", "-a -b c" },
	{ "f", NULL, false, "x -vf file c", "-v -f=file c" },
	{ "f", NULL, false, "x -vffile c", "-v -f=file c" },
	{ "f", NULL, false, "x -f", "-f" },
	{ "f", NULL, false, "x a -f b c", "a -f=b c" },
	{ "f", NULL, true, "x a -f b c", "a -f b c" },
	{ "f", NULL, false, "x -- -f b", "-f b" },
	{ "f", NULL, false, "x -f -- b", "-f=-- b" },
	{ NULL, NULL, false, "x - a", "- a" },
	{ NULL, "file= force", false, "x --file a b", "--file=a b" },
	{ NULL, "file= force", false, "x --file=a b", "--file=a b" },
	{ NULL, "file= force", false, "x --fi a b", "--file=a b" },
	{ NULL, "file= force", false, "x --fo a", "--force a" },
	{ NULL, "file= files", false, "x --file a", "--file=a" },
	{ NULL, "files= file", false, "x --file a", "--file a" },
	{ NULL, "file=", false, "x --other a", "--other a" },
	{ NULL, NULL, false, "x --a=b", "--a=b" },
	{ NULL, "file=", false, "x --file= b", "--file= b" },
	{ "f", NULL, false, "x ^ -f a", "^ -f=a" },
	{ "f", NULL, false, "x -f^ a", "-f=^ a" },
	{ NULL, "file=", false, "x --file=^ a", "--file=^ a" },
};

static char *walk(const struct ab_opts *opts, const struct ab_simple *command)
{
	struct ab_opt_walk w;
	struct ab_buf b = { 0 };
	enum ab_opt what;

	ab_opt_begin(&w, opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (b.len > 0)
			ab_buf_puts(&b, " ");
		if (what == AB_OPT_LETTER)
			ab_buf_printf(&b, "-%c", w.letter);
		if (what == AB_OPT_LONG) {
			ab_buf_puts(&b, "--");
			show(&b, w.name);
		}
		if (what != AB_OPT_OPERAND && w.value.text.s)
			ab_buf_puts(&b, "=");
		show(&b, w.value.text);
	}
	return ab_buf_take(&b);
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_opts opts = { cases[i].values, cases[i].longs, cases[i].first };
		struct ab_arena arena = { 0 };
		ab_autofree char *got = NULL;
		struct ab_simple command;

		split(&arena, cases[i].line, &command);
		got = walk(&opts, &command);
		is_str(got, cases[i].want, cases[i].line);
		ab_arena_fini(&arena);
	}
	return done();
}
