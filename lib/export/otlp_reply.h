#pragma once
/* What a collector's answer means, as the OTLP specification says. Pure; the answer is hostile. */
#include "base/base.h"

struct ab_http_reply;

enum ab_otlp_outcome {
	AB_OTLP_TAKEN,	  /* but for `rejected` records */
	AB_OTLP_AGAIN,	  /* send it again, after `wait_ms` or later */
	AB_OTLP_REFUSED,  /* do not send it again */
	AB_OTLP_NO_REPLY, /* there is not even a status */
};

struct ab_otlp_reply {
	enum ab_otlp_outcome outcome;
	int status;
	uint64_t rejected;
	uint64_t wait_ms; /* 0: the answer does not say */
};

/* Not for AB_REPLY_MORE. The status counts even if the rest of the answer is missing. */
void ab_otlp_reply_read(const struct ab_http_reply *http, struct ab_otlp_reply *ret);
