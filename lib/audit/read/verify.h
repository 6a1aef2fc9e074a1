#pragma once
/*
 * Check the chains of records (audit/write/seal.h). Pure, and memory is bounded.
 *
 * A chain shows that nobody without the key changed, removed, added or moved a
 * line of a record after the run. It cannot show that a record is missing as a
 * whole, nor that a record without its end had one.
 */
#include "base/base.h"
#include "base/sign/ed25519.h"

enum ab_chain_state {
	AB_CHAIN_WHOLE,	    /* signed with a known key */
	AB_CHAIN_ACTIVE,    /* whole so far; the run is active */
	AB_CHAIN_UNENDED,   /* whole so far, but the last record is missing */
	AB_CHAIN_UNKNOWN,   /* signed, but with a key that is not known */
	AB_CHAIN_UNSIGNED,  /* the last record is not signed */
	AB_CHAIN_UNCHAINED, /* written by a version that had no chains */
	AB_CHAIN_BROKEN,
	AB_CHAIN_STATES,
};

/* "whole", "active", ... */
extern const char *const ab_chain_state_names[AB_CHAIN_STATES];

struct ab_chain_verdict {
	enum ab_chain_state state;
	char run[8];
	uint64_t lines; /* of the run, as far as they were read */
	/* Of AB_CHAIN_BROKEN: where, and what is wrong there. */
	char file[32]; /* "": there is only one */
	uint64_t line;
	const char *why;
	bool keyed; /* it has a key: */
	uint8_t key[AB_ED25519_KEY];
	uint64_t removed; /* full files that the run removed itself */
	uint64_t torn;	  /* lines that a killed process did not finish */
	bool unswept;	  /* at its end, the workspace was still to be swept */
};

/* The key as base64, "" if there is none. */
#define AB_CHAIN_KEY_ROOM 48
void ab_chain_key(const struct ab_chain_verdict *verdict, char ret[AB_CHAIN_KEY_ROOM]);

typedef void (*ab_chain_fn)(void *arg, const struct ab_chain_verdict *verdict);

struct ab_keys { /* known public keys */
	uint8_t (*v)[AB_ED25519_KEY];
	size_t len;
};
bool ab_keys_have(const struct ab_keys *keys, const uint8_t key[AB_ED25519_KEY]);
void ab_keys_add(struct ab_keys *keys, const uint8_t key[AB_ED25519_KEY]);
void ab_keys_fini(struct ab_keys *keys);

struct ab_verifier;

/* `single`: all lines belong to one run, in the files of its folder. Else a file
 * may have the lines of many runs, also of several at once. */
struct ab_verifier *ab_verifier_new(const struct ab_keys *keys, bool single, ab_chain_fn fn,
				    void *arg);
/* The id that its run must have: a whole record in the place of another is not right. */
void ab_verifier_expect(struct ab_verifier *v, const char *run);
/* The next line. `number` is its number in the file, from 1. */
void ab_verifier_add(struct ab_verifier *v, const char *file, uint64_t number, const char *line,
		     size_t len);
/* Behind the last line there is a part of one. */
void ab_verifier_add_part(struct ab_verifier *v, const char *file, uint64_t number);
/* There are no more lines; `active`: the run is. Frees it. */
void ab_verifier_end(struct ab_verifier *v, bool active);
