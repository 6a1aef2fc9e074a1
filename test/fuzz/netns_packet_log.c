/*
 * Any bytes as a packet of the box, and as the kernel's message about one: nothing is read beyond
 * the end, and a datagram that was read has ends of one family.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "netns/packet_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_datagram(const struct ab_denied_datagram *d, size_t size)
{
	static const uint8_t none[12];
	size_t least = d->from.v6 ? 44 : 24;

	if (d->from.v6 != d->to.v6 || size < least)
		abort();
	if (!d->from.v6 &&
	    (memcmp(d->from.addr + 4, none, 12) != 0 || memcmp(d->to.addr + 4, none, 12) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of just this size: one byte more is noticed. It is aligned for a message. */
	ab_autofree uint8_t *copy = ab_alloc(size ? size : 1);
	struct ab_denied_datagram d;

	memcpy(copy, data, size);
	if (ab_packet_log_datagram(copy, size, &d))
		check_datagram(&d, size);
	if (ab_packet_log_parse(copy, size, &d))
		check_datagram(&d, size);
	return 0;
}
