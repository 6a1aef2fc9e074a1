#ifndef AB_SESSION_HOST_UNIX_SOCKETS_H
#define AB_SESSION_HOST_UNIX_SOCKETS_H
/* The host's pathname sockets. Neither a new network namespace nor a read-only mount prevents
 * connections to one, so those visible in the box are masked. */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"

/* Pure: the distinct pathnames in one text of /proc/net/unix, sorted. */
void ab_unix_sockets_parse(const char *text, struct ab_strv *ret);

/* Those that exist now and are sockets. None if /proc does not list them. */
void ab_unix_sockets_list(struct ab_strv *ret);

/* Is one of them a datagram socket? Nobody hears of the look. */
bool ab_unix_sockets_have_datagrams(const struct ab_strv *paths);

#endif
