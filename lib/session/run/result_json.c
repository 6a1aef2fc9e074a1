#include "session/run/result_json.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "audit/write/audit.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/text/base64.h"
#include "policy/model/policy.h"
#include "proxy/thread/proxy.h"

static void add_bool(struct ab_buf *b, const char *key, bool value)
{
	ab_record_json(b, key, value ? "true" : "false");
}

static void add_list(struct ab_buf *b, const char *key, const struct ab_strv *values)
{
	if (values)
		ab_record_list(b, key, values);
	else
		ab_record_json(b, key, "[]");
}

static void add_signal(struct ab_buf *b, const struct ab_result *r)
{
	const char *name;
	char text[32];
	int sig;

	if (!r->ran || !WIFSIGNALED(r->status)) {
		ab_record_json(b, "signal", "null");
		return;
	}
	sig = WTERMSIG(r->status);
	name = sigabbrev_np(sig);
	if (name)
		snprintf(text, sizeof(text), "SIG%s", name);
	else
		snprintf(text, sizeof(text), "%d", sig);
	ab_record_text(b, "signal", text);
}

static void add_end(struct ab_buf *b, const struct ab_result *r)
{
	ab_record_number(b, "exit", r->exit);
	if (r->ran && WIFEXITED(r->status))
		ab_record_number(b, "status", WEXITSTATUS(r->status));
	else
		ab_record_json(b, "status", "null");
	add_signal(b, r);
	add_bool(b, "timed_out", r->timed_out);
	ab_record_maybe(b, "error", r->error ? r->error->text : NULL);
	ab_record_maybe(b, "code", r->error && !r->ran ? ab_error_word(r->error->code) : NULL);
	ab_record_maybe(b, "hint", r->error ? r->error->hint : NULL);
}

static void add_properties(struct ab_buf *b, const char *key, uint32_t bits)
{
	ab_autostrv struct ab_strv names = { 0 };

	for (size_t i = 0; i < AB_PROP_COUNT; i++)
		if (bits & AB_PROP_BIT(i))
			ab_strv_add(&names, ab_property_names[i]);
	ab_buf_puts(b, key);
	ab_buf_json_list(b, &names);
}

static void add_network(struct ab_buf *b, const struct ab_proxy_report *n)
{
	ab_autobuf struct ab_buf json = { 0 };

	if (!n) {
		ab_record_json(b, "network", "null");
		return;
	}
	ab_buf_printf(&json,
		      "{\"allowed\":%llu,\"denied\":%llu,\"failed\":%llu,"
		      "\"bytes_up\":%llu,\"bytes_down\":%llu}",
		      (unsigned long long)n->allowed, (unsigned long long)n->denied,
		      (unsigned long long)n->failed, (unsigned long long)n->bytes_up,
		      (unsigned long long)n->bytes_down);
	ab_record_json(b, "network", json.data);
}

/* They are JSON already, copied from the record. */
static void add_violations(struct ab_buf *b, const struct ab_result *r)
{
	ab_record_json(b, "violations", "[");
	for (size_t i = 0; r->violations && i < r->violations->len; i++) {
		ab_buf_puts(b, i ? "," : "");
		ab_buf_puts(b, r->violations->v[i]);
	}
	ab_buf_puts(b, "]");
	ab_record_number(b, "violations_total", (int64_t)r->nviolations);
}

void ab_result_json(const struct ab_result *r, struct ab_buf *b)
{
	char stamp[AB_STAMP_ROOM];

	ab_stamp(&r->started, stamp);
	ab_buf_printf(b, "{\"version\":%d", AB_RESULT_VERSION);
	ab_record_maybe(b, "run_id", r->run_id);
	ab_record_maybe(b, "name", r->name);
	add_list(b, "command", r->command);
	ab_record_maybe(b, "cwd", r->cwd);
	ab_record_maybe(b, "profile", r->profile);
	add_end(b, r);
	ab_record_text(b, "started", stamp);
	ab_record_number(b, "duration_ms", (int64_t)r->duration_ms);
	ab_record_maybe(b, "decision", r->decision);
	ab_record_maybe(b, "rule", r->rule);
	ab_record_maybe(b, "approved", r->approved);
	ab_buf_puts(b, ",\"assurance\":{\"engine\":");
	if (r->engine)
		ab_buf_json(b, r->engine);
	else
		ab_buf_puts(b, "null");
	add_properties(b, ",\"holds\":", r->holds);
	add_properties(b, ",\"missing\":", r->missing);
	add_properties(b, ",\"given_up\":", r->given_up);
	ab_buf_puts(b, "}");
	add_network(b, r->network);
	add_violations(b, r);
	add_list(b, "findings", r->findings);
	ab_record_json(b, "review", r->review ? r->review : "null");
	ab_buf_puts(b, "}");
}

/* Are these bytes an incomplete character? Try to complete it: the range of the second byte depends
 * on the first. */
static bool is_incomplete_char(const char *s, size_t len)
{
	static const unsigned char more[] = { 0x80, 0x90, 0xa0 };
	uint32_t c;

	for (size_t i = 0; i < sizeof(more) && len < 4; i++) {
		char whole[4];

		memset(whole, more[i], sizeof(whole));
		memcpy(whole, s, len);
		for (size_t n = len + 1; n <= sizeof(whole); n++)
			if (ab_utf8_get(whole, n, &c) == n)
				return true;
	}
	return false;
}

/* Is the stream UTF-8, and how long is the text? If output was cut off, a last incomplete character
 * is left out. */
static bool is_text(const struct ab_stream *s, size_t *ret_len)
{
	size_t at = 0;
	uint32_t c;

	while (at < s->len) {
		size_t n = ab_utf8_get(s->data + at, s->len - at, &c);

		if (n == 0)
			break;
		at += n;
	}
	*ret_len = at;
	if (at == s->len)
		return true;
	return s->total > s->len && is_incomplete_char(s->data + at, s->len - at);
}

static void add_base64(struct ab_buf *b, const struct ab_stream *s)
{
	ab_autofree char *text = ab_alloc(AB_BASE64_ROOM(s->len) + 1);
	size_t len = ab_base64_encode(s->data, s->len, AB_BASE64_STANDARD, text);

	ab_buf_puts(b, "\"");
	ab_buf_add(b, text, len);
	ab_buf_puts(b, "\"");
}

static void add_stream(struct ab_buf *b, const char *name, const struct ab_stream *s)
{
	size_t len;

	if (is_text(s, &len)) {
		ab_buf_printf(b, ",\"%s\":", name);
		ab_buf_json_n(b, s->data ? s->data : "", len);
	} else {
		ab_buf_printf(b, ",\"%s_base64\":", name);
		add_base64(b, s);
	}
	ab_buf_printf(b, ",\"%s_truncated\":%s,\"%s_bytes\":%llu", name,
		      s->total > s->len ? "true" : "false", name, (unsigned long long)s->total);
}

void ab_result_add_streams(struct ab_buf *b, const struct ab_stream *out,
			   const struct ab_stream *err)
{
	while (b->len > 0 && b->data[b->len - 1] != '}')
		b->len--;
	if (b->len > 0)
		b->len--;
	if (out)
		add_stream(b, "stdout", out);
	if (err)
		add_stream(b, "stderr", err);
	ab_buf_puts(b, "}");
}
