#pragma once
/*
 * A growing byte buffer that owns its memory. Zero-initialized is empty. Once
 * something was added, a NUL always follows the text.
 */
#include "base/data/mem.h"

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
static inline void ab_buf_puts(struct ab_buf *b, const char *s)
{
	ab_buf_add(b, s, strlen(s));
}
void ab_buf_printf(struct ab_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add a JSON string, including the quotes. Invalid UTF-8 becomes U+FFFD and control
 * characters become escapes, so any text is safe in a log. */
void ab_buf_json(struct ab_buf *b, const char *s);
void ab_buf_json_n(struct ab_buf *b, const char *s, size_t len);
/*
 * Add JSON by a template, in which ' stands for a quote and values are
 *
 *	%s	a text; null for NULL		%hhd	true or false
 *	%.*s	a text of this length		%d %u	a number; after ll, j or z
 *	%-s	JSON as it is; null for NULL		a long one
 *	%p	a list of texts, ab_list(list)
 *
 * A comma at the beginning of the template is left out at the beginning of the buffer, and behind
 * an opening bracket or a key, so that every element of a list can be written in the same way:
 *
 *	ab_buf_jsonf(b, ",{'path':%s,'trusted':%hhd}", path, trusted);
 *
 * A member behind a ? is left out if its value is NULL or an empty list: "?,'name':%s".
 */
void ab_buf_jsonf(struct ab_buf *b, const char *pattern, ...) __attribute__((format(printf, 2, 3)));
void ab_buf_vjsonf(struct ab_buf *b, const char *pattern, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Add a further member of an object: a number, or null if it is not known. */
void ab_buf_json_number(struct ab_buf *b, const char *key, bool known, int64_t n);
static inline const void *ab_list(const struct ab_strv *list)
{
	return list;
}
/* NULL if there is nothing in it, which JSON calls null. */
static inline const char *ab_text_or_null(const char *s)
{
	return s && *s ? s : NULL;
}
/* Add the text with hidden characters and invalid UTF-8 as \xNN: safe on a
 * terminal. */
void ab_buf_escape(struct ab_buf *b, const char *s);
void ab_buf_escape_n(struct ab_buf *b, const char *s, size_t len);
char *ab_buf_take(struct ab_buf *b); /* the text, never NULL; b is empty */
void ab_buf_fini(struct ab_buf *b);
#define ab_autobuf __attribute__((cleanup(ab_buf_fini)))
#define ab_buf_fini_all(...) ab_each(struct ab_buf *, ab_buf_fini, __VA_ARGS__)

/* Decode the character at s, with `left` bytes available. Returns its length, 0 if it
 * is invalid (cut off, overlong, a surrogate). */
size_t ab_utf8_get(const char *s, size_t left, uint32_t *ret_c);
/* Write a character; how many bytes it has. */
size_t ab_utf8_put(uint32_t c, char ret[4]);
/* The characters of a valid text. For the width of one that was escaped: wide characters only spoil the
 * alignment. */
size_t ab_utf8_count(const char *text);
/* Its last characters, at most so many. */
const char *ab_utf8_tail(const char *text, size_t most);
/* Must not be shown to people: control characters, and those that are invisible or
 * reorder the text. */
bool ab_utf8_hidden(uint32_t c);
/* The length of the character at s if it may be shown, else 0. */
size_t ab_printable(const char *s, size_t left);
/* May all of it be shown? */
bool ab_all_printable(const char *s);

/* ab_buf_escape() as a new string. */
char *ab_escape(const char *s);
