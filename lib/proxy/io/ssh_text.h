#pragma once
/*
 * The basic types of the SSH protocols (RFC 4251), and of others like them: a byte, a number of
 * four bytes, and a string with its length in front. Pure: a reader that fails stays
 * failed, and never looks past its end.
 */
#include "base/base.h"

/* A view of bytes in a buffer that the caller keeps alive. */
struct ab_ssh_text {
	const uint8_t *at;
	size_t len;
};

struct ab_ssh_reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static inline uint8_t ab_ssh_byte(struct ab_ssh_reader *r)
{
	if (r->bad || r->left < 1) {
		r->bad = true;
		return 0;
	}
	r->left--;
	return *r->at++;
}

/* A number of `bytes` bytes, the highest first. */
static inline uint32_t ab_ssh_number_of(struct ab_ssh_reader *r, size_t bytes)
{
	uint32_t n = 0;

	while (bytes--)
		n = n << 8 | ab_ssh_byte(r);
	return n;
}

/* The next bytes, so many. */
static inline struct ab_ssh_text ab_ssh_bytes(struct ab_ssh_reader *r, size_t len)
{
	struct ab_ssh_text text = { 0 };

	if (r->bad || len > r->left) {
		r->bad = true;
		return text;
	}
	text = (struct ab_ssh_text){ r->at, len };
	r->at += len;
	r->left -= len;
	return text;
}

static inline struct ab_ssh_text ab_ssh_string(struct ab_ssh_reader *r)
{
	return ab_ssh_bytes(r, ab_ssh_number_of(r, 4));
}

/* Was everything read, and nothing missing? */
static inline bool ab_ssh_ended(const struct ab_ssh_reader *r)
{
	return !r->bad && r->left == 0;
}

static inline struct ab_ssh_reader ab_ssh_read(struct ab_ssh_text text)
{
	return (struct ab_ssh_reader){ .at = text.at, .left = text.len };
}

static inline struct ab_ssh_text ab_ssh_view(const struct ab_buf *b)
{
	return (struct ab_ssh_text){ ab_buf_bytes(b), b->len };
}

static inline bool ab_ssh_same(struct ab_ssh_text a, struct ab_ssh_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool ab_ssh_is(struct ab_ssh_text text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

static inline void ab_ssh_put_byte(struct ab_buf *b, uint8_t byte)
{
	ab_buf_add(b, &byte, 1);
}

/* A number of `bytes` bytes, the highest first. */
static inline void ab_ssh_put_number_of(struct ab_buf *b, uint64_t n, size_t bytes)
{
	while (bytes-- > 0)
		ab_ssh_put_byte(b, (uint8_t)(n >> (8 * bytes)));
}

static inline void ab_ssh_put_string(struct ab_buf *b, struct ab_ssh_text text)
{
	ab_ssh_put_number_of(b, text.len, 4);
	ab_buf_add(b, text.at, text.len);
}
