#include "base/text/sha256.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

static void hash_text(const void *data, size_t len, hash_fn hash, char ret_hex[65])
{
	uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const unsigned char *p = data;
	unsigned char tail[128] = { 0 };
	size_t rest = len % 64, whole = len - rest, size;

	hash(h, p, whole / 64);
	if (rest)
		memcpy(tail, p + whole, rest);
	tail[rest] = 0x80;
	size = rest < 56 ? 64 : 128;
	for (int i = 0; i < 8; i++)
		tail[size - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
	hash(h, tail, size / 64);
	for (int i = 0; i < 32; i++) {
		ret_hex[2 * i] = "0123456789abcdef"[h[i / 4] >> (28 - i % 4 * 8) & 15];
		ret_hex[2 * i + 1] = "0123456789abcdef"[h[i / 4] >> (24 - i % 4 * 8) & 15];
	}
	ret_hex[64] = '\0';
}

void ab_sha256(const void *data, size_t len, char ret_hex[65])
{
	hash_text(data, len, ab_sha256_has_hardware() ? ab_sha256_hardware : hash_portable,
		  ret_hex);
}

void ab_sha256_portable(const void *data, size_t len, char ret_hex[65])
{
	hash_text(data, len, hash_portable, ret_hex);
}
