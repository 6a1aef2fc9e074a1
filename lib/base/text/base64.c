#include "base/text/base64.h"

static const char digits[2][65] = {
	[AB_BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "abcdefghijklmnopqrstuvwxyz0123456789+/",
	[AB_BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			  "abcdefghijklmnopqrstuvwxyz0123456789-_",
};

size_t ab_base64_encode(const void *data, size_t len, enum ab_base64 alphabet, char *ret)
{
	const uint8_t *p = data;
	char *to = ret;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t v = 0;

		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (k < n ? p[i + k] : 0u);
		for (size_t k = 0; k < 4; k++)
			*to++ = k <= n ? digits[alphabet][v >> (18 - 6 * k) & 63] : '=';
	}
	return (size_t)(to - ret);
}

void ab_base64_add(struct ab_buf *out, const void *data, size_t len, enum ab_base64 alphabet,
		   bool padded)
{
	char *to = ab_buf_room(out, AB_BASE64_ROOM(len));
	size_t n = ab_base64_encode(data, len, alphabet, to);

	while (!padded && n && to[n - 1] == '=')
		n--;
	ab_buf_add_used(out, n);
}

static int decode_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

bool ab_base64_digit(char c, enum ab_base64 alphabet)
{
	int d = decode_digit(c);

	return d >= 0 && digits[alphabet][d] == c;
}

bool ab_base64_decode(const char *s, size_t len, void *ret, size_t *ret_len)
{
	uint8_t *to = ret;
	uint32_t bits = 0;
	unsigned have = 0, padding = 0;

	while (padding < 2 && len && s[len - 1] == '=') {
		len--;
		padding++;
	}
	if (len % 4 == 1 || (padding && (len + padding) % 4))
		return false;
	for (size_t i = 0; i < len; i++) {
		int d = decode_digit(s[i]);

		if (d < 0)
			return false;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		*to++ = (uint8_t)(bits >> have);
	}
	*ret_len = (size_t)(to - (uint8_t *)ret);
	return true;
}

/* The six bits from bit `at` on. */
static unsigned get_six_bits(const uint8_t *p, size_t at)
{
	unsigned two = (unsigned)p[at / 8] << 8;

	if (at % 8 > 2)
		two |= p[at / 8 + 1];
	return two >> (10 - at % 8) & 63;
}

size_t ab_base64_core(const void *data, size_t len, unsigned align, enum ab_base64 alphabet,
		      char *ret, size_t *ret_at)
{
	size_t before = (size_t)align * 8;
	size_t first = (before + 5) / 6, end = (before + len * 8) / 6;

	*ret_at = first % 4;
	for (size_t i = first; i < end; i++)
		ret[i - first] = digits[alphabet][get_six_bits(data, i * 6 - before)];
	return end > first ? end - first : 0;
}

bool ab_percent_add(struct ab_buf *out, const char *s, size_t len, bool form)
{
	ab_buf_puts(out, "");
	for (size_t i = 0; i < len; i++) {
		int c = s[i] == '%' ? ab_percent(s + i, len - i) : (unsigned char)s[i];
		char byte = (char)(form && s[i] == '+' ? ' ' : c);

		if (c < 0x20 || c == 0x7f)
			return false;
		ab_buf_add(out, &byte, 1);
		i += s[i] == '%' ? 2 : 0;
	}
	return true;
}
