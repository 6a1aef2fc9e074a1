#ifndef AB_TEST_TLS_HELP_H
#define AB_TEST_TLS_HELP_H
/*
 * Two ends of a socket in one thread. An end is ours (an ab_tls on a side) or
 * plain (the library as any program uses it); both are driven in turns.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/io/tls_state.h"
#include "tap.h"

static struct ab_side near, far;

static inline void open_pair(int room)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	for (int i = 0; room && i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	near = (struct ab_side){ .source = { .fd = pair[0] }, .readable = true, .writable = true };
	far = (struct ab_side){ .source = { .fd = pair[1] }, .readable = true, .writable = true };
}

static inline void close_pair(void)
{
	ab_side_close(&near, false);
	ab_side_close(&far, false);
}

/* What an edge-triggered loop would say sooner or later. */
static inline void wake(void)
{
	near.readable = near.writable = true;
	far.readable = far.writable = true;
}

static inline struct ab_host host(const char *text)
{
	struct ab_host h;

	if (ab_host_parse(text, strlen(text), &h, NULL) < 0)
		abort();
	return h;
}

static inline struct ab_tls *accept_as(struct ab_tls_site *site, const char *name)
{
	struct ab_host h = host(name);

	return ab_tls_accept(site, &near, &h, AB_TLS_HTTP1);
}

static inline struct ab_tls *connect_to(struct ab_tls_site *site, struct ab_side *side,
					const char *name)
{
	struct ab_host h = host(name);

	return ab_tls_connect(site, side, &h, AB_TLS_HTTP1);
}

static inline struct ab_tls_site *site_for(const char *roots, size_t len,
					   const char *const hosts[3])
{
	struct ab_strv list = { 0 };
	struct ab_tls_setup setup = { .hosts = &list, .roots = roots, .roots_len = len };
	struct ab_tls_site *site = NULL;
	struct ab_error err = { 0 };

	for (int i = 0; i < 3 && hosts[i]; i++)
		ab_strv_add(&list, hosts[i]);
	if (ab_tls_site_new(&setup, &site, &err) < 0)
		printf("# %s\n", err.text);
	ab_strv_fini(&list);
	return site;
}
#define SITE_FOR(roots, ...) site_for(roots, strlen(roots), (const char *const[3]){ __VA_ARGS__ })

/* Both ends ours. True: both are through. */
static inline bool shake(struct ab_tls *a, struct ab_tls *b)
{
	enum ab_tls_end of_a = AB_TLS_WAIT, of_b = AB_TLS_WAIT;

	for (int i = 0; i < 100; i++) {
		wake();
		if (of_b == AB_TLS_WAIT)
			of_b = ab_tls_handshake(b);
		if (of_a == AB_TLS_WAIT)
			of_a = ab_tls_handshake(a);
		if (of_a != AB_TLS_WAIT && of_b != AB_TLS_WAIT)
			break;
	}
	return of_a == AB_TLS_OK && of_b == AB_TLS_OK;
}

static inline bool waits(SSL *ssl, int ret)
{
	int error = SSL_get_error(ssl, ret);

	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* Ours and a plain one. */
static inline bool shake_plain(struct ab_tls *a, SSL *plain)
{
	enum ab_tls_end of_a = AB_TLS_WAIT;
	int of_plain = -1;
	bool over = false;

	for (int i = 0; i < 100 && (of_a == AB_TLS_WAIT || !over); i++) {
		wake();
		if (!over) {
			ERR_clear_error();
			of_plain = SSL_do_handshake(plain);
			over = of_plain == 1 || !waits(plain, of_plain);
		}
		if (of_a == AB_TLS_WAIT)
			of_a = ab_tls_handshake(a);
	}
	return of_a == AB_TLS_OK && of_plain == 1;
}

/* A plain end on the far socket; the context is freed with it. */
static inline SSL *plain_on_far(SSL_CTX *ctx, bool client)
{
	SSL *ssl = SSL_new(ctx);

	SSL_CTX_free(ctx);
	SSL_set_fd(ssl, far.source.fd);
	if (client)
		SSL_set_connect_state(ssl);
	else
		SSL_set_accept_state(ssl);
	return ssl;
}

static inline SSL_CTX *plain_client(void)
{
	return SSL_CTX_new(TLS_client_method());
}

/* Reads until `len` bytes are there or the end; -1: broken. */
static inline ssize_t read_all(struct ab_tls *tls, char *data, size_t len)
{
	size_t have = 0;

	for (int i = 0; i < 100 && have < len; i++) {
		ssize_t n = ab_tls_read(tls, data + have, len - have);

		if (n == 0)
			break;
		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n > 0)
			have += (size_t)n;
		else
			wake();
	}
	return (ssize_t)have;
}

#endif
