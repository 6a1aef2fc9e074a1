/* Against the examples of RFC 8032, and against the TLS library. */
#include "base/sign/ed25519.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *seed, *key, *message, *signature;
} cases[] = {
	{ "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
	  "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
	  "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970"
	  "1cf9b46bd25bf5f0595bbe24655141438e7a100b" },
	{ "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
	  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
	  "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613"
	  "d0f11d8c387b2eaeb4302aeeb00d291612bb0c00" },
	{ "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
	  "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
	  "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760"
	  "984dc6594a7c15e9716ed28dc027beceea1ec40a" },
};

static size_t from_hex(const char *hex, uint8_t *ret)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned int byte;

		sscanf(hex + 2 * i, "%2x", &byte);
		ret[i] = (uint8_t)byte;
	}
	return n;
}

static void test_examples(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		uint8_t seed[32], key[32], message[128], signature[64], made[64];
		size_t len = from_hex(cases[i].message, message);

		from_hex(cases[i].seed, seed);
		from_hex(cases[i].key, key);
		from_hex(cases[i].signature, signature);
		ab_ed25519_public(seed, made);
		ok(memcmp(made, key, 32) == 0, "the public key of example %zu", i);
		ab_ed25519_sign(seed, key, message, len, made);
		ok(memcmp(made, signature, 64) == 0, "the signature of example %zu", i);
		ok(ab_ed25519_verify(key, message, len, signature), "example %zu is verified", i);
		signature[i * 17 % 64] ^= 4;
		ok(!ab_ed25519_verify(key, message, len, signature), "another signature is not");
	}
}

/* Seeds and messages that differ in every run of the loop, from a fixed start. */
static void fill_next(uint8_t *state, uint8_t *ret, size_t len)
{
	for (size_t done = 0; done < len; done += 64) {
		unsigned char hash[64];

		SHA512(state, 64, hash);
		memcpy(state, hash, 64);
		memcpy(ret + done, hash, len - done < 64 ? len - done : 64);
	}
}

static bool library_agrees(const uint8_t *seed, const uint8_t *message, size_t len)
{
	EVP_PKEY *theirs = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	uint8_t key[32], made[32], signature[64], signed_by_us[64];
	size_t n = 32, m = 64;
	bool same;

	EVP_PKEY_get_raw_public_key(theirs, key, &n);
	EVP_DigestSignInit(context, NULL, NULL, NULL, theirs);
	EVP_DigestSign(context, signature, &m, message, len);
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(theirs);
	ab_ed25519_public(seed, made);
	ab_ed25519_sign(seed, made, message, len, signed_by_us);
	same = memcmp(made, key, 32) == 0 && memcmp(signature, signed_by_us, 64) == 0 &&
	       ab_ed25519_verify(key, message, len, signature);
	if (len) {
		((uint8_t *)message)[len / 2] ^= 1;
		same &= !ab_ed25519_verify(key, message, len, signature);
	}
	return same;
}

static void test_library(void)
{
	uint8_t state[64] = "agentbox", seed[32], message[300];
	size_t agreed = 0;

	for (size_t i = 0; i < 300; i++) {
		fill_next(state, seed, sizeof(seed));
		fill_next(state, message, sizeof(message));
		agreed += library_agrees(seed, message, i);
	}
	ok(agreed == 300, "the library signs and verifies the same for all lengths");
}

/* The points of small order, each in its only form: with such a key and R = S * base, a signature
 * would fit every text whose hash is a multiple of 8, or even all of them. */
static void test_small_order(void)
{
	static const char *const keys[] = {
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0000000000000000000000000000000000000000000000000000000000000080",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	};
	size_t refused = 0;

	for (size_t i = 0; i < AB_COUNT(keys); i++) {
		/* S = 0, R = the neutral point: fits the neutral point as a key for every text. */
		uint8_t key[32], signature[64] = { 1 };
		char text[2] = "a";
		bool any = false;

		from_hex(keys[i], key);
		for (; text[0] <= 'z'; text[0]++)
			any |= ab_ed25519_verify(key, text, 1, signature);
		refused += !any;
	}
	ok(refused == AB_COUNT(keys), "%zu of %zu keys of small order are refused", refused,
	   AB_COUNT(keys));
}

/* What is not a point, or a scalar that is not reduced. */
static void test_refused(void)
{
	uint8_t seed[32] = { 7 }, key[32], bad[32], signature[64];
	static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a,       0x63,
					   0x12, 0x58, 0xd6, 0x9c, 0xf7,       0xa2,
					   0xde, 0xf9, 0xde, 0x14, [31] = 0x10 };
	unsigned int carry = 0;

	ab_ed25519_public(seed, key);
	ab_ed25519_sign(seed, key, "x", 1, signature);
	ok(ab_ed25519_verify(key, "x", 1, signature), "a signature");
	ok(!ab_ed25519_verify(key, "y", 1, signature), "is not one of another text");
	for (int i = 0; i < 32; i++) {
		carry += (unsigned int)signature[32 + i] + order[i];
		signature[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	ok(!ab_ed25519_verify(key, "x", 1, signature), "nor with the order added to it");
	memset(bad, 0xff, sizeof(bad));
	ok(!ab_ed25519_verify(bad, "x", 1, signature), "a key of p or more is refused");
	memset(bad, 0, sizeof(bad));
	bad[0] = 2;
	ok(!ab_ed25519_verify(bad, "x", 1, signature), "a key that is no point is refused");
	/* The same y as 1 and 1 with a sign that x = 0 does not have. */
	memset(bad, 0xff, sizeof(bad));
	bad[0] = 0xee;
	bad[31] = 0x7f;
	ok(!ab_ed25519_verify(bad, "x", 1, signature), "nor p + 1 for 1");
	memset(bad, 0, sizeof(bad));
	bad[0] = 1;
	bad[31] = 0x80;
	ok(!ab_ed25519_verify(bad, "x", 1, signature), "nor -0 for 0");
}

int main(void)
{
	test_examples();
	test_library();
	test_small_order();
	test_refused();
	return done();
}
