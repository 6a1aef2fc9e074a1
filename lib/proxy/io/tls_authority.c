/*
 * The certificates of a run: its authority, and one leaf per name.
 *
 * The name constraint is a second line of defence for verifiers that apply it
 * to roots; no guarantee depends on it. A DNS constraint means the name and all
 * names below it: the standard has no other form. (Not every verifier knows the
 * form with a leading dot, which excludes the name itself.)
 */
#include <arpa/inet.h>
#include <openssl/rand.h>

#include "proxy/io/tls_state.h"

enum {
	DAY = 24 * 60 * 60,
	LIFE = 30 * DAY, /* the key is lost with the run, long before */
	KEYID = 20,
	SERIAL = 16,
	COMMON_NAME_MAX = 64,
};

static bool set_serial(X509 *cert)
{
	uint8_t bytes[SERIAL];
	BIGNUM *number;
	bool done;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] = (bytes[0] & 0x7f) | 0x40; /* positive, and always full length */
	number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	done = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
	BN_free(number);
	return done;
}

static bool set_subject(X509 *cert, const char *text)
{
	return X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_UTF8,
					  (const unsigned char *)text, -1, -1, 0) == 1;
}

/* Add what the library makes of these values, whose names are those of its configuration files.
 * Frees them; NULL: there is no memory for them. */
static bool add_extension(X509 *cert, const X509 *issuer, int nid, bool critical,
			  STACK_OF(CONF_VALUE) * values)
{
	const X509V3_EXT_METHOD *method = X509V3_EXT_get_nid(nid);
	X509V3_CTX ctx = { .issuer_cert = (X509 *)(uintptr_t)issuer, .subject_cert = cert };
	void *made = values ? method->v2i(method, &ctx, values) : NULL;
	bool done = made && X509_add1_ext_i2d(cert, nid, made, critical, 0) == 1;

	ASN1_item_free(made, ASN1_ITEM_ptr(method->it));
	sk_CONF_VALUE_pop_free(values, X509V3_conf_free);
	return done;
}

static STACK_OF(CONF_VALUE) * make_value(const char *name, const char *value)
{
	STACK_OF(CONF_VALUE) *values = NULL;

	X509V3_add_value(name, value, &values);
	return values;
}

static bool add_basic(X509 *cert)
{
	STACK_OF(CONF_VALUE) *values = make_value("CA", "TRUE");

	X509V3_add_value("pathlen", "0", &values);
	return add_extension(cert, NULL, NID_basic_constraints, true, values);
}

static bool add_key_id(X509 *cert)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	ASN1_OCTET_STRING *id = ASN1_OCTET_STRING_new();
	bool done = id && X509_pubkey_digest(cert, EVP_sha256(), digest, NULL) == 1 &&
		    ASN1_OCTET_STRING_set(id, digest, KEYID) == 1 &&
		    X509_add1_ext_i2d(cert, NID_subject_key_identifier, id, 0, 0) == 1;

	ASN1_OCTET_STRING_free(id);
	return done;
}

/* "10.0.0.0/255.0.0.0" */
static bool permit_range(const struct ab_host_entry *e, STACK_OF(CONF_VALUE) * *values)
{
	char mask[INET6_ADDRSTRLEN], text[AB_HOST_TEXT + sizeof(mask)];
	uint8_t bytes[16] = { 0 };

	for (unsigned i = 0; i < e->bits; i++)
		bytes[i / 8] |= (uint8_t)(0x80 >> i % 8);
	inet_ntop(e->host.kind == AB_HOST_IPV4 ? AF_INET : AF_INET6, bytes, mask, sizeof(mask));
	snprintf(text, sizeof(text), "%s/%s", e->host.text, mask);
	return X509V3_add_value("permitted;IP", text, values) == 1;
}

/*
 * Permitted names of one type do not restrict the other type, so a type without
 * permitted names is excluded as a whole.
 */
static bool add_constraints(X509 *cert, const struct ab_strv *hosts)
{
	static const struct {
		const char *name, *value;
	} all[] = {
		[AB_HOST_NAME] = { "excluded;DNS", "" },
		[AB_HOST_IPV4] = { "excluded;IP", "0.0.0.0/0.0.0.0" },
		[AB_HOST_IPV6] = { "excluded;IP", "::/::" },
	};
	STACK_OF(CONF_VALUE) *values = NULL;
	bool seen[AB_COUNT(all)] = { false }, good = true;

	for (size_t i = 0; i < hosts->len && good; i++) {
		struct ab_host_entry e;

		good = ab_host_entry_parse(hosts->v[i], strlen(hosts->v[i]), &e, NULL) == 0 &&
		       (e.host.kind == AB_HOST_NAME
				? X509V3_add_value("permitted;DNS", e.host.text, &values) == 1
				: permit_range(&e, &values));
		if (good)
			seen[e.host.kind] = true;
	}
	for (size_t i = 0; i < AB_COUNT(all) && good; i++)
		good = seen[i] || X509V3_add_value(all[i].name, all[i].value, &values) == 1;
	return add_extension(cert, NULL, NID_name_constraints, true, values) && good;
}

/*
 * Set the key from its bytes. The library's function decodes what it has just
 * encoded, and first looks for a decoder: a third of a run's start time. A leaf
 * needs the decoded key, the authority does not.
 */
static bool set_raw_key(X509 *cert, EVP_PKEY *key)
{
	unsigned char *point = NULL;
	size_t len = EVP_PKEY_get1_encoded_public_key(key, &point);

	if (len && X509_PUBKEY_set0_param(X509_get_X509_PUBKEY(cert),
					  OBJ_nid2obj(NID_X9_62_id_ecPublicKey), V_ASN1_OBJECT,
					  OBJ_nid2obj(NID_X9_62_prime256v1), point, (int)len) == 1)
		return true;
	OPENSSL_free(point);
	return false;
}

/* The common fields. Valid from yesterday, in case another clock is behind. */
static bool begin_certificate(X509 *cert, const char *subject)
{
	return X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
	       set_subject(cert, subject) && X509_gmtime_adj(X509_getm_notBefore(cert), -DAY) &&
	       X509_gmtime_adj(X509_getm_notAfter(cert), LIFE);
}

static X509 *sign_certificate(X509 *cert, bool good, EVP_PKEY *signer)
{
	if (good && X509_sign(cert, signer, EVP_sha256()) > 0)
		return cert;
	X509_free(cert);
	return NULL;
}

X509 *ab_tls_authority_make(EVP_PKEY *key, const struct ab_strv *hosts)
{
	X509 *cert = X509_new();
	bool good =
		cert && begin_certificate(cert, "agentbox run authority") &&
		set_raw_key(cert, key) && X509_set_issuer_name(cert, X509_get_subject_name(cert)) &&
		add_basic(cert) &&
		add_extension(cert, NULL, NID_key_usage, true, make_value("keyCertSign", NULL)) &&
		add_constraints(cert, hosts) && add_key_id(cert);

	return sign_certificate(cert, good, key);
}

X509 *ab_tls_leaf_make(const struct ab_tls_site *site, const struct ab_host *name)
{
	/* Verifiers treat an address here as a name outside the constraint. */
	bool fits = name->kind == AB_HOST_NAME && strlen(name->text) <= COMMON_NAME_MAX;
	const char *subject = fits ? name->text : "a host of this run";
	X509 *cert = X509_new();
	bool good =
		cert && begin_certificate(cert, subject) &&
		X509_set_pubkey(cert, site->leaf_key) == 1 &&
		X509_set_issuer_name(cert, X509_get_subject_name(site->authority)) &&
		add_extension(cert, NULL, NID_subject_alt_name, false,
			      make_value(name->kind == AB_HOST_NAME ? "DNS" : "IP", name->text)) &&
		add_extension(cert, NULL, NID_ext_key_usage, false,
			      make_value("serverAuth", NULL)) &&
		add_extension(cert, NULL, NID_key_usage, true,
			      make_value("digitalSignature", NULL)) &&
		add_key_id(cert) &&
		add_extension(cert, site->authority, NID_authority_key_identifier, false,
			      make_value("keyid", NULL));

	return sign_certificate(cert, good, site->authority_key);
}
