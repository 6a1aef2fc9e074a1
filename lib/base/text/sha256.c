#include "base/text/sha256.h"

#include "base/text/sha256_hardware.h"

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t load(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Round i: the eight variables keep their places, and their names move by one in each round. */
static inline void do_round(uint32_t s[8], unsigned int i, uint32_t word)
{
	uint32_t a = s[-i & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7], e = s[(4 - i) & 7];
	uint32_t f = s[(5 - i) & 7], g = s[(6 - i) & 7];
	uint32_t t = s[(7 - i) & 7] + word + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
		     ((e & f) ^ (~e & g));

	s[(3 - i) & 7] += t;
	s[(7 - i) & 7] =
		t + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void hash_block(uint32_t h[8], const unsigned char *p)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = load(p + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, h, sizeof(s));
	for (unsigned int i = 0; i < 64; i += 8) {
		/* With constant places they are in registers. */
#pragma GCC unroll 8
		for (unsigned int k = 0; k < 8; k++)
			do_round(s, k, ab_sha256_constants[i + k] + w[i + k]);
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

static void hash_portable(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	for (size_t i = 0; i < blocks; i++)
		hash_block(h, p + 64 * i);
}

typedef void (*hash_fn)(uint32_t h[8], const unsigned char *p, size_t blocks);

static hash_fn choose_hash(void)
{
	return ab_sha256_has_hardware() ? ab_sha256_hardware : hash_portable;
}

static const uint32_t initial[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

/* The rest of a text of `before` + `len` bytes; h is the state after the first ones, which are
 * whole blocks. */
static void finish(uint32_t h[8], uint64_t before, const void *data, size_t len, hash_fn hash,
		   uint8_t ret[AB_SHA256_SIZE])
{
	const unsigned char *p = data;
	unsigned char tail[128] = { 0 };
	size_t rest = len % 64, whole = len - rest, size;

	if (whole)
		hash(h, p, whole / 64);
	if (rest)
		memcpy(tail, p + whole, rest);
	tail[rest] = 0x80;
	size = rest < 56 ? 64 : 128;
	for (int i = 0; i < 8; i++)
		tail[size - 1 - (size_t)i] = (unsigned char)((before + len) * 8 >> 8 * i);
	hash(h, tail, size / 64);
	for (int i = 0; i < AB_SHA256_SIZE; i++)
		ret[i] = (uint8_t)(h[i / 4] >> (24 - i % 4 * 8));
}

static void hash_text(const void *data, size_t len, hash_fn hash, uint8_t ret[AB_SHA256_SIZE])
{
	uint32_t h[8];

	memcpy(h, initial, sizeof(h));
	finish(h, 0, data, len, hash, ret);
}

void ab_sha256_bytes(const void *data, size_t len, uint8_t ret[AB_SHA256_SIZE])
{
	hash_text(data, len, choose_hash(), ret);
}

void ab_sha256_hex(const uint8_t digest[AB_SHA256_SIZE], char ret_hex[65])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < AB_SHA256_SIZE; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[64] = '\0';
}

void ab_sha256(const void *data, size_t len, char ret_hex[65])
{
	uint8_t digest[AB_SHA256_SIZE];

	ab_sha256_bytes(data, len, digest);
	ab_sha256_hex(digest, ret_hex);
}

void ab_sha256_portable(const void *data, size_t len, char ret_hex[65])
{
	uint8_t digest[AB_SHA256_SIZE];

	hash_text(data, len, hash_portable, digest);
	ab_sha256_hex(digest, ret_hex);
}

/* The key's block, changed by `pad`, then the text. */
static void hash_padded(const uint8_t key[64], uint8_t pad, const void *data, size_t len,
			uint8_t ret[AB_SHA256_SIZE])
{
	uint8_t block[64];
	uint32_t h[8];

	memcpy(h, initial, sizeof(h));
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = key[i] ^ pad;
	choose_hash()(h, block, 1);
	finish(h, sizeof(block), data, len, choose_hash(), ret);
	explicit_bzero(block, sizeof(block));
	explicit_bzero(h, sizeof(h));
}

void ab_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
		    uint8_t ret[AB_SHA256_SIZE])
{
	uint8_t block[64] = { 0 }, inner[AB_SHA256_SIZE];

	if (key_len > sizeof(block))
		ab_sha256_bytes(key, key_len, block);
	else if (key_len)
		memcpy(block, key, key_len);
	hash_padded(block, 0x36, data, len, inner);
	hash_padded(block, 0x5c, inner, sizeof(inner), ret);
	explicit_bzero(block, sizeof(block));
}
