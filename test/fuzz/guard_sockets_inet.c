/*
 * Addresses and lines of /proc/net/unix: whatever the bytes are, an address that was read
 * is written back as it is, and leads somewhere.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "guard/sockets/inet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ab_inet_terms terms = { .filtered = true };
	struct ab_destination d, again;
	struct sockaddr_storage at;
	socklen_t len;

	if (ab_destination_parse(data, size, &d) == 0) {
		len = ab_inet_write(&d, AF_INET6, &at);
		if (ab_destination_parse(&at, len, &again) != 0 || !ab_inet_equal(&d, &again))
			abort();
		if (ab_inet_judge(&terms, true, &d, false) == AB_WAY_OWN)
			abort();
		ab_inet_normalize(&d);
		if (ab_inet_is_loopback(&d) != ab_inet_is_loopback(&again))
			abort();
	}
	(void)ab_inet_unix_listener((const char *)data, size, "name", 4);
	return 0;
}
