#include "steer/client/table.h"

#include "tap.h"

static const char *const titles[] = { "A", "?B", ">COUNT", "REST" };

static void add_row(struct ab_table *t, const char *a, const char *b, int n, const char *rest)
{
	ab_table_cell(t, a);
	ab_table_cell(t, b);
	ab_table_cellf(t, "%d", n);
	ab_table_cell(t, rest);
}

static void test_columns(void)
{
	struct ab_table t = AB_TABLE(titles);
	ab_autofree char *text = NULL, *full = NULL, *empty = ab_table_text(&t, 0);

	is_str(empty, "A  COUNT  REST\n", "without rows there are the titles");
	add_row(&t, "long", NULL, 7, "x");
	add_row(&t, "b", "", 12345678, "");
	text = ab_table_text(&t, 0);
	is_str(text,
	       "A        COUNT  REST\n"
	       "long         7  x\n"
	       "b     12345678  -\n",
	       "columns are aligned, and one without values is left out");
	add_row(&t, "a", "is", 1, "x");
	full = ab_table_text(&t, 0);
	is_str(full, "A  B   COUNT  REST\na  is      1  x\n", "with one value it is there");
}

static void test_lines(void)
{
	struct ab_table t = AB_TABLE(titles);
	ab_autofree char *text = NULL;

	add_row(&t, "a", NULL, 1, "a\033b");
	ab_table_below(&t, "  first\n");
	ab_table_below(&t, "  second, which is long");
	add_row(&t, "b", NULL, 2, "x");
	text = ab_table_text(&t, 16);
	is_str(text,
	       "A  COUNT  REST\n"
	       "a      1  a\\x1bb\n"
	       "  first\\x0a\n"
	       "  second, whi...\n"
	       "b      2  x\n",
	       "lines follow their row, are escaped, and are cut");
}

static void test_ages(void)
{
	char age[AB_TABLE_AGE];

	is_str(ab_table_age_text(-5, age), "0s", "nothing is younger than now");
	is_str(ab_table_age_text(59999, age), "59s", "seconds");
	is_str(ab_table_age_text(3600000, age), "1h", "hours");
	is_str(ab_table_age_text(INT64_C(86400000) * 400, age), "400d", "days");
}

int main(void)
{
	test_columns();
	test_lines();
	test_ages();
	return done();
}
