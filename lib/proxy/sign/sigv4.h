#pragma once
/*
 * AWS Signature Version 4: reads the signature of a request, and computes one.
 * Pure: bytes in, texts out. The caller wipes keys.
 *
 * The canonical request follows AWS's documentation: header values are trimmed
 * and their blanks joined, equal names are joined by commas, parameters are
 * decoded, encoded and sorted, and the path is normalised and encoded once more.
 * S3 has its own rule: the path is neither normalised nor encoded twice.
 */
#include "base/text/sha256.h"
#include "proxy/wire/http.h"

enum {
	AB_SIGV4_ID = 128,	/* bytes of an access key id */
	AB_SIGV4_WORD = 64,	/* of a region or service */
	AB_SIGV4_SIGNED = 4096, /* of the list of signed headers */
	AB_SIGV4_NAMES = 64,	/* names in it */
	AB_SIGV4_NAME = 128,	/* bytes of one */
	AB_SIGV4_EXPIRES_MAX = 7 * 24 * 3600,
};

/* Where a request has its signature. */
enum ab_sigv4_place {
	AB_SIGV4_NOWHERE,
	AB_SIGV4_FIELD, /* Authorization */
	AB_SIGV4_QUERY, /* a presigned URL */
};

/* What x-amz-content-sha256 says about the body. */
enum ab_sigv4_payload {
	AB_SIGV4_ABSENT,   /* nothing: the hash of the whole body is signed */
	AB_SIGV4_HASH,	   /* it is the hash */
	AB_SIGV4_UNSIGNED, /* the body is not signed */
	AB_SIGV4_CHUNKS,   /* each chunk is signed */
	AB_SIGV4_TRAILER,  /* each chunk, and the trailer */
	AB_SIGV4_UNKNOWN,
};

struct ab_sigv4 {
	enum ab_sigv4_place place;
	char id[AB_SIGV4_ID + 1];
	char day[9];
	char region[AB_SIGV4_WORD + 1];
	char service[AB_SIGV4_WORD + 1];
	char at[17]; /* x-amz-date: 20150830T123600Z */
	int64_t time;
	uint32_t expires;			/* seconds; of a presigned URL */
	char signed_names[AB_SIGV4_SIGNED + 1]; /* "host;x-amz-date" */
	char signature[65];
	bool has_token;
	struct ab_http_text token; /* as it is in the request: in a query, encoded */
	enum ab_sigv4_payload payload;
	char content[65]; /* its x-amz-content-sha256, or "" */
};

/* Does the request have an AWS signature, of any version? */
enum ab_sigv4_place ab_sigv4_find(const struct ab_http_request *rq);
/* Reads a signature that is there. NULL, or why it cannot be used. */
const char *ab_sigv4_read(const struct ab_http_request *rq, struct ab_sigv4 *ret);

/* Does this service have the rules of S3? */
bool ab_sigv4_is_s3(const char *service);
/* The parameters of a query that a signer writes; the first ones are those of a signature. */
enum { AB_SIGV4_OWN = 3 };
extern const char *const ab_sigv4_own[AB_SIGV4_OWN + 1];
/* What is signed. */
struct ab_sigv4_input {
	struct ab_http_text method;
	struct ab_http_text path; /* with its query, as it is sent */
	const struct ab_http_head *head;
	struct ab_http_text host; /* the value of Host */
	const char *signed_names; /* sorted; each at most AB_SIGV4_NAME bytes */
	const char *payload;	  /* of the last line: a hash, or a word */
	bool s3;
};
/* false: a signed header is not in the request. */
bool ab_sigv4_canonical(const struct ab_sigv4_input *in, struct ab_buf *out);
/* "AWS4-HMAC-SHA256", the time, the scope, and the hash of the canonical request. */
void ab_sigv4_string(const struct ab_sigv4 *sig, const struct ab_buf *canonical,
		     struct ab_buf *out);
/* "20150830/us-east-1/service/aws4_request" */
void ab_sigv4_scope(const struct ab_sigv4 *sig, struct ab_buf *out);

/* The key of one day, region and service. */
void ab_sigv4_key(const char *secret, size_t len, const struct ab_sigv4 *sig,
		  uint8_t ret[AB_SHA256_SIZE]);
void ab_sigv4_sign(const uint8_t key[AB_SHA256_SIZE], const struct ab_buf *text, char ret[65]);
/* In constant time. */
bool ab_sigv4_equal(const char a[65], const char b[65]);

/* What is not percent-encoded, besides letters and digits. */
#define AB_SIGV4_PLAIN "-._~"
