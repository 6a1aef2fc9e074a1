#include "proxy/traffic/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"

static const struct {
	int status;
	const char *phrase;
	const char *begin; /* of the text */
} kinds[] = {
	{ 400, "Bad Request", "agentbox denied this request" },
	{ 414, "URI Too Long", "agentbox denied this request" },
	{ 431, "Request Header Fields Too Large", "agentbox denied this request" },
	{ 501, "Not Implemented", "agentbox denied this request" },
	{ 502, "Bad Gateway", "agentbox could not get a response" },
	{ 504, "Gateway Timeout", "agentbox could not get a response" },
	{ 505, "HTTP Version Not Supported", "agentbox denied this request" },
};

static void explain_denial(struct ab_buf *text, const char *id, const struct ab_request_record *r)
{
	ab_autobuf struct ab_buf about = { 0 };
	char reason[AB_REASON_ROOM], hint[AB_REASON_ROOM];

	ab_words_target(&about, r->host, r->port);
	ab_words_denied(text, about.len ? about.data : "?", ab_ledger_reason(r, reason),
			ab_ledger_rule(r), id);
	if (ab_request_liftable(r)) {
		ab_buf_printf(text, "To allow it, a human can run: agentbox allow %s\n", id);
		return;
	}
	ab_ledger_hint(r, hint);
	if (hint[0])
		ab_buf_printf(text,
			      "To allow it in the next run, a human can run: "
			      "agentbox run %s -- ...\n",
			      hint);
}

/* `id` of a denial, or "". */
static void explain_failure(struct ab_buf *text, const char *begin, const char *id,
			    const struct ab_request_record *r, int status)
{
	ab_buf_puts(text, begin);
	if (r->port) {
		ab_buf_puts(text, status < 500 ? " to " : " from ");
		ab_words_target(text, r->host, r->port);
	}
	ab_buf_printf(text, ": %s", r->error ? r->error : "unknown reason");
	if (id[0])
		ab_buf_printf(text, " (id %s)", id);
	ab_buf_puts(text, ".\n");
}

void ab_exchange_reply(struct ab_buf *out, struct ab_ledger *ledger,
		       const struct ab_request_record *r, int status)
{
	ab_autobuf struct ab_buf head = { 0 }, text = { 0 };
	const char *phrase = "Error", *begin = "agentbox denied this request";
	char id[AB_DENIAL_ID] = "";

	if (r->denial)
		ab_ledger_id(ledger, r->denial, id);
	if (status == 403) {
		explain_denial(&text, id, r);
		/* Some programs show only the status line. */
		ab_buf_printf(&head, "HTTP/1.1 403 Denied by agentbox (%s)\r\n", id);
	} else {
		for (size_t i = 0; i < AB_COUNT(kinds); i++)
			if (kinds[i].status == status) {
				phrase = kinds[i].phrase;
				begin = kinds[i].begin;
			}
		explain_failure(&text, begin, id, r, status);
		ab_buf_printf(&head, "HTTP/1.1 %d %s (agentbox: %s)\r\n", status, phrase,
			      r->error ? r->error : "unknown reason");
	}
	ab_buf_printf(&head,
		      "Content-Type: text/plain; charset=utf-8\r\n"
		      "Content-Length: %zu\r\n"
		      "Cache-Control: no-store\r\n"
		      "Connection: close\r\n"
		      "\r\n",
		      text.len);
	ab_buf_add(out, head.data, head.len);
	if (!r->method || strcmp(r->method, "HEAD") != 0)
		ab_buf_add(out, text.data, text.len);
}

int ab_exchange_failure(const struct ab_dialled *result, const char **ret_why)
{
	static const struct {
		int status;
		const char *why;
	} failures[] = {
		[AB_DIAL_NO_NAME] = { 502, "the name does not exist" },
		[AB_DIAL_NO_ANSWER] = { 504, "no name server answered" },
		[AB_DIAL_FAILED] = { 502, "the connection failed" },
		[AB_DIAL_TIMEOUT] = { 504, "the connection timed out" },
		[AB_DIAL_UPSTREAM] = { 502, "the upstream proxy refused the request" },
	};
	static const struct {
		int errnum;
		const char *why;
	} causes[] = {
		{ ECONNREFUSED, "connection refused" },
		{ ECONNRESET, "connection reset" },
		{ EHOSTUNREACH, "no route to its address" },
		{ ENETUNREACH, "no route to its network" },
		{ ETIMEDOUT, "the connection timed out" },
	};

	*ret_why = failures[result->result].why;
	if (result->result != AB_DIAL_FAILED)
		return failures[result->result].status;
	for (size_t i = 0; i < AB_COUNT(causes); i++)
		if (causes[i].errnum == result->errnum)
			*ret_why = causes[i].why;
	return result->errnum == ETIMEDOUT ? 504 : 502;
}
