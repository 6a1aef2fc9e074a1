/*
 * The certificates of a run: its authority, and one leaf per name.
 *
 * The name constraint is a second line of defence for verifiers that apply it
 * to roots; no guarantee depends on it. A DNS constraint means the name and all
 * names below it: the standard has no other form. (Not every verifier knows the
 * form with a leading dot, which excludes the name itself.)
 */
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

/* Takes ownership of `value`; NULL: the library could not create it. */
static bool add_extension(X509 *cert, int nid, bool critical, const ASN1_ITEM *item, void *value)
{
	bool done = value && X509_add1_ext_i2d(cert, nid, value, critical, 0) == 1;

	ASN1_item_free(value, item);
	return done;
}

static bool add_basic(X509 *cert)
{
	BASIC_CONSTRAINTS *basic = BASIC_CONSTRAINTS_new();

	if (basic) {
		basic->ca = 0xff;
		basic->pathlen = ASN1_INTEGER_new();
	}
	if (!basic || !basic->pathlen || ASN1_INTEGER_set(basic->pathlen, 0) != 1) {
		BASIC_CONSTRAINTS_free(basic);
		return false;
	}
	return add_extension(cert, NID_basic_constraints, true, ASN1_ITEM_rptr(BASIC_CONSTRAINTS),
			     basic);
}

static bool add_usage(X509 *cert, int bit)
{
	ASN1_BIT_STRING *bits = ASN1_BIT_STRING_new();

	if (bits && ASN1_BIT_STRING_set_bit(bits, bit, 1) != 1) {
		ASN1_BIT_STRING_free(bits);
		return false;
	}
	return add_extension(cert, NID_key_usage, true, ASN1_ITEM_rptr(ASN1_BIT_STRING), bits);
}

static ASN1_OCTET_STRING *make_key_id(const X509 *cert)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	ASN1_OCTET_STRING *id = ASN1_OCTET_STRING_new();

	if (id && (X509_pubkey_digest(cert, EVP_sha256(), digest, NULL) != 1 ||
		   ASN1_OCTET_STRING_set(id, digest, KEYID) != 1)) {
		ASN1_OCTET_STRING_free(id);
		return NULL;
	}
	return id;
}

static bool add_key_ids(X509 *cert, const X509 *issuer)
{
	AUTHORITY_KEYID *of_issuer;

	if (!add_extension(cert, NID_subject_key_identifier, false,
			   ASN1_ITEM_rptr(ASN1_OCTET_STRING), make_key_id(cert)))
		return false;
	if (!issuer)
		return true;
	of_issuer = AUTHORITY_KEYID_new();
	if (of_issuer)
		of_issuer->keyid = make_key_id(issuer);
	if (of_issuer && !of_issuer->keyid) {
		AUTHORITY_KEYID_free(of_issuer);
		return false;
	}
	return add_extension(cert, NID_authority_key_identifier, false,
			     ASN1_ITEM_rptr(AUTHORITY_KEYID), of_issuer);
}

/* The bytes of an address; in a constraint its mask follows. */
static ASN1_OCTET_STRING *make_address(const uint8_t *addr, size_t len, const uint8_t *mask)
{
	ASN1_OCTET_STRING *bytes = ASN1_OCTET_STRING_new();
	uint8_t both[32];

	memcpy(both, addr, len);
	if (mask)
		memcpy(both + len, mask, len);
	if (bytes && ASN1_OCTET_STRING_set(bytes, both, (int)(mask ? 2 * len : len)) != 1) {
		ASN1_OCTET_STRING_free(bytes);
		return NULL;
	}
	return bytes;
}

static size_t address_len(const struct ab_host *host)
{
	return host->kind == AB_HOST_IPV4 ? 4 : 16;
}

static GENERAL_NAME *make_general_name(int type, ASN1_STRING *value)
{
	GENERAL_NAME *name = value ? GENERAL_NAME_new() : NULL;

	if (name)
		GENERAL_NAME_set0_value(name, type, value);
	else
		ASN1_STRING_free(value);
	return name;
}

static GENERAL_NAME *make_dns_name(const char *text)
{
	ASN1_IA5STRING *value = ASN1_IA5STRING_new();

	if (value && ASN1_STRING_set(value, text, -1) != 1) {
		ASN1_IA5STRING_free(value);
		return NULL;
	}
	return make_general_name(GEN_DNS, value);
}

static GENERAL_NAME *make_host_name(const struct ab_host *host)
{
	if (host->kind == AB_HOST_NAME)
		return make_dns_name(host->text);
	return make_general_name(GEN_IPADD, make_address(host->addr, address_len(host), NULL));
}

static GENERAL_NAME *make_address_range(const uint8_t *addr, size_t len, unsigned bits)
{
	uint8_t mask[16] = { 0 };

	for (unsigned i = 0; i < bits; i++)
		mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	return make_general_name(GEN_IPADD, make_address(addr, len, mask));
}

/* Takes ownership of `base`. */
static bool add_subtree(STACK_OF(GENERAL_SUBTREE) * *trees, GENERAL_NAME *base)
{
	GENERAL_SUBTREE *tree = base ? GENERAL_SUBTREE_new() : NULL;

	if (!*trees)
		*trees = sk_GENERAL_SUBTREE_new_null();
	if (!tree || !*trees) {
		GENERAL_NAME_free(base);
		GENERAL_SUBTREE_free(tree);
		return false;
	}
	GENERAL_NAME_free(tree->base);
	tree->base = base;
	if (sk_GENERAL_SUBTREE_push(*trees, tree) > 0)
		return true;
	GENERAL_SUBTREE_free(tree);
	return false;
}

/*
 * Permitted names of one type do not restrict the other type, so a type without
 * permitted names is excluded as a whole.
 */
static bool fill_constraints(NAME_CONSTRAINTS *nc, const struct ab_strv *hosts)
{
	static const uint8_t zero[16];
	bool seen[AB_HOST_IPV6 + 1] = { false }, done = true;

	for (size_t i = 0; i < hosts->len; i++) {
		struct ab_host_entry e;
		GENERAL_NAME *base;

		if (ab_host_entry_parse(hosts->v[i], strlen(hosts->v[i]), &e, NULL) < 0)
			return false;
		seen[e.host.kind] = true;
		base = e.host.kind == AB_HOST_NAME
			       ? make_dns_name(e.host.text)
			       : make_address_range(e.host.addr, address_len(&e.host), e.bits);
		done = done && add_subtree(&nc->permittedSubtrees, base);
	}
	if (!seen[AB_HOST_NAME])
		done = done && add_subtree(&nc->excludedSubtrees, make_dns_name(""));
	if (!seen[AB_HOST_IPV4])
		done = done && add_subtree(&nc->excludedSubtrees, make_address_range(zero, 4, 0));
	if (!seen[AB_HOST_IPV6])
		done = done && add_subtree(&nc->excludedSubtrees, make_address_range(zero, 16, 0));
	return done;
}

static bool add_constraints(X509 *cert, const struct ab_strv *hosts)
{
	NAME_CONSTRAINTS *nc = NAME_CONSTRAINTS_new();

	if (nc && !fill_constraints(nc, hosts)) {
		NAME_CONSTRAINTS_free(nc);
		return false;
	}
	return add_extension(cert, NID_name_constraints, true, ASN1_ITEM_rptr(NAME_CONSTRAINTS),
			     nc);
}

static bool add_alternative(X509 *cert, const struct ab_host *host)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *name = make_host_name(host);

	if (!names || !name || sk_GENERAL_NAME_push(names, name) <= 0) {
		GENERAL_NAME_free(name);
		GENERAL_NAMES_free(names);
		return false;
	}
	return add_extension(cert, NID_subject_alt_name, false, ASN1_ITEM_rptr(GENERAL_NAMES),
			     names);
}

static bool add_purpose(X509 *cert)
{
	EXTENDED_KEY_USAGE *usage = EXTENDED_KEY_USAGE_new();

	if (!usage || sk_ASN1_OBJECT_push(usage, OBJ_nid2obj(NID_server_auth)) <= 0) {
		EXTENDED_KEY_USAGE_free(usage);
		return false;
	}
	return add_extension(cert, NID_ext_key_usage, false, ASN1_ITEM_rptr(EXTENDED_KEY_USAGE),
			     usage);
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
	bool good = cert && begin_certificate(cert, "agentbox run authority") &&
		    set_raw_key(cert, key) &&
		    X509_set_issuer_name(cert, X509_get_subject_name(cert)) && add_basic(cert) &&
		    add_usage(cert, 5 /* keyCertSign */) && add_constraints(cert, hosts) &&
		    add_key_ids(cert, NULL);

	return sign_certificate(cert, good, key);
}

X509 *ab_tls_leaf_make(const struct ab_tls_site *site, const struct ab_host *name)
{
	/* Verifiers treat an address here as a name outside the constraint. */
	bool fits = name->kind == AB_HOST_NAME && strlen(name->text) <= COMMON_NAME_MAX;
	const char *subject = fits ? name->text : "a host of this run";
	X509 *cert = X509_new();
	bool good = cert && begin_certificate(cert, subject) &&
		    X509_set_pubkey(cert, site->leaf_key) == 1 &&
		    X509_set_issuer_name(cert, X509_get_subject_name(site->authority)) &&
		    add_alternative(cert, name) && add_purpose(cert) &&
		    add_usage(cert, 0 /* digitalSignature */) && add_key_ids(cert, site->authority);

	return sign_certificate(cert, good, site->authority_key);
}
