#pragma once
/*
 * The part of an SSH server's stream that is not encrypted: its version, and the
 * packets of the first key exchange (RFC 4253). The server's signature in there is
 * the one that a client shows to its agent (session-bind@openssh.com), so it proves
 * that the connection passed here.
 *
 * Pure: feed it the stream in pieces of any size. It keeps one packet at most, and
 * gives up on anything unexpected, and after AB_SSH_KEX_MAX bytes.
 */
#include "proxy/io/ssh_text.h"

enum { AB_SSH_KEX_MAX = 256 * 1024 };

struct ab_ssh_kex {
	struct ab_buf pending;
	size_t seen;
	bool versioned; /* the line "SSH-2.0-..." was read */
	bool done;	/* the rest is encrypted, or no SSH */
	/* The server's key and its signature: valid in the call. */
	void (*signed_by)(void *arg, struct ab_ssh_text host_key, struct ab_ssh_text signature);
	void *arg;
};

void ab_ssh_kex_feed(struct ab_ssh_kex *kex, const uint8_t *data, size_t len);
void ab_ssh_kex_fini(struct ab_ssh_kex *kex);
