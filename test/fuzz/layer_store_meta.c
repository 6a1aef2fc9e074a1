/*
 * Any bytes as the meta.json of a set of layers: what is taken has only values
 * that are safe to use, and is the same after writing and reading it again.
 */
#include "layer/store/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "layer/store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *path, bool below)
{
	if ((path[0] == '/') == below || strstr(path, "//") || strstr(path, "/../") ||
	    strncmp(path, "../", 3) == 0 || strcmp(path, "..") == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_layer_meta meta, back;
	ab_autobuf struct ab_buf text = { 0 }, again = { 0 };
	struct ab_error err = { 0 };

	if (ab_layer_meta_read((const char *)data, size, &meta, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	if (!ab_layer_key_valid(meta.key) || meta.runs.len > AB_LAYER_RUNS_MAX ||
	    meta.nreturns > AB_LAYER_RETURNS_MAX || meta.waiting < -1)
		abort();
	if (*meta.workspace)
		check_path(meta.workspace, false);
	if (*meta.home)
		check_path(meta.home, false);
	for (size_t i = 0; i < meta.nreturns; i++)
		check_path(meta.returns[i].path, true);
	ab_layer_meta_write(&meta, &text);
	if (ab_layer_meta_read(text.data, text.len, &back, &err) < 0)
		abort();
	ab_layer_meta_write(&back, &again);
	if (text.len != again.len || memcmp(text.data, again.data, text.len) != 0)
		abort();
	ab_layer_meta_fini(&meta);
	ab_layer_meta_fini(&back);
	return 0;
}
