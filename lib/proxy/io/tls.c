/*
 * One end of one connection.
 *
 * The library reads all that the socket has and keeps what it has not decrypted
 * yet, so there may be data when the socket has none: ab_tls_pending(). A
 * blocked read may wait for room to write (a reply to a key update), and a
 * write for bytes. Either way the side's flag is false, and the event that sets
 * it again is the one at which to call again.
 */
#include "proxy/io/tls.h"

#include <openssl/err.h>

#include "proxy/io/tls_state.h"

/* Consecutive records without data: tickets, key updates. More are an attack. */
enum { IDLE_RECORDS = 64 };

static struct ab_tls *new_end(struct ab_tls_site *site, struct ab_side *side,
			      const struct ab_host *name)
{
	struct ab_tls *tls = ab_alloc(sizeof(*tls));

	tls->site = site;
	tls->side = side;
	tls->name = *name;
	tls->raw = side->in;
	side->in = (struct ab_buf){ 0 };
	ERR_clear_error();
	return tls;
}

/* Make every handshake fail with this reason. */
static void set_failed(struct ab_tls *tls, const char *why)
{
	SSL_free(tls->ssl);
	tls->ssl = NULL;
	tls->why = ab_strdup(why);
}

static bool attach_library(struct ab_tls *tls, SSL_CTX *ctx)
{
	BIO *bio = BIO_new(tls->site->bio);

	tls->ssl = SSL_new(ctx);
	if (!bio || !tls->ssl) {
		BIO_free(bio);
		return false;
	}
	BIO_set_data(bio, tls);
	SSL_set_bio(tls->ssl, bio, bio);
	SSL_set_app_data(tls->ssl, tls);
	return true;
}

/* Bind tickets to the name: the library compares the session id context, which
 * is the name's digest. */
static bool bind_sessions(SSL *ssl, const struct ab_host *name)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int len;

	return EVP_Digest(name->text, strlen(name->text), digest, &len, EVP_sha256(), NULL) == 1 &&
	       SSL_set_session_id_context(ssl, digest, len) == 1;
}

struct ab_tls *ab_tls_accept(struct ab_tls_site *site, struct ab_side *side,
			     const struct ab_host *name, unsigned protocols)
{
	struct ab_tls *tls = new_end(site, side, name);
	SSL_CTX *ctx = ab_tls_site_server(site);
	X509 *leaf = ab_tls_site_leaf(site, name);

	tls->protocols = protocols;
	if (!ctx || !leaf || !attach_library(tls, ctx) || !bind_sessions(tls->ssl, name) ||
	    SSL_use_certificate(tls->ssl, leaf) != 1 ||
	    SSL_use_PrivateKey(tls->ssl, site->leaf_key) != 1)
		set_failed(tls, "cannot create a certificate for it");
	else
		SSL_set_accept_state(tls->ssl);
	return tls;
}

static bool expect_name(SSL *ssl, const struct ab_host *name)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	if (name->kind != AB_HOST_NAME)
		return X509_VERIFY_PARAM_set1_ip(param, name->addr,
						 name->kind == AB_HOST_IPV4 ? 4 : 16) == 1;
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
						       X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	return SSL_set_tlsext_host_name(ssl, name->text) == 1 &&
	       X509_VERIFY_PARAM_set1_host(param, name->text, 0) == 1;
}

/* HTTP/2 first, if it is one of them. */
static bool offer_protocols(SSL *ssl, unsigned protocols)
{
	static const char *const lists[] = { "", AB_ALPN_HTTP1, AB_ALPN_H2,
					     AB_ALPN_H2 AB_ALPN_HTTP1 };

	return SSL_set_alpn_protos(ssl, (const uint8_t *)lists[protocols],
				   (unsigned int)strlen(lists[protocols])) == 0;
}

struct ab_tls *ab_tls_connect(struct ab_tls_site *site, struct ab_side *side,
			      const struct ab_host *name, unsigned protocols)
{
	struct ab_tls *tls = new_end(site, side, name);
	const char *why = "the TLS library failed";
	SSL_CTX *ctx = ab_tls_site_client(site, &why);
	SSL_SESSION *session = ab_tls_site_session(site, name);

	tls->client = true;
	tls->protocols = protocols;
	if (!ctx || !attach_library(tls, ctx) || !expect_name(tls->ssl, name) ||
	    !offer_protocols(tls->ssl, protocols) ||
	    (session && SSL_set_session(tls->ssl, session) != 1))
		set_failed(tls, why);
	else
		SSL_set_connect_state(tls->ssl);
	return tls;
}

void ab_tls_free(struct ab_tls *tls)
{
	if (!tls)
		return;
	/* Many peers end without close_notify; keep the session then. After an
	 * error the library has dropped it already. */
	if (tls->ssl && SSL_is_init_finished(tls->ssl))
		SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(tls->ssl);
	ab_buf_fini(&tls->raw);
	ab_free_all(tls->mismatch, tls->why, tls);
}

const char *ab_tls_why(const struct ab_tls *tls)
{
	return tls->why ? tls->why : "";
}

bool ab_tls_no_protocol(const struct ab_tls *tls)
{
	return tls->no_protocol;
}

bool ab_tls_is_h2(const struct ab_tls *tls)
{
	return tls->h2;
}

/* Check the negotiated protocol: a server may select one that was not offered. None
 * is HTTP/1.1. */
static bool uses_allowed_protocol(struct ab_tls *tls)
{
	const unsigned char *name;
	unsigned int len;
	bool http1;

	SSL_get0_alpn_selected(tls->ssl, &name, &len);
	http1 = len == 8 && memcmp(name, "http/1.1", len) == 0 && tls->protocols & AB_TLS_HTTP1;
	tls->h2 = len == 2 && memcmp(name, "h2", len) == 0 && tls->protocols & AB_TLS_H2;
	tls->no_protocol = len && !tls->h2 && !http1;
	return !tls->no_protocol;
}

static bool wants_socket(int error)
{
	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

enum ab_tls_end ab_tls_handshake(struct ab_tls *tls)
{
	int ret = -1, error = SSL_ERROR_WANT_READ;

	if (tls->why)
		return AB_TLS_FAILED;
	for (int i = 0; i < IDLE_RECORDS && wants_socket(error); i++) {
		tls->blocked = false;
		ERR_clear_error();
		ret = SSL_do_handshake(tls->ssl);
		error = SSL_get_error(tls->ssl, ret);
		if (wants_socket(error) && tls->blocked)
			return AB_TLS_WAIT;
	}
	if (ret == 1 && SSL_get_verify_result(tls->ssl) == X509_V_OK && uses_allowed_protocol(tls))
		return AB_TLS_OK;
	tls->why = ab_tls_explain(tls);
	if (tls->client)
		ab_tls_memo_put(tls->site->sessions, tls->name.text, NULL);
	return AB_TLS_FAILED;
}

/* The errno for a connection that did not end properly. */
static int errno_of_failure(struct ab_tls *tls, int error)
{
	unsigned long code = ERR_peek_error();

	if (tls->errnum)
		return tls->errnum;
	if (error == SSL_ERROR_SYSCALL ||
	    (ERR_GET_LIB(code) == ERR_LIB_SSL &&
	     ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING))
		return ECONNRESET;
	return EPROTO;
}

/* One record. 1: data; 0: wait; -1: ended, see tls->errnum. */
static int read_record(struct ab_tls *tls, void *data, size_t len, size_t *got)
{
	for (int idle = 0; idle < IDLE_RECORDS; idle++) {
		int error;

		tls->blocked = false;
		ERR_clear_error();
		if (SSL_read_ex(tls->ssl, data, len, got) == 1)
			return 1;
		error = SSL_get_error(tls->ssl, 0);
		if (error == SSL_ERROR_ZERO_RETURN)
			return -1;
		if (!wants_socket(error)) {
			tls->errnum = errno_of_failure(tls, error);
			return -1;
		}
		if (tls->blocked)
			return 0;
	}
	tls->errnum = EPROTO;
	return -1;
}

ssize_t ab_tls_read(struct ab_tls *tls, void *data, size_t len)
{
	size_t have = 0, got;

	while (have < len && !tls->ended) {
		int ret = read_record(tls, (uint8_t *)data + have, len - have, &got);

		if (ret > 0) {
			have += got;
		} else if (ret == 0) {
			tls->dry = true;
			break;
		} else {
			tls->ended = true;
		}
	}
	if (have)
		return (ssize_t)have;
	errno = tls->ended ? tls->errnum : EAGAIN;
	return errno ? -1 : 0;
}

ssize_t ab_tls_write(struct ab_tls *tls, const void *data, size_t len)
{
	size_t done = 0, put;

	while (done < len) {
		int error;

		tls->more = len - done > SSL3_RT_MAX_PLAIN_LENGTH;
		ERR_clear_error();
		if (SSL_write_ex(tls->ssl, (const uint8_t *)data + done, len - done, &put) == 1) {
			done += put;
			continue;
		}
		if (done)
			break; /* the next call gets the error again */
		error = SSL_get_error(tls->ssl, 0);
		errno = wants_socket(error) ? EAGAIN : errno_of_failure(tls, error);
		return -1;
	}
	return (ssize_t)done;
}

bool ab_tls_pending(const struct ab_tls *tls)
{
	if (!tls->ssl || tls->dry)
		return false;
	return tls->ended || tls->raw.len || SSL_pending(tls->ssl) > 0 || SSL_has_pending(tls->ssl);
}

bool ab_tls_shut(struct ab_tls *tls)
{
	bool begun;

	if (!tls->ssl || !SSL_is_init_finished(tls->ssl))
		return true;
	begun = SSL_get_shutdown(tls->ssl) & SSL_SENT_SHUTDOWN;
	if (begun && !tls->shutting)
		return true; /* another call would wait for the peer's */
	tls->blocked = false;
	ERR_clear_error();
	tls->shutting = SSL_shutdown(tls->ssl) < 0 && tls->blocked;
	return !tls->shutting;
}

/* The library's BIO for a side: ciphertext from and to its socket. */

static int take_raw(struct ab_buf *raw, char *data, size_t len)
{
	if (len > raw->len)
		len = raw->len;
	memcpy(data, ab_buf_bytes(raw), len);
	ab_buf_skip(raw, len);
	return (int)len;
}

/* What a call of the socket returned, with errno. */
static int finish_call(BIO *bio, ssize_t n, bool *ready, int flag)
{
	struct ab_tls *tls = BIO_get_data(bio);

	if (n > 0)
		tls->dry = false;
	if (n >= 0)
		return (int)n;
	if (errno != EAGAIN) {
		tls->errnum = errno;
		return -1;
	}
	*ready = false;
	tls->blocked = true;
	BIO_set_flags(bio, flag | BIO_FLAGS_SHOULD_RETRY);
	return -1;
}

static int read_socket(BIO *bio, char *data, int len)
{
	struct ab_tls *tls = BIO_get_data(bio);
	struct ab_side *side = tls->side;
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (len <= 0 || (tls->eof && !tls->raw.len))
		return 0;
	if (tls->raw.len)
		return take_raw(&tls->raw, data, (size_t)len);
	n = side->readable ? recv(side->source.fd, data, (size_t)len, 0) : ab_errno(EAGAIN);
	tls->eof = n == 0;
	return finish_call(bio, n, &side->readable, BIO_FLAGS_READ);
}

static int write_socket(BIO *bio, const char *data, int len)
{
	struct ab_tls *tls = BIO_get_data(bio);
	struct ab_side *side = tls->side;
	int flags = MSG_NOSIGNAL | (tls->more ? MSG_MORE : 0);

	BIO_clear_retry_flags(bio);
	return finish_call(bio,
			   side->writable ? send(side->source.fd, data, (size_t)len, flags)
					  : ab_errno(EAGAIN),
			   &side->writable, BIO_FLAGS_WRITE);
}

static long control_bio(BIO *bio, int cmd, long num, void *ptr)
{
	struct ab_tls *tls = BIO_get_data(bio);

	(void)num;
	(void)ptr;
	if (cmd == BIO_CTRL_FLUSH)
		return 1;
	if (cmd == BIO_CTRL_EOF)
		return tls->eof && !tls->raw.len;
	return 0;
}

static int create_bio(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

BIO_METHOD *ab_tls_bio_method(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "side");

	if (method && BIO_meth_set_read(method, read_socket) == 1 &&
	    BIO_meth_set_write(method, write_socket) == 1 &&
	    BIO_meth_set_ctrl(method, control_bio) == 1 &&
	    BIO_meth_set_create(method, create_bio) == 1)
		return method;
	BIO_meth_free(method);
	return NULL;
}
