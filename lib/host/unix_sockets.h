#pragma once
/* The host's pathname sockets. Neither a new network namespace nor a read-only mount prevents
 * connections to one, so those visible in the box are masked. */
#include "base/base.h"

/*
 * Reads /proc/net/unix in pieces of any size. Pure, and linear in the bytes; keeps one entry and the
 * names found so far. Zero it, feed it, then call ab_unix_names_take once.
 */
struct ab_unix_names {
	struct ab_buf line;   /* the bytes of an unfinished line */
	struct ab_buf name;   /* the name of the last entry */
	struct ab_strv found; /* with duplicates */
	bool named;	      /* the last entry has a pathname; a newline may continue it */
};

void ab_unix_names_feed(struct ab_unix_names *names, const char *data, size_t len);
/* The distinct pathnames, sorted. Frees the rest. */
void ab_unix_names_take(struct ab_unix_names *names, struct ab_strv *ret);

/*
 * By their real paths: the sockets that exist now, and the folders that contain one and that we
 * cannot enter. The box cannot enter them either, but their owner could open them later. A name that
 * leads nowhere any more is skipped; any other failure is an error, because a socket that is not on
 * the list would be reachable.
 */
int ab_unix_sockets_list(struct ab_strv *ret_sockets, struct ab_strv *ret_folders,
			 struct ab_error *err);

/* Is one of them a datagram socket? Its peer does not notice. */
bool ab_unix_sockets_have_datagrams(const struct ab_strv *paths);
