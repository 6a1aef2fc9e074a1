/*
 * Any bytes as a configuration file: the scanner and the JSON library agree
 * about what is JSON, positions lie inside the text, and the parser of
 * configurations survives everything.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "policy/read/json_scan.h"
#include "policy/read/settings_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_positions(const struct ab_json_scan *s, size_t size)
{
	for (size_t i = 0; i < s->len; i++) {
		const struct ab_json_scan_node *n = &s->nodes[i];

		if (n->begin >= n->end || n->end > size || n->next <= i || n->next > s->len ||
		    n->key_begin > n->key_end || n->key_end > n->begin || n->line < 1 ||
		    n->parent > i)
			abort();
	}
}

static void check_agreement(const char *text, size_t size)
{
	struct ab_json_scan s = { 0 };
	int r = ab_json_scan_parse(&s, text, size);
	json_error_t e;
	json_t *j = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);

	if (r == 0)
		check_positions(&s, size);
	/* Our bounds are narrower; and the library overlooks a NUL behind a
	 * number, which is why the scanner is asked first. */
	if (r < 0 && j && strcmp(s.wrong, "nested too deep") != 0 &&
	    strcmp(s.wrong, "too many values") != 0 && !memchr(text, '\0', size))
		abort();
	/* Meaning that a scanner has no part in. */
	if (r == 0 && !j && json_error_code(&e) != json_error_duplicate_key &&
	    json_error_code(&e) != json_error_numeric_overflow)
		abort();
	json_decref(j);
	ab_json_scan_fini(&s);
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
	struct ab_config config;

	check_agreement((const char *)data, size);
	memset(&config, 0, sizeof(config));
	ab_settings_file_parse(&ctx, AB_LAYER_PROJECT, "f", (const char *)data, size, &config,
			       &problems);
	for (size_t i = 0; i < problems.wrong.len; i++)
		for (const char *p = problems.wrong.v[i]; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				abort(); /* would reach a terminal */
	ab_problems_fini(&problems);
	ab_arena_fini(&arena);
	return 0;
}
