/*
 * Any bytes as a one-liner of each language: no read outside, and every text
 * that is handed on says whether something of it is not known.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "shell/code/code.h"
#include "shell/wrap/wrap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_field(const struct ab_field *f)
{
	bool unknown = f->text.len && memchr(f->text.s, AB_UNKNOWN, f->text.len);

	if (unknown != f->unknown)
		abort();
}

static void check_inners(const struct ab_inner *inner)
{
	for (; inner; inner = inner->next) {
		if (inner->kind == AB_INNER_SCRIPT)
			check_field(&inner->script);
		else if (inner->argc == 0)
			abort();
		for (size_t i = 0; i < inner->argc; i++)
			check_field(&inner->argv[i]);
	}
}

/* The first byte says which language, the rest is the code; and as what a
 * shell or xargs reads. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "sh", "xargs", "parallel", "at" };
	struct ab_field argv[] = {
		{ .text = { "x", 1 }, .verbatim = AB_NOT_VERBATIM },
		{ .text = { "{}", 2 }, .verbatim = AB_NOT_VERBATIM },
	};
	struct ab_arena arena = { 0 };
	struct ab_simple command = { .argv = argv, .argc = 2 };
	struct ab_oneliner found;
	struct ab_unwrapped u;
	struct ab_field code;
	char *s;

	if (size == 0)
		return 0;
	/* A copy of exactly this size: reading past it is seen. */
	s = malloc(size);
	memcpy(s, data + 1, size - 1);
	code = (struct ab_field){ .text = { s, (uint32_t)size - 1 } };
	code.unknown = memchr(s, AB_UNKNOWN, size - 1);
	s = realloc(s, size - 1 ? size - 1 : 1);
	code.text.s = s;
	ab_code_read(&arena, data[0] % (AB_LANG_LUA + 1), &code, &found);
	check_inners(found.inners);
	command.name.s = names[data[0] % 4];
	command.name.len = (uint32_t)strlen(command.name.s);
	command.in = (struct ab_data){ .text = code.text, .unknown = code.unknown };
	ab_unwrap(&arena, &command, &u);
	check_inners(u.inners);
	ab_arena_fini(&arena);
	free(s);
	return 0;
}
