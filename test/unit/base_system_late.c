/*
 * In the release build this program went through scripts/late-relocations
 * like the real one, and the library's pointers are late; elsewhere they are
 * not, and the call must do no harm.
 */
#include "base/system/late.h"

#include <inttypes.h>
#include <openssl/asn1t.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>

#include "base/data/error.h"
#include "tap.h"

/* The program's own pointers are never late. */
static const char *const early[] = { "early" };
static const char *const *volatile early_at = early;

/* "r--p": what the kernel says of the page at `address`. */
static void read_protection(const void *address, char prot[5])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t begin, end;
	char line[512], found[5];

	strcpy(prot, "");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, found) == 3 &&
		    begin <= (uintptr_t)address && (uintptr_t)address < end)
			strcpy(prot, found);
	}
	if (maps)
		fclose(maps);
}

static void sign_something(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	ok(key && cert, "a key and a certificate are made");
	ok(X509_set_pubkey(cert, key) == 1 && X509_sign(cert, key, EVP_sha256()) > 0, "and signed");
	ok(X509_verify(cert, key) == 1, "and checked");
	X509_free(cert);
	EVP_PKEY_free(key);
}

int main(void)
{
	const ASN1_ITEM *item = X509_it();
	struct ab_error err = { 0 };
	char before[5], after[5];
	SSL_CTX *ctx;

	is_str(early_at[0], "early", "our own pointers are there at the start");
#ifdef LATE
	ok((uintptr_t)item->sname < (uintptr_t)1 << 32, "the library's are not, yet");
#endif
	read_protection(item, before);
	ok(ab_late_relocate(&err) == 0, "they are written");
	is_str(item->sname, "X509", "and are right");
	read_protection(item, after);
	is_str(after, before, "the pages are protected as before");
	is_str(after, "r--p", "which is read-only");

	sign_something();
	ctx = SSL_CTX_new(TLS_method());
	ok(ctx != NULL, "the library can be used");
	SSL_CTX_free(ctx);
	ok(ab_late_relocate(&err) == 0, "a second time changes nothing");
	is_str(item->sname, "X509", "really");
	return done();
}
