/* Arrays that grow by one, and tables that are looked up by a text. */
#include "base/data/mem.h"

#include "tap.h"

static void test_append(void)
{
	size_t *v = NULL, len = 0, right = 0;

	for (size_t i = 0; i < 1000; i++)
		*ab_append(v, len) = i;
	for (size_t i = 0; i < len; i++)
		right += v[i] == i;
	ok(len == 1000 && right == 1000, "a thousand elements stay as they are");
	/* Its room follows from the length, also when that became smaller. */
	for (len = 3; len < 600;)
		*ab_append(v, len) = len * 2;
	right = 0;
	for (size_t i = 3; i < len; i++)
		right += v[i] == (i + 1) * 2 || v[i] == i * 2;
	ok(v[2] == 2 && right == 597, "after a part was removed, too");
	free(v);
}

static void note(char *text)
{
	*strchr(text, '-') = '+';
}

static void test_each(void)
{
	char text[] = "---", *none = NULL, *copy = ab_strdup("x");

	ab_each(char *, note, text, text);
	ok(strcmp(text, "++-") == 0, "each argument gets its call");
	/* The sanitizers would tell what is not freed. */
	ab_free_all(none, copy, ab_strdup("y"));
}

static void test_rows(void)
{
	static const struct {
		const char *name;
		int number;
	} rows[] = { { "a", 1 }, { "b", 2 }, { "a", 3 } };
	static const char words[][4] = { "one", "two" };

	ok(ab_find_row(rows, AB_COUNT(rows), name, "b") == &rows[1], "a row by its name");
	ok(ab_find_row(rows, AB_COUNT(rows), name, "a")->number == 1, "the first one");
	ok(!ab_find_row(rows, AB_COUNT(rows), name, "c"), "or none");
	ok(!ab_find_row(rows, 0, name, "a"), "none in an empty table");
	ok(ab_has_word(words, AB_COUNT(words), "two") && !ab_has_word(words, 1, "two") &&
		   !ab_has_word(words, AB_COUNT(words), ""),
	   "words");
}

int main(void)
{
	test_append();
	test_each();
	test_rows();
	ab_free_wiped(NULL);
	ab_free_wiped(ab_strdup("secret"));
	return done();
}
