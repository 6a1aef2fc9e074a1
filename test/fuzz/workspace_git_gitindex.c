#include "workspace/git/gitindex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "workspace/git/gitconfig_clean.h"
#include "workspace/git/gitkeys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(void *arg, const char *path)
{
	size_t *calls = arg;

	(*calls)++;
	if (!path[0] || strlen(path) > AB_GITINDEX_PATH)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_autobuf struct ab_buf out = { 0 }, keys = { 0 }, again = { 0 }, none = { 0 };
	static const struct ab_gitkeys_terms made = { .made = true };
	char digest[65];
	size_t calls = 0;
	struct ab_gitindex index = ab_gitindex_parse((const char *)data, size, check_path, &calls);

	if ((calls && !index.valid) || calls > size || strlen(index.base) > 64)
		abort();
	if ((ab_gitindex_digest((const char *)data, size, digest) == 0) != index.valid)
		abort();
	/* What was cleaned is clean, and cleaning it again changes nothing. */
	ab_gitconfig_clean((const char *)data, size, &made, &out, &keys);
	if (ab_gitconfig_clean(out.data, out.len, &made, &again, &none) || out.len != again.len ||
	    memcmp(out.data, again.data, out.len) != 0)
		abort();
	return 0;
}
