/*
 * Inspects the head of a request: judges method and path, and replaces
 * placeholders.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"
#include "base/data/mem.h"
#include "policy/values/urlpath.h"
#include "proxy/secrets/vault.h"
#include "proxy/traffic/exchange_state.h"

/* Accept only the gateway's own address as host: a web page that reaches it by
 * another name (DNS rebinding) must not use it. */
static bool names_gateway(const struct ab_http_request *head)
{
	return !head->has_host || strcmp(head->host.text, "127.0.0.1") == 0 ||
	       strcmp(head->host.text, "localhost") == 0;
}

bool ab_exchange_route(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = conn->http->request;
	const char *before;
	size_t skip;

	if (head->form != AB_HTTP_ORIGIN || !names_gateway(head) ||
	    !ab_inspection_route(&conn->engine->inspection, head->path.s, head->path.len, &rq->host,
				 &rq->port, &skip, &before))
		return false;
	rq->gateway = true;
	rq->target = ab_printf("%s%s%.*s", before,
			       skip < head->path.len && head->path.s[skip] == '/' ? "" : "/",
			       (int)(head->path.len - skip), head->path.s + skip);
	free(rq->path);
	rq->path = ab_strndup(rq->target, strcspn(rq->target, "?"));
	return true;
}

static struct ab_http_text make_text(const char *s)
{
	return (struct ab_http_text){ s, strlen(s) };
}

static bool trip(struct ab_conn *conn, int secret)
{
	if (secret < 0)
		return false;
	conn->http->request->secret = secret;
	ab_exchange_deny(conn, AB_FAULT_TRIPWIRE);
	return true;
}

bool ab_exchange_trips(struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	const struct ab_exchange_request *rq = conn->http->request;
	int secret = -1;

	if (!vault)
		return false;
	if (head->has_host)
		secret = ab_vault_find_in_name(vault, head->host.text);
	if (secret < 0)
		secret = ab_swap_foreign(vault, &rq->host, rq->port,
					 conn->intercepted || rq->gateway, head);
	return trip(conn, secret);
}

bool ab_exchange_trips_unread(struct ab_conn *conn)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	const struct ab_buf *in = &conn->client.in;
	ab_autofree char *text = NULL;
	int secret;

	if (!vault || conn->intercepted)
		return false;
	secret = ab_vault_find(vault, ab_buf_bytes(in), in->len);
	if (secret < 0) {
		/* Perhaps the name is not valid. */
		text = ab_strndup((const char *)ab_buf_bytes(in), in->len);
		text[strcspn(text, "\r\n")] = '\0';
		secret = ab_vault_find_in_name(vault, text);
	}
	return trip(conn, secret);
}

/* Fields that override the request line on some servers. */
static const char *const overrides[] = {
	"x-http-method",  "x-http-method-override", "x-method-override",
	"x-original-url", "x-rewrite-url",
};

/* Some servers read "_" as "-". */
static bool is_field_name(struct ab_http_text name, const char *word)
{
	size_t i = 0;

	for (; i < name.len && word[i]; i++) {
		char c = name.s[i] == '_' ? '-' : name.s[i];

		if (ab_lower(c) != word[i])
			return false;
	}
	return i == name.len && !word[i];
}

static bool has_override(const struct ab_http_head *head)
{
	for (size_t i = 0; i < head->nfields; i++)
		for (size_t k = 0; k < AB_COUNT(overrides); k++)
			if (is_field_name(head->fields[i].name, overrides[k]))
				return true;
	return false;
}

/*
 * Judge the path in its normal form and send that form, so that no server reads
 * it differently. false: it was denied.
 */
static bool judge_path(struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_http_rules *rules = &conn->engine->inspection.rules;
	struct ab_exchange_request *rq = conn->http->request;
	const struct ab_http_rule *rule;
	struct ab_http_text given = rq->target ? make_text(rq->target) : head->path;
	ab_autofree char *path = NULL;
	size_t end = 0, len;
	const char *why;

	if (!ab_http_rules_bind(rules, &rq->host, rq->port))
		return true;
	if (has_override(&head->head)) {
		ab_exchange_refuse(conn, 400, "a header field overrides its method or path");
		return false;
	}
	while (end < given.len && given.s[end] != '?')
		end++;
	path = ab_alloc(end + 2);
	if (end == 0) {
		memcpy(path, "/", 2);
		len = 1;
	} else if (!ab_urlpath_normal(given.s, end, path, &len, &why)) {
		ab_exchange_refuse(conn, 400, why);
		return false;
	}
	path[len] = '\0';
	free(rq->path);
	rq->path = ab_strdup(path);
	if (!ab_http_rules_judge(rules, &rq->host, rq->port, head->method.s, head->method.len, path,
				 len, &rule)) {
		ab_exchange_deny(conn, AB_FAULT_RULE);
		return false;
	}
	if (end) {
		char *target = ab_printf("%s%.*s", path, (int)(given.len - end), given.s + end);

		free(rq->target);
		rq->target = target;
	}
	return true;
}

static enum ab_fault fault_of(enum ab_swap_result result)
{
	switch (result) {
	case AB_SWAP_TRIPWIRE:
		return AB_FAULT_TRIPWIRE;
	case AB_SWAP_MISPLACED:
		return AB_FAULT_MISPLACED;
	case AB_SWAP_MISSING:
		return AB_FAULT_MISSING;
	case AB_SWAP_ABSENT:
		return AB_FAULT_ABSENT;
	case AB_SWAP_NONE:
	case AB_SWAP_DONE:
	case AB_SWAP_TOO_LONG:
		break;
	}
	return AB_FAULT_NONE;
}

/* false: it was denied. */
static bool check_swapped(struct ab_conn *conn, const struct ab_swapped *swapped)
{
	struct ab_exchange_request *rq = conn->http->request;

	rq->secret = swapped->secret;
	switch (swapped->result) {
	case AB_SWAP_NONE:
	case AB_SWAP_DONE:
		rq->injected = swapped->injected;
		rq->searched = swapped->searched;
		return true;
	case AB_SWAP_TOO_LONG:
		ab_exchange_refuse(conn, 431, "its head is too long with the injected secrets");
		return false;
	case AB_SWAP_ABSENT:
		if (!ab_vault_at(conn->engine->inspection.vault, (size_t)swapped->secret)
			     ->secret->oauth)
			break;
		ab_exchange_await(conn, (size_t)swapped->secret);
		return false;
	case AB_SWAP_TRIPWIRE:
	case AB_SWAP_MISPLACED:
	case AB_SWAP_MISSING:
		break;
	}
	ab_exchange_deny(conn, fault_of(swapped->result));
	return false;
}

/* Replace the placeholders, and the signature last: it covers everything else. */
static bool inject_secrets(struct ab_conn *conn, const struct ab_http_request *head,
			   struct ab_http_request *asked, const struct ab_http_hop *hop,
			   struct ab_swapped *ret)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_sign sign;
	bool good = ab_exchange_verify(conn, head, asked, &sign);

	if (good) {
		ab_swap_request(conn->engine->inspection.vault, &rq->host, rq->port, rq->inspected,
				asked, ret);
		good = check_swapped(conn, ret);
	}
	if (good && sign.result == AB_SIGN_DONE)
		good = ab_exchange_sign(conn, &sign, hop, ret);
	ab_sign_fini(&sign);
	return good;
}

bool ab_exchange_inspect(struct ab_conn *conn, const struct ab_http_request *head,
			 const struct ab_http_hop *hop, struct ab_swapped *ret)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_http_request asked;

	*ret = (struct ab_swapped){ .secret = -1 };
	if (conn->http->mode != AB_EXCHANGE_TUNNEL && !judge_path(conn, head))
		return false;
	asked = *head;
	if (rq->target)
		asked.path = asked.target = make_text(rq->target);
	if (!vault) {
		ret->request = asked;
		return true;
	}
	rq->inspected = conn->intercepted || rq->gateway;
	return inject_secrets(conn, head, &asked, hop, ret);
}

/* A body whose length changes cannot have a Content-Length. */
static bool make_chunked(struct ab_http_request *rq)
{
	struct ab_http_head *head = &rq->head;

	if (head->body != AB_HTTP_LENGTH)
		return true;
	if (!head->minor)
		return false;
	for (size_t i = 0; i < head->nfields; i++)
		if (head->fields[i].id == AB_HTTP_CONTENT_LENGTH)
			head->fields[i] = (struct ab_http_field){
				.id = AB_HTTP_TRANSFER_ENCODING,
				.name = make_text("Transfer-Encoding"),
				.value = make_text("chunked"),
			};
	return true;
}

void ab_exchange_watch_body(struct ab_conn *conn, const struct ab_http_head *head)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;

	if (!vault || head->body == AB_HTTP_NONE)
		return;
	ab_swap_body_free(rq->swap);
	rq->swap = ab_swap_body_new(vault, rq->inspected ? &rq->host : NULL, rq->port);
}

/* Search the body for placeholders; replace them if a secret of the host wants
 * that. */
static bool filter_request_body(struct ab_conn *conn, struct ab_http_request *rq)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *r = conn->http->request;

	ab_exchange_watch_body(conn, &rq->head);
	if (!r->swap || !r->inspected || !ab_swap_wants_body(vault, &r->host, r->port))
		return true;
	if (ab_http_encoded(&rq->head)) {
		ab_exchange_deny(conn, AB_FAULT_ENCODED);
		return false;
	}
	if (!ab_swap_body_keeps_length(r->swap) && !make_chunked(rq)) {
		ab_exchange_refuse(conn, 400, "HTTP/1.0 cannot carry a body with injected secrets");
		return false;
	}
	/* The body may contain values, so search the response too. */
	r->injected = true;
	return true;
}

bool ab_exchange_write(struct ab_conn *conn, struct ab_swapped *swapped,
		       const struct ab_http_hop *hop)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;

	if (vault && !filter_request_body(conn, &swapped->request)) {
		ab_swapped_fini(swapped);
		return false;
	}
	conn->server.out.wipe |= rq->injected;
	ab_http_write_request(&conn->server.out, &swapped->request, hop);
	ab_swapped_fini(swapped);
	if (rq->inspected) {
		ab_scrub_free(rq->scrub);
		rq->scrub = ab_inspection_scrub(&conn->engine->inspection, &rq->host, rq->port);
	}
	return true;
}
