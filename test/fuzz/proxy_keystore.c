/*
 * Any bytes as a keystore and as PEM text: what is made from them is a
 * keystore again, of the size that it has to have; and a certificate lies in
 * the text it was found in.
 */
#include "proxy/io/tls_java_keystore.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t der[] = { 0x30, 3, 2, 1, 9 };

/* tag, alias, time, type, length */
enum { ENTRY = 4 + 2 + 1 + 8 + 2 + 5 + 4 + sizeof(der) };

static void add(const uint8_t *data, size_t size)
{
	size_t len, more;
	uint8_t *one = ab_keystore_add(data, size, "a", der, sizeof(der), &len);
	uint8_t *two;

	if (!one)
		return;
	two = ab_keystore_add(one, len, "b", der, sizeof(der), &more);
	if (len != size + ENTRY || !two || more != len + ENTRY)
		abort();
	free(one);
	free(two);
}

static void read_text(const char *text, size_t size)
{
	const char *at = text, *end = text + size, *before = text;
	struct ab_pem pem;

	while (ab_pem_next(&at, end, &pem)) {
		if (pem.block < before || pem.base64 < pem.block ||
		    pem.base64 + pem.base64_len > at || pem.block + pem.block_len != at || at > end)
			abort();
		before = at;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len, more;
	uint8_t *made = ab_keystore_new((const char *)data, size, "a", der, sizeof(der), &len);
	uint8_t *again = made ? ab_keystore_add(made, len, "b", der, sizeof(der), &more) : NULL;

	if (!again)
		abort();
	free(made);
	free(again);
	add(data, size);
	read_text((const char *)data, size);
	return 0;
}
