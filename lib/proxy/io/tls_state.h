#pragma once
/*
 * Shared by tls*.c, the only files that include the library's headers.
 */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "policy/values/host.h"
#include "proxy/io/socket_side.h"
#include "proxy/io/tls.h"

/*
 * A cache by host name: bounded, a new value replaces the least recently used
 * one. Owns its values.
 */
struct ab_tls_memo;

struct ab_tls_memo *ab_tls_memo_new(size_t room, void (*drop)(void *value));
void ab_tls_memo_free(struct ab_tls_memo *memo);
void *ab_tls_memo_get(struct ab_tls_memo *memo, const char *name);
/* Replaces the name's value; NULL removes it. */
void ab_tls_memo_put(struct ab_tls_memo *memo, const char *name, void *value);

struct ab_tls_site {
	EVP_PKEY *authority_key;
	EVP_PKEY *leaf_key; /* shared by all leaves: they differ in name only */
	X509 *authority;
	char *pem;
	uint8_t *der;
	size_t der_len;
	char *roots;
	size_t roots_len;
	BIO_METHOD *bio;
	SSL_CTX *server, *client;     /* created on first use */
	struct ab_tls_memo *leaves;   /* X509 */
	struct ab_tls_memo *sessions; /* SSL_SESSION, of servers */
};

struct ab_tls {
	struct ab_tls_site *site;
	struct ab_side *side;
	SSL *ssl;	   /* NULL: creating it failed, see why */
	struct ab_buf raw; /* ciphertext read earlier: consumed first */
	struct ab_host name;
	bool client;	    /* the end towards a host */
	unsigned protocols; /* enum ab_tls_protocols: those allowed */
	bool no_protocol;   /* the peer has none of them */
	bool h2;	    /* negotiated */
	bool wrong_name;    /* a hello asked for another host */
	bool blocked;	    /* the socket returned EAGAIN in this call */
	bool dry;	    /* buffered bytes give no data without the socket */
	bool more;	    /* another record follows at once: the kernel may wait for it */
	bool shutting;	    /* close_notify is partly written */
	bool eof;	    /* of the socket, not of TLS */
	bool ended;	    /* reading has ended, see errnum: 0 is a proper end */
	int errnum;	    /* of the socket, or its equivalent */
	char *mismatch;	    /* explains a certificate for another name */
	char *why;
};

/* The authority, self-signed and constrained to these entries. NULL: see the
 * library's error queue. */
X509 *ab_tls_authority_make(EVP_PKEY *key, const struct ab_strv *hosts);
X509 *ab_tls_leaf_make(const struct ab_tls_site *site, const struct ab_host *name);

/* The certificate for a name, created once; the site keeps the reference. */
X509 *ab_tls_site_leaf(struct ab_tls_site *site, const struct ab_host *name);
/* The ALPN names of the protocols, with their lengths in front. */
#define AB_ALPN_HTTP1 "\x08http/1.1"
#define AB_ALPN_H2 "\x02h2"
SSL_CTX *ab_tls_site_server(struct ab_tls_site *site);
/* NULL with *ret_why, for example if the machine has no roots. */
SSL_CTX *ab_tls_site_client(struct ab_tls_site *site, const char **ret_why);
/* A session of an earlier connection to resume, or NULL; the site keeps the
 * reference. */
SSL_SESSION *ab_tls_site_session(struct ab_tls_site *site, const struct ab_host *name);

BIO_METHOD *ab_tls_bio_method(void);

/* Verify callback: notes the names of a certificate for another host, because
 * the library drops a rejected certificate. */
int ab_tls_note_certificate(int good, X509_STORE_CTX *ctx);
/* Has the owner of the key signed the data? */
bool ab_tls_verify(EVP_PKEY *key, const EVP_MD *hash, const void *data, size_t len,
		   const uint8_t *signature, size_t signature_len);

/* Explains a failed handshake from the error queue; never NULL. */
char *ab_tls_explain(const struct ab_tls *tls);
