/*
 * Any bytes as a hosts file: what is found for a name is in the file as a
 * line with an address, and nothing outside of it is read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/dial/hosts_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "a", "a.test", "localhost", "1" };
	/* A copy of exactly this size: reading past it is seen. */
	char *s = malloc(size ? size : 1);

	if (size)
		memcpy(s, data, size);
	ab_hosts_lower(s, size);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ab_answer a = { .kind = AB_ANSWER_NONE };

		if (ab_hosts_find(s, size, names[i], &a) != (a.kind == AB_ANSWER_OK) ||
		    (a.n4 + a.n6 > 0) != (a.kind == AB_ANSWER_OK) || a.n4 > AB_ANSWER_MAX ||
		    a.n6 > AB_ANSWER_MAX)
			abort();
	}
	free(s);
	return 0;
}
