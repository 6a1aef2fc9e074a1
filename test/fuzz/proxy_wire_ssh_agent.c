/*
 * Any bytes as messages of a client of the ssh agent, as data to be signed, and as
 * replies of the agent: what is consumed was there, every part lies in the message,
 * and a cut message is never decided differently.
 */
#include "proxy/wire/ssh_agent.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct ab_ssh_text part, const uint8_t *data, size_t size)
{
	if (part.len && (part.at < data || part.at + part.len > data + size))
		abort();
}

static void check_signed(struct ab_ssh_text text)
{
	struct ab_signed s;

	ab_signed_parse(text, &s);
	check_within(s.session, text.at, text.len);
	check_within(s.user, text.at, text.len);
	check_within(s.key, text.at, text.len);
	check_within(s.host_key, text.at, text.len);
	check_within(s.name_space, text.at, text.len);
	if (s.kind == AB_SIGNED_LOGIN && !s.session.len)
		abort();
	if (s.kind == AB_SIGNED_DOCUMENT && !s.name_space.len)
		abort();
}

static ssize_t parse_request(const uint8_t *data, size_t size)
{
	struct ab_agent_request r = { .kind = AB_AGENT_BAD };
	ssize_t n = ab_agent_request_parse(data, size, &r);
	struct ab_buf again = { 0 };

	if (n > (ssize_t)size || (n > 0 && n < 5))
		abort();
	if (n <= 0)
		return n;
	check_within(r.key, data, (size_t)n);
	check_within(r.data, data, (size_t)n);
	check_within(r.host_key, data, (size_t)n);
	check_within(r.session, data, (size_t)n);
	check_within(r.signature, data, (size_t)n);
	check_within(r.extension, data, (size_t)n);
	if (r.kind == AB_AGENT_SIGN)
		check_signed(r.data);
	/* What is served is written anew, and is the same. */
	ab_agent_put_request(&again, &r);
	if (r.kind != AB_AGENT_OTHER && r.kind != AB_AGENT_BAD &&
	    (again.len != (size_t)n || memcmp(again.data, data, again.len) != 0))
		abort();
	ab_buf_fini(&again);
	return n;
}

static ssize_t parse_reply(const uint8_t *data, size_t size)
{
	struct ab_agent_reply r;
	struct ab_agent_keys keys;
	struct ab_ssh_text key;
	ssize_t n = ab_agent_reply_parse(data, size, &r);

	if (n > (ssize_t)size || (n > 0 && n < 5))
		abort();
	if (n <= 0)
		return n;
	check_within(r.body, data, (size_t)n);
	ab_agent_keys_begin(r.body, &keys);
	while (ab_agent_keys_next(&keys, &key)) {
		check_within(key, data, (size_t)n);
		(void)ab_ssh_key_is_plain(key);
	}
	return n;
}

static void check_cuts(const uint8_t *data, size_t size, ssize_t (*parse)(const uint8_t *, size_t))
{
	ssize_t whole = parse(data, size);

	for (size_t n = 0; n < size; n++) {
		/* A copy of exactly this size: reading past it is seen. */
		uint8_t *copy = malloc(n ? n : 1);
		ssize_t part;

		memcpy(copy, data, n);
		part = parse(copy, n);
		free(copy);
		if (part != 0 && part != whole)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 600)
		return 0;
	check_signed((struct ab_ssh_text){ data, size });
	check_cuts(data, size, parse_request);
	check_cuts(data, size, parse_reply);
	return 0;
}
