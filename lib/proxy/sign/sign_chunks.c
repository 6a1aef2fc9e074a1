#include "proxy/sign/sign_chunks.h"

#include <strings.h>

#include "proxy/secrets/locked_pages.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define MARK ";chunk-signature="
#define TRAILER_MARK "x-amz-trailer-signature:"

enum { LINE = 128 }; /* of a chunk: its size, the mark and the signature */

struct keys {
	uint8_t old[AB_SHA256_SIZE], fresh[AB_SHA256_SIZE];
};

struct ab_sign_chunks {
	struct ab_sigv4 sig;
	bool trailer;
	struct keys *keys;	 /* pages */
	char old[65], fresh[65]; /* the signatures so far */
	struct ab_buf held;
	bool last; /* the last chunk was seen: trailers follow */
	bool over;
	const char *why;
};

struct ab_sign_chunks *ab_sign_chunks_new(const struct ab_sign_chunks_setup *setup)
{
	struct ab_sign_chunks *c = ab_alloc(sizeof(*c));

	c->sig = *setup->sig;
	c->trailer = setup->trailer;
	c->keys = ab_pages_new(sizeof(*c->keys));
	memcpy(c->keys->old, setup->old_key, AB_SHA256_SIZE);
	memcpy(c->keys->fresh, setup->new_key, AB_SHA256_SIZE);
	memcpy(c->old, setup->sig->signature, sizeof(c->old));
	memcpy(c->fresh, setup->signature, sizeof(c->fresh));
	return c;
}

void ab_sign_chunks_free(struct ab_sign_chunks *c)
{
	if (!c)
		return;
	ab_pages_free(c->keys, sizeof(*c->keys));
	ab_buf_fini(&c->held);
	free(c);
}

/* The next signature of one chain. */
static void sign_link(const struct ab_sign_chunks *c, const uint8_t key[AB_SHA256_SIZE],
		      const char last[65], const void *data, size_t len, bool trailer, char ret[65])
{
	ab_autobuf struct ab_buf text = { 0 };
	char hash[65];

	ab_sha256(data, len, hash);
	ab_buf_printf(&text, "AWS4-HMAC-SHA256-%s\n%s\n", trailer ? "TRAILER" : "PAYLOAD",
		      c->sig.at);
	ab_sigv4_scope(&c->sig, &text);
	ab_buf_printf(&text, "\n%s\n", last);
	if (!trailer)
		ab_buf_puts(&text, EMPTY "\n");
	ab_buf_puts(&text, hash);
	ab_sigv4_sign(key, &text, ret);
}

/* Both chains; false: the client's signature is wrong. */
static bool sign_next(struct ab_sign_chunks *c, const void *data, size_t len, const char *given,
		      bool trailer)
{
	char right[65], next[65];

	sign_link(c, c->keys->old, c->old, data, len, trailer, right);
	if (!ab_sigv4_equal(right, given))
		return false;
	sign_link(c, c->keys->fresh, c->fresh, data, len, trailer, next);
	memcpy(c->old, right, sizeof(c->old));
	memcpy(c->fresh, next, sizeof(c->fresh));
	return true;
}

static bool fail(struct ab_sign_chunks *c, const char *why)
{
	c->why = why;
	return false;
}

/* "1000;chunk-signature=..." */
static bool read_line(const char *line, size_t len, uint64_t *ret_size, size_t *ret_digits)
{
	size_t n = 0;

	*ret_size = 0;
	while (n < len && ab_hex(line[n]) >= 0 && n < 15)
		*ret_size = *ret_size << 4 | (unsigned)ab_hex(line[n++]);
	*ret_digits = n;
	return n && len == n + sizeof(MARK) - 1 + 64 &&
	       memcmp(line + n, MARK, sizeof(MARK) - 1) == 0;
}

/* One chunk, if it is there completely. *ret_more: it was, there may be another. */
static bool take_chunk(struct ab_sign_chunks *c, struct ab_buf *out, bool *ret_more)
{
	const char *s = c->held.data;
	const char *end = c->held.len ? memmem(s, c->held.len, "\r\n", 2) : NULL;
	size_t line, digits, total;
	uint64_t size;

	*ret_more = false;
	if (!end)
		return c->held.len <= LINE || fail(c, "a chunk of its body has no signature");
	line = (size_t)(end - s);
	if (!read_line(s, line, &size, &digits))
		return fail(c, "a chunk of its body has no signature");
	if (size > AB_SIGN_CHUNK_MAX)
		return fail(c, "a chunk of its body is larger than 1 MiB");
	/* Trailers, or the last line end, follow the last chunk. */
	total = line + 2 + (size ? (size_t)size + 2 : 0);
	if (c->held.len < total)
		return true;
	if (size && memcmp(s + total - 2, "\r\n", 2) != 0)
		return fail(c, "a chunk of its body has no end");
	if (!sign_next(c, s + line + 2, (size_t)size, end - 64, false))
		return fail(c, "a chunk of its body has a wrong signature");
	ab_buf_add(out, s, digits + sizeof(MARK) - 1);
	ab_buf_add(out, c->fresh, 64);
	ab_buf_add(out, s + line, total - line);
	ab_buf_skip(&c->held, total);
	c->last = !size;
	*ret_more = !c->last;
	return true;
}

/* "name:value\n" of each trailer but the signature, and where that is; NULL: it is
 * not there. */
static const char *join_trailers(const char *s, size_t len, struct ab_buf *ret)
{
	const char *signature = NULL;

	while (len > 2) {
		const char *end = memmem(s, len, "\r\n", 2);
		size_t n = (size_t)(end - s);

		if (signature)
			return NULL;
		if (n == sizeof(TRAILER_MARK) - 1 + 64 &&
		    strncasecmp(s, TRAILER_MARK, sizeof(TRAILER_MARK) - 1) == 0) {
			signature = s + sizeof(TRAILER_MARK) - 1;
		} else {
			/* Some clients end these lines with LF CR LF. */
			size_t text = n && s[n - 1] == '\n' ? n - 1 : n;

			ab_buf_add(ret, s, text);
			ab_buf_puts(ret, "\n");
		}
		s += n + 2;
		len -= n + 2;
	}
	return signature;
}

static bool take_trailers(struct ab_sign_chunks *c, struct ab_buf *out)
{
	ab_autobuf struct ab_buf joined = { 0 };
	const char *s = c->held.data, *signature;
	const char *end;

	if (!c->trailer) {
		if (c->held.len > 2 || (c->held.len && memcmp(s, "\r\n", c->held.len) != 0))
			return fail(c, "something follows the last chunk of its body");
		if (c->held.len < 2)
			return true;
		ab_buf_add(out, "\r\n", 2);
		c->over = true;
		return true;
	}
	end = c->held.len ? memmem(s, c->held.len, "\r\n\r\n", 4) : NULL;
	if (!end)
		return c->held.len <= AB_SIGN_TRAILER_MAX ||
		       fail(c, "the trailers of its body are too long");
	if ((size_t)(end + 4 - s) != c->held.len)
		return fail(c, "something follows the trailers of its body");
	signature = join_trailers(s, c->held.len, &joined);
	if (!signature || !sign_next(c, joined.data, joined.len, signature, true))
		return fail(c, "the trailers of its body have a wrong signature");
	ab_buf_add(out, s, (size_t)(signature - s));
	ab_buf_add(out, c->fresh, 64);
	ab_buf_add(out, signature + 64, (size_t)(s + c->held.len - signature - 64));
	c->over = true;
	return true;
}

const char *ab_sign_chunks_take(struct ab_sign_chunks *c, const void *data, size_t len, bool end,
				struct ab_buf *out)
{
	bool more = true;

	if (c->why)
		return c->why;
	if (c->over && len) {
		c->why = "something follows the last chunk of its body";
		return c->why;
	}
	if (len)
		ab_buf_add(&c->held, data, len);
	while (!c->last && more)
		if (!take_chunk(c, out, &more))
			return c->why;
	if (c->last && !c->over && !take_trailers(c, out))
		return c->why;
	if (c->over)
		ab_buf_fini(&c->held);
	if (end && !c->over)
		c->why = "its body ends before its last chunk";
	return c->why;
}
