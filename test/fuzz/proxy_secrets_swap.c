/*
 * Any head through the swap, with a vault that is always the same ($0 to $3 in
 * the input are its placeholders): what goes out reads again as the same
 * request, no placeholder is in it, and a value only where that was said. And
 * any bytes as a body: how they are cut changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/secrets/swap.h"
#include "proxy/secrets/search.h"
#include "../unit/vault_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ab_vault *vault;

static void check(bool right)
{
	if (!right)
		abort();
}

/* Placeholders for $N. */
static uint8_t *fill(const uint8_t *data, size_t size, size_t *ret_len)
{
	struct ab_buf out = { 0 };
	uint8_t *s;

	for (size_t i = 0; i < size; i++) {
		unsigned n = i + 1 < size ? data[i + 1] - (unsigned)'0' : 255;

		if (data[i] == '$' && n < HELP_COUNT) {
			const struct ab_vault_entry *e = ab_vault_at(vault, n);

			ab_buf_add(&out, e->placeholder, e->placeholder_len);
			i++;
		} else {
			ab_buf_add(&out, data + i, 1);
		}
	}
	*ret_len = out.len;
	s = malloc(*ret_len + !*ret_len);
	if (*ret_len)
		memcpy(s, ab_buf_bytes(&out), *ret_len);
	ab_buf_fini(&out);
	return s;
}

static bool has_value(const void *s, size_t len)
{
	for (size_t i = 0; i < HELP_COUNT; i++)
		if (memmem(s, len, help_values[i], strlen(help_values[i])))
			return true;
	return false;
}

/* As it is written, Host and all. */
static void write_head(const struct ab_http_request *rq, struct ab_buf *out)
{
	out->wipe = true;
	ab_buf_add(out, rq->method.s, rq->method.len);
	ab_buf_add(out, " ", 1);
	ab_buf_add(out, rq->target.s, rq->target.len);
	ab_buf_add(out, rq->head.minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n", 11);
	for (size_t i = 0; i < rq->head.nfields; i++) {
		const struct ab_http_field *f = &rq->head.fields[i];

		ab_buf_add(out, f->name.s, f->name.len);
		ab_buf_add(out, ": ", 2);
		ab_buf_add(out, f->value.s, f->value.len);
		ab_buf_add(out, "\r\n", 2);
	}
	ab_buf_add(out, "\r\n", 2);
}

static bool same(struct ab_http_text a, struct ab_http_text b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static void check_again(const struct ab_http_request *rq, const struct ab_buf *out)
{
	static struct ab_http_request again;
	struct ab_http_scan scan = { 0 };

	check(ab_http_read_request(&scan, ab_buf_bytes(out), out->len, &again) ==
	      (ssize_t)out->len);
	check(same(rq->method, again.method) && same(rq->target, again.target) &&
	      same(rq->path, again.path) && rq->form == again.form);
	check(rq->head.nfields == again.head.nfields && rq->head.body == again.head.body &&
	      rq->head.length == again.head.length && rq->head.keep == again.head.keep &&
	      rq->head.upgrade == again.head.upgrade);
	for (size_t i = 0; i < rq->head.nfields; i++) {
		const struct ab_http_field *f = &rq->head.fields[i];

		check(same(f->name, again.head.fields[i].name) &&
		      same(f->value, again.head.fields[i].value) &&
		      f->id == again.head.fields[i].id);
	}
}

static void check_request(const uint8_t *s, size_t len, const char *name, bool tls)
{
	static struct ab_http_request rq;
	static struct ab_swapped swapped;
	struct ab_http_scan scan = { 0 };
	struct ab_host host = help_host(name);
	struct ab_buf out = { 0 };
	ssize_t n = ab_http_read_request(&scan, s, len, &rq);

	if (n <= 0)
		return;
	ab_swap_request(vault, &host, 443, tls, &rq, &swapped);
	if (swapped.result != AB_SWAP_DONE && swapped.result != AB_SWAP_NONE) {
		check(!swapped.texts && !swapped.injected && swapped.secret >= 0);
		return;
	}
	check(swapped.injected || swapped.result == AB_SWAP_NONE);
	write_head(&swapped.request, &out);
	if (swapped.result == AB_SWAP_NONE && !has_value(s, (size_t)n))
		check(!has_value(ab_buf_bytes(&out), out.len));
	check(ab_vault_find(vault, ab_buf_bytes(&out), out.len) == -1);
	/* Written anew it may be a little longer. */
	if (out.len < AB_HTTP_HEAD_MAX)
		check_again(&swapped.request, &out);
	ab_buf_fini(&out);
	ab_swapped_fini(&swapped);
}

static enum ab_swap_result feed(const uint8_t *s, size_t len, size_t step, struct ab_buf *out)
{
	struct ab_host host = help_host("any.test");
	struct ab_swap_body *body = ab_swap_body_new(vault, &host, 443);
	enum ab_swap_result all = AB_SWAP_NONE, r;
	size_t at = 0;

	do {
		size_t n = len - at < step ? len - at : step;

		r = ab_swap_body_take(body, s + at, n, at + n == len, out);
		if (r > all)
			all = r;
		at += n;
	} while (at < len && r != AB_SWAP_TRIPWIRE);
	ab_swap_body_free(body);
	return all;
}

static void check_body(const uint8_t *s, size_t len)
{
	static const size_t steps[] = { 1, 2, 7, 64 };
	struct ab_buf whole = { 0 };
	enum ab_swap_result r = feed(s, len, len + 1, &whole);

	for (size_t i = 0; i < AB_COUNT(steps); i++) {
		struct ab_buf cut = { 0 };

		check(feed(s, len, steps[i], &cut) == r);
		check(r == AB_SWAP_TRIPWIRE ||
		      (cut.len == whole.len &&
		       (!cut.len ||
			memcmp(ab_buf_bytes(&cut), ab_buf_bytes(&whole), cut.len) == 0)));
		ab_buf_fini(&cut);
	}
	ab_buf_fini(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *s;
	size_t len;

	if (!vault) {
		/* The same in each run: an input is good for all. */
		vault = help_vault();
	}
	if (size < 2)
		return 0;
	help_secrets[HELP_BEARER].inject = data[0] & 1;
	help_secrets[HELP_BEARER].require = data[0] & 2;
	help_secrets[HELP_ANY].inject = data[0] & 4;
	s = fill(data + 1, size - 1, &len);
	check_request(s, len, "api.one.test", true);
	check_request(s, len, "any.test", true);
	check_request(s, len, "any.test", false);
	check_body(s, len);
	free(s);
	return 0;
}
