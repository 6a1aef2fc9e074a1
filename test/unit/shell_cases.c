/*
 * The judge on the command lines of test/data/commands (its README says how
 * they are written), and on each of their beginnings: what is cut off anywhere
 * must still be read.
 */
#include "command_lines.h"

#include <dirent.h>

#include "base/data/arena.h"
#include "base/data/strv.h"
#include "guard.h"

struct file {
	const char *name;
	struct ab_arena arena;
	int judged, harmless;
};

static bool fits(const struct ab_judgement *j, const char *decision, const char *rule)
{
	if (strcmp(rule, "-") != 0 && strcmp(rule, j->rule) != 0)
		return false;
	if (strcmp(decision, "quiet") == 0)
		return j->decision <= AB_SANDBOXED;
	return strcmp(ab_decision_names[j->decision], decision) == 0;
}

static void judge_beginnings(struct ab_arena *arena, const char *text, size_t len)
{
	struct ab_judgement j;

	for (size_t n = 0; n < len; n += SANITIZED ? 5 : 1) {
		const char *cut = guarded(text, n);

		ab_judge_text(arena, &scene, (struct ab_text){ cut, n }, &j);
		if (j.range.from > j.range.to || j.range.to > n)
			ok(0, "part %u-%u of %zu bytes: %s", j.range.from, j.range.to, n, text);
		ab_arena_reset(arena);
	}
}

static void judge_line(void *arg, char *line, int number)
{
	struct file *file = arg;
	char *decision = strtok(line, " "), *rule = strtok(NULL, " ");
	char *rest = strtok(NULL, "");
	ab_autofree char *text = unfold_line(rest ? rest : "");
	struct ab_judgement j;
	size_t len = strlen(text);

	ab_judge_text(&file->arena, &scene, (struct ab_text){ text, len }, &j);
	ok(rest && fits(&j, decision, rule), "%s:%d: %s: %s", file->name, number, decision,
	   rest ? rest : "no command");
	if (rest && !fits(&j, decision, rule))
		printf("# got %s %s: \"%.*s\": %s\n", ab_decision_names[j.decision], j.rule,
		       (int)(j.range.to - j.range.from), text + j.range.from, j.reason);
	file->judged++;
	file->harmless += j.decision <= AB_SANDBOXED;
	ab_arena_reset(&file->arena);
	judge_beginnings(&file->arena, text, len);
}

int main(void)
{
	ab_autofree char *path = ab_printf("%s/test/data/commands", getenv("AB_SOURCE_ROOT"));
	ab_autostrv struct ab_strv names = { 0 };
	DIR *dir = opendir(path);
	int judged = 0, harmless = 0;

	ok(dir, "the cases are there");
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (strstr(e->d_name, ".txt"))
			ab_strv_add(&names, e->d_name);
	if (dir)
		closedir(dir);
	ab_strv_sort(&names);
	for (size_t i = 0; i < names.len; i++) {
		ab_autofree char *file = ab_printf("%s/%s", path, names.v[i]);
		struct file f = { .name = names.v[i] };

		each_command_line(file, judge_line, &f);
		ab_arena_fini(&f.arena);
		judged += f.judged;
		harmless += f.harmless;
	}
	ok(judged >= 600 && harmless * 2 >= judged, "%d cases, %d of them harmless", judged,
	   harmless);
	return done();
}
