/*
 * Any bytes as settings of another sandbox: what comes out is a settings file without
 * a mistake, and what is said about the rest can be shown.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "policy/layers/layers.h"
#include "steer/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_format(const char *format, const char *text, size_t size)
{
	char *none[] = { NULL };
	struct ab_policy_input in = { .cwd = "/w", .home = "/home/me", .environ = none };
	struct ab_error err = { 0 };
	struct ab_import im;

	if (ab_import_read(format, "f", text, size, &im, &err) < 0)
		return;
	if (ab_policy_check_text(&in, "f", im.settings, strlen(im.settings), &err) < 0)
		abort();
	for (size_t i = 0; i < im.left.len; i++)
		for (const char *p = im.left.v[i]; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				abort();
	ab_import_fini(&im);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	check_format("srt", text, size);
	check_format("claude-code", text, size);
	check_format("codex", text, size);
	check_format("nono", text, size);
	free(text);
	return 0;
}
