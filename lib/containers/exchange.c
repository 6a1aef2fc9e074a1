/*
 * Theory of operation.
 *
 * A connection of the box carries one request (enum ab_engine_state has the order). Nothing of the
 * box's bytes reaches the engine: what is sent is written anew from what the judge read. The engine
 * is told that its connection closes after this request; only where a stream is asked for, it is
 * asked for an upgrade instead, and may then go on with HTTP. So an answer ends where its framing
 * says, whatever follows it is dropped, and the engine's connection is closed.
 *
 * An answer opens a stream only if all of this is so (opens_stream):
 *
 *	- the route streams, and the body that was sent does not detach the command
 *	- the whole request was sent
 *	- 101 that confirms the upgrade that was asked for, or 200 with one of the engine's types of
 *	  streams, and otherwise only fields that say nothing about the body or the connection
 *
 * After every other answer, the box's bytes are read and dropped.
 */
#include "containers/exchange.h"

#include "containers/docker/refusal.h"

enum {
	ROOM = 128 * 1024, /* bytes on their way in one direction */
	INTERIM_MAX = 16,  /* answers before the answer */
};

void ab_engine_exchange_init(struct ab_engine_exchange *x, struct ab_engine_judge *judge,
			     int (*record)(void *arg, struct ab_engine_note *note), void *arg)
{
	*x = (struct ab_engine_exchange){
		.judge = judge, .record = record, .arg = arg, .scan.local = true
	};
}

void ab_engine_exchange_fini(struct ab_engine_exchange *x)
{
	ab_buf_fini_all(&x->to_client, &x->to_engine, &x->in, &x->reply, &x->body, &x->target,
			&x->sent_body, &x->whole);
	ab_api_call_fini(&x->call);
}

bool ab_engine_exchange_matters(const struct ab_engine_exchange *x)
{
	return x->state >= AB_ENGINE_CONNECT && x->state <= AB_ENGINE_COLLECT && x->call.route &&
	       (x->call.route->use == AB_API_CREATE || x->call.route->use == AB_API_START);
}

static void finish(struct ab_engine_exchange *x)
{
	x->state = AB_ENGINE_OVER;
	ab_buf_fini_all(&x->to_client, &x->to_engine, &x->in, &x->reply);
}

/* Record the request, once. False: that failed, and the exchange is over. */
static bool record_request(struct ab_engine_exchange *x, int status)
{
	if (x->recorded)
		return true;
	x->recorded = true;
	x->note.status = status;
	if (x->record(x->arg, &x->note) == 0)
		return true;
	finish(x);
	return false;
}

/* The box gets this, and the engine nothing more. */
static void answer(struct ab_engine_exchange *x, int status, const char *body, size_t len)
{
	ab_buf_fini(&x->to_engine);
	if (!record_request(x, status))
		return;
	ab_buf_printf(&x->to_client,
		      "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		      "Connection: close\r\n\r\n",
		      status, status < 300 ? "OK" : "Denied", len);
	if (!x->to_head)
		ab_buf_add(&x->to_client, body, len);
	x->state = AB_ENGINE_LAST;
}

/* The engine failed, not the box. */
static void fail(struct ab_engine_exchange *x, const char *why)
{
	ab_autobuf struct ab_buf body = { 0 };
	ab_autofree char *text = ab_printf("agentbox: %s", why);

	snprintf(x->note.reason, sizeof(x->note.reason), "%s", why);
	ab_reply_message(&body, text);
	answer(x, 502, body.data, body.len);
}

static void deny(struct ab_engine_exchange *x, const struct ab_refusal *why)
{
	ab_autobuf struct ab_buf body = { 0 };
	ab_autofree char *text = NULL;
	const char *run = x->judge->terms.run;

	snprintf(x->note.reason, sizeof(x->note.reason), "%s", why->reason);
	/* What is not there is not denied: clients ask to find out. */
	if (why->status == 404) {
		ab_reply_message(&body, why->reason);
	} else {
		snprintf(x->note.rule, sizeof(x->note.rule), "%s", why->rule);
		x->note.number = ab_engine_judge_number(x->judge, x->note.path, why->reason);
		text = ab_printf("denied by agentbox: %s (%s-c%u; a human can run: agentbox why "
				 "%s-c%u)",
				 why->reason, run, x->note.number, run, x->note.number);
		ab_reply_message(&body, text);
	}
	answer(x, why->status, body.data, body.len);
}

__attribute__((format(printf, 3, 4))) static void deny_malformed(struct ab_engine_exchange *x,
								 int status, const char *fmt, ...)
{
	struct ab_refusal why = { .status = status, .rule = "docker" };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.reason, sizeof(why.reason), fmt, ap);
	va_end(ap);
	deny(x, &why);
}

/* No head was read: only the first bytes say what was asked. */
static void note_first_bytes(struct ab_engine_exchange *x)
{
	ab_autobuf struct ab_buf text = { 0 };

	ab_http_put_asked(&text, x->in.data, x->in.len);
	snprintf(x->note.path, sizeof(x->note.path), "%s", text.data);
}

static void judge_request(struct ab_engine_exchange *x)
{
	struct ab_refusal why = { 0 };

	x->job = (struct ab_engine_job){ .call = &x->call,
					 .body = x->body.data ? x->body.data : "",
					 .body_len = x->body.len,
					 .target = &x->target,
					 .ret_body = &x->sent_body };
	x->note.allowed = ab_engine_judge_request(x->judge, &x->job, &why) == 0;
	snprintf(x->note.image, sizeof(x->note.image), "%s", x->job.facts.image);
	if (x->note.allowed)
		x->state = AB_ENGINE_CONNECT;
	else
		deny(x, &why);
}

/* Of the head, only this is used later: its bytes go away. */
static void take_head(struct ab_engine_exchange *x, const struct ab_http_request *rq)
{
	const char *query = memchr(rq->path.s, '?', rq->path.len);
	size_t path = query ? (size_t)(query - rq->path.s) : rq->path.len;
	struct ab_refusal why = { 0 };

	snprintf(x->note.method, sizeof(x->note.method), "%.*s", (int)rq->method.len, rq->method.s);
	snprintf(x->note.path, sizeof(x->note.path), "%.*s", (int)path, rq->path.s);
	x->framing = rq->head.body;
	x->left = rq->head.length;
	x->to_head = ab_http_is_exactly(rq->method, "HEAD");
	if (ab_api_read(rq, &x->call, &why) < 0)
		return deny(x, &why);
	x->upgrade = rq->head.upgrade && ab_http_upgrades_to(&rq->head, "tcp");
	if (rq->head.body == AB_HTTP_LENGTH && rq->head.length > AB_ENGINE_BODY_MAX)
		return deny_malformed(x, 413, "the body is longer than %d bytes",
				      AB_ENGINE_BODY_MAX);
	if (rq->head.expect)
		ab_buf_puts(&x->to_client, "HTTP/1.1 100 Continue\r\n\r\n");
	x->state = AB_ENGINE_BODY;
}

static void read_head(struct ab_engine_exchange *x)
{
	static struct ab_http_request rq;
	ssize_t n = ab_http_read_request(&x->scan, x->in.data, x->in.len, &rq);

	if (n > 0) {
		take_head(x, &rq);
		ab_buf_skip(&x->in, x->state == AB_ENGINE_OVER ? 0 : (size_t)n);
	} else if (n < 0) {
		note_first_bytes(x);
		deny_malformed(x, (int)-n, "the request is malformed: %s", x->scan.why);
	} else if (x->client_ended && !x->in.len) {
		finish(x);
	} else if (x->client_ended) {
		note_first_bytes(x);
		deny_malformed(x, 400, "the request is cut off");
	}
}

/* How many bytes of `from` belong to the body; its content is added to `to` (NULL: it is not). -1: it is
 * malformed. */
static ssize_t take_body(struct ab_engine_exchange *x, const struct ab_buf *from, struct ab_buf *to,
			 bool *ret_over)
{
	size_t n = from->len;

	switch (x->framing) {
	case AB_HTTP_NONE:
		*ret_over = true;
		return 0;
	case AB_HTTP_LENGTH:
		n = n < x->left ? n : (size_t)x->left;
		x->left -= n;
		*ret_over = !x->left;
		break;
	case AB_HTTP_CHUNKED:
		return ab_http_chunks_take(&x->chunks, from->data, n, to, NULL, ret_over);
	case AB_HTTP_CLOSE:
		break;
	}
	if (to)
		ab_buf_add(to, from->data, n);
	return (ssize_t)n;
}

/* Move the bytes of a body from one buffer to another. 1: it is complete, 0: not yet, -1: it is
 * malformed or too long. */
static int read_body(struct ab_engine_exchange *x, struct ab_buf *from, struct ab_buf *to,
		     size_t most, bool ended)
{
	bool over = false;
	ssize_t n = take_body(x, from, to, &over);

	if (n < 0 || to->len > most)
		return -1;
	ab_buf_skip(from, (size_t)n);
	if (over)
		return 1;
	if (!ended)
		return 0;
	return x->framing == AB_HTTP_CLOSE ? 1 : -1;
}

static void read_request_body(struct ab_engine_exchange *x)
{
	int r = read_body(x, &x->in, &x->body, AB_ENGINE_BODY_MAX, x->client_ended);

	if (r > 0)
		judge_request(x);
	else if (r < 0)
		deny_malformed(x, 400, "the body is malformed, cut off or longer than %d bytes",
			       AB_ENGINE_BODY_MAX);
}

/* The value of the only field with this name; "" if there is none, or another one. */
static struct ab_http_text find_only(const struct ab_http_head *head, const char *name)
{
	struct ab_http_text value = ab_http_text("");
	size_t count = 0;

	for (size_t i = 0; i < head->nfields; i++)
		if (ab_http_is(head->fields[i].name, name) && !count++)
			value = head->fields[i].value;
	return count == 1 ? value : ab_http_text("");
}

static bool has_stream_type(const struct ab_http_head *head)
{
	struct ab_http_text type = find_only(head, "content-type");

	return ab_http_is(type, "application/vnd.docker.raw-stream") ||
	       ab_http_is(type, "application/vnd.docker.multiplexed-stream");
}

/* Does the head have only fields that engines send before a stream? With any other, such as one that announces a
 * body or another protocol, what follows could be HTTP, which must be read on as HTTP. */
static bool has_only_fields_of_stream(const struct ab_http_head *head)
{
	for (size_t i = 0; i < head->nfields; i++)
		if (!ab_http_is_one(head->fields[i].name,
				    "api-version content-type date docker-experimental "
				    "libpod-api-version ostype server x-reference-id"))
			return false;
	return true;
}

static bool opens_stream(const struct ab_engine_exchange *x, const struct ab_http_response *rs)
{
	if (!x->job.streams || x->to_engine.len)
		return false;
	/* find_bad_switch() has looked at it. */
	if (rs->status == 101)
		return true;
	return rs->status == 200 && rs->head.minor == 1 && rs->head.body == AB_HTTP_CLOSE &&
	       has_stream_type(&rs->head) && has_only_fields_of_stream(&rs->head);
}

/* NULL, or why this 101 is not the engine's yes to the upgrade. */
static const char *find_bad_switch(const struct ab_engine_exchange *x,
				   const struct ab_http_response *rs)
{
	bool asked = x->upgrade && x->job.streams && !x->to_engine.len;
	const char *why = ab_http_bad_switch(rs, asked);

	if (why)
		return why;
	if (!ab_http_is(find_only(&rs->head, "upgrade"), "tcp"))
		return "protocol switch to another protocol";
	return ab_http_find(&rs->head, "content-length") ? "protocol switch with a body" : NULL;
}

static void begin_answer(struct ab_engine_exchange *x, const struct ab_http_response *rs)
{
	bool good = rs->status >= 200 && rs->status < 300;

	x->note.engine = rs->status;
	x->note.stream = opens_stream(x, rs);
	ab_engine_judge_answered(x->judge, &x->job, rs->status);
	x->framing = rs->head.body;
	x->left = rs->head.length;
	x->chunks = (struct ab_http_chunks){ 0 };
	if (!x->note.stream)
		ab_buf_fini(&x->to_engine);
	if (good && ab_engine_judge_rewrites(&x->call)) {
		x->state = AB_ENGINE_COLLECT;
		return;
	}
	if (!record_request(x, rs->status))
		return;
	ab_http_write_response(&x->to_client, rs, false, 1);
	x->state = x->note.stream ? AB_ENGINE_STREAM : AB_ENGINE_PASS;
	if (x->note.stream) {
		ab_buf_add(&x->to_engine, x->in.data, x->in.len);
		ab_buf_fini(&x->in);
	}
}

static void take_answer(struct ab_engine_exchange *x, const struct ab_http_response *rs)
{
	const char *bad = rs->status == 101 ? find_bad_switch(x, rs) : NULL;

	if (bad) {
		ab_autofree char *why =
			ab_printf("the container engine's answer is wrong: %s", bad);

		x->note.engine = rs->status;
		fail(x, why);
	} else if (rs->status == 101 || rs->status >= 200) {
		begin_answer(x, rs);
	} else if (++x->interim > INTERIM_MAX) {
		fail(x, "the container engine sent too many interim answers");
	}
}

static void read_answer_head(struct ab_engine_exchange *x)
{
	static struct ab_http_response rs;

	while (x->state == AB_ENGINE_ASKED) {
		ssize_t n = ab_http_read_response(&x->scan, x->reply.data, x->reply.len, x->to_head,
						  &rs);

		if (n < 0 || (n == 0 && x->engine_ended))
			fail(x, "the container engine sent no HTTP reply");
		if (n <= 0)
			return;
		take_answer(x, &rs);
		x->scan = (struct ab_http_scan){ 0 };
		if (x->state != AB_ENGINE_OVER)
			ab_buf_skip(&x->reply, (size_t)n);
	}
}

static void collect_answer(struct ab_engine_exchange *x)
{
	ab_autobuf struct ab_buf body = { 0 };
	int r = read_body(x, &x->reply, &x->whole, AB_ENGINE_REPLY_MAX, x->engine_ended);

	if (r == 0)
		return;
	if (r < 0 || ab_engine_judge_rewrite(x->judge, &x->job, x->whole.data ? x->whole.data : "",
					     x->whole.len, &body) < 0)
		fail(x, "the reply of the container engine is not understood");
	else
		answer(x, x->note.engine, body.data, body.len);
}

/* What comes after the body's end is not of this answer. */
static void pass_answer(struct ab_engine_exchange *x)
{
	bool over = false;
	ssize_t n = take_body(x, &x->reply, NULL, &over);

	if (n > 0) {
		ab_buf_add(&x->to_client, x->reply.data, (size_t)n);
		ab_buf_skip(&x->reply, (size_t)n);
	}
	if (over || n < 0 || x->engine_ended)
		x->state = AB_ENGINE_LAST;
}

static void step(struct ab_engine_exchange *x)
{
	switch (x->state) {
	case AB_ENGINE_HEAD:
		read_head(x);
		break;
	case AB_ENGINE_BODY:
		read_request_body(x);
		break;
	case AB_ENGINE_ASKED:
		read_answer_head(x);
		break;
	case AB_ENGINE_COLLECT:
		collect_answer(x);
		break;
	case AB_ENGINE_PASS:
		pass_answer(x);
		break;
	case AB_ENGINE_STREAM:
		ab_buf_add(&x->to_client, x->reply.data, x->reply.len);
		ab_buf_fini(&x->reply);
		if (x->engine_ended)
			x->state = AB_ENGINE_LAST;
		break;
	case AB_ENGINE_CONNECT:
	case AB_ENGINE_LAST:
	case AB_ENGINE_OVER:
		break;
	}
}

/* May what the box sends after its request still become a stream? */
static bool keeps_more(const struct ab_engine_exchange *x)
{
	return x->state == AB_ENGINE_HEAD || x->state == AB_ENGINE_BODY ||
	       ((x->state == AB_ENGINE_CONNECT || x->state == AB_ENGINE_ASKED) && x->job.streams);
}

static void advance(struct ab_engine_exchange *x)
{
	enum ab_engine_state before;

	do {
		before = x->state;
		step(x);
	} while (x->state != before);
	if (!keeps_more(x))
		ab_buf_fini(&x->in);
	if (x->client_gone)
		ab_buf_fini(&x->to_client);
	if (x->client_gone && x->state == AB_ENGINE_LAST)
		finish(x);
}

void ab_engine_exchange_client_data(struct ab_engine_exchange *x, const void *data, size_t len)
{
	if (x->state == AB_ENGINE_STREAM && !x->engine_deaf)
		ab_buf_add(&x->to_engine, data, len);
	else if (keeps_more(x))
		ab_buf_add(&x->in, data, len);
	advance(x);
}

void ab_engine_exchange_client_ended(struct ab_engine_exchange *x)
{
	x->client_ended = true;
	advance(x);
}

void ab_engine_exchange_client_gone(struct ab_engine_exchange *x)
{
	x->client_ended = x->client_gone = true;
	advance(x);
	/* It waits for nothing, unless it is a change that we must know of. */
	if (x->state != AB_ENGINE_OVER && !ab_engine_exchange_matters(x))
		ab_engine_exchange_abandon(x, "the client did not wait for the answer");
}

/* Of the client's head nothing is sent. Without an upgrade, the engine closes the connection. */
void ab_engine_exchange_connected(struct ab_engine_exchange *x)
{
	if (x->state != AB_ENGINE_CONNECT)
		return;
	ab_buf_printf(&x->to_engine,
		      "%s %s HTTP/1.1\r\nHost: docker\r\nUser-Agent: agentbox\r\n%s%s"
		      "Content-Length: %zu\r\n\r\n",
		      x->call.route->method, x->target.data,
		      x->upgrade && x->job.streams ? "Connection: Upgrade\r\nUpgrade: tcp\r\n"
						   : "Connection: close\r\n",
		      x->job.has_body ? "Content-Type: application/json\r\n" : "",
		      x->sent_body.len);
	ab_buf_add(&x->to_engine, x->sent_body.data, x->sent_body.len);
	x->scan = (struct ab_http_scan){ 0 };
	x->state = AB_ENGINE_ASKED;
}

void ab_engine_exchange_unreachable(struct ab_engine_exchange *x, const char *why)
{
	if (x->state == AB_ENGINE_CONNECT)
		fail(x, why);
	advance(x);
}

void ab_engine_exchange_engine_data(struct ab_engine_exchange *x, const void *data, size_t len)
{
	if (x->state >= AB_ENGINE_ASKED && x->state <= AB_ENGINE_STREAM)
		ab_buf_add(&x->reply, data, len);
	advance(x);
}

void ab_engine_exchange_engine_ended(struct ab_engine_exchange *x)
{
	x->engine_ended = true;
	advance(x);
}

void ab_engine_exchange_engine_deaf(struct ab_engine_exchange *x)
{
	x->engine_deaf = true;
	x->job.streams = false;
	ab_buf_fini(&x->to_engine);
	advance(x);
}

void ab_engine_exchange_expire(struct ab_engine_exchange *x)
{
	if (x->state == AB_ENGINE_HEAD && !x->in.len) {
		finish(x);
	} else if (x->state == AB_ENGINE_HEAD || x->state == AB_ENGINE_BODY) {
		if (x->state == AB_ENGINE_HEAD)
			note_first_bytes(x);
		deny_malformed(x, 408, "the request did not arrive in time");
		advance(x);
	}
}

void ab_engine_exchange_abandon(struct ab_engine_exchange *x, const char *why)
{
	bool begun = x->state > AB_ENGINE_HEAD || x->in.len;

	if (x->state == AB_ENGINE_HEAD)
		note_first_bytes(x);
	if (!x->recorded)
		snprintf(x->note.reason, sizeof(x->note.reason), "%s", why);
	if (begun && x->state < AB_ENGINE_LAST && !record_request(x, 0))
		return;
	finish(x);
}

struct ab_engine_wishes ab_engine_exchange_wishes(const struct ab_engine_exchange *x)
{
	bool asked = x->state >= AB_ENGINE_ASKED && x->state <= AB_ENGINE_STREAM;
	size_t kept = x->state == AB_ENGINE_STREAM ? x->to_engine.len : x->in.len;

	return (struct ab_engine_wishes){
		.connect = x->state == AB_ENGINE_CONNECT,
		.read_client = !x->client_ended && kept < ROOM,
		.read_engine = asked && !x->engine_ended && x->to_client.len + x->reply.len < ROOM,
		.shut_engine = x->state == AB_ENGINE_STREAM && x->client_ended && !x->to_engine.len,
		.drop_engine = x->state >= AB_ENGINE_LAST,
		.over = x->state == AB_ENGINE_OVER ||
			(x->state == AB_ENGINE_LAST && !x->to_client.len),
	};
}
