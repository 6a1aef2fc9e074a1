#pragma once
/* Why a request to the container engine is refused. */

struct ab_refusal {
	int status;	  /* of the HTTP reply */
	const char *rule; /* the setting that decides, or "docker": nothing can lift it */
	char reason[512]; /* a clause; may contain text of the box */
};

/* Fill *why and return -1. */
int ab_refuse(struct ab_refusal *why, int status, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
