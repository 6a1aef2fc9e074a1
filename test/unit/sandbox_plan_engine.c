/* The table of engines: best first, and honest about what each lacks. */
#include "sandbox/plan/engine.h"

#include <string.h>

#include "policy/model/keys.h"
#include "tap.h"

static void check_table(void)
{
	ok(ab_box_engines[0].lacks == 0 && !ab_box_engines[0].better[0],
	   "the best engine lacks nothing, and nothing is better");
	for (int i = 0; i < AB_ENGINE_COUNT; i++) {
		const struct ab_box_engine_traits *e = &ab_box_engines[i];

		ok(ab_box_engine_find(e->name) == (enum ab_box_engine)i, "%s is found", e->name);
		is_str(ab_box_engine_word((enum ab_box_engine)i), e->name, "by its name");
		ok(!e->lacks == !e->without[0], "what it lacks is said");
		ok(!e->lacks == !e->better[0], "and what would give it");
		ok(i == 0 ||
			   (e->lacks & ab_box_engines[i - 1].lacks) == ab_box_engines[i - 1].lacks,
		   "a weaker one lacks no less");
		/* Without a new /proc the view of processes cannot be claimed. */
		ok(e->new_proc || (e->lacks & AB_PROP_BIT(AB_PROP_PID_VIEW)),
		   "a shared /proc shows processes outside");
	}
}

static void check_words(void)
{
	const struct ab_key *key = &ab_keys[AB_KEY_ENGINE];

	is_str(ab_box_engine_word(AB_ENGINE_AUTO), "auto", "auto is no engine");
	ok(ab_box_engine_find("auto") == AB_ENGINE_AUTO, "nor is it found as one");
	ok(ab_box_engine_find("") == AB_ENGINE_AUTO, "nor is anything else");
	ok(key->nwords == AB_ENGINE_COUNT + 1, "the setting knows every engine and auto");
	for (size_t i = 0; i < key->nwords; i++)
		is_str(ab_box_engine_word((enum ab_box_engine)key->words[i].number),
		       key->words[i].name, "under its name");
	is_str(key->words[0].name, "full", "a project can only ask for the strictest");
}

static void check_remedies(void)
{
	for (int i = 1; i < AB_NEED_COUNT; i++) {
		const struct ab_container_remedy *r = &ab_container_remedies[i];

		ok(r->does[0] && r->docker[0] && r->podman[0] && r->kubernetes[0],
		   "need %d has words for each runtime", i);
	}
}

int main(void)
{
	check_table();
	check_words();
	check_remedies();
	return done();
}
