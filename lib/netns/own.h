#pragma once
/*
 * The addresses of the machine's own network devices. Opened before the supervisor
 * confines itself; afterwards it only sends and receives.
 */
#include "base/base.h"
#include "base/data/addr.h"

struct ab_own {
	struct ab_addr *v;
	size_t len;
};

/* A non-blocking socket that becomes readable when an address was added or removed.
 * -1 with *err. */
int ab_own_open(struct ab_error *err);

/*
 * Read all current addresses, and discard the events until now. An address that is
 * removed meanwhile may be included, but none is missing. On failure *ret is not
 * changed.
 */
int ab_own_read(int fd, struct ab_own *ret, struct ab_error *err);
void ab_own_fini(struct ab_own *own);

/* Pure: add the addresses in one part of the kernel's reply. 1 if it was the last
 * part, 0 if more follow, -1 with errno if it is invalid. */
int ab_own_parse(const void *data, size_t len, struct ab_own *ret);
