#ifndef AB_SESSION_TOKENS_TOKEN_REPLY_H
#define AB_SESSION_TOKENS_TOKEN_REPLY_H
/* The answer of a token URL (RFC 6749, 5). Pure; the bytes are hostile. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_TOKEN_REPLY_MOST = 64 << 10, AB_TOKEN_ERROR = 64 };

enum ab_token_outcome {
	AB_TOKEN_MORE,	  /* the answer is not complete */
	AB_TOKEN_GRANTED, /* access and perhaps refresh */
	AB_TOKEN_REFUSED, /* see error and status */
	AB_TOKEN_BAD,	  /* see why */
};

struct ab_token_reply {
	enum ab_token_outcome outcome;
	int status;
	char *access, *refresh;	    /* printable, without blanks; the second may be NULL */
	int64_t expires_in;	    /* seconds; 0: the answer does not say */
	char error[AB_TOKEN_ERROR]; /* "invalid_grant"; "": the answer does not say */
	const char *why;
};

/* `eof`: the server has closed the connection. */
void ab_token_reply_read(const char *data, size_t len, bool eof, struct ab_token_reply *ret);
void ab_token_reply_fini(struct ab_token_reply *reply); /* wipes */

#endif
