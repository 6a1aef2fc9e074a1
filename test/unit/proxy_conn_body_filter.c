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
	size_t len = strlen(text);
	bool over = false;

	if (ab_http_chunks_take(&chunks, text, len, &b, NULL, &over) != (ssize_t)len || !over)
		ab_buf_puts(&b, "(malformed)");
	return ab_buf_take(&b);
}

#define ANSWER "data: @0\n\nno @ value sk-one-3fK9 @0@0 {\"k\": \"@1\"} @0"
#define SHOWN "data: $0\n\nno @ value sk-one-3fK9 $0$0 {\"k\": \"$1\"} $0"

static void scrub_once(enum ab_http_body framing, size_t step, size_t size)
{
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &host, 443);
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
	ab_scrubs_free(scrub);
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
	struct ab_scrub *scrub = help_scrub(vault, &host, 443);
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
	ab_scrubs_free(scrub);
	close_sides();
}

/* A chunk with one message of gRPC. */
static void add_grpc(struct ab_buf *b, const char *text, size_t len)
{
	const char prefix[5] = { 0, 0, 0, (char)(len >> 8), (char)len };

	ab_buf_printf(b, "%zx\r\n", len + sizeof(prefix));
	ab_buf_add(b, prefix, sizeof(prefix));
	ab_buf_add(b, text, len);
	ab_buf_add(b, "\r\n", 2);
}

/* A message ends with the start of a value. Is that passed on before the next one? */
static void grpc_once(bool messages, size_t step)
{
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &host, 443);
	struct ab_body_filter_setup setup = {
		.scrub = scrub, .in = AB_HTTP_CHUNKED, .out = AB_HTTP_CHUNKED, .messages = messages
	};
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	ab_autofree char *value = help_fill(vault, "@0"), *hidden = help_fill(vault, "$0");
	ab_autobuf struct ab_buf text = { 0 }, more = { 0 }, heard = { 0 };

	open_sides();
	add_grpc(&text, value, 8);
	ok(pass(filter, text.data, text.len, step, false, &heard) == AB_IO_WAIT, "a gRPC message");
	ok((heard.len && memmem(heard.data, heard.len, value + 4, 4)) == messages,
	   messages ? "is passed at once, by %zu" : "is held back otherwise, by %zu", step);
	add_grpc(&more, value, strlen(value));
	ab_buf_printf(&more, "0\r\nx-said: %s\r\n\r\n", value);
	ok(pass(filter, more.data, more.len, step, false, &heard) == AB_IO_DONE, "the next one");
	ok(!memmem(heard.data, heard.len, value, strlen(value)), "does not show the value");
	text.len = 0;
	ab_buf_printf(&text, "0\r\nx-said: %s\r\n\r\n", hidden);
	ok(heard.len > text.len &&
		   memcmp(heard.data + heard.len - text.len, text.data, text.len) == 0,
	   "and the trailers have the placeholder");
	ab_body_filter_free(filter);
	ab_scrubs_free(scrub);
	close_sides();
}

static void test_grpc(void)
{
	static const size_t steps[] = { 1, 5, 4000 };

	for (size_t i = 0; i < AB_COUNT(steps); i++) {
		grpc_once(true, steps[i]);
		grpc_once(false, steps[i]);
	}
}

static void add_frame(struct ab_buf *b, unsigned head, const char *text, size_t len)
{
	uint8_t begin[4] = { (uint8_t)head, (uint8_t)(len > 125 ? 126 : len), (uint8_t)(len >> 8),
			     (uint8_t)len };

	ab_buf_add(b, begin, len > 125 ? 4 : 2);
	ab_buf_add(b, text, len);
}

/* A message in fragments with a ping between them, and one in a frame. */
static void add_message(struct ab_buf *b, const char *text, size_t size)
{
	size_t len = strlen(text), n;

	for (size_t at = 0; at < len; at += n) {
		n = len - at < size ? len - at : size;
		add_frame(b, (at ? 0 : 1) | (at + n == len ? 0x80 : 0), text + at, n);
		if (at == 0)
			add_frame(b, 0x89, "ping", 4);
	}
	add_frame(b, 0x81, "alone", 5);
}

/* The frames again: messages of text, each with "|", and pings with "!". */
static char *read_messages(const struct ab_buf *heard)
{
	const uint8_t *p = ab_buf_bytes(heard), *end = p + heard->len;
	struct ab_buf b = { 0 };
	bool open = false;

	while (end - p >= 2) {
		unsigned head = *p++;
		size_t len = *p++ & 0x7f;

		if (len == 126 && end - p >= 2) {
			len = (size_t)p[0] << 8 | p[1];
			p += 2;
		}
		if ((size_t)(end - p) < len)
			break;
		if (head == 0x89) {
			if (len != 4 || memcmp(p, "ping", 4) != 0)
				break;
		} else if ((head & 0x7f) != (open ? 0 : 1)) {
			break;
		} else {
			ab_buf_add(&b, p, len);
			open = !(head & 0x80);
			if (!open)
				ab_buf_puts(&b, "|");
		}
		p += len;
	}
	if (p != end)
		ab_buf_puts(&b, "(malformed)");
	return ab_buf_take(&b);
}

static void test_fragments(void)
{
	static const size_t steps[] = { 1, 2, 3, 7, 40, 4000 };
	static const size_t sizes[] = { 1, 5, 20, 200 };
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &host, 443);
	ab_autofree char *text = help_fill(vault, ANSWER ANSWER);
	ab_autofree char *want = help_fill(vault, SHOWN SHOWN "|alone|");

	for (size_t i = 0; i < AB_COUNT(steps) * AB_COUNT(sizes); i++) {
		size_t step = steps[i / AB_COUNT(sizes)], size = sizes[i % AB_COUNT(sizes)];
		struct ab_body_filter_setup setup = {
			.scrub = scrub, .in = AB_HTTP_CLOSE, .out = AB_HTTP_CLOSE, .frames = true
		};
		struct ab_body_filter *filter = ab_body_filter_new(&setup);
		ab_autobuf struct ab_buf sent = { 0 }, heard = { 0 };
		ab_autofree char *got = NULL;
		enum ab_io io;

		add_message(&sent, text, size);
		open_sides();
		io = pass(filter, (const char *)ab_buf_bytes(&sent), sent.len, step, false, &heard);
		got = read_messages(&heard);
		is_str(got, want, "a message in fragments");
		ok(io == AB_IO_WAIT && flow.moved == heard.len, "fragments of %zu, by %zu", size,
		   step);
		ab_body_filter_free(filter);
		close_sides();
	}
	ab_scrubs_free(scrub);
}

/* The start of a message that ends in the middle; a fragment with a mask. */
static void test_broken_fragments(void)
{
	static const char *const texts[] = { "\x01\x03"
					     "abc\x00\x03"
					     "ab",
					     "\x01\x83"
					     "mask"
					     "abc" };
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &host, 443);
	struct ab_body_filter_setup setup = {
		.scrub = scrub, .in = AB_HTTP_CLOSE, .out = AB_HTTP_CLOSE, .frames = true
	};

	for (size_t i = 0; i < AB_COUNT(texts); i++) {
		struct ab_body_filter *filter = ab_body_filter_new(&setup);
		ab_autobuf struct ab_buf heard = { 0 };
		enum ab_io io;

		open_sides();
		io = pass(filter, texts[i], 9, 1, true, &heard);
		ok(io == (i ? AB_IO_FAILED : AB_IO_DONE), "broken fragments: case %zu", i);
		ok(ab_body_filter_fault(filter)->malformed == (i == 1), "and which of them");
		ab_body_filter_free(filter);
		close_sides();
	}
	ab_scrubs_free(scrub);
}

static enum ab_io fail(enum ab_http_body framing, uint64_t length, const char *text,
		       bool *ret_malformed)
{
	struct ab_host host = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &host, 443);
	struct ab_body_filter_setup setup = {
		.scrub = scrub, .in = framing, .out = framing, .length = length
	};
	struct ab_body_filter *filter = ab_body_filter_new(&setup);
	ab_autobuf struct ab_buf heard = { 0 };
	enum ab_io io;

	open_sides();
	io = pass(filter, text, strlen(text), 4000, true, &heard);
	*ret_malformed = ab_body_filter_fault(filter)->malformed;
	ab_body_filter_free(filter);
	ab_scrubs_free(scrub);
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
	ok(ab_body_filter_fault(filter)->tripped == (wanted_io == AB_IO_FAILED),
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
		   ab_body_filter_fault(filter)->tripped && heard.len == 0,
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
	test_grpc();
	test_fragments();
	test_broken_fragments();
	test_broken();
	test_gather();
	test_swap();
	ab_vault_free(vault);
	return done();
}
