#ifndef AB_AUDIT_READ_WORDS_H
#define AB_AUDIT_READ_WORDS_H
/*
 * How a denial is put into words: the same ones for the client that is refused
 * and for the person who asks why. Pure. Escape before showing, where it does
 * not say otherwise.
 */
#include <stddef.h>
#include <stdint.h>

struct ab_buf;

struct ab_blocked { /* all are texts, none is NULL */
	const char *host;
	uint16_t port; /* 0: not known */
	const char *reason, *rule, *id;
};

/* "x.y:443", "[::1]:80" */
void ab_words_target(struct ab_buf *b, const char *host, uint16_t port);
/* "agentbox blocked x.y:443: not on the allow list (rule network.allow, id
 * 7kq2x-1).", and the end of the line. */
void ab_words_blocked(struct ab_buf *b, const struct ab_blocked *blocked);

/* What the record of a denial is about: "x.y:443", a command, "write /etc/x".
 * Escaped. */
void ab_words_about(struct ab_buf *b, const char *line, size_t len);
/* The same, and why: "x.y:443  not on the allow list". */
void ab_words_denial(struct ab_buf *b, const char *line, size_t len);

/* "512 B", "61 KiB", "1.4 MiB"; returns ret. */
#define AB_AMOUNT_ROOM 32
const char *ab_words_size(uint64_t bytes, char ret[AB_AMOUNT_ROOM]);
/* "120 ms", "3.2 s", "4m 10s", "2h"; returns ret. */
const char *ab_words_time(uint64_t ms, char ret[AB_AMOUNT_ROOM]);

#endif
