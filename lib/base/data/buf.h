#ifndef AB_BASE_DATA_BUF_H
#define AB_BASE_DATA_BUF_H
/*
 * A growing byte buffer that owns its memory. Zero-initialised is empty. The
 * text is always NUL-terminated behind its length once something was added.
 * As a queue, bytes are added at the end and consumed from the front.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_strv;

struct ab_buf {
	char *data; /* the first byte that is not consumed */
	size_t len;
	size_t room;	/* of the memory */
	size_t skipped; /* consumed: between the memory's start and `data` */
	bool wipe;	/* contains values of secrets: every byte is erased after
			 * use; set before the first byte, it outlasts _fini */
};

static inline const uint8_t *ab_buf_bytes(const struct ab_buf *b)
{
	return (const uint8_t *)b->data;
}

void ab_buf_add(struct ab_buf *b, const void *data, size_t len);
void ab_buf_skip(struct ab_buf *b, size_t len); /* consume; frees when empty */
void ab_buf_puts(struct ab_buf *b, const char *s);
void ab_buf_printf(struct ab_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text as a JSON string, quotes included. Bytes that are not UTF-8 become
 * U+FFFD, control characters escapes: safe in a log whatever it holds. */
void ab_buf_json(struct ab_buf *b, const char *s);
void ab_buf_json_n(struct ab_buf *b, const char *s, size_t len);
/* A list of such strings. */
void ab_buf_json_list(struct ab_buf *b, const struct ab_strv *list);
/* The text with what is hidden and non-UTF-8 as \xNN: safe on a terminal. */
void ab_buf_escape(struct ab_buf *b, const char *s);
void ab_buf_escape_n(struct ab_buf *b, const char *s, size_t len);
char *ab_buf_take(struct ab_buf *b); /* the text, never NULL; b is empty */
void ab_buf_fini(struct ab_buf *b);
#define ab_autobuf __attribute__((cleanup(ab_buf_fini)))

/* The character at s, of which `left` bytes are there: how many it has; 0: it
 * is none (cut off, overlong, a surrogate). */
size_t ab_utf8_get(const char *s, size_t left, uint32_t *ret_c);
/* Write a character; how many bytes it has. */
size_t ab_utf8_put(uint32_t c, char ret[4]);
/* Not to be shown to people as it is: control characters, and those that
 * cannot be seen or that reorder what is read. */
bool ab_utf8_hidden(uint32_t c);
/* The length of one that may be shown; 0 when there is none. */
size_t ab_printable(const char *s, size_t left);

/* The same escaping as a new string. */
char *ab_escape(const char *s);

#endif
