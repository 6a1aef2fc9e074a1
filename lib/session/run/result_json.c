#include "session/run/result_json.h"

#include <sys/wait.h>

#include "audit/write/audit.h"
#include "base/text/base64.h"
#include "policy/model/policy.h"
#include "proxy/thread/proxy.h"

static const char *name_signal(const struct ab_result *r, char ret[32])
{
	int sig = WTERMSIG(r->status);
	const char *name = sigabbrev_np(sig);

	if (!r->ran || !WIFSIGNALED(r->status))
		return NULL;
	if (name)
		snprintf(ret, 32, "SIG%s", name);
	else
		snprintf(ret, 32, "%d", sig);
	return ret;
}

static void add_end(struct ab_buf *b, const struct ab_result *r)
{
	const struct ab_error *error = r->error;
	char signal[32];

	ab_buf_jsonf(b, ",'exit':%d", r->exit);
	ab_buf_json_number(b, "status", r->ran && WIFEXITED(r->status), WEXITSTATUS(r->status));
	ab_buf_jsonf(b, ",'signal':%s,'timed_out':%hhd,'error':%s,'code':%s,'hint':%s",
		     name_signal(r, signal), r->timed_out,
		     ab_text_or_null(error ? error->text : NULL),
		     ab_text_or_null(error && !r->ran ? ab_error_word(error->code) : NULL),
		     ab_text_or_null(error ? error->hint : NULL));
}

static void add_network(struct ab_buf *b, const struct ab_ledger_totals *n)
{
	if (n)
		ab_buf_jsonf(b,
			     ",'network':{'allowed':%ju,'denied':%ju,'failed':%ju,'bytes_up':%ju,"
			     "'bytes_down':%ju}",
			     n->allowed, n->denied, n->failed, n->bytes_up, n->bytes_down);
	else
		ab_buf_jsonf(b, ",'network':null");
}

void ab_result_json(const struct ab_result *r, struct ab_buf *b)
{
	ab_autostrv struct ab_strv holds = { 0 }, missing = { 0 }, given_up = { 0 };
	char stamp[AB_STAMP_ROOM];

	ab_stamp(&r->started, stamp);
	ab_property_list(r->holds, &holds);
	ab_property_list(r->missing, &missing);
	ab_property_list(r->given_up, &given_up);
	ab_buf_jsonf(b, "{'version':%d,'run_id':%s,'name':%s,'command':%p,'cwd':%s,'profile':%s",
		     AB_RESULT_VERSION, ab_text_or_null(r->run_id), ab_text_or_null(r->name),
		     ab_list(r->command), ab_text_or_null(r->cwd), ab_text_or_null(r->profile));
	add_end(b, r);
	ab_buf_jsonf(b,
		     ",'started':%s,'duration_ms':%jd,'decision':%s,'rule':%s,'approved':%s,"
		     "'assurance':{'engine':%s,'holds':%p,'missing':%p,'given_up':%p}",
		     stamp, (int64_t)r->duration_ms, ab_text_or_null(r->decision),
		     ab_text_or_null(r->rule), ab_text_or_null(r->approved), r->engine,
		     ab_list(&holds), ab_list(&missing), ab_list(&given_up));
	add_network(b, r->network);
	/* They are JSON already, copied from the record. */
	ab_buf_jsonf(b, ",'violations':[");
	for (size_t i = 0; r->violations && i < r->violations->len; i++)
		ab_buf_jsonf(b, ",%-s", r->violations->v[i]);
	ab_buf_jsonf(b, "],'violations_total':%jd,'findings':%p,'review':%-s}",
		     (int64_t)r->nviolations, ab_list(r->findings), r->review);
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

static void add_stream(struct ab_buf *b, const char *name, const struct ab_stream *s)
{
	ab_autofree char *base64 = NULL;
	size_t len;

	if (is_text(s, &len)) {
		ab_buf_jsonf(b, ",%s:%.*s", name, (int)len, s->data ? s->data : "");
	} else {
		base64 = ab_alloc(AB_BASE64_ROOM(s->len) + 1);
		ab_base64_encode(s->data, s->len, AB_BASE64_STANDARD, base64);
		ab_buf_printf(b, ",\"%s_base64\":\"%s\"", name, base64);
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

char *ab_result_read(int fd)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    ab_read_all(fd, AB_RESULT_MAX, &text, &len) < 0 || len < 2 || text[len - 1] != '\n')
		return NULL;
	text[len - 1] = '\0';
	return ab_take(text);
}
