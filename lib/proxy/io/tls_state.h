#ifndef AB_PROXY_IO_TLS_STATE_H
#define AB_PROXY_IO_TLS_STATE_H
/*
 * What the files of the TLS corner share: the library's headers are seen
 * nowhere else.
 */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "policy/values/host.h"
#include "proxy/io/socket_side.h"
#include "proxy/io/tls.h"

/*
 * Things kept by host name: bounded, and whoever comes later pushes out what
 * was not used for long. Owns what it holds.
 */
struct ab_tls_memo;

struct ab_tls_memo *ab_tls_memo_new(size_t sets, void (*drop)(void *value));
void ab_tls_memo_free(struct ab_tls_memo *memo);
void *ab_tls_memo_get(struct ab_tls_memo *memo, const char *name);
/* Replaces what the name has; NULL forgets it. */
void ab_tls_memo_put(struct ab_tls_memo *memo, const char *name, void *value);

struct ab_tls_site {
	EVP_PKEY *authority_key;
	EVP_PKEY *leaf_key; /* of all leaves: they only differ in the name */
	X509 *authority;
	char *pem;
	uint8_t *der;
	size_t der_len;
	char *roots;
	size_t roots_len;
	BIO_METHOD *bio;
	SSL_CTX *server, *client;     /* each made when first needed */
	struct ab_tls_memo *leaves;   /* X509 */
	struct ab_tls_memo *sessions; /* SSL_SESSION, of servers */
};

struct ab_tls {
	struct ab_tls_site *site;
	struct ab_side *side;
	SSL *ssl;	   /* NULL: it could not be made, see why */
	struct ab_buf raw; /* came before us: the first that is read */
	struct ab_host name;
	bool client; /* our part: towards a host */
	bool no_http1;
	bool wrong_name; /* a hello asked for another host */
	bool blocked;	 /* the socket said EAGAIN in the present call */
	bool dry;	 /* what is held gives no data without the socket */
	bool shutting;	 /* a part of close_notify is to be written yet */
	bool eof;	 /* of the socket, which is not yet one of TLS */
	bool ended;	 /* reading is over, see errnum: 0 is a proper end */
	int errnum;	 /* of the socket, or what stands for it */
	char *mismatch;	 /* what is said of a certificate for others */
	char *why;
};

/* The authority, self-signed, and constrained to these entries. NULL: the
 * library's queue of errors says why. */
X509 *ab_tls_authority_make(EVP_PKEY *key, const struct ab_strv *hosts);
X509 *ab_tls_leaf_make(const struct ab_tls_site *site, const struct ab_host *name);

/* The certificate for a name, made once; not a reference of the caller's. */
X509 *ab_tls_site_leaf(struct ab_tls_site *site, const struct ab_host *name);
SSL_CTX *ab_tls_site_server(struct ab_tls_site *site);
/* NULL with *ret_why: no root in the machine's bundle. */
SSL_CTX *ab_tls_site_client(struct ab_tls_site *site, const char **ret_why);
/* A session of an earlier connection that this one may go on with, or NULL;
 * not a reference of the caller's. */
SSL_SESSION *ab_tls_site_session(struct ab_tls_site *site, const struct ab_host *name);

BIO_METHOD *ab_tls_bio_method(void);

/* Looks at a server's certificate, which is forgotten when it is refused. */
int ab_tls_note_certificate(int good, X509_STORE_CTX *ctx);
/* The clause for a failed handshake, from the queue of errors; never NULL. */
char *ab_tls_explain(const struct ab_tls *tls);

#endif
