/*
 * Any head through the reading of signatures, and any bytes as signed chunks: what
 * is read has the form that it promises, the canonical form of a request that was
 * made canonical stays the same, and how a body is cut changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "proxy/sign/sigv4.h"
#include "proxy/sign/sign_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool right)
{
	if (!right)
		abort();
}

static void check_read(const struct ab_sigv4 *sig)
{
	check(sig->place != AB_SIGV4_NOWHERE);
	check(sig->id[0] && strlen(sig->day) == 8 && strlen(sig->at) == 16);
	check(sig->region[0] && sig->service[0] && !strchr(sig->region, '/'));
	check(strlen(sig->signature) == 64);
	check(memcmp(sig->at, sig->day, 8) == 0 && sig->time >= 0);
	check(strstr(sig->signed_names, "host") != NULL);
}

static void check_canonical(const struct ab_http_request *rq, const struct ab_sigv4 *sig, bool s3)
{
	struct ab_buf first = { 0 }, again = { 0 };
	struct ab_sigv4_input in = {
		.method = rq->method,
		.path = rq->path,
		.head = &rq->head,
		.host = { "h", 1 },
		.signed_names = sig->signed_names,
		.payload = "UNSIGNED-PAYLOAD",
		.s3 = s3,
	};

	if (ab_sigv4_canonical(&in, &first)) {
		char *path = strchr(first.data, '\n') + 1, *query = strchr(path, '\n') + 1;
		char *end = strchr(query, '\n');

		check(path[0] == '/' || s3);
		/* A canonical path and query of S3 is its own canonical form. */
		if (s3) {
			struct ab_buf whole = { 0 };

			ab_buf_add(&whole, path, (size_t)(query - 1 - path));
			ab_buf_puts(&whole, "?");
			ab_buf_add(&whole, query, (size_t)(end - query));
			in.path = (struct ab_http_text){ whole.data, whole.len };
			check(ab_sigv4_canonical(&in, &again));
			check(again.len == first.len &&
			      memcmp(again.data, first.data, first.len) == 0);
			ab_buf_fini(&whole);
		}
	}
	ab_buf_fini(&first);
	ab_buf_fini(&again);
}

static const char *take_all(const uint8_t *data, size_t size, size_t portion, bool trailer,
			    struct ab_buf *out)
{
	struct ab_sigv4 sig = { .at = "20130524T000000Z", .day = "20130524" };
	struct ab_sign_chunks_setup setup = { .sig = &sig, .trailer = trailer };
	struct ab_sign_chunks *chunks;
	const char *why = NULL;

	memset(sig.signature, '0', 64);
	setup.signature = sig.signature;
	chunks = ab_sign_chunks_new(&setup);
	for (size_t at = 0; at < size && !why; at += portion) {
		size_t n = size - at < portion ? size - at : portion;

		why = ab_sign_chunks_take(chunks, data + at, n, at + n == size, out);
	}
	ab_sign_chunks_free(chunks);
	return why;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_http_scan scan = { 0 };
	struct ab_http_request rq;
	struct ab_sigv4 sig;

	if (ab_http_read_request(&scan, data, size, &rq) > 0 &&
	    ab_sigv4_find(&rq) != AB_SIGV4_NOWHERE && !ab_sigv4_read(&rq, &sig)) {
		check_read(&sig);
		check_canonical(&rq, &sig, true);
		check_canonical(&rq, &sig, false);
	}
	for (int trailer = 0; trailer < 2; trailer++) {
		struct ab_buf one = { 0 }, two = { 0 };
		const char *why = take_all(data, size, size + 1, trailer, &one);

		check(!why == !take_all(data, size, 3, trailer, &two));
		if (!why)
			check(one.len == size && two.len == size);
		ab_buf_fini(&one);
		ab_buf_fini(&two);
	}
	return 0;
}
