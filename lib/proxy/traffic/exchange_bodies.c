#include "proxy/traffic/exchange_state.h"

#include "proxy/secrets/vault.h"

enum {
	CHUNKED_ROOM = 64 * 1024,
	CHUNKED_SHARE = 64,   /* reads per turn */
	TOGETHER = 16 * 1024, /* body bytes in one write with the head */
	PEEK = 4096,	      /* bytes read to notice the client's end */
};

/* The first `raw` bytes of from->in are the head itself. */
static void begin_body(struct ab_pass *p, enum ab_http_body body, uint64_t length, size_t raw,
		       const struct ab_flow *flow)
{
	p->ahead = ab_pass_bytes(p, flow);
	p->state = AB_PASS_BODY;
	p->body = body;
	p->before = flow->moved + raw;
	p->left = body == AB_HTTP_CLOSE ? AB_FLOW_ALL : body == AB_HTTP_LENGTH ? raw + length : raw;
}

/* Send what has arrived of the body together with a rewritten head. */
static void gather_body(struct ab_pass *p, struct ab_flow *flow, struct ab_side *from,
			struct ab_side *to)
{
	size_t n = from->in.len;

	if (p->filter)
		ab_body_filter_gather(p->filter, flow, from, to);
	if (p->body != AB_HTTP_LENGTH || !n || p->filter)
		return;
	if (n > p->left)
		n = (size_t)p->left;
	if (n > TOGETHER)
		n = TOGETHER;
	ab_buf_add(&to->out, ab_buf_bytes(&from->in), n);
	ab_buf_skip(&from->in, n);
	p->left -= n;
	p->ahead += n;
}

uint64_t ab_pass_bytes(const struct ab_pass *p, const struct ab_flow *flow)
{
	if (p->state == AB_PASS_HEAD)
		return 0;
	return p->ahead + (flow->moved > p->before ? flow->moved - p->before : 0);
}

static enum ab_io move_chunked(struct ab_pass *p, struct ab_flow *flow, struct ab_pipes *pipes,
			       struct ab_side *from, struct ab_side *to)
{
	for (int i = 0; i < CHUNKED_SHARE; i++) {
		/* All of `left` is in from->in. */
		enum ab_io io = ab_flow_move(flow, pipes, from, to, &p->left);
		ssize_t n;

		if (io != AB_IO_DONE || p->last)
			return io;
		if (!from->in.len) {
			io = ab_side_read(from, CHUNKED_ROOM);
			if (io != AB_IO_DONE)
				return io;
		}
		n = ab_http_chunks_take(&p->chunks, from->in.data, from->in.len, NULL, NULL,
					&p->last);
		if (n < 0) {
			p->fault.malformed = true;
			return AB_IO_FAILED;
		}
		p->fault.too_long = p->most && p->chunks.payload > p->most;
		if (p->fault.too_long)
			return AB_IO_FAILED;
		p->left = (uint64_t)n;
	}
	return AB_IO_YIELD;
}

static enum ab_io move_body(struct ab_pass *p, struct ab_flow *flow, struct ab_pipes *pipes,
			    struct ab_side *from, struct ab_side *to)
{
	if (p->filter) {
		enum ab_io io = ab_body_filter_move(p->filter, flow, from, to);

		p->fault = *ab_body_filter_fault(p->filter);
		return io;
	}
	if (p->body == AB_HTTP_CHUNKED)
		return move_chunked(p, flow, pipes, from, to);
	return ab_flow_move(flow, pipes, from, to, &p->left);
}

/* The rest of the request is lost. Give the server a limited time to respond. */
static void break_upload(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;

	rq->up.state = AB_PASS_BROKEN;
	rq->keep = false;
	ab_side_shut(&conn->server);
	if (rq->down.state == AB_PASS_HEAD)
		ab_conn_deadline(conn, AB_HEAD_MS);
}

/*
 * After its request a client may half-close and wait for the response, or be
 * gone: pass the half-close on to the server. Bytes after the request belong to
 * the next one and stay.
 */
static bool pass_client_end(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;
	enum ab_io io;

	if (conn->client.in.len > rq->head || conn->server.shut)
		return true;
	io = ab_side_read(&conn->client, rq->head + PEEK);
	if (io == AB_IO_FAILED)
		return ab_exchange_cut(conn, "the client's connection failed");
	if (io == AB_IO_EOF)
		ab_side_shut(&conn->server);
	return true;
}

/* false: the request has ended. */
static bool pass_up(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_pass *p = &rq->up;

	if (p->state == AB_PASS_BODY) {
		switch (move_body(p, &conn->up, conn->engine->pipes, &conn->client,
				  &conn->server)) {
		case AB_IO_DONE:
			p->state = AB_PASS_OVER;
			break;
		case AB_IO_WAIT:
			break;
		case AB_IO_YIELD:
			ab_conn_again(conn);
			break;
		case AB_IO_EOF:
			if (!rq->raw) {
				break_upload(conn);
				break;
			}
			p->state = AB_PASS_OVER;
			ab_side_shut(&conn->server);
			break;
		case AB_IO_FAILED:
			if (p->fault.too_long)
				return ab_exchange_deny_length(conn);
			if (p->fault.tripped)
				return ab_exchange_trip(conn);
			if (p->fault.refused)
				return ab_exchange_deny(conn, AB_FAULT_SIGNATURE, 403,
							p->fault.refused);
			if (rq->raw || (p->fault.malformed && rq->down.state != AB_PASS_HEAD))
				return ab_exchange_cut(conn, "the connection failed");
			if (p->fault.malformed)
				return ab_exchange_fail(conn, 400, "malformed chunked body");
			break_upload(conn);
			break;
		}
	}
	return p->state != AB_PASS_OVER || rq->raw || pass_client_end(conn);
}

static bool fail_response(struct ab_conn *conn, const char *why)
{
	ab_autofree char *text = ab_printf("malformed response: %s", why);

	return ab_exchange_fail(conn, 502, text);
}

/* The server closed or failed before its response. */
static bool handle_lost_server(struct ab_conn *conn)
{
	struct ab_exchange *x = conn->http;
	struct ab_exchange_request *rq = x->request;
	bool silent = !conn->server.in.len;

	if (silent && rq->reused && rq->head)
		ab_exchange_dial(conn);
	else if (silent && ab_exchange_fixed(x) && x->served)
		/* A kept connection ended: clients repeat the request. */
		ab_exchange_cut(conn, "the server closed the connection");
	else
		ab_exchange_fail(conn, 502, "the server closed the connection without a response");
	return false;
}

static void write_response_head(struct ab_conn *conn, const struct ab_http_response *rs, bool keep)
{
	struct ab_exchange_request *rq = conn->http->request;
	size_t before = conn->client.out.len;

	ab_http_write_response(&conn->client.out, rs, keep, rq->minor);
	rq->head_down += conn->client.out.len - before;
	ab_buf_skip(&conn->server.in, rs->head.size);
}

/* 100, 103 ...: the final response follows. */
static void pass_interim(struct ab_conn *conn, const struct ab_http_response *rs)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (rs->status == 100)
		rq->expects = false;
	if (conn->http->mode == AB_EXCHANGE_TUNNEL) {
		ab_buf_add(&conn->client.out, ab_buf_bytes(&conn->server.in), rs->head.size);
		ab_buf_skip(&conn->server.in, rs->head.size);
		rq->head_down += rs->head.size;
	} else if (rq->minor) {
		write_response_head(conn, rs, true);
	} else {
		ab_buf_skip(&conn->server.in, rs->head.size); /* HTTP/1.0 has none */
	}
	ab_conn_again(conn); /* there may be any number of them */
}

/* Search the response's body for values if the host has secrets. */
static void filter_response(struct ab_exchange_request *rq, const struct ab_http_head *head,
			    enum ab_http_body body, bool frames)
{
	struct ab_body_filter_setup setup = {
		.scrub = rq->scrub,
		.in = body,
		.out = body,
		.frames = frames,
		.messages = body == AB_HTTP_CHUNKED && ab_http_grpc(head),
		.length = head->length,
	};

	if (rq->scrub && body != AB_HTTP_NONE)
		rq->down.filter = ab_body_filter_new(&setup);
}

static bool switch_protocol(struct ab_conn *conn, const struct ab_http_response *rs)
{
	struct ab_exchange_request *rq = conn->http->request;
	bool tunnel = conn->http->mode == AB_EXCHANGE_TUNNEL;
	bool frames = ab_http_upgrades_to(&rs->head, "websocket");
	const char *bad = ab_http_bad_switch(rs, rq->upgrade && rq->up.state == AB_PASS_OVER);

	if (bad)
		return fail_response(conn, bad);
	rq->raw = true;
	rq->status = rs->status;
	/* It filtered the request's body, which is complete. */
	ab_body_filter_free(ab_take(rq->up.filter));
	begin_body(&rq->up, AB_HTTP_CLOSE, 0, 0, &conn->up);
	begin_body(&rq->down, AB_HTTP_CLOSE, 0, tunnel ? rs->head.size : 0, &conn->down);
	if (tunnel)
		rq->head_down += rs->head.size;
	else
		write_response_head(conn, rs, true);
	filter_response(rq, &rs->head, AB_HTTP_CLOSE, frames);
	/* The client may have sent more already. */
	ab_conn_again(conn);
	return true;
}

/* Does the status say that the secret is not valid (any more)? AWS answers 403. */
static bool is_rejected(const struct ab_conn *conn, int status)
{
	const struct ab_vault *vault = conn->engine->inspection.vault;
	int secret = conn->http->request->secret;

	return status == 401 || (status == 403 && vault && secret >= 0 &&
				 ab_vault_at(vault, (size_t)secret)->secret->sign);
}

/* NULL; or why the response cannot be searched. Whatever this request carried: the server may have kept
 * a value. */
static const char *check_searchable(const struct ab_exchange_request *rq,
				    const struct ab_http_response *rs)
{
	enum { REDIRECTS = 300 };

	/* With a key that signs the host may answer as it likes, but one that refuses the request or sends
	 * the client elsewhere may show its signature. */
	if (!rq->scrub || rs->head.body == AB_HTTP_NONE ||
	    !(rq->searched || (rq->injected && rs->status >= REDIRECTS)))
		return NULL;
	if (ab_http_encoded(&rs->head))
		return "its response is compressed against the request, so it cannot be searched "
		       "for the secret";
	return ab_http_partial(rs) ? "its response is a part of a document, so it cannot be "
				     "searched for the secret; ask for all of it, without fields "
				     "like x-ms-range"
				   : NULL;
}

static bool begin_response(struct ab_conn *conn, const struct ab_http_response *rs)
{
	struct ab_exchange_request *rq = conn->http->request;
	bool tunnel = conn->http->mode == AB_EXCHANGE_TUNNEL;
	bool fixed = ab_exchange_fixed(conn->http);
	const char *why;

	if (rq->head)
		ab_buf_skip(&conn->client.in, rq->head);
	rq->head = 0;
	conn->http->scan = (struct ab_http_scan){ 0 };
	if (rs->status == 101)
		return switch_protocol(conn, rs);
	if (rs->status < 200) {
		pass_interim(conn, rs);
		return true;
	}
	if (!rq->minor && !tunnel && rs->head.body == AB_HTTP_CHUNKED)
		return fail_response(conn, "chunked, but the client uses HTTP/1.0");
	why = check_searchable(rq, rs);
	if (why)
		return ab_exchange_fail(conn, 502, why);
	if (is_rejected(conn, rs->status) && rq->injected && rq->secret >= 0)
		conn->engine->setup->stale(conn->engine->setup->arg, (size_t)rq->secret);
	if (rs->status == 407 && conn->upstream && !fixed && !rq->gateway)
		return ab_exchange_fail(conn, 502, "the upstream proxy requires other credentials");
	ab_conn_deadline(conn, 0);
	rq->status = rs->status;
	rq->server_keep = rs->head.keep;
	/* With a response before the end of the request, the server may not
	 * read the rest, so the connection cannot be kept. */
	if (rs->head.body == AB_HTTP_CLOSE || rq->up.state != AB_PASS_OVER ||
	    (fixed && !rs->head.keep))
		rq->keep = false;
	begin_body(&rq->down, rs->head.body, rs->head.length, tunnel ? rs->head.size : 0,
		   &conn->down);
	filter_response(rq, &rs->head, rs->head.body, false);
	if (tunnel) {
		rq->head_down += rs->head.size;
	} else {
		write_response_head(conn, rs, rq->keep);
		gather_body(&rq->down, &conn->down, &conn->server, &conn->client);
	}
	return true;
}

/* Read one head from the server. *ret_wait: it must wait. */
static bool read_response(struct ab_conn *conn, bool *ret_wait)
{
	struct ab_exchange *x = conn->http;
	struct ab_side *server = &conn->server;
	struct ab_http_response rs;
	enum ab_io io = ab_side_flush(&conn->client);
	ssize_t len;

	if (io == AB_IO_FAILED)
		return ab_exchange_cut(conn, "the client's connection failed");
	if (io == AB_IO_WAIT) {
		*ret_wait = true;
		return true;
	}
	len = !server->in.len ? 0
			      : ab_http_read_response(&x->scan, ab_buf_bytes(&server->in),
						      server->in.len, x->request->to_head, &rs);
	/* In place, so that the views in rs see the result. */
	if (len > 0 && x->request->scrub)
		ab_scrub_take(x->request->scrub, (uint8_t *)server->in.data, (size_t)len, true);
	if (len > 0) {
		*ret_wait = rs.status < 200;
		return begin_response(conn, &rs);
	}
	if (len < 0)
		return fail_response(conn, x->scan.why);
	io = ab_side_read(server, AB_HTTP_HEAD_MAX);
	if (io == AB_IO_EOF || io == AB_IO_FAILED)
		return handle_lost_server(conn);
	*ret_wait = io == AB_IO_WAIT;
	return true;
}

static bool pass_body(struct ab_conn *conn, bool *ret_wait)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_pass *p = &rq->down;

	enum ab_io io =
		move_body(p, &conn->down, conn->engine->pipes, &conn->server, &conn->client);

	if (io == AB_IO_EOF && p->body == AB_HTTP_CLOSE)
		io = AB_IO_DONE;
	switch (io) {
	case AB_IO_DONE:
		p->state = AB_PASS_OVER;
		if (rq->raw)
			ab_side_shut(&conn->client);
		return true;
	case AB_IO_YIELD:
		ab_conn_again(conn);
		*ret_wait = true;
		return true;
	case AB_IO_WAIT:
		*ret_wait = true;
		return true;
	case AB_IO_EOF:
		return ab_exchange_cut(
			conn, "the server closed the connection in the middle of its response");
	case AB_IO_FAILED:
		return ab_exchange_cut(conn, p->fault.malformed ? "malformed response"
								: "the connection failed");
	}
	return false;
}

static bool pass_down(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;
	bool wait = false;

	while (!wait && rq->down.state != AB_PASS_OVER) {
		bool go_on = rq->down.state == AB_PASS_HEAD ? read_response(conn, &wait)
							    : pass_body(conn, &wait);

		if (!go_on)
			return false;
	}
	return true;
}

static void pass_bodies(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (!pass_up(conn) || !pass_down(conn))
		return;
	if (rq->down.state != AB_PASS_OVER)
		return;
	/* Do not wait for a body that the server did not call for (100). */
	if (rq->up.state != AB_PASS_BODY || (rq->expects && !rq->raw))
		ab_exchange_done(conn);
}

void ab_exchange_pass(struct ab_conn *conn, const struct ab_http_head *head, size_t raw)
{
	struct ab_exchange_request *rq = conn->http->request;

	conn->http->scan = (struct ab_http_scan){ 0 };
	rq->up.most = conn->engine->setup->policy->net.max_request_body;
	begin_body(&rq->up, head->body, head->length, raw, &conn->up);
	if (rq->swap) {
		struct ab_body_filter_setup setup = {
			.swap = rq->swap,
			.chunks = rq->chunks,
			.in = head->body,
			.messages = head->body == AB_HTTP_CHUNKED && rq->grpc,
			.out = ab_swap_body_keeps_length(rq->swap) ? head->body : AB_HTTP_CHUNKED,
			.length = head->length,
			.most = rq->up.most,
		};

		rq->up.filter = ab_body_filter_new(&setup);
	}
	if (!raw)
		gather_body(&rq->up, &conn->up, &conn->client, &conn->server);
	conn->step = pass_bodies;
	pass_bodies(conn);
}
