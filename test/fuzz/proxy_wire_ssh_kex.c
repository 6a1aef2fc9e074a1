/*
 * Any bytes as the stream of an SSH server: in one piece and in many, the same key
 * exchanges are found, and little is kept.
 */
#include "proxy/wire/ssh_kex.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *arg, struct ab_ssh_text key, struct ab_ssh_text signature)
{
	struct ab_buf *found = arg;

	if (!signature.len)
		abort();
	ab_ssh_put_string(found, key);
	ab_ssh_put_string(found, signature);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_buf one = { 0 }, many = { 0 };
	struct ab_ssh_kex whole = { .signed_by = note, .arg = &one };
	struct ab_ssh_kex parts = { .signed_by = note, .arg = &many };

	ab_ssh_kex_feed(&whole, data, size);
	for (size_t at = 0, n; at < size; at += n) {
		n = 1 + data[at] % 7;
		n = n < size - at ? n : size - at;
		ab_ssh_kex_feed(&parts, data + at, n);
		if (parts.pending.len > 40000)
			abort();
	}
	if (one.len != many.len || (one.len && memcmp(one.data, many.data, one.len) != 0) ||
	    whole.done != parts.done)
		abort();
	ab_ssh_kex_fini(&whole);
	ab_ssh_kex_fini(&parts);
	ab_buf_fini(&one);
	ab_buf_fini(&many);
	return 0;
}
