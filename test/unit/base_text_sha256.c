#include "base/text/sha256.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/data/mem.h"
#include "base/text/sha256_hardware.h"
#include "tap.h"

/* From FIPS 180-4's examples. */
static const struct {
	const char *in, *out;
} cases[] = {
	{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
};

/* The processor and the portable code, with every length up to some blocks and any alignment. */
static void compare_lengths(unsigned char *data)
{
	uint32_t random = 1;
	size_t same = 0;

	for (size_t i = 0; i < 1000; i++) {
		random = random * 1664525 + 1013904223;
		data[i] = (unsigned char)(random >> 24);
	}
	for (size_t len = 0; len < 500; len++) {
		char a[65], b[65];

		ab_sha256(data + len % 16, len, a);
		ab_sha256_portable(data + len % 16, len, b);
		same += strcmp(a, b) == 0;
	}
	ok(same == 500, "%s",
	   ab_sha256_has_hardware() ? "the processor's instructions agree"
				    : "# SKIP the processor has no such instructions");
}

#define AA "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"

/* From RFC 4231: cases 1, 2 and 6. */
static const struct {
	const char *key, *in, *out;
} macs[] = {
	{ "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b",
	  "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ "Jefe", "what do ya want for nothing?",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ AA AA AA AA AA AA AA AA "\xaa\xaa\xaa",
	  "Test Using Larger Than Block-Size Key - Hash Key First",
	  "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
};

int main(void)
{
	char hex[65], *million = malloc(1000000);

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_sha256(cases[i].in, strlen(cases[i].in), hex);
		is_str(hex, cases[i].out, "an example of the standard");
		ab_sha256_portable(cases[i].in, strlen(cases[i].in), hex);
		is_str(hex, cases[i].out, "and without the processor's help");
	}
	memset(million, 'a', 1000000);
	ab_sha256(million, 1000000, hex);
	is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	       "a million times a");
	ab_sha256_portable(million, 1000000, hex);
	is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	       "and without the processor's help");
	compare_lengths((unsigned char *)million);
	free(million);
	for (size_t i = 0; i < AB_COUNT(macs); i++) {
		uint8_t digest[AB_SHA256_SIZE];

		ab_hmac_sha256(macs[i].key, strlen(macs[i].key), macs[i].in, strlen(macs[i].in),
			       digest);
		ab_sha256_hex(digest, hex);
		is_str(hex, macs[i].out, "a test case of RFC 4231");
	}
	return done();
}
