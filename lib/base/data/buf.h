#ifndef AB_BASE_DATA_BUF_H
#define AB_BASE_DATA_BUF_H
/*
 * A growing byte buffer that owns its memory. Zero-initialized is empty. Once
 * something was added, a NUL always follows the text.
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
/* Room for `len` bytes after the text; of those, `used` are then added. In between, the buffer is
 * not used otherwise. */
void *ab_buf_room(struct ab_buf *b, size_t len);
void ab_buf_add_used(struct ab_buf *b, size_t used);
void ab_buf_skip(struct ab_buf *b, size_t len); /* consume; frees when empty */
void ab_buf_puts(struct ab_buf *b, const char *s);
void ab_buf_printf(struct ab_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add a JSON string, including the quotes. Invalid UTF-8 becomes U+FFFD and control
 * characters become escapes, so any text is safe in a log. */
void ab_buf_json(struct ab_buf *b, const char *s);
void ab_buf_json_n(struct ab_buf *b, const char *s, size_t len);
/* Add a further member of a JSON object, with a comma: a string, or null for NULL. */
void ab_buf_json_member(struct ab_buf *b, const char *key, const char *s);
/* Add a JSON list of strings. */
void ab_buf_json_list(struct ab_buf *b, const struct ab_strv *list);
/* Add the text with hidden characters and invalid UTF-8 as \xNN: safe on a
 * terminal. */
void ab_buf_escape(struct ab_buf *b, const char *s);
void ab_buf_escape_n(struct ab_buf *b, const char *s, size_t len);
char *ab_buf_take(struct ab_buf *b); /* the text, never NULL; b is empty */
void ab_buf_fini(struct ab_buf *b);
#define ab_autobuf __attribute__((cleanup(ab_buf_fini)))

/* Decode the character at s, with `left` bytes available. Returns its length, 0 if it
 * is invalid (cut off, overlong, a surrogate). */
size_t ab_utf8_get(const char *s, size_t left, uint32_t *ret_c);
/* Write a character; how many bytes it has. */
size_t ab_utf8_put(uint32_t c, char ret[4]);
/* Must not be shown to people: control characters, and those that are invisible or
 * reorder the text. */
bool ab_utf8_hidden(uint32_t c);
/* The length of the character at s if it may be shown, else 0. */
size_t ab_printable(const char *s, size_t left);

/* ab_buf_escape() as a new string. */
char *ab_escape(const char *s);

#endif
