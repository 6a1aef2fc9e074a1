#pragma once
/*
 * A known_hosts file of OpenSSH (sshd(8)): which keys has it for a host? Names with
 * patterns, "!" and ports, and hashed names; @revoked lines. The keys of
 * @cert-authority lines are not host keys, and only counted. Pure.
 */
#include "proxy/io/ssh_text.h"

enum { AB_KNOWN_HOSTS_HASH = 20 };

struct ab_known_hosts {
	/* HMAC-SHA1. */
	void (*hash)(const uint8_t *key, size_t len, const char *text,
		     uint8_t ret[AB_KNOWN_HOSTS_HASH]);
	/* One key of the host. The blob is valid in the call. */
	void (*found)(void *arg, struct ab_ssh_text key, bool revoked);
	void *arg;
	size_t authorities; /* lines of certificate authorities that name the host */
};

/* `host`: a name or an address as in the settings, without brackets. */
void ab_known_hosts_find(struct ab_known_hosts *known, const char *text, size_t len,
			 const char *host, uint16_t port);
