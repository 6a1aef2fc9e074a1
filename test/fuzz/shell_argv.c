/*
 * Any words are judged, as those are that a program in the box executes: like
 * the text that they are quoted to, and what is said of it can be shown.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "base/data/buf.h"
#include "shell/judge/judge.h"
#include "shell/judge/judge_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 256 };

/* Words end at a NUL, or at the end. */
static size_t split(char *text, size_t size, const char *argv[WORDS_MAX])
{
	size_t n = 0;

	for (size_t at = 0; at < size && n < WORDS_MAX; at += strlen(text + at) + 1)
		argv[n++] = text + at;
	return n;
}

static void check_shown(const struct ab_buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if ((unsigned char)b->data[i] < ' ' && b->data[i] != '\n')
			abort();
}

static void check_reports(const struct ab_judgement *j)
{
	ab_autobuf struct ab_buf shown = { 0 }, json = { 0 };

	ab_judgement_explain(j, &shown);
	ab_judgement_point(j, "  ", &shown);
	check_shown(&shown);
	ab_judgement_json(j, &json);
	check_shown(&json);
	if (memchr(json.data, '\n', json.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ab_scene scene = {
		.home = "/home/me",
		.cwd = "/home/me/proj",
		.workspace = "/home/me/proj",
	};
	struct ab_arena arena = { 0 };
	struct ab_judgement j, quoted;
	const char *argv[WORDS_MAX];
	char *text = malloc(size + 1);
	size_t argc;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	argc = split(text, size, argv);
	if (argc > 0) {
		ab_judge_argv(&arena, &scene, argv, argc, &j);
		check_reports(&j);
		ab_judge_text(&arena, &scene, j.text, &quoted);
		if (j.decision != quoted.decision || strcmp(j.rule, quoted.rule) != 0)
			abort();
	}
	ab_arena_fini(&arena);
	free(text);
	return 0;
}
