#include "base/data/strv.h"

#include <stdio.h>

#include "base/data/mem.h"
#include "tap.h"

static void test_list(void)
{
	ab_autostrv struct ab_strv sv = { 0 };
	char name[16];
	bool whole = true;

	ok(sv.v == NULL && !ab_strv_has(&sv, ""), "zero is empty");
	ab_strv_fini(&sv);
	ok(sv.len == 0, "an empty list can be ended");

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ab_strv_add(&sv, name);
		whole = whole && sv.v[sv.len] == NULL;
	}
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		whole = whole && strcmp(sv.v[i], name) == 0;
	}
	ok(sv.len == 100 && whole, "a hundred copies, always NULL behind");
	ok(ab_strv_has(&sv, "n99"), "has finds the last");
	ok(!ab_strv_has(&sv, "n100") && !ab_strv_has(&sv, "n"), "has finds whole strings only");
}

static void test_remove(void)
{
	ab_autostrv struct ab_strv sv = { 0 };

	ab_strv_add(&sv, "a");
	ab_strv_addf(&sv, "%s%d", "b", 2);
	ab_strv_give(&sv, ab_strdup("c"));
	ab_strv_remove(&sv, 1);
	ok(sv.len == 2 && sv.v[2] == NULL, "one less, NULL behind");
	is_str(sv.v[0], "a", "the one before stays");
	is_str(sv.v[1], "c", "the one behind moves up");
	ab_strv_remove(&sv, 1);
	ab_strv_remove(&sv, 0);
	ok(sv.len == 0 && sv.v[0] == NULL, "all can go");

	/* Growth is decided by the length alone, so shrinking and growing
	 * again must not lose room. The sanitizer build sees it if it does. */
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < round; i++)
			ab_strv_add(&sv, "x");
		for (int i = 0; i < round / 2; i++)
			ab_strv_remove(&sv, 0);
	}
	ok(sv.len == 100 && sv.v[100] == NULL, "grows again after shrinking");
}

static void test_extend_and_sort(void)
{
	ab_autostrv struct ab_strv a = { 0 }, b = { 0 };

	ab_strv_sort(&a);
	ok(a.len == 0, "an empty list can be sorted");
	ab_strv_add(&a, "b");
	ab_strv_add(&b, "a");
	ab_strv_add(&b, "B");
	ab_strv_extend(&a, &b);
	ab_strv_sort(&a);
	ok(a.len == 3 && b.len == 2, "extend copies");
	ok(strcmp(a.v[0], "B") == 0 && strcmp(a.v[1], "a") == 0 && strcmp(a.v[2], "b") == 0,
	   "sorted by bytes, whatever the locale");
}

static void test_env(void)
{
	ab_autostrv struct ab_strv env = { 0 };

	ok(ab_env_get(&env, "A") == NULL, "nothing in an empty environment");
	ab_env_set(&env, "PATHS", "1");
	ab_env_set(&env, "PATH", "/bin");
	ab_env_set(&env, "EMPTY", "");
	is_str(ab_env_get(&env, "PATH"), "/bin", "a longer name is another name");
	is_str(ab_env_get(&env, "EMPTY"), "", "empty is not unset");
	ok(ab_env_get(&env, "PAT") == NULL, "a shorter name is another name");
	ab_env_set(&env, "PATH", "/a=b");
	is_str(ab_env_get(&env, "PATH"), "/a=b", "set replaces");
	ok(env.len == 3, "and adds nothing then");
}

int main(void)
{
	test_list();
	test_remove();
	test_extend_and_sort();
	test_env();
	return done();
}
