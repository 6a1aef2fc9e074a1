/*
 * Any bytes as a query: what is accepted has exactly the name that stands in
 * it, and every answer is a response to the same question, within its room.
 */
#include "proxy/wire/dns.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The host, written as labels, is the question's name but for case. */
static void check_name(const struct ab_dns_query *q)
{
	const uint8_t *p = q->question;
	const char *s = q->name.text;

	if (q->name.kind != AB_HOST_NAME)
		abort();
	while (*p) {
		size_t n = *p++;

		if (strcspn(s, ".") != n || strncasecmp(s, (const char *)p, n) != 0)
			abort();
		s += n;
		s += *s == '.';
		p += n;
	}
	if (*s || p + 5 != q->question + q->question_len)
		abort();
}

static void check_answer(const uint8_t *data, const struct ab_dns_query *q, enum ab_dns_code code,
			 size_t addr_len)
{
	static const uint8_t addr[16] = { 1, 2, 3, 4 };
	uint8_t *answer = malloc(AB_DNS_ANSWER_MAX);
	enum ab_dns_code again;
	struct ab_dns_query r;
	size_t n = ab_dns_answer(q, code, addr, addr_len, answer);
	size_t want = 12 + q->question_len + (addr_len ? 12 + addr_len : 0) + (q->edns ? 11 : 0);

	if (n > AB_DNS_ANSWER_MAX || n != want || memcmp(answer, data, 2) != 0 ||
	    !(answer[2] & 0x80) || (answer[3] & 15) != (code & 15) ||
	    (q->question_len && memcmp(answer + 12, data + 12, q->question_len) != 0))
		abort();
	if (ab_dns_parse(answer, n, &r, &again) != -1)
		abort();
	free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: reading past it is seen. */
	uint8_t *copy = malloc(size ? size : 1);
	enum ab_dns_code code = AB_DNS_NOERROR;
	struct ab_dns_query q;
	int r;

	if (size)
		memcpy(copy, data, size);
	r = ab_dns_parse(copy, size, &q, &code);
	if (r == 0 && (size > AB_DNS_MAX || q.question != copy + 12 || q.udp_size < 512 ||
		       code != AB_DNS_NOERROR))
		abort();
	if (r == 0 && q.is_host)
		check_name(&q);
	if (r == 0) {
		check_answer(copy, &q, AB_DNS_NOERROR, 4);
		check_answer(copy, &q, AB_DNS_NOERROR, 16);
		check_answer(copy, &q, AB_DNS_NXDOMAIN, 0);
	}
	if (r == 1 && code == AB_DNS_NOERROR)
		abort();
	if (r == 1)
		check_answer(copy, &q, code, 0);
	free(copy);
	return 0;
}
