/*
 * Any text is judged: the part that decided lies in the text, no command in
 * the list is judged stricter than the whole, there is always a reason, and a word has
 * no kind of bytes that it claims not to have.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "shell/judge/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const struct ab_judged *c)
{
	for (size_t i = 0; i < c->argc; i++) {
		const struct ab_field *f = &c->argv[i];

		if (f->bytes && ab_bytes_read(f->text.s, f->text.len) & ~f->bytes)
			abort();
	}
}

static void check(const struct ab_judgement *j, size_t size)
{
	size_t n = 0;

	if (j->range.from > j->range.to || j->range.to > size)
		abort();
	if (!j->reason || !*j->reason || !j->rule || !j->script.list)
		abort();
	for (const struct ab_judged *c = j->commands; c; c = c->next, n++) {
		if (c->decision > j->decision || c->range.to > size || c->range.from > c->range.to)
			abort();
		check_words(c);
	}
	if (n != j->ncommands)
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
	struct ab_judgement j;
	/* A copy of exactly this size: reading past it is seen. */
	char *text = malloc(size ? size : 1);

	if (size)
		memcpy(text, data, size);
	ab_judge_text(&arena, &scene, (struct ab_text){ text, (uint32_t)size }, &j);
	check(&j, size);
	ab_arena_fini(&arena);
	free(text);
	return 0;
}
