/*
 * Bodies that are looked at on their way: whatever the framing and however
 * they are cut, values become placeholders one way and the other way round,
 * and what stands behind a body is left alone.
 */
#include "proxy/conn/body_filter.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "proxy/wire/http_chunks.h"
#include "tap.h"
#include "vault_help.h"

static struct ab_vault *vault;
static struct ab_side from, to;
static int sender, receiver;
static struct ab_flow flow = AB_FLOW_INIT;

static void open_side(struct ab_side *side, int *peer)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	*side = (struct ab_side){ .source = { .fd = pair[0] }, .readable = true, .writable = true };
	*peer = pair[1];
}

static void open_sides(void)
{
	open_side(&from, &sender);
	open_side(&to, &receiver);
	flow = (struct ab_flow)AB_FLOW_INIT;
}

static void close_sides(void)
{
	ab_side_close(&from, false);
	ab_side_close(&to, false);
	if (sender >= 0)
		close(sender);
	close(receiver);
}

static void hear(struct ab_buf *ret)
{
	char block[4096];
	ssize_t n;

	while ((n = recv(receiver, block, sizeof(block), 0)) > 0)
		ab_buf_add(ret, block, (size_t)n);
}

/* Send the text in portions, moving after each; the last answer. */
static enum ab_io pass(struct ab_body_filter *filter, const char *text, size_t len, size_t step,
		       bool hang_up, struct ab_buf *ret)
{
	enum ab_io io = AB_IO_WAIT;

	for (size_t at = 0; at < len; at += step) {
		size_t n = len - at < step ? len - at : step;

		if (send(sender, text + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			abort();
		from.readable = to.writable = true;
		if (io == AB_IO_WAIT || io == AB_IO_YIELD)
			io = ab_body_filter_move(filter, &flow, &from, &to);
		hear(ret);
	}
	if (hang_up) {
		close(sender);
		sender = -1;
	}
	for (int i = 0; i < 100 && (io == AB_IO_WAIT || io == AB_IO_YIELD); i++) {
		from.readable = to.writable = true;
		io = ab_body_filter_move(filter, &flow, &from, &to);
		hear(ret);
	}
	return io;
}

/* In chunks of so many bytes, with an extension and a trailer. */
static char *chunked(const char *text, size_t size)
{
	struct ab_buf b = { 0 };

	for (size_t at = 0, len = strlen(text); at < len; at += size) {
		size_t n = len - at < size ? len - at : size;

		ab_buf_printf(&b, "%zx;x=y\r\n%.*s\r\n", n, (int)n, text + at);
	}
	ab_buf_puts(&b, "0\r\nX-Trailer: t\r\n\r\n");
	return ab_buf_take(&b);
}

static char *unchunked(const char *text)
{
	struct ab_http_chunks chunks = { 0 };
	struct ab_buf b = { 0 };
	size_t at = 0, len = strlen(text), payload;
	bool over = false;

	while (at < len && !over) {
		ssize_t n = ab_http_chunks_next(&chunks, text + at, len - at, &payload, &over);

		if (n < 0)
			break;
		at += (size_t)n;
		ab_buf_add(&b, text + at - payload, payload);
	}
	if (!over || at != len)
		ab_buf_puts(&b, "(malformed)");
	return ab_buf_take(&b);
}

#define ANSWER "data: @0\n\nno @ value sk-one-3fK9 @0@0 {\"k\": \"@1\"} @0"
#define SHOWN "data: $0\n\nno @ value sk-one-3fK9 $0$0 {\"k\": \"$1\"} $0"

static void scrub_once(enum ab_http_body framing, size_t step, size_t size)
{
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = ab_scrub_new(vault, &host, 443);
	ab_autofree char *body = help_fill(vault, ANSWER);
	ab_autofree char *want = help_fill(vault, SHOWN);
	ab_autofree char *text = framing == AB_HTTP_CHUNKED ? chunked(body, size) : ab_strdup(body);
	ab_autofree char *sent =
		ab_printf("%s%s", text, framing == AB_HTTP_CLOSE ? "" : "HTTP/1.1 200");
	ab_autofree char *got = NULL;
	ab_autobuf struct ab_buf heard = { 0 };
	struct ab_body_filter_setup setup = {
		.scrub = scrub, .in = framing, .out = framing, .length = strlen(body)
	};
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	enum ab_io io;
	char name[64];

	open_sides();
	io = pass(filter, sent, strlen(sent), step, framing == AB_HTTP_CLOSE, &heard);
	got = framing == AB_HTTP_CHUNKED ? unchunked(heard.data ? heard.data : "")
					 : ab_strdup(heard.data ? heard.data : "");
	snprintf(name, sizeof(name), "framing %d, by %zu, chunks of %zu", framing, step, size);
	is_str(got, want, name);
	ok(io == AB_IO_DONE, "%s: it ends", name);
	ok(flow.moved == strlen(body), "%s: and is counted", name);
	if (framing != AB_HTTP_CLOSE)
		ok(!from.in.len || memcmp(ab_buf_bytes(&from.in), "HTTP/1.1 200", from.in.len) == 0,
		   "%s: what is behind it stays", name);
	ab_body_filter_free(filter);
	ab_scrub_free(scrub);
	close_sides();
}

static void test_scrub(void)
{
	static const size_t steps[] = { 1, 2, 3, 7, 40, 4000 };

	for (size_t i = 0; i < AB_COUNT(steps); i++) {
		scrub_once(AB_HTTP_LENGTH, steps[i], 0);
		scrub_once(AB_HTTP_CLOSE, steps[i], 0);
		scrub_once(AB_HTTP_CHUNKED, steps[i], 1);
		scrub_once(AB_HTTP_CHUNKED, steps[i], 5);
		scrub_once(AB_HTTP_CHUNKED, steps[i], 4000);
	}
}

/* An event is passed on when it is there, not when the next one is. */
static void test_unbuffered(void)
{
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = ab_scrub_new(vault, &host, 443);
	struct ab_body_filter_setup setup = { .scrub = scrub,
					      .in = AB_HTTP_CHUNKED,
					      .out = AB_HTTP_CHUNKED };
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	ab_autobuf struct ab_buf heard = { 0 };

	open_sides();
	ok(pass(filter, "d\r\ndata: first\n\n\r\n", 18, 18, false, &heard) == AB_IO_WAIT,
	   "an event of a stream");
	is_str(heard.data, "d\r\ndata: first\n\n\r\n", "is passed at once");
	ab_body_filter_free(filter);
	ab_scrub_free(scrub);
	close_sides();
}

static enum ab_io fail(enum ab_http_body framing, uint64_t length, const char *text,
		       bool *ret_malformed)
{
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = ab_scrub_new(vault, &host, 443);
	struct ab_body_filter_setup setup = {
		.scrub = scrub, .in = framing, .out = framing, .length = length
	};
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	ab_autobuf struct ab_buf heard = { 0 };
	enum ab_io io;

	open_sides();
	io = pass(filter, text, strlen(text), 4000, true, &heard);
	*ret_malformed = ab_body_filter_malformed(filter);
	ab_body_filter_free(filter);
	ab_scrub_free(scrub);
	close_sides();
	return io;
}

static void test_broken(void)
{
	bool malformed;

	ok(fail(AB_HTTP_LENGTH, 10, "half", &malformed) == AB_IO_EOF && !malformed,
	   "a body that ends too soon");
	ok(fail(AB_HTTP_CHUNKED, 0, "5\r\nhal", &malformed) == AB_IO_EOF && !malformed,
	   "in the middle of a chunk");
	ok(fail(AB_HTTP_CHUNKED, 0, "x\r\nhal", &malformed) == AB_IO_FAILED && malformed,
	   "a size that is none");
	ok(fail(AB_HTTP_CHUNKED, 0, "0\r\nHost: x\r\n\r\n", &malformed) == AB_IO_FAILED &&
		   malformed,
	   "a trailer that says where to go");
	ok(fail(AB_HTTP_LENGTH, 0, "", &malformed) == AB_IO_DONE, "an empty body");
}

static void swap_once(enum ab_http_body framing, size_t step, const char *asked, const char *wanted,
		      enum ab_io wanted_io)
{
	struct ab_host host = help_host("any.test");
	struct ab_swap_body *swap = ab_swap_body_new(vault, &host, 443);
	ab_autofree char *body = help_fill(vault, asked);
	ab_autofree char *want = help_fill(vault, wanted);
	ab_autofree char *text = framing == AB_HTTP_CHUNKED ? chunked(body, 3) : ab_strdup(body);
	ab_autofree char *got = NULL;
	ab_autobuf struct ab_buf heard = { 0 };
	struct ab_body_filter_setup setup = {
		.swap = swap, .in = framing, .out = AB_HTTP_CHUNKED, .length = strlen(body)
	};
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	enum ab_io io;

	open_sides();
	io = pass(filter, text, strlen(text), step, false, &heard);
	ok(io == wanted_io, "a request's body, by %zu", step);
	ok(ab_body_filter_tripped(filter) == (wanted_io == AB_IO_FAILED),
	   "and whether it is a tripwire");
	if (io == AB_IO_DONE) {
		got = unchunked(heard.data ? heard.data : "");
		is_str(got, want, "has the value in it");
	}
	ab_body_filter_free(filter);
	ab_swap_body_free(swap);
	close_sides();
}

/* With the head, in one go. */
static void test_gather(void)
{
	struct ab_host host = help_host("any.test");
	struct ab_swap_body *swap = ab_swap_body_new(vault, &host, 443);
	ab_autofree char *bad = help_fill(vault, "$3 ");
	struct ab_body_filter_setup setup = { .swap = swap,
					      .in = AB_HTTP_LENGTH,
					      .out = AB_HTTP_CHUNKED,
					      .length = strlen(bad) + 1 };
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	ab_autobuf struct ab_buf heard = { 0 };

	open_sides();
	ab_buf_add(&from.in, bad, strlen(bad));
	ab_body_filter_gather(filter, &flow, &from, &to);
	ok(pass(filter, "x", 1, 1, false, &heard) == AB_IO_FAILED &&
		   ab_body_filter_tripped(filter) && heard.len == 0,
	   "a tripwire in the first bytes is not forgotten");
	ab_body_filter_free(filter);
	ab_swap_body_free(swap);
	close_sides();
}

static void test_swap(void)
{
	static const size_t steps[] = { 1, 5, 4000 };

	for (size_t i = 0; i < AB_COUNT(steps); i++) {
		swap_once(AB_HTTP_LENGTH, steps[i], "a=$2&b=$2", "a=@2&b=@2", AB_IO_DONE);
		swap_once(AB_HTTP_CHUNKED, steps[i], "a=$2&b=$2", "a=@2&b=@2", AB_IO_DONE);
		swap_once(AB_HTTP_LENGTH, steps[i], "none", "none", AB_IO_DONE);
		swap_once(AB_HTTP_LENGTH, steps[i], "a=$3 and more", "", AB_IO_FAILED);
	}
	swap_once(AB_HTTP_LENGTH, 1, "", "", AB_IO_DONE);
}

int main(void)
{
	vault = help_vault();
	test_scrub();
	test_unbuffered();
	test_broken();
	test_gather();
	test_swap();
	ab_vault_free(vault);
	return done();
}
