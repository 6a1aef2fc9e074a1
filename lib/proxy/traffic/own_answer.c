#include "proxy/traffic/exchange.h"

#include "audit/read/words.h"

static const struct {
	int status;
	const char *phrase;
} kinds[] = {
	{ 400, "Bad Request" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 431, "Request Header Fields Too Large" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Slow Down" },
	{ 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
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
static void explain_failure(struct ab_buf *text, const char *id, const struct ab_request_record *r,
			    int status)
{
	ab_buf_puts(text, status == 502 || status == 504 ? "agentbox could not get a response"
							 : "agentbox denied this request");
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
	const char *phrase = "Error";
	char id[AB_DENIAL_ID] = "";

	if (r->denial)
		ab_ledger_id(ledger, r->denial, id);
	if (status == 403) {
		explain_denial(&text, id, r);
		/* Some programs show only the status line. */
		ab_buf_printf(&head, "HTTP/1.1 403 Denied by agentbox (%s)\r\n", id);
	} else {
		for (size_t i = 0; i < AB_COUNT(kinds); i++)
			if (kinds[i].status == status)
				phrase = kinds[i].phrase;
		explain_failure(&text, id, r, status);
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

struct cause {
	int status;
	enum ab_socks_reply socks;
	const char *why;
};

static const struct cause *find_cause(const struct ab_dialled *result)
{
	static const struct cause failures[] = {
		[AB_DIAL_NO_NAME] = { 502, AB_SOCKS_HOST_UNREACHABLE, "the name does not exist" },
		[AB_DIAL_NO_ANSWER] = { 504, AB_SOCKS_HOST_UNREACHABLE, "no name server answered" },
		[AB_DIAL_FAILED] = { 502, AB_SOCKS_FAILURE, "the connection failed" },
		[AB_DIAL_TIMEOUT] = { 504, AB_SOCKS_TTL, "the connection timed out" },
		[AB_DIAL_UPSTREAM] = { 502, AB_SOCKS_FAILURE,
				       "the upstream proxy refused the request" },
	};
	static const struct {
		int errnum;
		struct cause cause;
	} causes[] = {
		{ ECONNREFUSED, { 502, AB_SOCKS_REFUSED, "connection refused" } },
		{ ECONNRESET, { 502, AB_SOCKS_FAILURE, "connection reset" } },
		{ EHOSTUNREACH, { 502, AB_SOCKS_HOST_UNREACHABLE, "no route to its address" } },
		{ ENETUNREACH, { 502, AB_SOCKS_NET_UNREACHABLE, "no route to its network" } },
		{ ETIMEDOUT, { 504, AB_SOCKS_TTL, "the connection timed out" } },
	};

	for (size_t i = 0; result->result == AB_DIAL_FAILED && i < AB_COUNT(causes); i++)
		if (causes[i].errnum == result->errnum)
			return &causes[i].cause;
	return &failures[result->result];
}

/* It is not the target that failed: say which proxy, and what names it. */
static void explain_upstream(const struct ab_dialled *result, const struct ab_upstream *upstream,
			     struct ab_dial_failure *ret)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_buf_puts(&text, "the upstream proxy ");
	ab_words_target(&text, upstream->host.text, upstream->port);
	ab_buf_printf(&text, " (from %s) ", upstream->from);
	if (result->result == AB_DIAL_TIMEOUT)
		ab_buf_puts(&text, "did not open the connection in time");
	else if (result->result != AB_DIAL_UPSTREAM)
		ab_buf_printf(&text, "could not be reached: %s", find_cause(result)->why);
	else if (result->status)
		ab_buf_printf(&text, "refused the request with status %d", result->status);
	else
		ab_buf_puts(&text, "did not answer as a proxy");
	snprintf(ret->why, sizeof(ret->why), "%s", text.data);
}

void ab_exchange_failure(const struct ab_dialled *result, const struct ab_upstream *upstream,
			 struct ab_dial_failure *ret)
{
	const struct cause *cause = find_cause(result);

	ret->status = cause->status;
	ret->socks = cause->socks;
	snprintf(ret->why, sizeof(ret->why), "%s", cause->why);
	if (result->upstream && upstream)
		explain_upstream(result, upstream, ret);
}
