/*
 * The judge on the collections of test/data/corpus (its README says where they come
 * from): how many lines of each class are stopped. The recorded scores may only rise.
 */
#include "command_lines.h"

#include "base/data/arena.h"

struct score {
	const char *kind;
	struct ab_arena arena;
	int lines, stopped, allowed, forbidden;
};

static void judge_line(void *arg, char *line, int number)
{
	struct score *score = arg;
	ab_autofree char *text = unfold_line(line);
	bool harmless = strcmp(score->kind, "harmless") == 0, stopped;
	struct ab_judgement j;

	(void)number;
	ab_judge_text(&score->arena, &scene, (struct ab_text){ text, (uint32_t)strlen(text) }, &j);
	stopped = j.decision >= AB_ESCALATED;
	score->lines++;
	score->stopped += stopped;
	score->allowed += j.decision == AB_ALLOW;
	score->forbidden += j.decision == AB_FORBIDDEN;
	if (stopped == harmless)
		printf("# %s: %s %s: %s\n", score->kind, ab_decision_names[j.decision], j.rule,
		       line);
	ab_arena_reset(&score->arena);
}

static void judge_class(const char *root, const char *kind, int recorded)
{
	ab_autofree char *path = ab_printf("%s/test/data/corpus/%s.txt", root, kind);
	bool harmless = strcmp(kind, "harmless") == 0;
	struct score score = { .kind = kind };
	int passed;

	each_command_line(path, judge_line, &score);
	ab_arena_fini(&score.arena);
	passed = harmless ? score.lines - score.stopped : score.stopped;
	ok(passed >= recorded, "%s: %d of %d pass, at least %d do", kind, passed, score.lines,
	   recorded);
	ok(passed <= recorded, "%s: the record of %d is not below the score of %d", kind, recorded,
	   passed);
	if (harmless) {
		ok(score.forbidden == 0, "nothing harmless is forbidden");
		ok(score.stopped * 100 <= score.lines, "at most 1 %% of it is escalated");
	} else {
		ok(score.allowed == 0, "%s: nothing is allow", kind);
	}
}

int main(void)
{
	const char *root = getenv("AB_SOURCE_ROOT");
	ab_autofree char *path = ab_printf("%s/test/data/corpus/scores.txt", root);
	FILE *f = fopen(path, "re");
	char kind[32];
	int recorded, classes = 0;

	ok(f, "the scores are there");
	while (f && fscanf(f, "%31s %d", kind, &recorded) == 2) {
		judge_class(root, kind, recorded);
		classes++;
	}
	if (f)
		fclose(f);
	ok(classes == 8, "eight classes");
	return done();
}
