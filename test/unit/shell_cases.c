/*
 * The judge on the command lines of test/data/commands (its README says how
 * they are written), and on each of their beginnings: what is cut off anywhere
 * must still be read.
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "shell/judge/judge.h"

#include "guard.h"
#include "tap.h"

static const struct ab_scene scene = { .home = "/home/me",
				       .cwd = "/home/me/project",
				       .workspace = "/home/me/project" };

static int judged, harmless;

/* The signs that stand for a newline and a tab. */
static char *unfold(const char *s)
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

	for (size_t n = 0; n < len; n++) {
		const char *cut = guarded(text, n);

		ab_judge_text(arena, &scene, (struct ab_text){ cut, n }, &j);
		if (j.range.from > j.range.to || j.range.to > n)
			ok(0, "part %u-%u of %zu bytes: %s", j.range.from, j.range.to, n, text);
		ab_arena_reset(arena);
	}
}

static void judge_line(struct ab_arena *arena, const char *file, int number, char *line)
{
	char *decision = strtok(line, " "), *rule = strtok(NULL, " ");
	char *rest = strtok(NULL, "");
	ab_autofree char *text = unfold(rest ? rest : "");
	struct ab_judgement j;
	size_t len = strlen(text);

	ab_judge_text(arena, &scene, (struct ab_text){ text, len }, &j);
	ok(rest && fits(&j, decision, rule), "%s:%d: %s: %s", file, number, decision,
	   rest ? rest : "no command");
	if (rest && !fits(&j, decision, rule))
		printf("# got %s %s: \"%.*s\": %s\n", ab_decision_names[j.decision], j.rule,
		       (int)(j.range.to - j.range.from), text + j.range.from, j.reason);
	judged++;
	harmless += j.decision <= AB_SANDBOXED;
	ab_arena_reset(arena);
	judge_beginnings(arena, text, len);
}

static void judge_file(const char *dir, const char *name)
{
	ab_autofree char *path = ab_printf("%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	struct ab_arena arena = { 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int number = 0;

	ok(f, "%s is there", name);
	while (f && (n = getline(&line, &room, f)) > 0) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && strncmp(line, "##", 2) != 0)
			judge_line(&arena, name, number, line);
	}
	free(line);
	if (f)
		fclose(f);
	ab_arena_fini(&arena);
}

int main(void)
{
	ab_autofree char *path = ab_printf("%s/test/data/commands", getenv("AB_SOURCE_ROOT"));
	ab_autostrv struct ab_strv names = { 0 };
	DIR *dir = opendir(path);

	ok(dir, "the cases are there");
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (strstr(e->d_name, ".txt"))
			ab_strv_add(&names, e->d_name);
	if (dir)
		closedir(dir);
	ab_strv_sort(&names);
	for (size_t i = 0; i < names.len; i++)
		judge_file(path, names.v[i]);
	ok(judged >= 600 && harmless * 2 >= judged, "%d cases, %d of them harmless", judged,
	   harmless);
	return done();
}
