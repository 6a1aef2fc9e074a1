/*
 * Two texts, cut at the first NUL byte: the host's file and the box's. The result for a known file
 * must be a JSON object, and without a change of the box it must be the host's text.
 */
#include "layer/giveback/credentials.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/json_scan.h"

static const char *const paths[] = {
	".claude/.credentials.json",
	".codex/auth.json",
	".qwen/oauth_creds.json",
	".local/share/opencode/auth.json",
};

static void check_result(const char *path, const char *host, size_t host_len, const char *box,
			 size_t box_len)
{
	ab_autobuf struct ab_buf out = { 0 };
	ab_autoscan struct ab_json_scan scan = { 0 };
	const char *why = NULL;

	if (ab_credentials_merge(path, host, host_len, box, box_len, &out, &why) < 0) {
		if (!why)
			abort();
		return;
	}
	if (ab_json_scan_parse(&scan, out.data, out.len) < 0 || scan.nodes[0].kind != '{')
		abort();
	if (host == box && (out.len != host_len || memcmp(out.data, host, host_len) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cut = memchr(text, '\0', size);
	size_t n = cut ? (size_t)(cut - text) : size;

	for (size_t i = 0; i < AB_COUNT(paths); i++) {
		check_result(paths[i], NULL, 0, text, n);
		check_result(paths[i], text, n, text, n);
		if (cut)
			check_result(paths[i], text, n, cut + 1, size - n - 1);
	}
	return 0;
}
