/*
 * Inspects the head of a request: judges method and path, verifies and replaces
 * AWS signatures, answers requests for tokens, and replaces placeholders.
 */
#include "policy/values/urlpath.h"
#include "proxy/secrets/signatures.h"
#include "proxy/secrets/vault.h"
#include "proxy/sign/token_request.h"
#include "proxy/traffic/exchange_state.h"

static bool is_inspected(const struct ab_conn *conn)
{
	return conn->engine->inspection.vault && conn->intercepted;
}

/* The path. */

enum { NAME_SHOWN = 64 }; /* of a field, in messages */

/* Could it take the place of what a request line has, a method, a path or a URL? By value or name. */
static bool could_be_requested(const struct ab_http_field *f)
{
	static const char *const words[] = { "method", "path", "url", "-uri", "_uri" };
	ab_autofree char *name = ab_strndup(f->name.s, f->name.len);
	bool found =
		ab_http_begins(f->value, "/") || ab_http_begins(f->value, "http:") ||
		ab_http_begins(f->value, "https:") ||
		ab_http_is_one(f->value, "connect delete get head options patch post put trace");

	for (size_t i = 0; i < AB_COUNT(words); i++)
		found = found || strcasestr(name, words[i]);
	return found;
}

/*
 * Some servers let a field override the request line, and nobody knows the names of all. So of the
 * fields that could, only these pass. Fields are not allowed by a list of names, because each API has
 * fields of its own (a tenant, the version of a client): with a list, a host with a rule about its paths
 * would lose its clients.
 */
static const struct ab_http_field *find_override(const struct ab_http_head *head)
{
	for (size_t i = 0; i < head->nfields; i++)
		if (!ab_http_is_one(head->fields[i].name,
				    "access-control-request-method http-referer origin referer") &&
		    could_be_requested(&head->fields[i]))
			return &head->fields[i];
	return NULL;
}

/* May a token URL be on this host? */
static bool has_token_url(const struct ab_conn *conn)
{
	const struct ab_exchange_request *rq = conn->http->request;

	return (is_inspected(conn) || rq->gateway) &&
	       ab_token_has_url(conn->engine->inspection.vault, &rq->host, rq->port);
}

static bool has_path_rules(const struct ab_conn *conn)
{
	const struct ab_exchange_request *rq = conn->http->request;

	return ab_http_rules_bind(&conn->engine->setup->policy->net.http, &rq->host, rq->port);
}

/* NULL; or why the path is not judged, compared and sent. *ret: its normal form. */
static const char *normalise_path(const struct ab_conn *conn, const struct ab_http_request *head,
				  struct ab_http_text given, char **ret)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	const struct ab_exchange_request *rq = conn->http->request;
	const char *why = NULL;
	size_t len;

	if (!given.len) {
		*ret = ab_strdup("/");
		return NULL;
	}
	*ret = ab_alloc(given.len + 1);
	/* Rules are about what is between slashes. */
	if (!ab_urlpath_normal(given.s, given.len, !has_path_rules(conn), *ret, &len, &why))
		return why;
	if (vault && (len != given.len || memcmp(*ret, given.s, len) != 0) &&
	    ab_sign_is_for(vault, &rq->host, rq->port) && ab_sigv4_find(head) != AB_SIGV4_NOWHERE)
		return "it is signed, and its path is not in normal form";
	return NULL;
}

/*
 * Where paths are judged, this one is brought into its normal form, once: that form is judged, compared
 * and sent, so that no server reads it differently. false: it was denied.
 */
static bool settle_path(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_http_text given = rq->target ? ab_http_text(rq->target) : head->path, path;
	struct ab_http_text rest = given;
	const struct ab_http_field *field;
	char *normal = NULL;
	const char *why;

	if (rq->settled || conn->http->mode == AB_EXCHANGE_TUNNEL ||
	    (!has_path_rules(conn) && !has_token_url(conn)))
		return true;
	field = find_override(&head->head);
	if (field) {
		int n = field->name.len < NAME_SHOWN ? (int)field->name.len : NAME_SHOWN;

		free(rq->error);
		rq->error = ab_printf("the header field %.*s could override its method or path", n,
				      field->name.s);
		return ab_exchange_refuse(conn, 400, rq->error);
	}
	path = ab_http_until(&rest, '?');
	why = normalise_path(conn, head, path, &normal);
	if (why) {
		free(normal);
		return ab_exchange_refuse(conn, 400, why);
	}
	free(rq->path);
	rq->path = normal;
	rq->settled = true;
	if (path.len) {
		char *target = ab_printf("%s%.*s", normal, (int)(given.len - path.len),
					 given.s + path.len);

		free(rq->target);
		rq->target = target;
	}
	return true;
}

/*
 * Requests with an AWS signature: it is verified and replaced. A body whose hash
 * is signed and not named in the head is gathered first, up to a limit; it counts
 * as bytes of a request that was not sent.
 */

enum { GATHER_ROOM = 256 * 1024 }; /* read at once */

/* The client waits for our word to send the body. */
static void call_for_body(struct ab_conn *conn)
{
	static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct ab_exchange_request *rq = conn->http->request;

	if (!rq->expects)
		return;
	rq->expects = false;
	ab_buf_add(&conn->client.out, interim, sizeof(interim) - 1);
	rq->head_down += sizeof(interim) - 1;
}

static void gather_body(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;
	enum ab_io io = ab_side_flush(&conn->client);

	if (io == AB_IO_FAILED) {
		ab_exchange_cut(conn, "the client's connection failed");
		return;
	}
	while (conn->client.in.len < rq->head + rq->hashed) {
		size_t room = conn->client.in.len + GATHER_ROOM;

		io = ab_side_read(&conn->client,
				  room < rq->head + rq->hashed ? room : rq->head + rq->hashed);
		if (io == AB_IO_WAIT)
			return;
		if (io != AB_IO_DONE) {
			ab_exchange_cut(conn, "the client ended in the middle of its request");
			return;
		}
	}
	rq->gathered = true;
	rq->head = 0;
	ab_conn_whole(conn);
	ab_conn_deadline(conn, 0);
	ab_exchange_send_again(conn);
}

/* Wait for a body with a length. */
static void gather_whole_body(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = conn->http->request;

	rq->head = head->head.size;
	rq->hashed = (size_t)head->head.length;
	call_for_body(conn);
	ab_conn_half_open(conn);
	ab_conn_deadline(conn, AB_IDLE_MS);
	conn->step = gather_body;
	gather_body(conn);
}

bool ab_exchange_gather(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (rq->gathered || !is_inspected(conn) ||
	    !ab_sign_needs_body(conn->engine->inspection.vault, &rq->host, rq->port, head))
		return false;
	if (head->head.body != AB_HTTP_LENGTH)
		ab_exchange_deny(conn, AB_FAULT_SIGNATURE, 403,
				 "its body has no Content-Length, and no "
				 "x-amz-content-sha256 names its hash");
	else if (head->head.length > AB_SIGN_BODY_MAX)
		ab_exchange_deny(conn, AB_FAULT_SIGNATURE, 403,
				 "its body is larger than 16 MiB, and no "
				 "x-amz-content-sha256 names its hash");
	else
		gather_whole_body(conn, head);
	return true;
}

/* The body in client.in, after the head; NULL: it was not gathered. */
static const uint8_t *find_body(const struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_buf *in = &conn->client.in;

	if (!conn->http->request->gathered || head->head.body != AB_HTTP_LENGTH ||
	    in->len < head->head.size || in->len - head->head.size < head->head.length)
		return NULL;
	return ab_buf_bytes(in) + head->head.size;
}

/* How long a presigned URL that is made now may be valid, in seconds: not longer than the run. */
static uint32_t presigned_life(const struct ab_engine *engine)
{
	uint64_t limit = engine->setup->timeout_ms, passed = engine->loop.now - engine->begun;
	uint64_t left = passed < limit ? (limit - passed) / 1000 : 0;

	left = !limit || left > AB_SIGN_PRESIGNED ? AB_SIGN_PRESIGNED : left;
	return left ? (uint32_t)left : 1;
}

/* Take the signature out of `asked`. false: it was denied. Free `ret` with ab_sign_fini(). */
static bool verify_signature(struct ab_conn *conn, const struct ab_http_request *head,
			     struct ab_http_request *asked, struct ab_sign *ret)
{
	static const enum ab_fault faults[] = {
		[AB_SIGN_DONE] = AB_FAULT_NONE,
		[AB_SIGN_REFUSED] = AB_FAULT_SIGNATURE,
		[AB_SIGN_MISSING] = AB_FAULT_MISSING,
		[AB_SIGN_ABSENT] = AB_FAULT_ABSENT,
	};
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_sign_setup setup = {
		.vault = conn->engine->inspection.vault,
		.host = &rq->host,
		.port = rq->port,
		.now = (int64_t)time(NULL),
		.presigned = presigned_life(conn->engine),
	};

	*ret = (struct ab_sign){ .secret = -1 };
	if (!is_inspected(conn))
		return true;
	setup.body = find_body(conn, head);
	setup.body_len = setup.body ? (size_t)head->head.length : 0;
	ab_sign_verify(&setup, head, asked, ret);
	rq->secret = ret->secret;
	return !faults[ret->result] ||
	       ab_exchange_deny(conn, faults[ret->result], 403, ret->why[0] ? ret->why : NULL);
}

/* Sign it anew. false: it was denied. */
static bool renew_signature(struct ab_conn *conn, const struct ab_sign *sign,
			    const struct ab_http_hop *hop, struct ab_swapped *swapped)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	ab_autobuf struct ab_buf host = { 0 };
	char signature[65];

	rq->secret = sign->secret;
	/* The client has sent its body already. */
	if (rq->gathered)
		ab_http_remove(&swapped->request.head, "expect");
	if (swapped->request.head.body != AB_HTTP_NONE &&
	    ab_swap_wants_body(vault, &rq->host, rq->port))
		return ab_exchange_deny(conn, AB_FAULT_SIGNATURE, 403,
					"another secret of this host may change its body");
	ab_http_write_authority(&host, hop);
	if (!ab_sign_renew(sign, (struct ab_http_text){ host.data, host.len }, swapped, signature))
		return ab_exchange_refuse(conn, 431, "its head is too long with its new signature");
	if (!ab_signatures_keep(ab_vault_signatures(vault), signature, conn->engine->loop.now))
		return ab_exchange_deny(conn, AB_FAULT_SIGNATURE, 503,
					"1048576 requests were signed within 30 minutes; wait");
	ab_sign_chunks_free(rq->chunks);
	rq->chunks = ab_sign_chunks_of(sign, signature);
	rq->injected = true;
	return true;
}

/*
 * Requests for OAuth tokens, which are answered with placeholders, and requests that need an access
 * token which is not there yet. The host gets it, outside of this process; the request waits.
 */

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

/* Wait for the access token of this secret, and resume the request then. */
static void await_value(struct ab_conn *conn, size_t secret)
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
		inspection->setup->stale(inspection->setup->arg, secret);
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
	const uint8_t *body = find_body(conn, head);
	struct ab_token_request asked;
	const char *why =
		body ? ab_token_request_read(&head->head, body, (size_t)head->head.length, &asked)
		     : "its body is not there";
	int secret = -1;

	if (!why) {
		secret = ab_token_find(vault, &rq->host, rq->port, rq->path, &asked,
				       (int64_t)time(NULL), &why);
		ab_token_request_fini(&asked);
	}
	if (secret < 0)
		ab_exchange_deny(conn, AB_FAULT_TOKEN, 403, why);
	return secret;
}

bool ab_exchange_token(struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_buf answer = { 0 };
	enum ab_token_path path;
	const char *why;
	int secret;

	if (!settle_path(conn, head))
		return true;
	path = rq->settled && has_token_url(conn)
		       ? ab_token_path(vault, &rq->host, rq->port, rq->path)
		       : AB_TOKEN_OTHER;
	if (path == AB_TOKEN_OTHER)
		return false;
	why = path == AB_TOKEN_URL ? check_head(head)
				   : "a server may take its path for the token URL";
	if (why) {
		ab_exchange_deny(conn, AB_FAULT_TOKEN, 403, why);
		return true;
	}
	if (!rq->gathered) {
		gather_whole_body(conn, head);
		return true;
	}
	secret = judge_token(conn, head);
	if (secret < 0)
		return true;
	if (!ab_vault_at(vault, (size_t)secret)->value) {
		await_value(conn, (size_t)secret);
		return true;
	}
	rq->secret = secret;
	ab_token_answer(&answer, vault, (size_t)secret);
	ab_exchange_answer(conn, 200, &answer);
	ab_buf_fini(&answer);
	return true;
}

/* Gateway, path and placeholders. */

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

static bool trip(struct ab_conn *conn, int secret)
{
	if (secret < 0)
		return false;
	ab_exchange_deny(conn, ab_exchange_tripped(conn, secret), 403, NULL);
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

/* The path is settled. false: it was denied. */
static bool judge_path(struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_http_rules *rules = &conn->engine->setup->policy->net.http;
	struct ab_exchange_request *rq = conn->http->request;
	const struct ab_http_rule *rule;

	if (!has_path_rules(conn) ||
	    ab_http_rules_judge(rules, &rq->host, rq->port, head->method.s, head->method.len,
				rq->path, strlen(rq->path), &rule))
		return true;
	return ab_exchange_deny(conn, AB_FAULT_RULE, 403, NULL);
}

/* false: it was denied. */
static bool check_swapped(struct ab_conn *conn, const struct ab_swapped *swapped)
{
	static const enum ab_fault faults[] = {
		[AB_SWAP_MISPLACED] = AB_FAULT_MISPLACED,
		[AB_SWAP_MISSING] = AB_FAULT_MISSING,
		[AB_SWAP_ABSENT] = AB_FAULT_ABSENT,
	};
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	size_t secret = (size_t)swapped->secret;

	rq->secret = swapped->secret;
	rq->injected = swapped->injected;
	rq->searched = swapped->searched;
	if (swapped->result == AB_SWAP_NONE || swapped->result == AB_SWAP_DONE)
		return true;
	if (swapped->result == AB_SWAP_TOO_LONG)
		return ab_exchange_refuse(conn, 431,
					  "its head is too long with the injected secrets");
	if (swapped->result == AB_SWAP_TRIPWIRE)
		return !trip(conn, swapped->secret);
	if (swapped->result == AB_SWAP_ABSENT && ab_vault_at(vault, secret)->secret->oauth) {
		await_value(conn, secret);
		return false;
	}
	return ab_exchange_deny(conn, faults[swapped->result], 403, NULL);
}

/* Replace the placeholders, and the signature last: it covers everything else. */
static bool inject_secrets(struct ab_conn *conn, const struct ab_http_request *head,
			   struct ab_http_request *asked, const struct ab_http_hop *hop,
			   struct ab_swapped *ret)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_sign sign;
	bool good = verify_signature(conn, head, asked, &sign);

	if (good) {
		ab_swap_request(conn->engine->inspection.vault, &rq->host, rq->port, rq->inspected,
				asked, ret);
		good = check_swapped(conn, ret);
	}
	if (good && sign.result == AB_SIGN_DONE)
		good = renew_signature(conn, &sign, hop, ret);
	ab_sign_fini(&sign);
	if (!good)
		ab_swapped_fini(ret);
	return good;
}

bool ab_exchange_inspect(struct ab_conn *conn, const struct ab_http_request *head,
			 const struct ab_http_hop *hop, struct ab_swapped *ret)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_http_request asked;

	*ret = (struct ab_swapped){ .secret = -1 };
	if (!settle_path(conn, head) ||
	    (conn->http->mode != AB_EXCHANGE_TUNNEL && !judge_path(conn, head)))
		return false;
	asked = *head;
	if (rq->target)
		asked.path = asked.target = ab_http_text(rq->target);
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
				.name = ab_http_text("Transfer-Encoding"),
				.value = ab_http_text("chunked"),
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
	if (ab_http_encoded(&rq->head))
		return ab_exchange_deny(conn, AB_FAULT_ENCODED, 403, NULL);
	if (!ab_swap_body_keeps_length(r->swap) && !make_chunked(rq))
		return ab_exchange_refuse(conn, 400,
					  "HTTP/1.0 cannot carry a body with injected secrets");
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
	if (rq->inspected)
		rq->scrub = ab_inspection_scrub(&conn->engine->inspection, &rq->host, rq->port);
	return true;
}
