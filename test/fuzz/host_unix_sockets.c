/* /proc/net/unix, in pieces: names are not escaped in it. Whole and in pieces it is the same. */
#include "host/unix_sockets.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void parse(const uint8_t *data, size_t len, size_t piece, struct ab_strv *ret)
{
	struct ab_unix_names names = { 0 };

	for (size_t at = 0; at < len; at += piece)
		ab_unix_names_feed(&names, (const char *)data + at,
				   len - at < piece ? len - at : piece);
	ab_unix_names_take(&names, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	ab_autostrv struct ab_strv whole = { 0 }, pieces = { 0 };

	parse(data, len, len ? len : 1, &whole);
	parse(data, len, 7, &pieces);
	if (whole.len != pieces.len)
		abort();
	for (size_t i = 0; i < whole.len; i++)
		if (strcmp(whole.v[i], pieces.v[i]) != 0 || whole.v[i][0] != '/')
			abort();
	return 0;
}
