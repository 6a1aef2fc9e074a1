#pragma once
/*
 * `why` about the policy of this folder, without a run: may a run reach this host, read or write this
 * path, start this command; which rule says so, where it comes from, and what would allow it.
 */
#include "base/base.h"

struct ab_policy_input;
struct ab_preview;

/* One answer; texts may be NULL. */
struct ab_why_answer {
	char *subject;	    /* "x.y:443", "write" */
	const char *access; /* "allow", "ask", "deny" */
	char *text;	    /* a sentence, escaped */
	const char *rule;   /* the setting, or the rule about commands */
	char *entry, *from; /* the element that decided, and where it was written */
	char *denial;	    /* the id of one, or NULL */
	struct ab_strv how; /* pairs: the effect and the command */
	char *advice;	    /* a sentence about another way, or NULL */
};

struct ab_why_answers {
	const char *kind; /* "host", "path", "command" */
	/* Look for a denial of the host or path in the records of this user; NULL: do not. */
	const struct ab_policy_input *records;
	char *what;
	struct ab_why_answer v[3];
	size_t len;
};

void ab_why_answers_fini(struct ab_why_answers *answers);

/* Of a host without a port: one answer, or one for each usual port, 443 first. */
int ab_why_answer_host(const struct ab_preview *preview, const char *host,
		       struct ab_why_answers *ret, struct ab_error *err);
/* `read` and `write`: what is asked about. */
void ab_why_answer_path(const struct ab_preview *preview, const char *path, bool read, bool write,
			struct ab_why_answers *ret);
