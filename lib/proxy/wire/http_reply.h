#pragma once
/* The answer to one HTTP request: its status and its body without framing. Pure; the bytes are
 * hostile. */
#include "base/base.h"

/* What most callers want. */
enum { AB_HTTP_REPLY_MOST = 64 << 10 };

enum ab_http_reply_end {
	AB_REPLY_MORE, /* the answer is not complete */
	AB_REPLY_WHOLE,
	AB_REPLY_CLOSED, /* the server closed the connection before the end */
	AB_REPLY_LARGE,	 /* more bytes than the caller wants */
	AB_REPLY_BAD,	 /* that is not HTTP */
};

struct ab_http_reply {
	enum ab_http_reply_end end;
	int status;	    /* 200 and up; 0: there is no complete head */
	uint64_t wait_s;    /* Retry-After, unless it is a date; 0: the answer does not say */
	struct ab_buf body; /* as far as it is there; wiped at the end */
};

/* `eof`: the server has closed the connection. `most`: bytes of an answer. The caller calls
 * ab_http_reply_fini(). */
void ab_http_reply_read(const char *data, size_t len, bool eof, size_t most,
			struct ab_http_reply *ret);
void ab_http_reply_fini(struct ab_http_reply *reply);
/* Why it is not complete, for people; NULL: it is. */
const char *ab_http_reply_why(const struct ab_http_reply *reply);
