#include "proxy/io/tls_ssh_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include "base/sign/ed25519.h"
#include "base/system/late.h"
#include "base/text/base64.h"
#include "base/text/sha256.h"
#include "proxy/io/tls_state.h"

enum { RSA_BITS_MIN = 2048, RSA_BITS_MAX = 16384, POINT_MAX = 133, DER_MAX = 160 };

int ab_ssh_key_prepare(struct ab_error *err)
{
	if (ab_late_relocate(err) < 0)
		return -1;
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
		return ab_fail(err, AB_ESYSTEM, 0, "the library for signatures failed");
	return 0;
}

void ab_ssh_key_fingerprint(struct ab_ssh_text key, char ret[AB_SSH_FINGERPRINT])
{
	uint8_t hash[AB_SHA256_SIZE];
	char digits[48];
	size_t n;

	ab_sha256_bytes(key.at, key.len, hash);
	n = ab_base64_encode(hash, sizeof(hash), AB_BASE64_STANDARD, digits);
	while (n && digits[n - 1] == '=')
		n--;
	snprintf(ret, AB_SSH_FINGERPRINT, "SHA256:%.*s", (int)n, digits);
}

void ab_ssh_name_hash(const uint8_t *key, size_t len, const char *text, uint8_t ret[20])
{
	unsigned int n = 20;

	if (!HMAC(EVP_sha1(), key, (int)len, (const uint8_t *)text, strlen(text), ret, &n))
		memset(ret, 0, 20);
}

static bool verify_ed25519(struct ab_ssh_reader *key, struct ab_ssh_text data,
			   struct ab_ssh_text bytes)
{
	struct ab_ssh_text shared = ab_ssh_string(key);

	return ab_ssh_ended(key) && shared.len == AB_ED25519_KEY &&
	       bytes.len == AB_ED25519_SIGNATURE &&
	       ab_ed25519_verify(shared.at, data.at, data.len, bytes.at);
}

bool ab_tls_verify(EVP_PKEY *key, const EVP_MD *hash, const void *data, size_t len,
		   const uint8_t *signature, size_t signature_len)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = ctx && EVP_DigestVerifyInit(ctx, NULL, hash, NULL, key) == 1 &&
		    EVP_DigestVerify(ctx, signature, signature_len, data, len) == 1;

	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return good;
}

/* With a key of these parameters. Frees them; `sound`: they are complete. */
static bool verify_with(const char *type, OSSL_PARAM_BLD *build, bool sound, const EVP_MD *hash,
			struct ab_ssh_text data, const uint8_t *signature, size_t len)
{
	OSSL_PARAM *params = sound ? OSSL_PARAM_BLD_to_param(build) : NULL;
	EVP_PKEY_CTX *ctx = params ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;
	EVP_PKEY *key = NULL;
	bool good = ctx && EVP_PKEY_fromdata_init(ctx) == 1 &&
		    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) == 1 &&
		    ab_tls_verify(key, hash, data.at, data.len, signature, len);

	EVP_PKEY_free(key);
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	return good;
}

/* A number without a sign, of at most this many bits; NULL: it is not one. */
static BIGNUM *take_number(struct ab_ssh_reader *r, int bits)
{
	struct ab_ssh_text n = ab_ssh_string(r);

	if (r->bad || !n.len || n.at[0] & 0x80 || n.len > (size_t)bits / 8 + 1)
		return NULL;
	return BN_bin2bn(n.at, (int)n.len, NULL);
}

static bool verify_rsa(struct ab_ssh_reader *key, const EVP_MD *hash, struct ab_ssh_text data,
		       struct ab_ssh_text bytes)
{
	BIGNUM *e = take_number(key, 64), *n = take_number(key, RSA_BITS_MAX);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	bool sound = e && n && build && ab_ssh_ended(key) && BN_num_bits(n) >= RSA_BITS_MIN &&
		     BN_is_odd(e) && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
		     OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1;
	bool good = verify_with("RSA", build, sound, hash, data, bytes.at, bytes.len);

	BN_free(e);
	BN_free(n);
	return good;
}

/* SSH has two numbers where the library wants DER. */
static int make_der(struct ab_ssh_text bytes, uint8_t ret[DER_MAX])
{
	struct ab_ssh_reader reader = ab_ssh_read(bytes);
	BIGNUM *r = take_number(&reader, 528), *s = take_number(&reader, 528);
	ECDSA_SIG *sig = ECDSA_SIG_new();
	int len = -1;

	if (!r || !s || !sig || !ab_ssh_ended(&reader) || ECDSA_SIG_set0(sig, r, s) != 1) {
		BN_free(r);
		BN_free(s);
	} else if (i2d_ECDSA_SIG(sig, NULL) <= DER_MAX) {
		len = i2d_ECDSA_SIG(sig, &ret);
	}
	ECDSA_SIG_free(sig);
	return len;
}

static bool verify_ecdsa(struct ab_ssh_reader *key, const char *curve, const char *group,
			 const EVP_MD *hash, struct ab_ssh_text data, struct ab_ssh_text bytes)
{
	struct ab_ssh_text name = ab_ssh_string(key), point = ab_ssh_string(key);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	uint8_t der[DER_MAX];
	int len = make_der(bytes, der);
	bool sound =
		build && len > 0 && ab_ssh_ended(key) && ab_ssh_is(name, curve) && point.len > 1 &&
		point.len <= POINT_MAX && point.at[0] == 4 &&
		OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) == 1 &&
		OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point.at,
						 point.len) == 1;

	return verify_with("EC", build, sound, hash, data, der, (size_t)len);
}

static const struct algorithm {
	const char *name, *type; /* of the signature, of the key */
	const char *curve, *group;
	const EVP_MD *(*hash)(void); /* NULL: Ed25519 */
} algorithms[] = {
	{ "ssh-ed25519", "ssh-ed25519", NULL, NULL, NULL },
	{ "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", "nistp256", "P-256", EVP_sha256 },
	{ "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384", "nistp384", "P-384", EVP_sha384 },
	{ "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521", "nistp521", "P-521", EVP_sha512 },
	{ "rsa-sha2-256", "ssh-rsa", NULL, NULL, EVP_sha256 },
	{ "rsa-sha2-512", "ssh-rsa", NULL, NULL, EVP_sha512 },
};

bool ab_ssh_key_verify(struct ab_ssh_text key, struct ab_ssh_text data,
		       struct ab_ssh_text signature)
{
	struct ab_ssh_reader k = ab_ssh_read(key), s = ab_ssh_read(signature);
	struct ab_ssh_text type = ab_ssh_string(&k), name = ab_ssh_string(&s);
	struct ab_ssh_text bytes = ab_ssh_string(&s);

	if (k.bad || !ab_ssh_ended(&s))
		return false;
	for (size_t i = 0; i < AB_COUNT(algorithms); i++) {
		const struct algorithm *a = &algorithms[i];

		if (!ab_ssh_is(type, a->type) || !ab_ssh_is(name, a->name))
			continue;
		if (!a->hash)
			return verify_ed25519(&k, data, bytes);
		if (!a->curve)
			return verify_rsa(&k, a->hash(), data, bytes);
		return verify_ecdsa(&k, a->curve, a->group, a->hash(), data, bytes);
	}
	return false;
}
