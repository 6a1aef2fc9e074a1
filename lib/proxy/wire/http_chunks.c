#include "proxy/wire/http_chunks.h"

#include "proxy/wire/http.h"

enum state {
	SIZE, /* hexadecimal digits */
	EXTENSION,
	SIZE_LF,
	DATA,
	DATA_CR,
	DATA_LF,
	TRAILER, /* start of a line after the last chunk */
	NAME,
	VALUE,
	VALUE_LF,
	LAST_LF,
	OVER,
	BAD,
};

static bool is_text(uint8_t c)
{
	return (c >= 0x20 && c != 0x7f) || c == '\t';
}

static enum state read_size_byte(struct ab_http_chunks *c, uint8_t b)
{
	int digit = ab_hex(b);

	if (digit >= 0) {
		/* 15 digits cannot overflow */
		if (++c->digits > 15)
			return BAD;
		c->left = c->left << 4 | (unsigned)digit;
		return SIZE;
	}
	if (!c->digits)
		return BAD;
	c->line = 0;
	return b == '\r' ? SIZE_LF : b == ';' ? EXTENSION : BAD;
}

static enum state read_name_byte(struct ab_http_chunks *c, uint8_t b)
{
	char byte = (char)b;

	if (b == ':' && c->name_len) {
		struct ab_http_text name = { c->name, c->name_len };

		return ab_http_name(name) == AB_HTTP_OTHER ? VALUE : BAD;
	}
	if (c->name_len == AB_HTTP_TRAILER_NAME ||
	    !ab_http_token((struct ab_http_text){ &byte, 1 }))
		return BAD;
	c->name[c->name_len++] = byte;
	return NAME;
}

static enum state next_state(struct ab_http_chunks *c, uint8_t b)
{
	if (c->state >= TRAILER && ++c->line > AB_HTTP_TRAILERS_MAX)
		return BAD;
	switch ((enum state)c->state) {
	case SIZE:
		return read_size_byte(c, b);
	case EXTENSION:
		if (++c->line > AB_HTTP_EXTENSION_MAX)
			return BAD;
		return b == '\r' ? SIZE_LF : is_text(b) ? EXTENSION : BAD;
	case SIZE_LF:
		c->digits = 0;
		c->line = 0;
		return b != '\n' ? BAD : c->left ? DATA : TRAILER;
	case DATA_CR:
		return b == '\r' ? DATA_LF : BAD;
	case DATA_LF:
		return b == '\n' ? SIZE : BAD;
	case TRAILER:
		if (b == '\r')
			return LAST_LF;
		c->name_len = 0;
		return read_name_byte(c, b);
	case NAME:
		return read_name_byte(c, b);
	case VALUE:
		return b == '\r' ? VALUE_LF : is_text(b) ? VALUE : BAD;
	case VALUE_LF:
		return b == '\n' ? TRAILER : BAD;
	case LAST_LF:
		return b == '\n' ? OVER : BAD;
	case DATA:
	case OVER:
	case BAD:
		break;
	}
	return BAD;
}

/* Stops after the first run of payload: the last *ret_data bytes of those taken. */
static ssize_t take_run(struct ab_http_chunks *c, const uint8_t *p, size_t len, size_t *ret_data,
			bool *ret_over)
{
	size_t at = 0;

	*ret_data = 0;
	while (at < len && c->state != OVER && !*ret_data) {
		if (c->state == DATA) {
			uint64_t n = len - at < c->left ? len - at : c->left;

			at += (size_t)n;
			c->left -= n;
			c->payload += n;
			if (!c->left)
				c->state = DATA_CR;
			*ret_data = (size_t)n;
			continue;
		}
		c->state = (uint8_t)next_state(c, p[at++]);
		if (c->state == BAD)
			return -1;
	}
	*ret_over = c->state == OVER;
	return (ssize_t)at;
}

/* How many bytes of trailers were taken. If that grew, they are the last ones of those taken. */
static uint32_t count_trailers(const struct ab_http_chunks *c)
{
	return c->state >= TRAILER && c->state <= OVER ? c->line : 0;
}

ssize_t ab_http_chunks_take(struct ab_http_chunks *c, const void *data, size_t len,
			    struct ab_buf *payload, struct ab_buf *trailers, bool *ret_over)
{
	const uint8_t *p = data;
	size_t at = 0, run;

	*ret_over = c->state == OVER;
	while (at < len && !*ret_over) {
		uint32_t before = count_trailers(c), lines;
		ssize_t n = take_run(c, p + at, len - at, &run, ret_over);

		if (n < 0)
			return -1;
		at += (size_t)n;
		lines = count_trailers(c) - before;
		if (payload)
			ab_buf_add(payload, p + at - run, run);
		if (trailers && lines)
			ab_buf_add(trailers, p + at - lines, lines);
	}
	return (ssize_t)at;
}
