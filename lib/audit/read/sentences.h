#pragma once
/*
 * One table from event to sentence: what a record means, in words. The log, the
 * watch screen, the HTML page, `why` and the proxy's answers all format it. Pure.
 */
#include "base/base.h"

/* The parts of a sentence. */
enum {
	AB_ABOUT = 1, /* what the event is about: "x.y:443", "write /etc/x" */
	AB_SAID = 2,  /* what happened to it: "not on the allow list" */
	AB_MORE = 4,  /* details: sizes, processes, the id */
	AB_MARK = 8,  /* the event in one word: "denied" */
	AB_SENTENCE = AB_ABOUT | AB_SAID | AB_MORE,
};

/* Append the wanted parts, escaped, with two blanks between them. Returns the
 * mark; NULL if the line is not a record. */
const char *ab_sentence(struct ab_buf *b, unsigned int parts, const char *line, size_t len);

/* What to do about a denial that `agentbox allow` cannot lift, by the rule in
 * its record. */
struct ab_remedy {
	const char *rule;
	const char *words; /* a clause */
	const char *flag;  /* an option of `run` that lifts it for the record's path, or NULL */
};
/* Never NULL. */
const struct ab_remedy *ab_remedy_find(const char *rule);
