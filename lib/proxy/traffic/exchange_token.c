/*
 * Requests for OAuth tokens, which are answered with placeholders, and requests that need an access
 * token which is not there yet. The host gets it, outside of this process; the request waits.
 */
#include <string.h>
#include <time.h>

#include "base/data/mem.h"
#include "proxy/secrets/vault.h"
#include "proxy/sign/token_request.h"
#include "proxy/traffic/exchange_state.h"

/* Longer than the host tries to get it, with the command of a source and other runs: it always tells
 * how that ended. */
enum { AWAIT_MS = 200000 };

/* false: it waits, or has failed. */
static bool has_value(struct ab_conn *conn)
{
	struct ab_inspection *inspection = &conn->engine->inspection;
	struct ab_exchange_request *rq = conn->http->request;
	size_t secret = (size_t)rq->secret;
	const char *why;

	if (ab_vault_at(inspection->vault, secret)->value)
		return true;
	why = ab_inspection_failure(inspection, secret, conn->engine->loop.now);
	if (why) {
		ab_autofree char *text = ab_printf("no access token: %s", why);

		ab_conn_deadline(conn, 0);
		ab_exchange_fail(conn, 502, text);
	}
	return false;
}

static void wait_for_value(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (!has_value(conn))
		return;
	rq->awaits = false;
	ab_conn_deadline(conn, 0);
	ab_exchange_resume(conn);
}

void ab_exchange_await(struct ab_conn *conn, size_t secret)
{
	struct ab_inspection *inspection = &conn->engine->inspection;
	struct ab_exchange_request *rq = conn->http->request;

	/* A kept server, which may be another one, must not send anything meanwhile. */
	if (!ab_exchange_fixed(conn->http))
		ab_exchange_close_server(conn);
	rq->secret = (int)secret;
	rq->awaits = true;
	conn->step = wait_for_value;
	ab_conn_deadline(conn, AWAIT_MS);
	if (!ab_inspection_failure(inspection, secret, conn->engine->loop.now))
		inspection->stale(inspection->arg, secret);
	ab_conn_again(conn);
}

void ab_exchange_wake(struct ab_engine *engine, size_t secret)
{
	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next)
		if (!conn->closed && conn->http && conn->http->request &&
		    conn->http->request->awaits && conn->http->request->secret == (int)secret)
			ab_conn_again(conn);
}

/* NULL; or why its body cannot be read. */
static const char *check_head(const struct ab_http_request *head)
{
	if (!ab_http_is_exactly(head->method, "POST"))
		return "only POST requests are";
	if (memchr(head->path.s, '?', head->path.len))
		return "its URL has a query";
	if (ab_http_encoded(&head->head))
		return "its body is compressed";
	if (head->head.body != AB_HTTP_LENGTH)
		return "its body has no Content-Length";
	return head->head.length > AB_TOKEN_BODY_MAX ? "its body is larger than 64 KiB" : NULL;
}

/* The body is there. Which secret does it ask for? -1: it was denied. */
static int judge_token(struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	const uint8_t *body = ab_exchange_body(conn, head);
	struct ab_token_request asked;
	const char *why =
		body ? ab_token_request_read(&head->head, body, (size_t)head->head.length, &asked)
		     : "its body is not there";
	int secret = -1;

	if (!why) {
		secret = ab_token_find(vault, &rq->host, rq->port, head->path.s, head->path.len,
				       &asked, (int64_t)time(NULL), &why);
		ab_token_request_fini(&asked);
	}
	if (secret < 0)
		ab_exchange_deny_token(conn, why);
	return secret;
}

bool ab_exchange_token(struct ab_conn *conn, const struct ab_http_request *head, size_t len)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_buf answer = { 0 };
	const char *query = head->path.len ? memchr(head->path.s, '?', head->path.len) : NULL;
	const char *why;
	int secret;

	if (!vault || !conn->intercepted ||
	    !ab_token_is_endpoint(vault, &rq->host, rq->port, head->path.s,
				  query ? (size_t)(query - head->path.s) : head->path.len))
		return false;
	why = check_head(head);
	if (why) {
		ab_exchange_deny_token(conn, why);
		return true;
	}
	if (!rq->gathered) {
		ab_exchange_gather_body(conn, head, len);
		return true;
	}
	secret = judge_token(conn, head);
	if (secret < 0)
		return true;
	if (!ab_vault_at(vault, (size_t)secret)->value) {
		ab_exchange_await(conn, (size_t)secret);
		return true;
	}
	rq->secret = secret;
	ab_token_answer(&answer, vault, (size_t)secret);
	ab_exchange_answer(conn, 200, &answer);
	ab_buf_fini(&answer);
	return true;
}
