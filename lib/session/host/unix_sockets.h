#ifndef AB_SESSION_HOST_UNIX_SOCKETS_H
#define AB_SESSION_HOST_UNIX_SOCKETS_H
/*
 * The host's pathname sockets. Neither a new network namespace nor a
 * read-only mount keeps a process from connecting to one, so those that the
 * box could see are masked.
 */
#include <stddef.h>

#include "base/data/strv.h"

/* Pure: the distinct pathnames in one text of /proc/net/unix, sorted. */
void ab_unix_sockets_parse(const char *text, struct ab_strv *ret);

/* Those that exist now and are sockets. Nothing when /proc does not tell. */
void ab_unix_sockets_list(struct ab_strv *ret);

#endif
