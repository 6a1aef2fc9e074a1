#include "session/tokens/token_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/json_scan.h"
#include "policy/model/secrets.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

enum { EXPIRES_MOST = 366 * 24 * 3600 };

static void free_text(char **text)
{
	if (*text)
		explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void ab_token_reply_fini(struct ab_token_reply *reply)
{
	free_text(&reply->access);
	free_text(&reply->refresh);
}

/* Take the chunks out of a body. 1: nothing follows; 0: more follows; -1: malformed. */
static int join_chunks(const char *data, size_t len, struct ab_buf *ret)
{
	struct ab_http_chunks chunks = { 0 };
	bool over = false;

	while (len > 0 && !over) {
		size_t payload;
		ssize_t n = ab_http_chunks_next(&chunks, data, len, &payload, &over);

		if (n < 0)
			return -1;
		ab_buf_add(ret, data + n - payload, payload);
		data += n;
		len -= (size_t)n;
	}
	return over;
}

/* The head of the answer, without "100 Continue" and its kind before it. 0: incomplete. */
static ssize_t read_head(const char *data, size_t len, struct ab_http_response *ret)
{
	size_t done = 0;

	for (;;) {
		struct ab_http_scan scan = { 0 };
		ssize_t n = len > done ? ab_http_read_response(&scan, data + done, len - done,
							       false, ret)
				       : 0;

		if (n <= 0)
			return n;
		done += (size_t)n;
		if (ret->status >= 200)
			return (ssize_t)done;
	}
}

/* 1: the body is complete, 0: it is not yet, -1: it never will be. */
static int find_body(const struct ab_http_head *head, const char *data, size_t len, bool eof,
		     struct ab_buf *ret)
{
	int whole;

	switch (head->body) {
	case AB_HTTP_NONE:
		return 1;
	case AB_HTTP_LENGTH:
		if (head->length > AB_TOKEN_REPLY_MOST)
			return -1;
		if (len < head->length)
			return eof ? -1 : 0;
		ab_buf_add(ret, data, (size_t)head->length);
		return 1;
	case AB_HTTP_CHUNKED:
		whole = join_chunks(data, len, ret);
		return whole || !eof ? whole : -1;
	case AB_HTTP_CLOSE:
		ab_buf_add(ret, data, len);
		return eof;
	}
	return -1;
}

/* Can it be a value of a secret, and a word? */
static bool is_token(const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		if (text[n] <= ' ' || text[n] > '~')
			return false;
	return n >= AB_SECRET_MIN && n <= AB_SECRET_MAX;
}

/* Error codes are words of the standard or of the service, as "invalid_grant". The box sees
 * them, so nothing that looks like a part of a credential is kept. */
static void keep_error(const char *text, char ret[AB_TOKEN_ERROR])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	size_t n = text ? strspn(text, letters) : 0;

	if (n && !text[n] && n < AB_TOKEN_ERROR)
		memcpy(ret, text, n + 1);
}

static void read_members(const struct ab_json_scan_node *object, struct ab_token_reply *ret)
{
	const char *access = NULL, *refresh = NULL, *type = "bearer";

	ab_json_scan_each(m, object)
	{
		if (strcmp(m->key, "access_token") == 0)
			access = m->text;
		else if (strcmp(m->key, "refresh_token") == 0)
			refresh = m->text;
		else if (strcmp(m->key, "token_type") == 0)
			type = m->text ? m->text : "";
		else if (strcmp(m->key, "expires_in") == 0 && m->kind == '0' && m->integer > 0)
			ret->expires_in = m->integer < EXPIRES_MOST ? m->integer : EXPIRES_MOST;
		else if (strcmp(m->key, "error") == 0)
			keep_error(m->text, ret->error);
	}
	/* Some services answer 200 with an error. */
	if (ret->status / 100 != 2 || (ret->error[0] && !access))
		return;
	ret->outcome = AB_TOKEN_BAD;
	if (!access)
		ret->why = "its answer has no access_token";
	else if (strcasecmp(type, "bearer") != 0)
		ret->why = "its answer is not a bearer token";
	else if (!is_token(access) || (refresh && refresh[0] && !is_token(refresh)))
		ret->why = "its answer has a token that cannot be used";
	else
		ret->outcome = AB_TOKEN_GRANTED;
	if (ret->outcome != AB_TOKEN_GRANTED)
		return;
	ret->access = ab_strdup(access);
	ret->refresh = refresh && refresh[0] ? ab_strdup(refresh) : NULL;
}

static void end_badly(struct ab_token_reply *ret, const char *why)
{
	ret->outcome = AB_TOKEN_BAD;
	ret->why = why;
}

void ab_token_reply_read(const char *data, size_t len, bool eof, struct ab_token_reply *ret)
{
	ab_autoscan struct ab_json_scan json = { 0 };
	struct ab_buf body = { .wipe = true };
	struct ab_http_response answer;
	ssize_t head = read_head(data, len, &answer);
	int whole = 0;

	*ret = (struct ab_token_reply){ .outcome = AB_TOKEN_MORE };
	if (head > 0)
		whole = find_body(&answer.head, data + head, len - (size_t)head, eof, &body);
	if (head < 0 || whole < 0) {
		end_badly(ret, "its answer is not HTTP");
	} else if (!whole && (eof || len >= AB_TOKEN_REPLY_MOST)) {
		end_badly(ret, eof ? "it closed the connection without an answer"
				   : "its answer is larger than 64 KiB");
	} else if (whole) {
		ret->status = answer.status;
		ret->outcome = AB_TOKEN_REFUSED;
		if (body.len && ab_json_scan_parse(&json, body.data, body.len) == 0 &&
		    json.nodes[0].kind == '{')
			read_members(&json.nodes[0], ret);
		else if (answer.status / 100 == 2)
			end_badly(ret, "its answer is not an object of JSON");
	}
	ab_buf_fini(&body);
}
