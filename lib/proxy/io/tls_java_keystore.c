/*
 * JKS: magic, version 2, a count, that many entries, and a SHA-1 over the
 * password in UTF-16, "Mighty Aphrodite", and all of these bytes. Numbers are
 * big-endian; two bytes with its length precede a string.
 *
 *	entry: tag, alias, time (8)
 *		tag 2 (trusted): certificate
 *		tag 1 (key): length (4) and bytes, a count (4), certificates
 *	certificate: its type, length (4), DER
 *
 * Java detects the type of a keystore from its first bytes, whatever type was
 * requested (keystore.type.compat), so a JKS file can replace a PKCS #12 one.
 */
#include "proxy/io/tls_java_keystore.h"

#include <openssl/evp.h>

#include "proxy/io/ssh_text.h"

enum {
	MAGIC = 0xfeedfeed,
	VERSION = 2,
	TAG_KEY = 1,
	TAG_TRUSTED = 2,
	HEAD = 12,
	DIGEST = 20,
	ALIAS_MAX = 40,
	CERTIFICATE_MAX = 64 * 1024, /* in base64 */
};

#define CERTIFICATE_TYPE "X.509"
/* The customary password: a keystore of public certificates needs none, and most
 * programs open it without one. */
#define PASSWORD "changeit"

static void skip_certificate(struct ab_ssh_reader *r)
{
	ab_ssh_bytes(r, ab_ssh_number_of(r, 2));
	ab_ssh_bytes(r, ab_ssh_number_of(r, 4));
}

static void skip_entry(struct ab_ssh_reader *r)
{
	uint32_t tag = ab_ssh_number_of(r, 4);

	ab_ssh_bytes(r, ab_ssh_number_of(r, 2));
	ab_ssh_bytes(r, 8);
	if (tag == TAG_TRUSTED) {
		skip_certificate(r);
	} else if (tag == TAG_KEY) {
		uint32_t n;

		ab_ssh_bytes(r, ab_ssh_number_of(r, 4));
		n = ab_ssh_number_of(r, 4);
		for (uint32_t i = 0; i < n && !r->bad; i++)
			skip_certificate(r);
	} else {
		r->bad = true;
	}
}

/* Is it complete, with nothing after it but a digest? */
static bool is_keystore(const uint8_t *data, size_t len, uint32_t *ret_count)
{
	struct ab_ssh_reader r = { .at = data, .left = len };
	uint32_t magic = ab_ssh_number_of(&r, 4), version = ab_ssh_number_of(&r, 4);
	uint32_t n = ab_ssh_number_of(&r, 4);

	if (r.bad || magic != MAGIC || version != VERSION || n == UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < n && !r.bad; i++)
		skip_entry(&r);
	*ret_count = n;
	return !r.bad && r.left == DIGEST;
}

static void put_string(struct ab_buf *b, const char *s)
{
	ab_ssh_put_number_of(b, strlen(s), 2);
	ab_buf_puts(b, s);
}

static void put_head(struct ab_buf *b, uint32_t count)
{
	ab_ssh_put_number_of(b, MAGIC, 4);
	ab_ssh_put_number_of(b, VERSION, 4);
	ab_ssh_put_number_of(b, count, 4);
}

/* The time of addition has no effect; write the epoch. */
static void put_entry(struct ab_buf *b, const char *alias, const uint8_t *der, size_t len)
{
	ab_ssh_put_number_of(b, TAG_TRUSTED, 4);
	put_string(b, alias);
	ab_ssh_put_number_of(b, 0, 8);
	put_string(b, CERTIFICATE_TYPE);
	ab_ssh_put_number_of(b, len, 4);
	ab_buf_add(b, der, len);
}

/* Append the digest; NULL: the library has no SHA-1 (a FIPS build). */
static uint8_t *append_digest(struct ab_buf *b, size_t *ret_len)
{
	static const char salt[] = "Mighty Aphrodite";
	ab_autobuf struct ab_buf all = { 0 };
	uint8_t digest[EVP_MAX_MD_SIZE];

	for (const char *c = PASSWORD; *c; c++)
		ab_ssh_put_number_of(&all, (uint8_t)*c, 2);
	ab_buf_puts(&all, salt);
	ab_buf_add(&all, b->data, b->len);
	if (EVP_Digest(all.data, all.len, digest, NULL, EVP_sha1(), NULL) != 1) {
		ab_buf_fini(b);
		return NULL;
	}
	ab_buf_add(b, digest, DIGEST);
	*ret_len = b->len;
	return (uint8_t *)ab_buf_take(b);
}

uint8_t *ab_keystore_add(const uint8_t *data, size_t len, const char *alias, const uint8_t *der,
			 size_t der_len, size_t *ret_len)
{
	struct ab_buf b = { 0 };
	uint32_t count;

	if (!is_keystore(data, len, &count))
		return NULL;
	put_head(&b, count + 1);
	ab_buf_add(&b, data + HEAD, len - HEAD - DIGEST);
	put_entry(&b, alias, der, der_len);
	return append_digest(&b, ret_len);
}

/* The position after the next `word`; NULL: not found. */
static const char *find_after(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);
	const char *p = memmem(at, (size_t)(end - at), word, n);

	return p ? p + n : NULL;
}

static bool begins_with(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

bool ab_pem_next(const char **text, const char *end, struct ab_pem *ret)
{
	static const char *const labels[] = { "CERTIFICATE-----", "X509 CERTIFICATE-----",
					      "TRUSTED CERTIFICATE-----" };
	const char *begin;

	while ((begin = find_after(*text, end, "-----BEGIN "))) {
		const char *body = NULL, *last;

		*text = begin;
		for (size_t i = 0; !body && i < AB_COUNT(labels); i++)
			if (begins_with(begin, end, labels[i]))
				body = begin + strlen(labels[i]);
		if (!body)
			continue;
		last = find_after(body, end, "-----");
		if (!last)
			return false;
		*text = last - 5;
		if (!begins_with(last, end, "END "))
			continue;
		*ret = (struct ab_pem){
			.block = begin - strlen("-----BEGIN "),
			.base64 = body,
			.base64_len = (size_t)(last - 5 - body),
			.trusted = begins_with(begin, end, "TRUSTED"),
		};
		last = find_after(last, end, "-----");
		if (!last)
			return false;
		last += begins_with(last, end, "\n");
		ret->block_len = (size_t)(last - ret->block);
		*text = last;
		return true;
	}
	return false;
}

/* The length of the DER sequence at the start; 0: there is none. */
static size_t measure_sequence(const uint8_t *der, size_t len)
{
	struct ab_ssh_reader r = { .at = der, .left = len };
	uint32_t tag = ab_ssh_number_of(&r, 1), n = ab_ssh_number_of(&r, 1);

	if (n > 0x80 && n <= 0x84)
		n = ab_ssh_number_of(&r, n - 0x80);
	else if (n >= 0x80)
		r.bad = true;
	ab_ssh_bytes(&r, n);
	return tag == 0x30 && !r.bad ? (size_t)(r.at - der) : 0;
}

/* `out` must hold three bytes for every four, plus a line. */
static size_t decode_pem(EVP_ENCODE_CTX *ctx, const struct ab_pem *pem, uint8_t *out)
{
	int n = 0, more = 0;

	EVP_DecodeInit(ctx);
	if (EVP_DecodeUpdate(ctx, out, &n, (const uint8_t *)pem->base64, (int)pem->base64_len) <
		    0 ||
	    EVP_DecodeFinal(ctx, out + n, &more) < 0)
		return 0;
	return (size_t)(n + more);
}

/* Java rejects the whole file for one unreadable certificate, so add only those
 * that are exactly one sequence. */
static void put_certificates(struct ab_buf *b, const char *pem, size_t len, uint32_t *count)
{
	EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
	ab_autofree uint8_t *der = ab_alloc(CERTIFICATE_MAX);
	const char *end = pem + len;
	struct ab_pem found;

	while (ctx && ab_pem_next(&pem, end, &found)) {
		char name[ALIAS_MAX];
		size_t n;

		if (found.trusted || found.base64_len > CERTIFICATE_MAX - 64)
			continue;
		n = decode_pem(ctx, &found, der);
		if (n == 0 || measure_sequence(der, n) != n)
			continue;
		snprintf(name, sizeof(name), "system-%u", ++*count);
		put_entry(b, name, der, n);
	}
	EVP_ENCODE_CTX_free(ctx);
}

uint8_t *ab_keystore_new(const char *pem, size_t len, const char *alias, const uint8_t *der,
			 size_t der_len, size_t *ret_len)
{
	struct ab_buf b = { 0 };
	ab_autobuf struct ab_buf head = { 0 };
	uint32_t count = 1;

	put_head(&b, 0);
	put_entry(&b, alias, der, der_len);
	put_certificates(&b, pem, len, &count);
	put_head(&head, count);
	memcpy(b.data, head.data, HEAD);
	return append_digest(&b, ret_len);
}
