#include "base/text/sha256.h"

#include <stdlib.h>

#include "base/data/mem.h"
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

int main(void)
{
	char hex[65], *million = malloc(1000000);

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_sha256(cases[i].in, strlen(cases[i].in), hex);
		is_str(hex, cases[i].out, "an example of the standard");
	}
	memset(million, 'a', 1000000);
	ab_sha256(million, 1000000, hex);
	is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	       "a million times a");
	free(million);
	return done();
}
