/*
 * A matcher is asked only about commands that concern it, as the index of names and the signs
 * of the words show: asked about all others, on the collections of test/data/corpus, it finds
 * nothing more.
 */
#include "command_lines.h"

#include "base/data/arena.h"
#include "shell/walk/walk.h"

struct count {
	struct ab_arena arena;
	const char *line;
	int commands, hits, wrong;
};

static bool is_same(const struct ab_hits *a, const struct ab_hits *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (a->v[i].rule != b->v[i].rule || a->v[i].mild != b->v[i].mild ||
		    a->v[i].reason != b->v[i].reason)
			return false;
	return true;
}

static void compare_hits(void *arg, const struct ab_simple *command, bool hollow, void *place)
{
	struct count *count = arg;
	struct ab_simple all = *command;
	struct ab_hits some_hits = { 0 }, all_hits = { 0 };

	(void)hollow;
	(void)place;
	/* Every matcher is asked. */
	all.tables = all.signs = UINT32_MAX;
	ab_rules_match(command, &some_hits);
	ab_rules_match(&all, &all_hits);
	count->commands++;
	count->hits += all_hits.len > 0;
	if (is_same(&some_hits, &all_hits))
		return;
	count->wrong++;
	printf("# %.*s: %zu hits, without the index %zu, in: %s\n", (int)command->name.len,
	       command->name.s, some_hits.len, all_hits.len, count->line);
}

static void *reserve_nothing(void *arg)
{
	(void)arg;
	return NULL;
}

static void ignore_hit(void *arg, const struct ab_hit *hit)
{
	(void)arg;
	(void)hit;
}

static void compare_line(void *arg, char *line, int number)
{
	struct count *count = arg;
	const struct ab_walk_events events = { reserve_nothing, compare_hits, ignore_hit, count,
					       NULL };
	ab_autofree char *unfolded = unfold_line(line);
	struct ab_text text = { unfolded, (uint32_t)strlen(unfolded) };
	struct ab_script script;

	(void)number;
	count->line = line;
	ab_parse(&count->arena, text, &script);
	ab_walk_script(&count->arena, &scene, &events, text, &script);
	ab_arena_reset(&count->arena);
}

int main(void)
{
	static const char classes[][16] = {
		"bind-shell", "destructive", "download",      "file-read",
		"file-write", "harmless",    "reverse-shell", "upload",
	};
	struct count count = { 0 };

	for (size_t i = 0; i < AB_COUNT(classes); i++) {
		ab_autofree char *path = ab_printf("%s/test/data/corpus/%s.txt",
						   getenv("AB_SOURCE_ROOT"), classes[i]);

		each_command_line(path, compare_line, &count);
	}
	ab_arena_fini(&count.arena);
	ok(count.commands > 1000 && count.hits > 500, "%d commands, %d of them with hits",
	   count.commands, count.hits);
	ok(count.wrong == 0, "the same hits with and without the index");
	return done();
}
