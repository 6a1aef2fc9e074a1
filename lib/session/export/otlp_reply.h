#ifndef AB_SESSION_EXPORT_OTLP_REPLY_H
#define AB_SESSION_EXPORT_OTLP_REPLY_H
/* What a collector's answer means, as the OTLP specification says. Pure; the bytes are hostile. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_OTLP_REPLY_MOST = 64 << 10 };

enum ab_otlp_outcome {
	AB_OTLP_MORE,	  /* the answer is not complete */
	AB_OTLP_TAKEN,	  /* but for `rejected` records */
	AB_OTLP_AGAIN,	  /* send it again, after `wait_ms` or later */
	AB_OTLP_REFUSED,  /* do not send it again */
	AB_OTLP_NO_REPLY, /* that is not HTTP */
};

struct ab_otlp_reply {
	enum ab_otlp_outcome outcome;
	int status;
	uint64_t rejected;
	uint64_t wait_ms; /* 0: the answer does not say */
};

/* `eof`: the collector has closed the connection. */
void ab_otlp_reply_read(const char *data, size_t len, bool eof, struct ab_otlp_reply *ret);

#endif
