/*
 * Any bytes as a settings file: the reader accepts and decodes what jansson
 * does (see json_compare.h), with comments what it does without them, positions lie inside the text, and reading the
 * settings survives everything.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/json_compare.h"
#include "base/data/error.h"
#include "base/text/json_scan.h"
#include "policy/read/settings_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_positions(const struct ab_json_scan *s, size_t size)
{
	for (size_t i = 0; i < s->len; i++) {
		const struct ab_json_scan_node *n = &s->nodes[i];

		if (n->begin >= n->end || n->end > size || n->span < 1 || i + n->span > s->len ||
		    (n->key && n->key_begin >= n->begin) || n->line < 1 || n->column < 1 ||
		    n->column > size || n->up > i)
			abort();
	}
}

static void check_reader(const char *text, size_t size)
{
	struct ab_json_scan s = { 0 };

	if (ab_json_scan_parse(&s, text, size) == 0)
		check_positions(&s, size);
	ab_json_scan_fini(&s);
	if (ab_jsonc_scan_parse(&s, text, size) == 0)
		check_positions(&s, size);
	ab_json_scan_fini(&s);
	if (compare_with_jansson(text, size) || compare_without_comments(text, size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *no_environ[] = { NULL };
	struct ab_problems problems = { 0 };
	struct ab_arena arena = { 0 };
	struct ab_context ctx = {
		.arena = &arena,
		.base = "/work",
		.home = "/home/user",
		.environ = no_environ,
	};
	struct ab_config config, managed;

	check_reader((const char *)data, size);
	memset(&config, 0, sizeof(config));
	memset(&managed, 0, sizeof(managed));
	ab_settings_file_parse(&ctx, AB_LAYER_PROJECT, "f", (const char *)data, size, &config,
			       &managed, &problems);
	for (size_t i = 0; i < problems.wrong.len; i++)
		for (const char *p = problems.wrong.v[i]; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				abort(); /* would reach a terminal */
	ab_problems_fini(&problems);
	ab_arena_fini(&arena);
	return 0;
}
