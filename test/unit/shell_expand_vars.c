#include "shell/expand/vars.h"

#include "base/data/arena.h"
#include "tap.h"

static struct ab_arena arena;

static struct ab_text text(const char *s)
{
	return (struct ab_text){ s, (uint32_t)strlen(s) };
}

static void set(struct ab_vars *vars, const char *name, const char *value)
{
	struct ab_var v = { .text = text(value) };

	ab_vars_set(vars, text(name), &v);
}

/* "a|b|?": the values in their order; "-": nothing is known. */
static const char *values(const struct ab_vars *vars, const char *name)
{
	static char out[4096];
	size_t len = 0;
	const struct ab_var *v = ab_vars_get(vars, text(name));

	if (!v)
		return "-";
	for (; v; v = v->next)
		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%.*s", len ? "|" : "",
					v->unknown ? 1 : (int)v->text.len,
					v->unknown ? "?" : v->text.s);
	return out;
}

static void test_plain(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, "/home/me", "/work");

	is_str(values(vars, "HOME"), "/home/me", "HOME is known");
	is_str(values(vars, "PWD"), "/work", "PWD is known");
	is_str(values(vars, "IFS"), " \t\n", "IFS is the shell's own");
	is_str(values(vars, "x"), "-", "another is not known");
	set(vars, "x", "1");
	set(vars, "xy", "2");
	is_str(values(vars, "x"), "1", "set");
	set(vars, "x", "3");
	is_str(values(vars, "x"), "3", "set again");
	ab_vars_set(vars, text("x"), NULL);
	is_str(values(vars, "x"), "-", "not known from here on");
	is_str(values(vars, "xy"), "2", "its neighbour is");
	vars = ab_vars_new(&arena, NULL, "/");
	is_str(values(vars, "HOME"), "-", "no home");
}

static void test_branches(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	size_t outer, inner;

	set(vars, "x", "1");
	outer = ab_vars_mark(vars);
	set(vars, "x", "2");
	set(vars, "y", "3");
	is_str(values(vars, "x"), "2", "in the branch it is this");
	ab_vars_merge(vars, outer);
	is_str(values(vars, "x"), "1|2", "after it either");
	is_str(values(vars, "y"), "?|3", "set only there: or not known");

	outer = ab_vars_mark(vars);
	set(vars, "x", "4");
	inner = ab_vars_mark(vars);
	set(vars, "x", "5");
	set(vars, "z", "6");
	ab_vars_undo(vars, inner);
	is_str(values(vars, "x"), "4", "what a subshell sets is gone");
	is_str(values(vars, "z"), "-", "a new name as well");
	inner = ab_vars_mark(vars);
	set(vars, "x", "7");
	set(vars, "z", "8");
	ab_vars_merge(vars, inner);
	ab_vars_undo(vars, outer);
	is_str(values(vars, "x"), "1|2", "undone around a merged one");
	is_str(values(vars, "z"), "-", "the inner one's name as well");
}

static void test_values(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	static char digits[64][8];
	size_t mark, n = 0;

	set(vars, "x", "same");
	mark = ab_vars_mark(vars);
	set(vars, "x", "same");
	ab_vars_merge(vars, mark);
	is_str(values(vars, "x"), "same", "the same value is one");
	for (int i = 0; i < 64; i++) {
		snprintf(digits[i], sizeof(digits[i]), "%d", i);
		mark = ab_vars_mark(vars);
		set(vars, "x", digits[i]);
		ab_vars_merge(vars, mark);
	}
	for (const struct ab_var *v = ab_vars_get(vars, text("x")); v; v = v->next) {
		n++;
		if (!v->next)
			ok(v->unknown, "the last stands for the rest");
	}
	ok(n == AB_VALUES_MAX + 1, "a bounded number is kept: %zu", n);
}

static void test_names(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	size_t mark = ab_vars_mark(vars), known = 0;
	static char names[2 * AB_VARS_MAX][16];

	for (int i = 0; i < 2 * AB_VARS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "name%d", i);
		set(vars, names[i], names[i]);
	}
	for (int i = 0; i < 2 * AB_VARS_MAX; i++)
		known += strcmp(values(vars, names[i]), names[i]) == 0;
	ok(known == AB_VARS_MAX - 3, "as many names as there is room for: %zu", known);
	ab_vars_undo(vars, mark);
	known = 0;
	for (int i = 0; i < 2 * AB_VARS_MAX; i++)
		known += strcmp(values(vars, names[i]), "-") != 0;
	ok(known == 0, "all undone, though the table grew meanwhile");
}

/* A megabyte of branches that set the same names, one in the other. */
static void test_nested(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	size_t marks[200];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 200; i++) {
			marks[i] = ab_vars_mark(vars);
			for (int j = 0; j < 20; j++)
				set(vars, j & 1 ? "x" : "y", j & 2 ? "a" : "b");
		}
		for (int i = 200; i > 0; i--)
			ab_vars_merge(vars, marks[i - 1]);
	}
	is_str(values(vars, "x"), "?|a", "what is left of it");
}

static void test_spending(void)
{
	struct ab_vars *vars = ab_vars_new(&arena, NULL, "/");
	size_t spent = 0;

	while (ab_vars_spend(vars, 1 << 16))
		spent += 1 << 16;
	ok(spent >= 1 << 20, "much may be made of variables: %zu", spent);
	ok(!ab_vars_spend(vars, 1), "then no more");
}

int main(void)
{
	test_plain();
	test_branches();
	test_values();
	test_names();
	test_nested();
	test_spending();
	ab_arena_fini(&arena);
	return done();
}
