#ifndef AB_TEST_TLS_CERTS_H
#define AB_TEST_TLS_CERTS_H
/* Certificates as servers have them, good and bad, below one root. */
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "tls_help.h"

struct cert_spec {
	const char *names; /* of subjectAltName; NULL: it is a root */
	long from, to;	   /* seconds from now; 0, 0: a day around it */
	bool self_signed;
	bool weak;	    /* RSA with 1024 bits */
	const char *usage;  /* NULL: serverAuth */
	const char *common; /* NULL: of a server or of a root */
};

struct cert {
	X509 *x509;
	EVP_PKEY *key;
};

static inline void put_extension(X509 *cert, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (!ext || X509_add_ext(cert, ext, -1) != 1)
		abort();
	X509_EXTENSION_free(ext);
}

static inline struct cert make_cert(const struct cert_spec *spec, const struct cert *issuer)
{
	static long serial = 1;
	const char *common = spec->common ? spec->common : spec->names ? "a server" : "a root";
	struct cert c = { X509_new(), spec->weak ? EVP_RSA_gen(1024) : EVP_EC_gen("P-256") };

	X509_set_version(c.x509, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(c.x509), serial++);
	X509_gmtime_adj(X509_getm_notBefore(c.x509), spec->from ? spec->from : -86400);
	X509_gmtime_adj(X509_getm_notAfter(c.x509), spec->to ? spec->to : 86400);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(c.x509), "CN", MBSTRING_ASC,
				   (const uint8_t *)common, -1, -1, 0);
	if (!issuer || spec->self_signed)
		issuer = &c;
	X509_set_issuer_name(c.x509, X509_get_subject_name(issuer->x509));
	X509_set_pubkey(c.x509, c.key);
	if (spec->names) {
		put_extension(c.x509, NID_subject_alt_name, spec->names);
		put_extension(c.x509, NID_ext_key_usage, spec->usage ? spec->usage : "serverAuth");
	} else {
		put_extension(c.x509, NID_basic_constraints, "critical,CA:TRUE");
	}
	if (X509_sign(c.x509, issuer->key, EVP_sha256()) <= 0)
		abort();
	return c;
}

static inline void free_cert(struct cert *c)
{
	X509_free(c->x509);
	EVP_PKEY_free(c->key);
}

static inline char *cert_pem(const struct cert *c)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *data, *text;
	long len;

	PEM_write_bio_X509(bio, c->x509);
	len = BIO_get_mem_data(bio, &data);
	text = ab_strndup(data, (size_t)len);
	BIO_free(bio);
	return text;
}

/* A context of a server that has this certificate; level 0, so that the
 * other end is the one that refuses. */
static inline SSL_CTX *plain_server(const struct cert *c)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	SSL_CTX_set_security_level(ctx, 0);
	if (SSL_CTX_use_certificate(ctx, c->x509) != 1 || SSL_CTX_use_PrivateKey(ctx, c->key) != 1)
		abort();
	return ctx;
}

#endif
