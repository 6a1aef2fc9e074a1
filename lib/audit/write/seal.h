#pragma once
/*
 * The chain of a record, and the signature at its end.
 *
 * The last members of each line are
 *
 *	"prev"		SHA-256 of the line before (hexadecimal, without the
 *			newline); null in the first line
 *
 * and in the last line of a run also
 *
 *	"key"		the public key, Ed25519, base64
 *	"signature"	of AB_SEAL_DOMAIN and the SHA-256 (hexadecimal) of the
 *			line's bytes before ,"signature"; base64
 *
 * The key belongs to the state folder: record.key (0600) has the private and
 * the public key, record.pub the public one alone, behind those of keys that
 * were removed, all as PEM, so that other programs can use them.
 */
#include "base/base.h"
#include "base/sign/ed25519.h"

#define AB_SEAL_DOMAIN "agentbox-record:"
#define AB_SEAL_PRIVATE "record.key"
#define AB_SEAL_PUBLIC "record.pub"

struct ab_seal {
	bool loaded;
	uint8_t seed[AB_ED25519_SEED];
	uint8_t key[AB_ED25519_KEY];
};

/* Read the key of the open state folder; create it if there is none. */
int ab_seal_load(int state, struct ab_seal *ret, struct ab_error *err);
/* Read it; 1: there is none. */
int ab_seal_read(int state, struct ab_seal *ret, struct ab_error *err);
void ab_seal_wipe(struct ab_seal *seal);

/* Append "key" and "signature" to a line that is not closed yet. */
void ab_seal_add(const struct ab_seal *seal, struct ab_buf *line);
/* Is this the signature of a line? `len` is the length of its bytes before
 * ,"signature". */
bool ab_seal_holds(const uint8_t key[AB_ED25519_KEY], const char *line, size_t len,
		   const uint8_t signature[AB_ED25519_SIGNATURE]);

/* The next public key in PEM text. Returns what follows it; NULL: there is none. */
const char *ab_seal_next_public(const char *pem, const char *end, uint8_t ret[AB_ED25519_KEY]);
