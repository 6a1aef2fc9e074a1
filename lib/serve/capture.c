#include "serve/capture.h"

#include "base/text/base64.h"

/* Bytes of valid UTF-8 at the beginning. */
static size_t get_text(const char *s, size_t len)
{
	size_t at = 0, n;
	uint32_t c;

	while (at < len && (n = ab_utf8_get(s + at, len - at, &c)) > 0)
		at += n;
	return at;
}

/* Could more bytes make it a character? */
static bool is_cut(const char *s, size_t len)
{
	unsigned char lead = (unsigned char)s[0];
	size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;

	if (lead < 0xc2 || lead > 0xf4 || len >= whole)
		return false;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

void ab_output_event(struct ab_buf *b, uint64_t run, const char *stream, struct ab_cut_char *cut,
		     const char *data, size_t len, bool last)
{
	ab_autobuf struct ab_buf whole = { 0 };
	ab_autobuf struct ab_buf base64 = { 0 };
	size_t text;
	bool held;

	ab_buf_add(&whole, cut->bytes, cut->len);
	ab_buf_add(&whole, data, len);
	cut->len = 0;
	text = get_text(whole.data, whole.len);
	held = !last && text < whole.len && is_cut(whole.data + text, whole.len - text);
	if (held) {
		cut->len = whole.len - text;
		memcpy(cut->bytes, whole.data + text, cut->len);
		whole.len = text;
	}
	if (!whole.len)
		return;
	ab_buf_jsonf(b, "{'event':'output','run':%ju,'stream':%s", run, stream);
	if (text == whole.len) {
		ab_buf_jsonf(b, ",'text':%.*s}", (int)whole.len, whole.data);
	} else {
		ab_base64_add(&base64, whole.data, whole.len, AB_BASE64_STANDARD, true);
		ab_buf_jsonf(b, ",'base64':%s}", base64.data);
	}
}
