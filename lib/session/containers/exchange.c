/*
 * Theory of operation.
 *
 * One connection of the box carries one request:
 *
 *	HEAD	the request's head is read
 *	BODY	its body is read, all of it, before anything is judged
 *	CONNECT	the request is allowed; the engine's socket is busy
 *	ASKED	the request is written to the engine, and the head of the reply is read
 *	COLLECT	the reply is read whole, because the box gets another one
 *	PASS	the reply's bytes go to the box as they come, until the engine closes
 *	TUNNEL	bytes go in both directions
 *	LAST	what is left for the box is written
 *
 * Both ends are told that the connection closes after this request, so there is no second request to
 * be confused with the first one's body, and no need to follow the framing of a reply that is passed
 * on. Nothing of the client's head reaches the engine: it is written anew.
 *
 * Should: end both sockets together, except that the end of input in a tunnel is passed on.
 * Mustn't: read more than it has room for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"
#include "session/docker/engine_api.h"
#include "session/containers/engine_client.h"
#include "session/docker/engine_reply.h"
#include "session/docker/refusal.h"
#include "session/containers/engine_relay.h"

enum {
	ROOM = 128 * 1024, /* bytes on their way in one direction */
	REQUEST_MS = 60000,
	RETRY_MS = 50,
	RETRIES = 200,
};

enum state { HEAD, BODY, CONNECT, ASKED, COLLECT, PASS, TUNNEL, LAST };

struct ab_engine_exchange {
	struct ab_engine_relay *relay;
	struct ab_engine_exchange *next, **at;
	enum state state;
	struct ab_source client, engine;
	struct ab_timer timer;
	struct ab_later later;
	struct ab_buf in;      /* of the client */
	struct ab_buf out;     /* for the client */
	struct ab_buf request; /* for the engine */
	struct ab_buf reply;   /* of the engine */
	struct ab_buf body, target, sent_body, whole;
	struct ab_http_scan scan;
	struct ab_http_chunks chunks;
	enum ab_http_body framing; /* of the body that is read */
	uint64_t left;
	struct ab_api_call call;
	struct ab_engine_relay_job job;
	struct ab_engine_relay_note note;
	bool upgrade;	   /* the client asked for a stream */
	bool to_head;	   /* the request is HEAD */
	bool client_ended; /* it sends nothing more */
	bool engine_ended;
	bool shut;  /* the engine has been told so */
	int status; /* of the reply */
	unsigned tries;
	uint64_t begun;
};

struct ab_engine_exchange *ab_engine_exchange_next(const struct ab_engine_exchange *x)
{
	return x->next;
}

bool ab_engine_exchange_matters(const struct ab_engine_exchange *x)
{
	return (x->state == CONNECT || x->state == ASKED || x->state == COLLECT) && x->call.route &&
	       (x->call.route->use == AB_API_CREATE || x->call.route->use == AB_API_START);
}

static void free_engine_exchange(struct ab_later *later)
{
	struct ab_engine_exchange *x = later->owner;
	struct ab_buf *bufs[] = { &x->in,   &x->out,	&x->request,   &x->reply,
				  &x->body, &x->target, &x->sent_body, &x->whole };

	for (size_t i = 0; i < AB_COUNT(bufs); i++)
		ab_buf_fini(bufs[i]);
	ab_api_call_fini(&x->call);
	free(x);
}

void ab_engine_exchange_end(struct ab_engine_exchange *x)
{
	struct ab_engine_relay *r = x->relay;

	if (!x->at)
		return;
	*x->at = x->next;
	if (x->next)
		x->next->at = x->at;
	x->at = NULL;
	ab_loop_timer_stop(&r->loop, &x->timer);
	if (x->client.fd >= 0)
		ab_source_close(&x->client);
	if (x->engine.fd >= 0)
		ab_source_close(&x->engine);
	x->later = (struct ab_later){ .run = free_engine_exchange, .owner = x };
	ab_loop_later(&r->loop, &x->later);
	r->nopen--;
	if (r->ending && !r->nopen)
		r->loop.stop = true;
	else if (r->listener.fd >= 0)
		ab_loop_set(&r->loop, &r->listener, EPOLLIN);
}

/* Record the request. False: that failed, and the connection is over. */
static bool write_note(struct ab_engine_exchange *x, int status)
{
	x->note.status = status;
	x->note.ms = (int64_t)(x->relay->loop.now - x->begun);
	if ((x->call.route && x->call.route->quiet && !x->note.number) ||
	    x->relay->note(x->relay->arg, &x->note) == 0)
		return true;
	ab_engine_exchange_end(x);
	return false;
}

static void answer(struct ab_engine_exchange *x, int status, const char *body, size_t len)
{
	ab_buf_printf(&x->out,
		      "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		      "Connection: close\r\n\r\n",
		      status, status < 300 ? "OK" : "Denied", len);
	if (!x->to_head)
		ab_buf_add(&x->out, body, len);
	x->state = LAST;
}

/* The engine failed, not the box. */
static void answer_failure(struct ab_engine_exchange *x, const char *what)
{
	ab_autobuf struct ab_buf body = { 0 };
	ab_autofree char *text = ab_printf("agentbox: %s", what);

	ab_reply_message(&body, text);
	if (write_note(x, 502))
		answer(x, 502, body.data, body.len);
}

static void answer_refusal(struct ab_engine_exchange *x, const struct ab_refusal *why)
{
	ab_autobuf struct ab_buf body = { 0 };
	ab_autofree char *text = NULL;

	/* What is not there is not denied: clients ask to find out. */
	if (why->status == 404) {
		ab_reply_message(&body, why->reason);
	} else {
		snprintf(x->note.rule, sizeof(x->note.rule), "%s", why->rule);
		snprintf(x->note.reason, sizeof(x->note.reason), "%s", why->reason);
		x->note.number = ab_engine_relay_number(x->relay, x->note.path, why->reason);
		text = ab_printf("denied by agentbox: %s (%s-c%u; a human can run: agentbox why "
				 "%s-c%u)",
				 why->reason, x->relay->terms.run, x->note.number,
				 x->relay->terms.run, x->note.number);
		ab_reply_message(&body, text);
	}
	if (why->status == 404 || write_note(x, why->status))
		answer(x, why->status, body.data, body.len);
}

static void engine_side_ready(struct ab_source *source, uint32_t events);
static void advance(struct ab_engine_exchange *x);

static void write_request(struct ab_engine_exchange *x)
{
	ab_buf_printf(
		&x->request,
		"%s %s HTTP/1.1\r\nHost: docker\r\nUser-Agent: agentbox\r\n%s%s"
		"Content-Length: %zu\r\n\r\n",
		x->call.route->method, x->target.data,
		x->upgrade ? "Connection: Upgrade\r\nUpgrade: tcp\r\n" : "Connection: close\r\n",
		x->job.has_body ? "Content-Type: application/json\r\n" : "", x->sent_body.len);
	ab_buf_add(&x->request, x->sent_body.data, x->sent_body.len);
}

static void connect_engine(struct ab_engine_exchange *x)
{
	struct ab_error err;
	int fd = ab_engine_connect(x->relay->engine);

	if (fd < 0 && errno == EAGAIN && x->tries++ < RETRIES) {
		ab_loop_timer(&x->relay->loop, &x->timer, RETRY_MS);
		return;
	}
	if (fd < 0) {
		ab_autofree char *text = ab_printf("cannot reach the container engine at %s: %s",
						   x->relay->engine, strerror(errno));

		answer_failure(x, text);
		return;
	}
	x->engine = (struct ab_source){ .fd = fd, .ready = engine_side_ready, .owner = x };
	if (ab_loop_add(&x->relay->loop, &x->engine, EPOLLIN, &err) < 0) {
		answer_failure(x, "cannot watch the container engine's socket");
		return;
	}
	x->state = ASKED;
	x->scan = (struct ab_http_scan){ 0 };
	write_request(x);
}

static void judge(struct ab_engine_exchange *x)
{
	struct ab_refusal why = { 0 };

	x->job = (struct ab_engine_relay_job){ .call = &x->call,
					       .body = x->body.data ? x->body.data : "",
					       .body_len = x->body.len,
					       .target = &x->target,
					       .ret_body = &x->sent_body };
	ab_loop_timer_stop(&x->relay->loop, &x->timer);
	if (ab_engine_relay_judge(x->relay, &x->job, &why) < 0) {
		snprintf(x->note.image, sizeof(x->note.image), "%s", x->job.facts.image);
		answer_refusal(x, &why);
		return;
	}
	snprintf(x->note.image, sizeof(x->note.image), "%s", x->job.facts.image);
	x->state = CONNECT;
	connect_engine(x);
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
	if (ab_api_read(rq, &x->call, &why) < 0) {
		answer_refusal(x, &why);
		return;
	}
	x->upgrade =
		x->call.route->streams && rq->head.upgrade && ab_http_upgrades_to(&rq->head, "tcp");
	if (rq->head.body == AB_HTTP_LENGTH && rq->head.length > AB_ENGINE_BODY_MAX) {
		ab_refuse(&why, 413, "docker", "the body is longer than %d bytes",
			  AB_ENGINE_BODY_MAX);
		answer_refusal(x, &why);
		return;
	}
	if (rq->head.expect)
		ab_buf_puts(&x->out, "HTTP/1.1 100 Continue\r\n\r\n");
	x->state = BODY;
}

static void read_head(struct ab_engine_exchange *x)
{
	static struct ab_http_request rq;
	ssize_t n = ab_http_read_request(&x->scan, x->in.data, x->in.len, &rq);
	struct ab_refusal why = { 0 };

	if (n < 0) {
		ab_refuse(&why, (int)-n, "docker", "the request is malformed: %s", x->scan.why);
		answer_refusal(x, &why);
	} else if (n > 0) {
		take_head(x, &rq);
		ab_buf_skip(&x->in, (size_t)n);
	} else if (x->client_ended) {
		ab_engine_exchange_end(x);
	}
}

/* Move the bytes of a body from one buffer to another. 1: it is complete, 0: not yet, -1: it is
 * malformed or too long. */
static int read_body(struct ab_engine_exchange *x, struct ab_buf *from, struct ab_buf *to,
		     size_t most, bool ended)
{
	if (x->framing == AB_HTTP_NONE)
		return 1;
	while (from->len) {
		size_t n = from->len, payload = n;
		bool over = false;

		if (x->framing == AB_HTTP_CHUNKED) {
			ssize_t taken = ab_http_chunks_next(&x->chunks, from->data, from->len,
							    &payload, &over);

			if (taken < 0)
				return -1;
			n = (size_t)taken;
		} else if (x->framing == AB_HTTP_LENGTH) {
			n = payload = n < x->left ? n : (size_t)x->left;
			x->left -= n;
			over = !x->left;
		}
		if (to->len + payload > most)
			return -1;
		ab_buf_add(to, from->data + n - payload, payload);
		ab_buf_skip(from, n);
		if (over)
			return 1;
	}
	if (!ended)
		return 0;
	return x->framing == AB_HTTP_CLOSE ? 1 : -1;
}

static void read_request_body(struct ab_engine_exchange *x)
{
	struct ab_refusal why = { 0 };

	switch (read_body(x, &x->in, &x->body, AB_ENGINE_BODY_MAX, x->client_ended)) {
	case 1:
		judge(x);
		break;
	case -1:
		ab_refuse(&why, 400, "docker",
			  "the body is malformed, cut off or longer than %d bytes",
			  AB_ENGINE_BODY_MAX);
		answer_refusal(x, &why);
		break;
	default:
		break;
	}
}

static void take_reply_head(struct ab_engine_exchange *x, const struct ab_http_response *rs)
{
	bool good = rs->status >= 200 && rs->status < 300;

	x->status = rs->status;
	ab_engine_relay_answered(x->relay, &x->job, rs->status);
	if (!write_note(x, rs->status))
		return;
	if (good && ab_engine_relay_rewrites(&x->call)) {
		x->framing = rs->head.body;
		x->left = rs->head.length;
		x->chunks = (struct ab_http_chunks){ 0 };
		x->state = COLLECT;
		return;
	}
	ab_http_write_response(&x->out, rs, false, 1);
	x->state =
		x->call.route->streams && (rs->status == 101 || rs->status == 200) ? TUNNEL : PASS;
}

static void read_reply_head(struct ab_engine_exchange *x)
{
	static struct ab_http_response rs;
	ssize_t n = ab_http_read_response(&x->scan, x->reply.data, x->reply.len, x->to_head, &rs);

	if (n < 0 || (n == 0 && x->engine_ended)) {
		answer_failure(x, "the container engine sent no HTTP reply");
		return;
	}
	if (n == 0)
		return;
	/* The reply to something that we did not ask for. */
	if (rs.status == 101 && !x->upgrade) {
		answer_failure(x, "the container engine changed the protocol");
		return;
	}
	if (rs.status != 100)
		take_reply_head(x, &rs);
	/* x is not freed before the end of the batch. */
	ab_buf_skip(&x->reply, (size_t)n);
	x->scan = (struct ab_http_scan){ 0 };
}

static void collect_reply(struct ab_engine_exchange *x)
{
	ab_autobuf struct ab_buf body = { 0 };
	int r = read_body(x, &x->reply, &x->whole, AB_ENGINE_REPLY_MAX, x->engine_ended);

	if (r == 0)
		return;
	if (r < 0 || ab_engine_relay_rewrite(x->relay, &x->job, x->whole.data ? x->whole.data : "",
					     x->whole.len, &body) < 0) {
		ab_autobuf struct ab_buf message = { 0 };

		ab_reply_message(&message,
				 "agentbox: the reply of the container engine is not understood");
		answer(x, 502, message.data, message.len);
		return;
	}
	answer(x, x->status, body.data, body.len);
}

/* Bytes that are there go on. */
static void pass_bytes(struct ab_engine_exchange *x)
{
	if (x->reply.len) {
		ab_buf_add(&x->out, x->reply.data, x->reply.len);
		ab_buf_skip(&x->reply, x->reply.len);
	}
	if (x->state == TUNNEL && x->in.len) {
		ab_buf_add(&x->request, x->in.data, x->in.len);
		ab_buf_skip(&x->in, x->in.len);
	}
	if (x->engine_ended)
		x->state = LAST;
}

/* False: the connection is over. */
static bool write_some(struct ab_source *to, struct ab_buf *from)
{
	while (from->len && to->fd >= 0) {
		ssize_t n = send(to->fd, from->data, from->len, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		ab_buf_skip(from, (size_t)n);
	}
	return true;
}

/* True: there may be more. */
static bool read_some(struct ab_source *from, struct ab_buf *to, bool *ended)
{
	char room[16384];
	ssize_t n = recv(from->fd, room, sizeof(room), 0);

	if (n > 0)
		ab_buf_add(to, room, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		*ended = true;
	return n > 0;
}

/* What to wait for. */
static void set_events(struct ab_engine_exchange *x)
{
	bool reads =
		!x->client_ended && (x->state == HEAD || x->state == BODY ||
				     (x->state == TUNNEL && x->request.len + x->in.len < ROOM) ||
				     (x->state != TUNNEL && x->in.len < ROOM));
	bool hears = !x->engine_ended && x->out.len + x->reply.len < ROOM;

	if (x->client.fd >= 0)
		ab_loop_set(&x->relay->loop, &x->client,
			    (reads ? (uint32_t)EPOLLIN : 0) |
				    (x->out.len ? (uint32_t)EPOLLOUT : 0));
	if (x->engine.fd >= 0 && x->state == LAST)
		ab_source_close(&x->engine);
	if (x->engine.fd >= 0)
		ab_loop_set(&x->relay->loop, &x->engine,
			    (hears ? (uint32_t)EPOLLIN : 0) |
				    (x->request.len ? (uint32_t)EPOLLOUT : 0));
}

static void step(struct ab_engine_exchange *x)
{
	switch (x->state) {
	case HEAD:
		read_head(x);
		break;
	case BODY:
		read_request_body(x);
		break;
	case ASKED:
		read_reply_head(x);
		break;
	case COLLECT:
		collect_reply(x);
		break;
	case PASS:
	case TUNNEL:
		pass_bytes(x);
		break;
	case CONNECT:
	case LAST:
		break;
	}
}

static void advance(struct ab_engine_exchange *x)
{
	enum state before;

	do {
		before = x->state;
		step(x);
	} while (x->at && x->state != before);
	if (!x->at)
		return;
	if (x->client.fd < 0)
		ab_buf_skip(&x->out, x->out.len);
	if (!write_some(&x->client, &x->out) || !write_some(&x->engine, &x->request)) {
		ab_engine_exchange_end(x);
		return;
	}
	if (x->state == TUNNEL && x->client_ended && !x->request.len && !x->shut) {
		x->shut = true;
		shutdown(x->engine.fd, SHUT_WR);
	}
	/* A client that is gone waits for nothing, unless it is a change that we must know of. */
	if ((x->state == LAST && !x->out.len) ||
	    (x->client_ended && x->state != TUNNEL && x->state != LAST &&
	     !ab_engine_exchange_matters(x) && x->state != BODY))
		ab_engine_exchange_end(x);
	else
		set_events(x);
}

static void client_side_ready(struct ab_source *source, uint32_t events)
{
	struct ab_engine_exchange *x = source->owner;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !x->client_ended)
		read_some(source, &x->in, &x->client_ended);
	/* It does not read either. */
	if (events & (EPOLLHUP | EPOLLERR) && x->client_ended) {
		if (!ab_engine_exchange_matters(x)) {
			ab_engine_exchange_end(x);
			return;
		}
		ab_source_close(source);
	}
	advance(x);
}

static void engine_side_ready(struct ab_source *source, uint32_t events)
{
	struct ab_engine_exchange *x = source->owner;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !x->engine_ended)
		read_some(source, &x->reply, &x->engine_ended);
	advance(x);
}

static void exchange_timed_out(struct ab_timer *timer)
{
	struct ab_engine_exchange *x = timer->owner;

	if (x->state != CONNECT) {
		ab_engine_exchange_end(x);
		return;
	}
	connect_engine(x);
	if (x->at)
		advance(x);
}

void ab_engine_exchange_start(struct ab_engine_relay *r, int fd)
{
	struct ab_engine_exchange *x = ab_alloc(sizeof(*x));
	struct ab_error err;

	x->relay = r;
	x->client = (struct ab_source){ .fd = fd, .ready = client_side_ready, .owner = x };
	x->engine.fd = -1;
	x->scan.local = true;
	x->timer = (struct ab_timer){ .fire = exchange_timed_out, .owner = x };
	x->begun = r->loop.now;
	x->next = r->open;
	x->at = &r->open;
	if (x->next)
		x->next->at = &x->next;
	r->open = x;
	r->nopen++;
	if (ab_loop_add(&r->loop, &x->client, EPOLLIN, &err) < 0) {
		ab_engine_exchange_end(x);
		return;
	}
	ab_loop_timer(&r->loop, &x->timer, REQUEST_MS);
}
