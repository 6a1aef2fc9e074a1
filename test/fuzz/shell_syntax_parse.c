/*
 * Any bytes as a script: every part of the tree is there to be read, and says
 * where in the text it was.
 */
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "shell/syntax/lex.h"
#include "../unit/shell_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: reading past it is seen. */
	char *s = malloc(size ? size : 1);
	struct shell_walk walk = { .len = size };
	struct ab_arena arena = { 0 };
	struct ab_script script;
	uint64_t work;

	if (size)
		memcpy(s, data, size);
	work = ab_parse(&arena, (struct ab_text){ s, size }, &script);
	if (!script.list || work > 64 * (uint64_t)size + 64)
		abort();
	walk_node(&walk, script.list);
	if (walk.wrong || (script.error && script.error_at > size))
		abort();
	ab_arena_fini(&arena);
	free(s);
	return 0;
}
