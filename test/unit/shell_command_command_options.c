#include "shell/command/command_options.h"

#include "base/data/mem.h"
#include "shell_inner.h"
#include "tap.h"

/* Letters as "-x", long ones as "--name", values after "=", operands as they
 * are, with "?" where they may be the value of an unknown option. */
static const struct {
	const char *values, *longs;
	uint8_t ends;
	const char *line, *want;
	bool exact;
} cases[] = {
	{ "", "", 0, "x", "" },
	{ "", "", 0, "x -ab c", "-a -b c?" },
	{ "f", "", 0, "x -vf file c", "-v -f=file c" },
	{ "f", "", 0, "x -vffile c", "-v -f=file c" },
	{ "f", "", 0, "x -f", "-f" },
	{ "f", "", 0, "x a -f b c", "a -f=b c" },
	{ "f", "", 1, "x a -f b c", "a -f b c" },
	{ "f", "", 0, "x -- -f b", "-f b" },
	{ "f", "", 0, "x -f -- b", "-f=-- b" },
	{ "", "", 0, "x - a", "- a" },
	{ "", "file= force", 0, "x --file a b", "--file=a b" },
	{ "", "file= force", 0, "x --file=a b", "--file=a b" },
	{ "", "file= force", 0, "x --fi a b", "--file=a b" },
	{ "", "file= force", 0, "x --fo a", "--force a" },
	{ "", "file= files", 0, "x --file a", "--file=a" },
	{ "", "files= file", 0, "x --file a", "--file a" },
	{ "", "file=", 0, "x --other a", "--other a?" },
	{ "", "", 0, "x --a=b", "--a=b" },
	{ "", "file=", 0, "x --file= b", "--file= b" },
	{ "f", "", 0, "x ^ -f a", "^ -f=a" },
	{ "f", "", 0, "x -f^ a", "-f=^ a" },
	{ "", "file=", 0, "x --file=^ a", "--file=^ a" },
	{ "f", "", 2, "x a -f b c -f d", "a -f=b c -f d" },
	{ "f-v", "", 0, "x -v a -fv", "-v a -f=v" },
	{ "f-v", "", 0, "x -w a -vw b -- c", "-w a? -v -w b? c" },
	{ "f", "file= force", 0, "x --force a --other b --other=c d -f e g",
	  "--force a --other b? --other=c d -f=e g" },
	{ "", "file=", 0, "x --fil a b", "--fil a? b", true },
	{ "", "file=", 0, "x --file a b", "--file=a b", true },
};

static char *walk(const struct ab_grammar *opts, const struct ab_simple *command)
{
	struct ab_opt_walk w = ab_opt_begin(opts, command->argv, command->argc);
	struct ab_buf b = { 0 };

	while (ab_opt_next(&w)) {
		if (b.len > 0)
			ab_buf_puts(&b, " ");
		if (w.what == AB_OPT_LETTER)
			ab_buf_printf(&b, "-%c", w.letter);
		if (w.what == AB_OPT_LONG) {
			ab_buf_puts(&b, "--");
			show(&b, w.name);
		}
		if (w.what != AB_OPT_OPERAND && w.value.text.s)
			ab_buf_puts(&b, "=");
		show(&b, w.value.text);
		if (w.what == AB_OPT_OPERAND && w.maybe_value)
			ab_buf_puts(&b, "?");
	}
	return ab_buf_take(&b);
}

static void test_list(void)
{
	static const struct ab_grammar opts = { "o", "output= recursive", 0, false, 0 };
	struct ab_field argv[] = { { .text = { "x", 1 } },
				   { .text = { "-vR", 3 } },
				   { .text = { "--out", 5 } },
				   { .text = { "f", 1 } },
				   { .text = { "o", 1 } } };
	struct ab_opt_walk w = ab_opt_begin(&opts, argv, AB_COUNT(argv));

	ok(ab_opt_given(w, "r R recursive"), "a letter of the list is given");
	ok(ab_opt_given(w, "o output"), "an abbreviated name of the list is given");
	ok(!ab_opt_given(w, "f o recursive"), "neither a value nor an operand is an option");
	ok(ab_opt_next_operand(&w) && w.index == 4, "an operand after all options");
	ok(!ab_opt_next_operand(&w), "and no other");
}

int main(void)
{
	test_list();
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_grammar opts = { .ends = cases[i].ends, .exact = cases[i].exact };
		struct ab_arena arena = { 0 };
		ab_autofree char *got = NULL;
		struct ab_simple command;

		snprintf(opts.values, sizeof(opts.values), "%s", cases[i].values);
		snprintf(opts.longs, sizeof(opts.longs), "%s", cases[i].longs);
		split(&arena, cases[i].line, &command);
		got = walk(&opts, &command);
		is_str(got, cases[i].want, cases[i].line);
		ab_arena_fini(&arena);
	}
	return done();
}
