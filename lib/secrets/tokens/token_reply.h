#pragma once
/* The answer of a token URL (RFC 6749, 5). Pure; the answer is hostile. */
#include "policy/model/secrets.h"

struct ab_http_reply;

enum {
	AB_TOKEN_ERROR = 64,
	AB_TOKEN_EXPIRES_MOST = 366 * 24 * 3600, /* seconds */
};
/* Of an error code. */
#define AB_TOKEN_ERROR_LETTERS "abcdefghijklmnopqrstuvwxyz_"

enum ab_token_outcome {
	AB_TOKEN_BAD,	  /* see why; zero: memory that nobody has written grants nothing */
	AB_TOKEN_GRANTED, /* access and perhaps refresh */
	AB_TOKEN_REFUSED, /* see error and status */
};

struct ab_token_reply {
	enum ab_token_outcome outcome;
	int status;
	int64_t expires_in;	    /* seconds; 0: the answer does not say */
	char error[AB_TOKEN_ERROR]; /* "invalid_grant"; "": the answer does not say */
	char why[160];
	/* Printable, without blanks; "": none. The caller wipes them. */
	char access[AB_SECRET_MAX + 1], refresh[AB_SECRET_MAX + 1];
};

/* Not for AB_REPLY_MORE. */
void ab_token_reply_read(const struct ab_http_reply *http, struct ab_token_reply *ret);
/* Can it be the value of a secret, and a word? */
bool ab_token_is_word(const char *text);
/* There is no answer that can be used. */
void ab_token_reply_fail(struct ab_token_reply *reply, const char *why);
