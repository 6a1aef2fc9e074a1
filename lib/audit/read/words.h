#pragma once
/*
 * Phrases that sentences are made of. Pure. Texts are appended as they are,
 * unless the function says that it escapes them.
 */
#include "base/base.h"

struct ab_detail;

/* "x.y:443", "[::1]:80" */
void ab_words_target(struct ab_buf *b, const char *host, uint16_t port);
/* "agentbox denied x.y:443: not on the allow list (rule network.allow, id
 * 7kq2x-1).", and the end of the line. */
void ab_words_denied(struct ab_buf *b, const char *about, const char *reason, const char *rule,
		     const char *id);
/* As ab_buf_printf(), escaped as a whole, but for a newline at the end of `fmt`. */
void ab_words_safe(struct ab_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "Publishes commits." within a sentence: "publishes commits". Escaped. */
void ab_words_clause(struct ab_buf *b, const char *sentence);
/* Escaped, and cut to `most` bytes with "..." at the end. */
void ab_words_short(struct ab_buf *b, const char *text, size_t most);
/* The processes of a record's "process", nearest first: "curl, pid 3, started
 * by npm, pid 2". Escaped. Returns how many there were, at most `most`. */
size_t ab_words_chain(struct ab_buf *b, const struct ab_detail *chain, size_t most);

/* "512 B", "61 KiB", "1.4 MiB"; returns ret. */
#define AB_AMOUNT_ROOM 32
const char *ab_words_size(uint64_t bytes, char ret[AB_AMOUNT_ROOM]);
/* "120 ms", "3.2 s", "4m 10s", "2h"; returns ret. */
const char *ab_words_time(uint64_t ms, char ret[AB_AMOUNT_ROOM]);
