/*
 * Shared by all TLS connections of a run: the authority, the leaves, the roots,
 * and the library's two contexts.
 *
 * The library reads no configuration file and no certificate folder: once the
 * supervisor has restricted itself, the library opens nothing. Random numbers
 * come from getrandom().
 */
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/system/late.h"
#include "proxy/io/tls_state.h"

enum {
	LEAVES = 1024, /* wildcards can need many */
	SESSIONS = 256,
	/* Several records at once. */
	READ_ROOM = 4 * (SSL3_RT_MAX_PLAIN_LENGTH + 256),
};

static unsigned initialised;

unsigned ab_tls_initialised(void)
{
	return initialised;
}

static int fail_with_queue(struct ab_error *err, const char *what)
{
	const char *why = ERR_reason_error_string(ERR_peek_last_error());

	return ab_fail(err, AB_ESYSTEM, 0, "%s: %s", what, why ? why : "the TLS library failed");
}

static int initialise_library(struct ab_error *err)
{
	if (initialised)
		return 0;
	if (ab_late_relocate(err) < 0)
		return -1;
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
		return fail_with_queue(err, "TLS");
	initialised++;
	return 0;
}

static void free_leaf(void *leaf)
{
	X509_free(leaf);
}

static void free_session(void *session)
{
	SSL_SESSION_free(session);
}

static bool encode_authority(struct ab_tls_site *site)
{
	BIO *text = BIO_new(BIO_s_mem());
	int der_len = i2d_X509(site->authority, &site->der);
	char *data;
	long len;

	if (der_len > 0)
		site->der_len = (size_t)der_len;
	if (text && PEM_write_bio_X509(text, site->authority) == 1) {
		len = BIO_get_mem_data(text, &data);
		site->pem = ab_strndup(data, (size_t)len);
	}
	BIO_free(text);
	return site->pem && site->der_len;
}

int ab_tls_site_new(const struct ab_tls_setup *setup, struct ab_tls_site **ret,
		    struct ab_error *err)
{
	struct ab_tls_site *site;

	if (initialise_library(err) < 0)
		return -1;
	ERR_clear_error();
	site = ab_alloc(sizeof(*site));
	site->leaves = ab_tls_memo_new(LEAVES, free_leaf);
	site->sessions = ab_tls_memo_new(SESSIONS, free_session);
	site->roots = ab_strndup(setup->roots, setup->roots_len);
	site->roots_len = setup->roots_len;
	site->bio = ab_tls_bio_method();
	site->authority_key = EVP_EC_gen("P-256");
	site->leaf_key = EVP_EC_gen("P-256");
	if (site->authority_key)
		site->authority = ab_tls_authority_make(site->authority_key, setup->hosts);
	if (!site->bio || !site->leaf_key || !site->authority || !encode_authority(site)) {
		fail_with_queue(err, "create the run's certificate authority");
		ab_tls_site_free(site);
		return -1;
	}
	*ret = site;
	return 0;
}

void ab_tls_site_free(struct ab_tls_site *site)
{
	if (!site)
		return;
	ab_tls_memo_free(site->leaves);
	ab_tls_memo_free(site->sessions);
	SSL_CTX_free(site->server);
	SSL_CTX_free(site->client);
	BIO_meth_free(site->bio);
	X509_free(site->authority);
	EVP_PKEY_free(site->authority_key); /* clears it */
	EVP_PKEY_free(site->leaf_key);
	OPENSSL_free(site->der);
	ab_free_all(site->pem, site->roots, site);
}

const char *ab_tls_site_pem(const struct ab_tls_site *site)
{
	return site->pem;
}

const uint8_t *ab_tls_site_der(const struct ab_tls_site *site, size_t *ret_len)
{
	*ret_len = site->der_len;
	return site->der;
}

X509 *ab_tls_site_leaf(struct ab_tls_site *site, const struct ab_host *name)
{
	X509 *leaf = ab_tls_memo_get(site->leaves, name->text);

	if (leaf)
		return leaf;
	leaf = ab_tls_leaf_make(site, name);
	if (leaf)
		ab_tls_memo_put(site->leaves, name->text, leaf);
	return leaf;
}

/*
 * The cheapest of the common ciphers comes first: AES with 128 bits. A client
 * that prefers ChaCha20 has no AES instructions.
 */
static SSL_CTX *new_context(const SSL_METHOD *method)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (!ctx)
		return NULL;
	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
					 SSL_OP_CIPHER_SERVER_PREFERENCE |
					 SSL_OP_PRIORITIZE_CHACHA);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	/* A peer that sends only key updates must not block the thread. */
	SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, READ_ROOM);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
	    SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:"
					  "TLS_AES_256_GCM_SHA384:"
					  "TLS_CHACHA20_POLY1305_SHA256") == 1)
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

/* HTTP/1.1 first, if it is one of them. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
			   const unsigned char *in, unsigned int in_len, void *arg)
{
	static const char *const lists[] = { "", AB_ALPN_HTTP1, AB_ALPN_H2,
					     AB_ALPN_HTTP1 AB_ALPN_H2 };
	struct ab_tls *tls = SSL_get_app_data(ssl);
	const char *list = lists[tls->protocols];

	(void)arg;
	if (SSL_select_next_proto((unsigned char **)(uintptr_t)out, out_len, (const uint8_t *)list,
				  (unsigned int)strlen(list), in, in_len) == OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_OK;
	tls->no_protocol = true;
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The name in the extension; false: malformed. */
static bool read_name(const uint8_t *ext, size_t len, struct ab_host *ret)
{
	size_t name_len;

	if (len < 5 || ext[2] != TLSEXT_NAMETYPE_host_name ||
	    (size_t)(ext[0] << 8 | ext[1]) != len - 2)
		return false;
	name_len = (size_t)(ext[3] << 8 | ext[4]);
	return name_len == len - 5 &&
	       ab_host_parse((const char *)ext + 5, name_len, ret, NULL) == 0;
}

/*
 * Called for each hello, also the second of a handshake. Another name would
 * mean a request to a host that was not judged.
 */
static int check_hello(SSL *ssl, int *alert, void *arg)
{
	struct ab_tls *tls = SSL_get_app_data(ssl);
	const unsigned char *ext;
	size_t len;
	struct ab_host name;

	(void)arg;
	if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &ext, &len) != 1)
		return SSL_CLIENT_HELLO_SUCCESS;
	if (read_name(ext, len, &name) && name.kind == tls->name.kind &&
	    strcmp(name.text, tls->name.text) == 0)
		return SSL_CLIENT_HELLO_SUCCESS;
	tls->wrong_name = true;
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	return SSL_CLIENT_HELLO_ERROR;
}

/* Tickets are encrypted with this context's own key and bound to the name by
 * the session id context (bind_sessions). */
SSL_CTX *ab_tls_site_server(struct ab_tls_site *site)
{
	SSL_CTX *ctx = site->server;

	if (ctx)
		return ctx;
	ctx = new_context(TLS_server_method());
	if (!ctx)
		return NULL;
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 1);
	/* Every client supports one of them, and the others cost far more. */
	if (SSL_CTX_set1_groups_list(ctx, "X25519:P-256") != 1) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
	SSL_CTX_set_client_hello_cb(ctx, check_hello, NULL);
	site->server = ctx;
	return ctx;
}

/* Skip blocks that are not certificates, as other programs do. */
static bool load_roots(const struct ab_tls_site *site, X509_STORE *store)
{
	BIO *text = BIO_new_mem_buf(site->roots, (int)site->roots_len);
	bool any = false;

	while (text && !BIO_eof(text)) {
		X509 *root = PEM_read_bio_X509(text, NULL, NULL, NULL);

		if (root)
			any |= X509_STORE_add_cert(store, root) == 1;
		X509_free(root);
	}
	BIO_free(text);
	ERR_clear_error();
	return any;
}

/* Keep a resumable session under the name that its server's certificate was
 * verified for. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct ab_tls *tls = SSL_get_app_data(ssl);

	if (SSL_get_verify_result(ssl) != X509_V_OK)
		return 0;
	ab_tls_memo_put(tls->site->sessions, tls->name.text, session);
	return 1; /* takes the reference */
}

SSL_SESSION *ab_tls_site_session(struct ab_tls_site *site, const struct ab_host *name)
{
	SSL_SESSION *session = ab_tls_memo_get(site->sessions, name->text);
	X509 *cert = session ? SSL_SESSION_get0_peer(session) : NULL;

	/* A resumed session sends no certificate, so check the expiry of the
	 * one that was sent. */
	if (cert && SSL_SESSION_is_resumable(session) &&
	    X509_cmp_current_time(X509_get0_notAfter(cert)) > 0)
		return session;
	ab_tls_memo_put(site->sessions, name->text, NULL);
	return NULL;
}

SSL_CTX *ab_tls_site_client(struct ab_tls_site *site, const char **ret_why)
{
	SSL_CTX *ctx = site->client;

	if (ctx)
		return ctx;
	*ret_why = "the TLS library failed";
	ctx = new_context(TLS_client_method());
	if (!ctx)
		return NULL;
	/* A response may contain a secret. */
	SSL_CTX_set_options(ctx, SSL_OP_CLEANSE_PLAINTEXT);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, ab_tls_note_certificate);
	X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, keep_session);
	if (!load_roots(site, SSL_CTX_get_cert_store(ctx))) {
		*ret_why = "this machine has no root certificates to verify it with";
		SSL_CTX_free(ctx);
		return NULL;
	}
	site->client = ctx;
	return ctx;
}

struct kept {
	char *name;
	void *value;
	uint64_t used;
};

struct ab_tls_memo {
	size_t room;
	uint64_t clock;
	void (*drop)(void *value);
	struct kept kept[];
};

struct ab_tls_memo *ab_tls_memo_new(size_t room, void (*drop)(void *value))
{
	struct ab_tls_memo *memo = ab_alloc(sizeof(*memo) + room * sizeof(memo->kept[0]));

	memo->room = room;
	memo->drop = drop;
	return memo;
}

static void drop_kept(struct ab_tls_memo *memo, struct kept *kept)
{
	if (kept->value)
		memo->drop(kept->value);
	free(kept->name);
	*kept = (struct kept){ 0 };
}

void ab_tls_memo_free(struct ab_tls_memo *memo)
{
	if (!memo)
		return;
	for (size_t i = 0; i < memo->room; i++)
		drop_kept(memo, &memo->kept[i]);
	free(memo);
}

static bool is_of(const struct kept *kept, const char *name)
{
	return kept->name && strcmp(kept->name, name) == 0;
}

/* That of the name, or else the least recently used one. */
static struct kept *find_kept(struct ab_tls_memo *memo, const char *name)
{
	struct kept *least = memo->kept;

	for (size_t i = 0; i < memo->room; i++) {
		if (is_of(&memo->kept[i], name))
			return &memo->kept[i];
		if (memo->kept[i].used < least->used)
			least = &memo->kept[i];
	}
	return least;
}

void *ab_tls_memo_get(struct ab_tls_memo *memo, const char *name)
{
	struct kept *kept = find_kept(memo, name);

	if (!is_of(kept, name))
		return NULL;
	kept->used = ++memo->clock;
	return kept->value;
}

void ab_tls_memo_put(struct ab_tls_memo *memo, const char *name, void *value)
{
	struct kept *kept = find_kept(memo, name);

	if (value || is_of(kept, name))
		drop_kept(memo, kept);
	if (value)
		*kept = (struct kept){ .name = ab_strdup(name),
				       .value = value,
				       .used = ++memo->clock };
}
