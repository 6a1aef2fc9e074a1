/*
 * Requests with an AWS signature: it is verified and replaced. A body whose hash
 * is signed and not named in the head is gathered first, up to a limit; it counts
 * as bytes of a request that was not sent.
 */
#include <string.h>
#include <time.h>

#include "proxy/secrets/vault.h"
#include "proxy/traffic/exchange_state.h"

enum { GATHER_ROOM = 256 * 1024 }; /* read at once */

static bool is_inspected(const struct ab_conn *conn)
{
	return conn->engine->inspection.vault && conn->intercepted;
}

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
	struct ab_http_request head;
	enum ab_io io = ab_side_flush(&conn->client);
	ssize_t len;

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
	len = ab_exchange_read_again(conn, &head);
	if (len > 0)
		ab_exchange_send(conn, &head, (size_t)len);
	else
		ab_conn_close(conn, true);
}

void ab_exchange_gather_body(struct ab_conn *conn, const struct ab_http_request *head, size_t len)
{
	struct ab_exchange_request *rq = conn->http->request;

	rq->head = len;
	rq->hashed = (size_t)head->head.length;
	call_for_body(conn);
	ab_conn_half_open(conn);
	ab_conn_deadline(conn, AB_IDLE_MS);
	conn->step = gather_body;
	gather_body(conn);
}

bool ab_exchange_gather(struct ab_conn *conn, const struct ab_http_request *head, size_t len)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (rq->gathered || !is_inspected(conn) ||
	    !ab_sign_needs_body(conn->engine->inspection.vault, &rq->host, rq->port, head))
		return false;
	if (head->head.body != AB_HTTP_LENGTH) {
		ab_exchange_unsigned(conn, "its body has no Content-Length, and no "
					   "x-amz-content-sha256 names its hash");
		return true;
	}
	if (head->head.length > AB_SIGN_BODY_MAX) {
		ab_exchange_unsigned(conn, "its body is larger than 16 MiB, and no "
					   "x-amz-content-sha256 names its hash");
		return true;
	}
	ab_exchange_gather_body(conn, head, len);
	return true;
}

const uint8_t *ab_exchange_body(const struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_buf *in = &conn->client.in;
	struct ab_http_scan scan = { 0 };
	struct ab_http_request same;
	ssize_t len;

	if (!conn->http->request->gathered || head->head.body != AB_HTTP_LENGTH)
		return NULL;
	len = ab_http_read_request(&scan, ab_buf_bytes(in), in->len, &same);
	if (len <= 0 || in->len - (size_t)len < head->head.length)
		return NULL;
	return ab_buf_bytes(in) + len;
}

bool ab_exchange_verify(struct ab_conn *conn, const struct ab_http_request *head,
			struct ab_http_request *asked, struct ab_sign *ret)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_sign_setup setup = {
		.vault = conn->engine->inspection.vault,
		.host = &rq->host,
		.port = rq->port,
		.now = (int64_t)time(NULL),
	};

	*ret = (struct ab_sign){ .secret = -1 };
	if (!is_inspected(conn))
		return true;
	setup.body = ab_exchange_body(conn, head);
	setup.body_len = setup.body ? (size_t)head->head.length : 0;
	ab_sign_verify(&setup, head, asked, ret);
	switch (ret->result) {
	case AB_SIGN_NONE:
	case AB_SIGN_DONE:
		return true;
	case AB_SIGN_REFUSED:
	case AB_SIGN_MISSING:
	case AB_SIGN_ABSENT:
		break;
	}
	rq->secret = ret->secret;
	if (ret->result == AB_SIGN_REFUSED)
		ab_exchange_unsigned(conn, ret->why);
	else
		ab_exchange_deny(conn, ret->result == AB_SIGN_MISSING ? AB_FAULT_MISSING
								      : AB_FAULT_ABSENT);
	return false;
}

static void remove_expect(struct ab_http_head *head)
{
	for (size_t k = head->nfields; k-- > 0;)
		if (head->fields[k].id == AB_HTTP_EXPECT)
			memmove(&head->fields[k], &head->fields[k + 1],
				(--head->nfields - k) * sizeof(head->fields[0]));
}

bool ab_exchange_sign(struct ab_conn *conn, const struct ab_sign *sign,
		      const struct ab_http_hop *hop, struct ab_swapped *swapped)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_exchange_request *rq = conn->http->request;
	ab_autobuf struct ab_buf host = { 0 };
	char signature[65];

	rq->secret = sign->secret;
	/* The client has sent its body already. */
	if (rq->gathered)
		remove_expect(&swapped->request.head);
	if (swapped->request.head.body != AB_HTTP_NONE &&
	    ab_swap_wants_body(vault, &rq->host, rq->port)) {
		ab_swapped_fini(swapped);
		ab_exchange_unsigned(conn, "another secret of this host may change its body");
		return false;
	}
	ab_http_write_authority(&host, hop);
	if (!ab_sign_renew(vault, sign, (struct ab_http_text){ host.data, host.len }, swapped,
			   signature)) {
		ab_swapped_fini(swapped);
		ab_exchange_refuse(conn, 431, "its head is too long with its new signature");
		return false;
	}
	ab_sign_chunks_free(rq->chunks);
	rq->chunks = ab_sign_chunks_of(vault, sign, signature);
	rq->injected = true;
	return true;
}
