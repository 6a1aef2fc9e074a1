/*
 * Any words and any input through the programs whose output is known: the
 * words are separated by newlines, the input follows an empty one. What comes
 * out is bounded, and an unknown stretch is said to be there where one is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/arena.h"
#include "shell/output/printed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_arena arena = { 0 };
	struct ab_field argv[16] = { 0 };
	struct ab_simple command = { .argv = argv, .in = { .none = true } };
	/* A copy of exactly this size: reading past it is seen. */
	char *s = malloc(size ? size : 1), *p = s, *end = s + size;
	struct ab_data out;

	if (size)
		memcpy(s, data, size);
	while (command.argc < 16 && p < end && *p != '\n') {
		char *to = memchr(p, '\n', (size_t)(end - p));
		struct ab_field *f = &argv[command.argc++];

		to = to ? to : end;
		f->text = (struct ab_text){ p, (uint32_t)(to - p) };
		f->unknown = memchr(p, AB_UNKNOWN, f->text.len) != NULL;
		f->verbatim = AB_NOT_VERBATIM;
		p = to < end ? to + 1 : end;
	}
	if (p < end) {
		p++;
		command.in = (struct ab_data){
			.text = { p, (uint32_t)(end - p) },
			.unknown = p < end && memchr(p, AB_UNKNOWN, (size_t)(end - p)),
			.verbatim = AB_NOT_VERBATIM,
		};
	}
	if (command.argc)
		command.name = argv[0].text;
	ab_printed_output(&arena, &command, &out);
	if (out.text.len > (1 << 16) + 1 ||
	    (!out.unknown && out.text.len && memchr(out.text.s, AB_UNKNOWN, out.text.len)))
		abort();
	ab_arena_fini(&arena);
	free(s);
	return 0;
}
