/*
 * TLS at both doors: who is believed, who is refused, and how it is said.
 * Every refusal has a twin that differs in one thing and passes.
 */
#include "proxy/io/tls.h"

#include "tls_certs.h"

static struct ab_tls_site *box; /* is api.example.com towards clients */
static struct ab_tls_site *out; /* trusts `root`, and the authority of box */
static X509 *authority;		/* of box, as its clients read it */
static struct cert root;

static void say_and_hear(struct ab_tls *a, struct ab_tls *b, const char *name)
{
	char text[64];

	wake();
	ok(ab_tls_write(a, "hello", 5) == 5 && read_all(b, text, 5) == 5 &&
		   memcmp(text, "hello", 5) == 0 && ab_tls_write(b, "answer", 6) == 6 &&
		   read_all(a, text, 6) == 6 && memcmp(text, "answer", 6) == 0,
	   "%s: bytes pass both ways", name);
}

/* Both ends ours: what the run's authority can vouch for. */
static void meet(const char *as, const char *why)
{
	struct ab_tls *a, *b;

	open_pair(0);
	a = accept_as(box, as);
	b = connect_to(out, &far, as);
	ok(shake(a, b) == !*why, "%s is %s", as, *why ? "refused" : "taken");
	is_str(ab_tls_why(b), why, "and that is why");
	if (!*why)
		say_and_hear(a, b, as);
	ab_tls_free(a);
	ab_tls_free(b);
	close_pair();
}

static void names(void)
{
	meet("api.example.com", "");
	meet("a.wild.example.com", "");
	meet("192.0.2.7", "");
	meet("api.example.org", "its certificate has a name that its authority may not certify");
	meet("192.0.3.7", "its certificate has a name that its authority may not certify");
	meet("2001:db8::1", "its certificate has a name that its authority may not certify");
}

/* A server with such a certificate, dialled as www.host.example. */
static void server(const struct cert_spec *spec, const char *why, const char *name)
{
	struct cert c = make_cert(spec, &root);
	struct ab_tls *tls;
	SSL *plain;

	open_pair(0);
	plain = plain_on_far(plain_server(&c), false);
	tls = connect_to(out, &near, "www.host.example");
	ok(shake_plain(tls, plain) == !*why, "a server's certificate: %s", name);
	is_str(ab_tls_why(tls), why, "and that is why");
	ab_tls_free(tls);
	SSL_free(plain);
	close_pair();
	free_cert(&c);
	/* The next one begins anew. */
	ab_tls_memo_put(out->sessions, "www.host.example", NULL);
}

static void servers(void)
{
	const char *good = "DNS:www.host.example";

	server(&(struct cert_spec){ good }, "", "good");
	server(&(struct cert_spec){ "DNS:a.example,DNS:www.host.example" }, "", "one of its names");
	server(&(struct cert_spec){ "DNS:*.host.example" }, "", "a wildcard");
	server(&(struct cert_spec){ good, -7200, -3600 }, "its certificate has expired", "expired");
	server(&(struct cert_spec){ good, 3600, 7200 }, "its certificate is not valid yet",
	       "of tomorrow");
	server(&(struct cert_spec){ "DNS:b.example" },
	       "its certificate is for b.example, not for www.host.example", "another name");
	server(&(struct cert_spec){ "DNS:*.b.example,DNS:c,DNS:d" },
	       "its certificate is for *.b.example and 2 other names, "
	       "not for www.host.example",
	       "other names");
	server(&(struct cert_spec){ "DNS:w*.host.example" },
	       "its certificate is not for www.host.example", "half a wildcard");
	server(&(struct cert_spec){ "IP:192.0.2.1" }, "its certificate is not for www.host.example",
	       "an address");
	server(&(struct cert_spec){ good, .self_signed = true }, "its certificate is self-signed",
	       "self-signed");
	server(&(struct cert_spec){ good, .weak = true }, "its certificate has a weak key",
	       "a weak key");
	server(&(struct cert_spec){ good, .usage = "clientAuth" },
	       "its certificate is not for servers", "a client's");
}

/* A bundle of roots, and what becomes of a good server with it. */
static void bundle(const char *roots, const char *why, const char *name)
{
	struct ab_tls_site *site = SITE_FOR(roots, "unused.example");
	struct cert c = make_cert(&(struct cert_spec){ "DNS:www.host.example" }, &root);
	struct ab_tls *tls;
	SSL *plain;

	open_pair(0);
	plain = plain_on_far(plain_server(&c), false);
	tls = connect_to(site, &near, "www.host.example");
	ok(shake_plain(tls, plain) == !*why, "roots: %s", name);
	is_str(ab_tls_why(tls), why, "and that is why");
	ab_tls_free(tls);
	SSL_free(plain);
	close_pair();
	free_cert(&c);
	ab_tls_site_free(site);
}

static void bundles(void)
{
	struct cert other = make_cert(&(struct cert_spec){ .common = "b" }, NULL);
	ab_autofree char *good = cert_pem(&root);
	ab_autofree char *strange = cert_pem(&other);
	ab_autofree char *mixed =
		ab_printf("# text\n-----BEGIN CERTIFICATE-----\nAAAA\n"
			  "-----END CERTIFICATE-----\n%s-----BEGIN CERTIFICATE-----\n",
			  good);

	bundle(good, "", "the server's");
	bundle(mixed, "", "the server's among bad blocks");
	bundle(strange,
	       "its certificate is from an authority that this machine does "
	       "not trust",
	       "others");
	bundle("", "this machine has no root certificates to verify it with", "none");
	bundle("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	       "this machine has no root certificates to verify it with", "only bad blocks");
	free_cert(&other);
}

/* A server that is good but for how it speaks. */
static int choose_first(SSL *ssl, const unsigned char **out_name, unsigned char *len,
			const unsigned char *in, unsigned int in_len, void *arg)
{
	(void)ssl;
	(void)in;
	(void)in_len;
	*out_name = arg;
	*len = (unsigned char)strlen(arg);
	return SSL_TLSEXT_ERR_OK;
}

static void talks(int max_version, const char *protocol, const char *why, const char *name)
{
	struct cert c = make_cert(&(struct cert_spec){ "DNS:www.host.example" }, &root);
	SSL_CTX *ctx = plain_server(&c);
	struct ab_tls *tls;
	SSL *plain;

	SSL_CTX_set_max_proto_version(ctx, max_version);
	if (protocol)
		SSL_CTX_set_alpn_select_cb(ctx, choose_first, (void *)protocol);
	open_pair(0);
	plain = plain_on_far(ctx, false);
	tls = connect_to(out, &near, "www.host.example");
	shake_plain(tls, plain);
	/* Older versions of OpenSSL accept a protocol that was not offered; then our own check says no. */
	if (protocol && strcmp(protocol, "h2") == 0 && ab_tls_no_protocol(tls))
		why = "the server does not support HTTP/1.1";
	is_str(ab_tls_why(tls), why, name);
	ok(ab_tls_no_protocol(tls) == (strstr(why, "HTTP/1.1") != NULL), "%s: is it about HTTP",
	   name);
	ab_tls_free(tls);
	SSL_free(plain);
	close_pair();
	free_cert(&c);
	ab_tls_memo_put(out->sessions, "www.host.example", NULL);
}

static void no_tls(void)
{
	struct ab_tls *tls;
	int i;

	open_pair(0);
	tls = connect_to(out, &near, "www.host.example");
	if (write(far.source.fd, "HTTP/1.1 400 Bad\r\n\r\n", 20) != 20)
		abort();
	ok(ab_tls_handshake(tls) == AB_TLS_FAILED, "plain text is no TLS");
	is_str(ab_tls_why(tls), "the server does not use TLS", "and that is why");
	ab_tls_free(tls);
	close_pair();

	open_pair(0);
	tls = connect_to(out, &near, "www.host.example");
	ok(ab_tls_handshake(tls) == AB_TLS_WAIT && !near.readable && near.writable,
	   "a handshake waits for the peer's bytes");
	shutdown(far.source.fd, SHUT_RDWR);
	for (i = 0; i < 3 && ab_tls_handshake(tls) == AB_TLS_WAIT; i++)
		wake();
	is_str(ab_tls_why(tls), "the server closed the connection during the handshake",
	       "a peer that hangs up");
	ab_tls_free(tls);
	close_pair();
}

/* A client of the box: what it asks for, and what is said. */
struct client {
	const char *sni;  /* NULL: none */
	const char *alpn; /* as on the wire; NULL: none */
	int max_version;
	bool trusts; /* our authority; else it checks and refuses */
	const char *groups;
	const char *sni2; /* in the second hello */
};

static SSL *client_end(const struct client *c)
{
	SSL_CTX *ctx = plain_client();
	SSL *ssl;

	SSL_CTX_set_security_level(ctx, 0);
	if (c->max_version)
		SSL_CTX_set_max_proto_version(ctx, c->max_version);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (c->trusts)
		X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), authority);
	ssl = plain_on_far(ctx, true);
	if (c->sni)
		SSL_set_tlsext_host_name(ssl, c->sni);
	if (c->alpn)
		SSL_set_alpn_protos(ssl, (const uint8_t *)c->alpn, (unsigned)strlen(c->alpn));
	if (c->groups)
		SSL_set1_groups_list(ssl, c->groups);
	return ssl;
}

static void client(const struct client *c, const char *why, const char *name)
{
	struct ab_tls *tls;
	SSL *plain;

	open_pair(0);
	tls = accept_as(box, "api.example.com");
	plain = client_end(c);
	if (c->sni2) { /* the first hello goes out with the first name */
		SSL_do_handshake(plain);
		SSL_set_tlsext_host_name(plain, c->sni2);
	}
	ok(shake_plain(tls, plain) == !*why, "a client: %s", name);
	is_str(ab_tls_why(tls), why, "and that is why");
	ok(ab_tls_no_protocol(tls) == (strstr(why, "HTTP/1.1") != NULL), "%s: is it about HTTP",
	   name);
	ab_tls_free(tls);
	SSL_free(plain);
	close_pair();
}

static void clients(void)
{
	const char *own = "api.example.com";
	const char *h2 = "\x02h2", *both = "\x02h2\x08http/1.1";
	const char *another = "the client asked for another host";
	const char *h2_only = "the client does not support HTTP/1.1";

	client(&(struct client){ own, both, 0, true }, "", "usual");
	client(&(struct client){ own, NULL, 0, true }, "", "no ALPN");
	client(&(struct client){ own, h2, 0, true }, h2_only, "only HTTP/2");
	client(&(struct client){ own, both, TLS1_2_VERSION, true }, "", "TLS 1.2");
	client(&(struct client){ own, h2, TLS1_2_VERSION, true }, h2_only,
	       "TLS 1.2 and only HTTP/2");
	client(&(struct client){ own, both, TLS1_1_VERSION, true },
	       "the client does not support TLS 1.2 or later", "TLS 1.1");
	client(&(struct client){ own, both, 0, false },
	       "the client does not trust the box's certificate authority",
	       "without our authority");
	client(&(struct client){ own, both, TLS1_2_VERSION, false },
	       "the client does not trust the box's certificate authority",
	       "TLS 1.2 without our authority");
	client(&(struct client){ NULL, both, 0, true }, "", "no name");
	client(&(struct client){ "API.Example.COM", both, 0, true }, "", "the name in capitals");
	client(&(struct client){ "b.example.com", both, 0, true }, another, "another name");
	client(&(struct client){ own, both, 0, true, "P-384:X25519" }, "", "two hellos");
	client(&(struct client){ own, both, 0, true, "P-384:X25519", own }, "",
	       "two hellos with one name");
	client(&(struct client){ own, both, 0, true, "P-384:X25519", "b.example.com" }, another,
	       "two hellos, the second with another name");
}

/* What verifiers other than ours look for. */
static void look_at_authority(void)
{
	size_t der_len;
	const uint8_t *der = ab_tls_site_der(box, &der_len), *p = der;
	const char *pem = ab_tls_site_pem(box);
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	X509_STORE *store = X509_STORE_new();
	struct ab_host h = host("api.example.com");
	int critical = 0;

	authority = d2i_X509(NULL, &p, (long)der_len);
	ok(authority && p == der + der_len, "the authority as DER");
	ok(strncmp(pem, "-----BEGIN CERTIFICATE-----\n", 28) == 0 && pem[strlen(pem) - 1] == '\n',
	   "and as PEM with a last newline");
	ok(X509_check_ca(authority) == 1 && X509_get_pathlen(authority) == 0 &&
		   X509_get_key_usage(authority) == KU_KEY_CERT_SIGN,
	   "it signs certificates of servers, and nothing else");
	NAME_CONSTRAINTS_free(X509_get_ext_d2i(authority, NID_name_constraints, &critical, NULL));
	ok(critical == 1, "its names are constrained");
	X509_STORE_add_cert(store, authority);
	X509_STORE_CTX_init(ctx, store, ab_tls_site_leaf(box, &h), NULL);
	X509_STORE_CTX_set_flags(ctx, X509_V_FLAG_X509_STRICT);
	X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_SERVER);
	ok(X509_verify_cert(ctx) == 1, "a strict verifier takes a leaf");
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
}

/* A sanitizer's memory is too large to be looked through. */
#ifndef AB_SANITIZED
enum { KEY = 32 };

/* How often these bytes, which are given inverted so that they are not found
 * where they are given, are in memory that can be written. */
static unsigned in_memory(const uint8_t inverted[KEY])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[8];
	unsigned long from, to;
	unsigned found = 0;
	size_t i;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 ||
		    strncmp(mode, "rw", 2) != 0)
			continue;
		for (const uint8_t *p = (const uint8_t *)from; p + KEY <= (const uint8_t *)to;
		     p += 8) {
			for (i = 0; i < KEY && (p[i] ^ inverted[i]) == 0xff;)
				i++;
			found += i == KEY;
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

/* The library keeps numbers as words, the least first. */
static void invert_key(const EVP_PKEY *key, uint8_t inverted[KEY])
{
	BIGNUM *number = NULL;

	if (EVP_PKEY_get_bn_param(key, "priv", &number) != 1 ||
	    BN_bn2lebinpad(number, inverted, KEY) != KEY)
		abort();
	BN_clear_free(number);
	for (int i = 0; i < KEY; i++)
		inverted[i] ^= 0xff;
}

static void __attribute__((noinline)) wipe_stack(void)
{
	char below[65536];

	explicit_bzero(below, sizeof(below));
}

/* OpenSSL 3.0.2 leaves the number on the stack, here far below what the code under test left there. */
static void __attribute__((noinline))
invert_keys(const struct ab_tls_site *site, uint8_t authority_key[KEY], uint8_t leaf_key[KEY])
{
	volatile char above[262144] __attribute__((unused));

	above[0] = 0;
	invert_key(site->authority_key, authority_key);
	invert_key(site->leaf_key, leaf_key);
	wipe_stack();
}

static void wiped(void)
{
	struct ab_tls_site *site = SITE_FOR("", "api.example.com");
	struct ab_host h = host("api.example.com");
	uint8_t authority_key[KEY], leaf_key[KEY];

	ab_tls_site_leaf(site, &h);
	invert_keys(site, authority_key, leaf_key);
	ok(in_memory(authority_key) && in_memory(leaf_key),
	   "the keys are in memory while they are needed");
	ab_tls_site_free(site);
	ok(!in_memory(authority_key) && !in_memory(leaf_key), "and nowhere after it");
}
#endif

int main(void)
{
	ab_autofree char *roots = NULL, *root_pem = NULL;

	ok(ab_tls_initialised() == 0, "the library is not touched before");
	box = SITE_FOR("", "api.example.com", "*.wild.example.com", "192.0.2.0/24");
	ok(box && ab_tls_initialised() == 1, "the first site initialises it");
	root = make_cert(&(struct cert_spec){ 0 }, NULL);
	root_pem = cert_pem(&root);
	roots = ab_printf("%s%s", root_pem, ab_tls_site_pem(box));
	out = SITE_FOR(roots, "unused.example");
	ok(out && ab_tls_initialised() == 1, "the second does not");
	look_at_authority();
	names();
	servers();
	bundles();
	talks(0, NULL, "", "a server without ALPN");
	talks(TLS1_2_VERSION, "http/1.1", "", "a server of TLS 1.2");
	talks(TLS1_1_VERSION, NULL, "the server does not support TLS 1.2 or later",
	      "a server of TLS 1.1");
	talks(0, "h2", "the handshake failed: bad extension", "a server that chooses HTTP/2");
	no_tls();
#ifndef AB_SANITIZED
	wiped();
#endif
	clients();
	ab_tls_site_free(box);
	ab_tls_site_free(out);
	X509_free(authority);
	free_cert(&root);
	return done();
}
