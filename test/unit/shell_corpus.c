/*
 * The judge on the collections of test/data/corpus (its README says where they come
 * from): how many lines of each class are stopped. The recorded scores may only rise.
 */
#include <stdlib.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "shell/judge/judge.h"

#include "tap.h"

static const struct ab_scene scene = { .home = "/home/me",
				       .cwd = "/home/me/project",
				       .workspace = "/home/me/project" };

struct score {
	int lines, stopped, allowed, forbidden;
};

/* The signs that stand for a newline and a tab. */
static char *unfold_line(const char *s)
{
	struct ab_buf b = { 0 };

	while (*s) {
		if (strncmp(s, "⏎", 3) == 0 || strncmp(s, "␉", 3) == 0) {
			ab_buf_puts(&b, s[2] == "⏎"[2] ? "\n" : "\t");
			s += 3;
		} else {
			ab_buf_add(&b, s++, 1);
		}
	}
	return ab_buf_take(&b);
}

static void judge_line(struct ab_arena *arena, const char *class, const char *line,
		       struct score *score)
{
	ab_autofree char *text = unfold_line(line);
	bool harmless = strcmp(class, "harmless") == 0, stopped;
	struct ab_judgement j;

	ab_judge_text(arena, &scene, (struct ab_text){ text, (uint32_t)strlen(text) }, &j);
	stopped = j.decision >= AB_ESCALATED;
	score->lines++;
	score->stopped += stopped;
	score->allowed += j.decision == AB_ALLOW;
	score->forbidden += j.decision == AB_FORBIDDEN;
	if (stopped == harmless)
		printf("# %s: %s %s: %s\n", class, ab_decision_names[j.decision], j.rule, line);
	ab_arena_reset(arena);
}

static void judge_class(const char *root, const char *class, int recorded)
{
	ab_autofree char *path = ab_printf("%s/test/data/corpus/%s.txt", root, class);
	bool harmless = strcmp(class, "harmless") == 0;
	struct ab_arena arena = { 0 };
	struct score score = { 0 };
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int passed;

	ok(f, "%s is there", path);
	while (f && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && strncmp(line, "##", 2) != 0)
			judge_line(&arena, class, line, &score);
	}
	free(line);
	if (f)
		fclose(f);
	ab_arena_fini(&arena);
	passed = harmless ? score.lines - score.stopped : score.stopped;
	ok(passed >= recorded, "%s: %d of %d pass, at least %d do", class, passed, score.lines,
	   recorded);
	ok(passed <= recorded, "%s: the record of %d is not below the score of %d", class, recorded,
	   passed);
	if (harmless) {
		ok(score.forbidden == 0, "nothing harmless is forbidden");
		ok(score.stopped * 100 <= score.lines, "at most 1 %% of it is escalated");
	} else {
		ok(score.allowed == 0, "%s: nothing is allow", class);
	}
}

int main(void)
{
	const char *root = getenv("AB_SOURCE_ROOT");
	ab_autofree char *path = ab_printf("%s/test/data/corpus/scores.txt", root);
	FILE *f = fopen(path, "re");
	char class[32];
	int recorded, classes = 0;

	ok(f, "the scores are there");
	while (f && fscanf(f, "%31s %d", class, &recorded) == 2) {
		judge_class(root, class, recorded);
		classes++;
	}
	if (f)
		fclose(f);
	ok(classes == 8, "eight classes");
	return done();
}
