#include "proxy/io/tls_rsa.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "proxy/io/tls_ssh_key.h"
#include "proxy/io/tls_state.h"

enum { BITS = 2048, BITS_MAX = 8 * AB_RSA_SIGNATURE_MAX };

struct ab_rsa {
	EVP_PKEY *key;
};

static struct ab_rsa *wrap_key(EVP_PKEY *key)
{
	struct ab_rsa *ret = ab_alloc(sizeof(*ret));

	ret->key = key;
	return ret;
}

int ab_rsa_new(struct ab_rsa **ret, struct ab_error *err)
{
	EVP_PKEY *key = ab_ssh_key_prepare(err) == 0 ? EVP_RSA_gen(BITS) : NULL;

	if (!key)
		return ab_fail(err, AB_ESYSTEM, 0, "cannot make an RSA key");
	*ret = wrap_key(key);
	return 0;
}

/* A key with a password would be asked for on the terminal. */
static int refuse_password(char *buf, int size, int writing, void *arg)
{
	(void)buf;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

struct ab_rsa *ab_rsa_read(const char *pem, size_t len)
{
	struct ab_error err;
	bool good = len < 1 << 20 && ab_ssh_key_prepare(&err) == 0;
	BIO *bio = good ? BIO_new_mem_buf(pem, (int)len) : NULL;
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, refuse_password, NULL) : NULL;

	BIO_free(bio);
	ERR_clear_error();
	if (key && EVP_PKEY_is_a(key, "RSA") && EVP_PKEY_get_bits(key) >= BITS &&
	    EVP_PKEY_get_bits(key) <= BITS_MAX)
		return wrap_key(key);
	EVP_PKEY_free(key);
	return NULL;
}

void ab_rsa_free(struct ab_rsa *key)
{
	if (!key)
		return;
	EVP_PKEY_free(key->key);
	free(key);
}

char *ab_rsa_pem(const struct ab_rsa *key)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *data, *ret = NULL;
	long len;

	if (bio && PEM_write_bio_PKCS8PrivateKey(bio, key->key, NULL, NULL, 0, NULL, NULL) == 1) {
		len = BIO_get_mem_data(bio, &data);
		ret = ab_strndup(data, (size_t)len);
		explicit_bzero(data, (size_t)len);
	}
	BIO_free(bio);
	return ret;
}

size_t ab_rsa_sign(const struct ab_rsa *key, const void *data, size_t len,
		   uint8_t ret[AB_RSA_SIGNATURE_MAX])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = AB_RSA_SIGNATURE_MAX;

	if (!ctx || EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key->key) != 1 ||
	    EVP_DigestSign(ctx, ret, &n, data, len) != 1)
		n = 0;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return n;
}

bool ab_rsa_verify(const struct ab_rsa *key, const void *data, size_t len, const uint8_t *signature,
		   size_t signature_len)
{
	return ab_tls_verify(key->key, EVP_sha256(), data, len, signature, signature_len);
}
