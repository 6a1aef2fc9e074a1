/* Any bytes as a known_hosts file: every key that is found begins with its type. */
#include "proxy/wire/known_hosts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hash(const uint8_t *key, size_t len, const char *text, uint8_t ret[AB_KNOWN_HOSTS_HASH])
{
	memset(ret, (int)(len ? key[0] : 0) ^ text[0], AB_KNOWN_HOSTS_HASH);
}

static void check_key(void *arg, struct ab_ssh_text key, bool revoked)
{
	struct ab_ssh_reader r = ab_ssh_read(key);

	(void)arg;
	(void)revoked;
	(void)ab_ssh_string(&r);
	if (r.bad)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_known_hosts known = { .hash = hash, .found = check_key };
	char *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	ab_known_hosts_find(&known, copy, size, "git.test", 22);
	ab_known_hosts_find(&known, copy, size, "git.test", 2222);
	free(copy);
	return 0;
}
