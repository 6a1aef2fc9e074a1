/*
 * The box's DNS server. It gives each allowed name a synthetic address, which
 * every door maps back to the name; all other names do not exist. It never
 * forwards a query.
 */
#include "proxy/doors/doors.h"

#include "netns/datagram.h"
#include "proxy/dial/hosts_file.h"
#include "proxy/filter/synthetic.h"
#include "proxy/secrets/vault.h"

enum {
	DATAGRAMS = 64, /* per turn */
	QUERIES = 64,	/* per stream and turn */
};

/* Tools look these up besides connecting; do not record them as denials. */
static bool is_reverse(const char *name)
{
	return ab_ends_with(name, ".in-addr.arpa") || ab_ends_with(name, ".ip6.arpa");
}

static void deny_name(struct ab_engine *engine, const char *name, const struct ab_verdict *verdict,
		      enum ab_fault fault, const char *secret)
{
	struct ab_request_record r = { .door = AB_DOOR_DNS,
				       .host = name,
				       .secret = secret,
				       .verdict = *verdict,
				       .fault = fault,
				       .why = engine->cut };
	struct ab_error err;

	if (ab_ledger_deny(engine->ledger, &r, &r.denial, &err) < 0 ||
	    ab_ledger_request(engine->ledger, &r, &err) < 0)
		engine->unrecorded(engine, &err);
}

/* A queried name can leak a secret to whoever runs its name server. `shown`: the
 * name in the record. */
static bool deny_placeholder(struct ab_engine *engine, const char *name, const char *shown)
{
	const struct ab_inspection *inspection = &engine->inspection;
	struct ab_verdict verdict = { .entry = "" };
	int secret;

	if (!inspection->vault)
		return false;
	secret = ab_vault_find_in_name(inspection->vault, name);
	if (secret < 0)
		return false;
	deny_name(engine, shown, &verdict, AB_FAULT_TRIPWIRE,
		  ab_inspection_secret(inspection, secret));
	ab_inspection_trip(inspection, secret, false);
	return true;
}

/* The labels of a question that is not a host name ("ghp_..." is not). */
static void copy_labels(const struct ab_dns_query *q, char ret[AB_DNS_ANSWER_MAX])
{
	size_t n = 0, at = 0;

	while (at < q->question_len && q->question[at] && n < AB_DNS_ANSWER_MAX - 1) {
		for (size_t left = q->question[at++];
		     left && at < q->question_len && n < AB_DNS_ANSWER_MAX - 1; left--, at++)
			ret[n++] = q->question[at] ? (char)q->question[at] : '?';
	}
	ret[n] = '\0';
}

static size_t answer_address(const struct ab_dns_query *q, const uint8_t v4[4],
			     const uint8_t v6[16], uint8_t ret[AB_DNS_ANSWER_MAX])
{
	switch (q->type) {
	case AB_DNS_A:
	case AB_DNS_ANY:
		return ab_dns_answer(q, AB_DNS_NOERROR, v4, 4, ret);
	case AB_DNS_AAAA:
		return ab_dns_answer(q, AB_DNS_NOERROR, v6, 16, ret);
	default: /* the name exists, without records of this type */
		return ab_dns_answer(q, AB_DNS_NOERROR, NULL, 0, ret);
	}
}

static size_t answer_name(struct ab_engine *engine, const struct ab_dns_query *q,
			  uint8_t ret[AB_DNS_ANSWER_MAX])
{
	static const uint8_t loop4[4] = { 127, 0, 0, 1 };
	static const uint8_t loop6[16] = { [15] = 1 };
	struct ab_verdict verdict = { .access = AB_ACCESS_DENY, .entry = "" };
	char labels[AB_DNS_ANSWER_MAX];
	uint8_t v4[4], v6[16];
	uint16_t number;

	if (!q->is_host) {
		copy_labels(q, labels);
		if (!deny_placeholder(engine, labels, "(not a host name)"))
			deny_name(engine, "(not a host name)", &verdict, AB_FAULT_MALFORMED, NULL);
		return ab_dns_answer(q, AB_DNS_NXDOMAIN, NULL, 0, ret);
	}
	if (q->name.kind != AB_HOST_NAME || is_reverse(q->name.text))
		return ab_dns_answer(q, AB_DNS_NXDOMAIN, NULL, 0, ret);
	if (ab_host_is_local(&q->name))
		return answer_address(q, loop4, loop6, ret);
	if (deny_placeholder(engine, q->name.text, q->name.text))
		return ab_dns_answer(q, AB_DNS_NXDOMAIN, NULL, 0, ret);
	/* The question to the person is asked when the client connects. */
	if (!engine->cut)
		ab_conn_resolve(engine, &q->name, &verdict);
	if (verdict.access != AB_ACCESS_ALLOW &&
	    (verdict.access != AB_ACCESS_ASK || !engine->setup->asked)) {
		deny_name(engine, q->name.text, &verdict,
			  engine->cut ? AB_FAULT_CUT : AB_FAULT_NONE, NULL);
		return ab_dns_answer(q, AB_DNS_NXDOMAIN, NULL, 0, ret);
	}
	number = ab_synthetic_number(engine->synthetic, &q->name,
				     verdict.access == AB_ACCESS_ALLOW ? AB_SYNTHETIC_MAX
								       : AB_NAMES_GUESTS);
	if (!number) {
		deny_name(engine, q->name.text, &verdict, AB_FAULT_NAMES, NULL);
		return ab_dns_answer(q, AB_DNS_SERVFAIL, NULL, 0, ret);
	}
	ab_synthetic_v4(number, v4);
	ab_synthetic_v6(number, v6);
	return answer_address(q, v4, v6, ret);
}

size_t ab_door_dns_answer(struct ab_engine *engine, const uint8_t *msg, size_t len,
			  uint8_t ret[AB_DNS_ANSWER_MAX])
{
	struct ab_dns_query query;
	enum ab_dns_code code;

	switch (ab_dns_parse(msg, len, &query, &code)) {
	case 0:
		return answer_name(engine, &query, ret);
	case 1:
		return ab_dns_answer(&query, code, NULL, 0, ret);
	default:
		return 0;
	}
}

void ab_door_dns_datagrams(struct ab_engine *engine, int fd)
{
	uint8_t msg[AB_DNS_MAX], reply[AB_DNS_ANSWER_MAX];

	for (int i = 0; i < DATAGRAMS; i++) {
		struct ab_dns_peer peer;
		ssize_t n = ab_dns_socket_recv(fd, msg, sizeof(msg), &peer);
		size_t len;

		if (n < 0)
			return;
		len = ab_door_dns_answer(engine, msg, (size_t)n, reply);
		/* A client that misses the answer asks again. */
		if (len)
			(void)ab_dns_socket_send(fd, reply, len, &peer);
	}
}

static void serve_queries(struct ab_conn *conn)
{
	struct ab_side *client = &conn->client;
	int queries = 0;

	/* A fast sender must not starve other connections. */
	while (queries < QUERIES) {
		uint8_t reply[2 + AB_DNS_ANSWER_MAX];
		const uint8_t *head = ab_buf_bytes(&client->in);
		size_t have = client->in.len, len;
		enum ab_io io = ab_side_flush(client);

		if (io == AB_IO_WAIT)
			return;
		len = have < 2 ? 0 : (size_t)(head[0] << 8 | head[1]);
		if (io == AB_IO_FAILED || len > AB_DNS_MAX) {
			ab_conn_close(conn, true);
			return;
		}
		if (have < 2 || have < 2 + len) {
			io = ab_side_read(client, 2 + AB_DNS_MAX);
			if (io == AB_IO_DONE)
				continue;
			if (io != AB_IO_WAIT)
				ab_conn_close(conn, io == AB_IO_FAILED);
			return;
		}
		queries++;
		ab_conn_deadline(conn, AB_HANDSHAKE_MS);
		have = ab_door_dns_answer(conn->engine, head + 2, len, reply + 2);
		ab_buf_skip(&client->in, 2 + len);
		reply[0] = (uint8_t)(have >> 8);
		reply[1] = (uint8_t)have;
		if (have)
			ab_buf_add(&client->out, reply, 2 + have);
	}
	ab_conn_again(conn);
}

void ab_door_open_dns(struct ab_engine *engine, int fd, uint16_t port)
{
	struct ab_conn *conn = ab_conn_new(engine, AB_DOOR_DNS, fd, serve_queries);

	(void)port;
	if (conn)
		ab_conn_deadline(conn, AB_HANDSHAKE_MS);
}
