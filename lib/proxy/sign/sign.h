#pragma once
/*
 * Requests that are signed with the placeholders of an AWS key ("sign":
 * "aws-sigv4"): the signature is verified, and replaced by one that is made with
 * the real key. So only who has the placeholders is served, and only for the
 * services, regions and hosts of the secret.
 *
 *	ab_sign_verify	reads the request as the client signed it, and takes the
 *			signature out of what will be sent
 *	ab_swap_request	replaces the other secrets' placeholders
 *	ab_sign_renew	signs what will be sent
 *
 * Three entries of the vault belong to one key: ab_secret.part. No part of it is
 * ever inserted as it is, but the session token, with the new signature.
 */
#include "proxy/sign/sigv4.h"
#include "proxy/secrets/swap.h"

struct ab_sign_chunks;

enum ab_sign_result {
	AB_SIGN_NONE, /* no signature, and none is required */
	AB_SIGN_DONE,
	AB_SIGN_REFUSED, /* see `why` */
	AB_SIGN_MISSING, /* `require`, and it has no signature */
	AB_SIGN_ABSENT,	 /* the secret has no value: its source failed */
};

enum {
	AB_SIGN_BODY_MAX = 16 * 1024 * 1024, /* a body that must be hashed first */
	AB_SIGN_SKEW = 15 * 60,		     /* seconds; AWS's own limit */
	AB_SIGN_PRESIGNED = 15 * 60,	     /* ab_sign_setup.presigned is no more */
};

struct ab_sign {
	enum ab_sign_result result;
	int secret;				      /* the key's first entry; -1: none */
	const struct ab_vault_entry *parts[AB_PARTS]; /* of the key */
	char why[256];
	struct ab_sigv4 sig; /* as the client signed it */
	char payload[65];    /* the last line of what is signed */
	char *path;	     /* to be sent, without the signature; or NULL */
};

struct ab_sign_setup {
	const struct ab_vault *vault;
	const struct ab_host *host;
	uint16_t port;
	int64_t now; /* wall clock, in seconds */
	/* A new presigned URL is valid so many seconds from now on at most. */
	uint32_t presigned;
	const void *body; /* with ab_sign_needs_body() */
	size_t body_len;
};

/* Does a key that signs belong to this host? */
bool ab_sign_is_for(const struct ab_vault *vault, const struct ab_host *host, uint16_t port);
/* Must the whole body be known to verify the signature? */
bool ab_sign_needs_body(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
			const struct ab_http_request *rq);
/*
 * `rq` is the request as it was received; `asked` is what will be sent of it, and
 * loses its signature. Free `ret` with ab_sign_fini().
 */
void ab_sign_verify(const struct ab_sign_setup *setup, const struct ab_http_request *rq,
		    struct ab_http_request *asked, struct ab_sign *ret);
/* Sign the request in `swapped`, whose Host will be `host`. false: the head would be
 * too long. */
bool ab_sign_renew(const struct ab_sign *sign, struct ab_http_text host, struct ab_swapped *swapped,
		   char ret_signature[65]);
void ab_sign_fini(struct ab_sign *sign);

/* Chunks are signed, too: to be verified and signed anew. NULL: they are not. */
struct ab_sign_chunks *ab_sign_chunks_of(const struct ab_sign *sign, const char signature[65]);
