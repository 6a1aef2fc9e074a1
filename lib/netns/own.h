#ifndef AB_NETNS_OWN_H
#define AB_NETNS_OWN_H
/*
 * The addresses of the machine's own network devices. Opened before the
 * supervisor locks itself in; afterwards sending and receiving is enough.
 */
#include <stddef.h>

#include "base/system/addr.h"

struct ab_error;

struct ab_own {
	struct ab_addr *v;
	size_t len, room;
};

/* A socket that does not block, readable when an address has come or gone.
 * -1 with *err. */
int ab_own_open(struct ab_error *err);

/*
 * All addresses as they are now, and forget about changes until now. One that
 * goes away meanwhile may be among them, none is missing. On failure *ret is
 * as it was.
 */
int ab_own_read(int fd, struct ab_own *ret, struct ab_error *err);
void ab_own_fini(struct ab_own *own);

/* Pure: adds what a part of the kernel's answer tells. 1 when it was the last
 * part, 0 when more follows, -1 with errno when it is none. */
int ab_own_parse(const void *data, size_t len, struct ab_own *ret);

#endif
