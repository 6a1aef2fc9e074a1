/*
 * Theory of operation.
 *
 *	reading		for a whole request; a reply that the client has not read yet
 *			comes first
 *	waiting		proxy/conn/waiting.c: for an answer, or which process it is
 *	dialling	the broker connects to the caller's agent, once per client
 *	asking		the request is with the agent, which may ask a person itself
 *
 * One request at a time. Only three kinds are served; what is passed on to the agent
 * is written anew from the parts that were judged.
 *
 * Should: answer every request; record each signature, and each refusal.
 * Mustn't: pass a byte of the client on that nobody has judged.
 */
#include "proxy/traffic/agent.h"

#include "proxy/conn/agent_terms.h"

enum {
	NAME_ROOM = 64,	     /* of a user or a namespace, in records */
	LIST_MS = 10 * 1000, /* for the agent's list */
	KEYS_MAX = 256,	     /* in the list */
	COMMENT_ROOM = 24,
};

struct ab_agent_client {
	struct ab_agent_binding binding;
	struct ab_buf frame; /* the request that is served */
	struct ab_agent_request request;
	struct ab_signed what;
	char key[AB_SSH_FINGERPRINT];
	char *user, *name_space, *process;
	struct ab_agent_record record;
	const struct ab_refusal *refusal; /* that is about to be recorded */
	uint64_t begun;
	uint32_t ticket;  /* of the dial; 0: none */
	unsigned ignored; /* replies of the agent that nobody waits for */
	bool partial;	  /* the beginning of a request is there */
	bool announced;	  /* the agent knows the binding */
	bool asking;	  /* the agent has a signature to make */
};

static void read_request(struct ab_conn *conn);
static void ask_agent(struct ab_conn *conn);

static void forget_request(struct ab_agent_client *c)
{
	ab_free_all(ab_take(c->user), ab_take(c->name_space), ab_take(c->process));
	c->record = (struct ab_agent_record){ 0 };
	c->key[0] = '\0';
	c->refusal = NULL;
	c->asking = false;
}

/* Reply, and read on. */
static void finish_request(struct ab_conn *conn)
{
	forget_request(conn->client_of_agent);
	conn->step = read_request;
	ab_conn_again(conn);
}

static void describe_request(const struct ab_conn *conn, struct ab_request_record *ret)
{
	const struct ab_agent_client *c = conn->client_of_agent;
	bool login = !c->record.name_space || !*c->record.name_space;

	*ret = (struct ab_request_record){
		.door = AB_DOOR_AGENT,
		.host = login ? c->binding.host : "",
		.port = login ? c->binding.port : 0,
		.verdict = { .access = AB_ACCESS_ALLOW, .basis = AB_BASIS_ALLOW, .entry = "" },
		.agent = &c->record,
		.process = c->process,
		.ms = conn->engine->loop.now - c->begun,
	};
}

/* Text of the box, for records: at most NAME_ROOM bytes, without hidden characters. */
static char *show_text(struct ab_ssh_text text)
{
	size_t n = text.len < NAME_ROOM ? text.len : NAME_ROOM;
	ab_autofree char *copy = ab_strndup((const char *)text.at, n);

	return ab_escape(copy);
}

static void note_signature(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;

	ab_signed_parse(c->request.data, &c->what);
	ab_ssh_key_fingerprint(c->request.key, c->key);
	c->record.key = c->key;
	if (c->what.kind == AB_SIGNED_LOGIN) {
		c->user = show_text(c->what.user);
		c->record.route = c->binding.proxied ? "proxy" : "unproven";
	} else if (c->what.kind == AB_SIGNED_DOCUMENT) {
		c->name_space = show_text(c->what.name_space);
	}
	c->record.user = c->user;
	c->record.name_space = c->name_space;
}

static void reply_refusal(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_buf *out = &conn->client.out;
	struct ab_buf none = { 0 };

	if (c->request.kind == AB_AGENT_LIST)
		ab_agent_put_keys(out, 0, &none);
	else
		ab_agent_put_failure(out,
				     c->request.kind == AB_AGENT_OTHER && c->request.extension.len);
	finish_request(conn);
}

static void record_refusal(struct ab_conn *conn, struct ab_request_record *r)
{
	bool bad = conn->client_of_agent->request.kind == AB_AGENT_BAD ||
		   conn->client_of_agent->refusal == &ab_agent_refuses_crowd;

	conn->step = read_request;
	r->refusal = conn->client_of_agent->refusal;
	r->fault = AB_FAULT_AGENT;
	if (ab_conn_deny(conn, r) < 0 || !ab_conn_record(conn, r))
		return;
	if (bad)
		ab_conn_close(conn, false);
	else
		reply_refusal(conn);
}

static void refuse_request(struct ab_conn *conn, const struct ab_refusal *refusal)
{
	struct ab_request_record r;

	conn->client_of_agent->refusal = refusal;
	describe_request(conn, &r);
	r.refusal = refusal;
	r.fault = AB_FAULT_AGENT;
	if (!ab_waiting_identify(conn, &r, record_refusal))
		record_refusal(conn, &r);
}

/* Nobody refused it, but there is no answer. */
static void fail_request(struct ab_conn *conn, const char *error)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_request_record r;

	if (c->request.kind == AB_AGENT_SIGN) {
		describe_request(conn, &r);
		r.error = error;
		if (!ab_conn_record(conn, &r))
			return;
	}
	reply_refusal(conn);
}

/* The keys that the client may see, without the comments of their owner. */
static void reply_keys(struct ab_conn *conn, struct ab_ssh_text body)
{
	ab_autobuf struct ab_buf list = { 0 };
	struct ab_agent_keys keys;
	struct ab_ssh_text key;
	uint32_t n = 0;

	ab_agent_keys_begin(body, &keys);
	while (n < KEYS_MAX && ab_agent_keys_next(&keys, &key)) {
		char fingerprint[AB_SSH_FINGERPRINT];
		struct ab_ssh_text comment = { (const uint8_t *)fingerprint, COMMENT_ROOM };

		if (!ab_agent_shows(conn->engine->agent, key))
			continue;
		ab_ssh_key_fingerprint(key, fingerprint);
		ab_ssh_put_string(&list, key);
		ab_ssh_put_string(&list, comment);
		n++;
	}
	ab_agent_put_keys(&conn->client.out, n, &list);
	finish_request(conn);
}

static void reply_signature(struct ab_conn *conn, struct ab_ssh_text signature)
{
	struct ab_request_record r;

	conn->client_of_agent->asking = false;
	describe_request(conn, &r);
	if (!ab_conn_record(conn, &r))
		return;
	ab_agent_put_signature(&conn->client.out, signature);
	finish_request(conn);
}

static void take_reply(struct ab_conn *conn, const struct ab_agent_reply *reply)
{
	struct ab_agent_client *c = conn->client_of_agent;
	bool list = c->request.kind == AB_AGENT_LIST;

	ab_conn_deadline(conn, 0);
	if (list && reply->kind == AB_AGENT_KEYS)
		reply_keys(conn, reply->body);
	else if (!list && reply->kind == AB_AGENT_SIGNATURE)
		reply_signature(conn, reply->body);
	else {
		conn->engine->agent->signatures -= c->asking;
		c->asking = false;
		fail_request(conn, "your ssh agent refused");
	}
}

/* Wait for the agent. A client that is gone needs no answer. */
static void wait_for_agent(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_buf *in = &conn->server.in;
	struct ab_agent_reply reply;
	enum ab_io io = AB_IO_DONE;
	ssize_t n;

	if (conn->client.hung || ab_side_flush(&conn->server) == AB_IO_FAILED) {
		ab_conn_close(conn, false);
		return;
	}
	for (;;) {
		n = ab_agent_reply_parse(ab_buf_bytes(in), in->len, &reply);
		if (n > 0 && c->ignored) {
			c->ignored--;
			ab_buf_skip(in, (size_t)n);
			continue;
		}
		if (n != 0)
			break;
		io = ab_side_read(&conn->server, AB_AGENT_REPLY_MAX);
		if (io != AB_IO_DONE)
			break;
	}
	if (n > 0) {
		ab_autobuf struct ab_buf copy = { 0 };

		ab_buf_add(&copy, in->data, (size_t)n);
		ab_buf_skip(in, (size_t)n);
		(void)ab_agent_reply_parse(ab_buf_bytes(&copy), copy.len, &reply);
		take_reply(conn, &reply);
	} else if (n < 0 || io == AB_IO_EOF || io == AB_IO_FAILED) {
		ab_side_close(&conn->server, false);
		c->announced = false;
		c->ignored = 0;
		fail_request(conn, "your ssh agent closed the connection");
	}
}

/* Keys can be bound to hosts (ssh-add -h): for these the agent must know the server, too. One that
 * does not know this message refuses it, and nobody minds. */
static void announce_binding(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_agent_request bind = { .kind = AB_AGENT_BIND,
					 .host_key = ab_ssh_view(&c->binding.host_key),
					 .session = ab_ssh_view(&c->binding.session),
					 .signature = ab_ssh_view(&c->binding.signature) };

	if (c->announced || !c->binding.bound || c->binding.bad)
		return;
	ab_agent_put_request(&conn->server.out, &bind);
	c->announced = true;
	c->ignored++;
}

static void ask_agent(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;

	announce_binding(conn);
	ab_agent_put_request(&conn->server.out, &c->request);
	if (c->request.kind == AB_AGENT_LIST)
		ab_conn_deadline(conn, LIST_MS);
	conn->step = wait_for_agent;
	ab_conn_again(conn);
}

static void wait_for_dial(struct ab_conn *conn)
{
	if (conn->client.hung)
		ab_conn_close(conn, false);
}

/* Ask the caller's agent; connect to it first, if this client has not yet. */
static void turn_to_agent(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_engine *engine = conn->engine;

	ab_conn_deadline(conn, 0);
	if (conn->server.source.fd >= 0) {
		ask_agent(conn);
		return;
	}
	conn->step = wait_for_dial;
	c->ticket = ++engine->agent->tickets;
	ab_conn_deadline(conn, LIST_MS);
	if (engine->setup->dial_agent(engine->setup->arg, c->ticket) < 0)
		ab_agent_dialled(engine, c->ticket, ECONNREFUSED, -1);
}

void ab_agent_dialled(struct ab_engine *engine, uint32_t ticket, int errnum, int fd)
{
	struct ab_conn *conn = engine->conns;
	ab_autofree char *error = NULL;

	while (conn && (conn->closed || conn->door != AB_DOOR_AGENT ||
			conn->client_of_agent->ticket != ticket))
		conn = conn->next;
	if (!conn) {
		if (fd >= 0)
			close(fd);
		return;
	}
	conn->client_of_agent->ticket = 0;
	ab_conn_deadline(conn, 0);
	if (!errnum && fd >= 0 && ab_conn_attach(conn, fd) == 0) {
		ask_agent(conn);
		return;
	}
	if (conn->client_of_agent->asking)
		engine->agent->signatures--;
	conn->client_of_agent->asking = false;
	error = ab_printf("cannot connect to your ssh agent: %s", strerror(errnum ? errnum : EIO));
	fail_request(conn, error);
}

/* The end of all checks: sign it. */
static void sign_data(struct ab_conn *conn)
{
	conn->client_of_agent->asking = true;
	conn->engine->agent->signatures++;
	turn_to_agent(conn);
}

/* Allowed by the settings, and by a person if one was asked. */
static void approve_signature(struct ab_conn *conn, struct ab_request_record *r)
{
	struct ab_agent_client *c = conn->client_of_agent;
	const struct ab_refusal *refusal;

	if (r->process && !c->process) {
		c->process = ab_strdup(r->process);
		r->process = c->process;
	}
	if (r->reply || r->verdict.access != AB_ACCESS_ALLOW) {
		c->refusal = &ab_agent_refuses_unasked;
		record_refusal(conn, r);
		return;
	}
	/* Meanwhile others may have been signed. */
	refusal = ab_agent_judge(conn->engine->agent, &c->binding, &c->request, &c->what,
				 conn->engine->loop.now - conn->engine->begun);
	if (refusal)
		refuse_request(conn, refusal);
	else
		sign_data(conn);
}

static void approve_unasked(struct ab_conn *conn, struct ab_request_record *r)
{
	r->reply = AB_REPLY_NONE;
	approve_signature(conn, r);
}

static char *make_question(const struct ab_agent_client *c)
{
	if (c->what.kind == AB_SIGNED_DOCUMENT)
		return ab_printf("sign a commit or tag of git with the key %s", c->key);
	return ab_printf("log in to %s as %s with the key %s", c->binding.host, c->user, c->key);
}

static void judge_signature(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_agent_terms *terms = conn->engine->agent;
	const struct ab_refusal *refusal =
		ab_agent_judge(terms, &c->binding, &c->request, &c->what,
			       conn->engine->loop.now - conn->engine->begun);
	ab_autofree char *question = NULL;
	struct ab_request_record r;
	bool granted;

	if (refusal) {
		refuse_request(conn, refusal);
		return;
	}
	question = make_question(c);
	granted = terms->policy->ssh.ask == AB_SSH_ASK_NEVER ||
		  (terms->policy->ssh.ask == AB_SSH_ASK_FIRST &&
		   ab_strv_has(&terms->grants, question));
	describe_request(conn, &r);
	if (granted) {
		if (!ab_waiting_agent(conn, &r, approve_unasked))
			approve_unasked(conn, &r);
		return;
	}
	r.refusal = &ab_agent_refuses_unasked;
	r.fault = AB_FAULT_AGENT;
	r.why = question;
	if (!ab_waiting_agent(conn, &r, approve_signature))
		approve_signature(conn, &r);
}

static void bind_client(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;

	ab_agent_bind(conn->engine->agent, &c->request, &c->binding);
	if (c->binding.bad)
		ab_agent_put_failure(&conn->client.out, true);
	else
		ab_agent_put_success(&conn->client.out);
	finish_request(conn);
}

static void serve_request(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;

	c->begun = conn->engine->loop.now;
	switch (c->request.kind) {
	case AB_AGENT_LIST:
		if (c->binding.bad)
			refuse_request(conn, c->binding.bad);
		else
			turn_to_agent(conn);
		break;
	case AB_AGENT_SIGN:
		note_signature(conn);
		judge_signature(conn);
		break;
	case AB_AGENT_BIND:
		bind_client(conn);
		break;
	case AB_AGENT_OTHER:
		refuse_request(conn, &ab_agent_refuses_other);
		break;
	case AB_AGENT_BAD:
		refuse_request(conn, &ab_agent_refuses_malformed);
		break;
	}
}

/* Who sent what comes next? Not who connected: that is the guard, in the box's place
 * (guard/connect/connect.h). */
static void note_sender(struct ab_conn *conn)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char byte;
	struct iovec one = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &one,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	struct ucred sender;

	if (!conn->client.readable ||
	    recvmsg(conn->client.source.fd, &msg, MSG_PEEK | MSG_DONTWAIT) <= 0)
		return;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return;
	memcpy(&sender, CMSG_DATA(c), sizeof(sender));
	conn->sender = sender.pid;
}

static void read_request(struct ab_conn *conn)
{
	struct ab_agent_client *c = conn->client_of_agent;
	struct ab_buf *in = &conn->client.in;
	enum ab_io io = ab_side_flush(&conn->client);
	ssize_t n;

	if (io == AB_IO_FAILED)
		ab_conn_close(conn, false);
	if (io != AB_IO_DONE)
		return;
	note_sender(conn);
	do {
		n = ab_agent_request_parse(ab_buf_bytes(in), in->len, &c->request);
		io = n ? AB_IO_DONE : ab_side_read(&conn->client, AB_AGENT_REQUEST_MAX);
	} while (n == 0 && io == AB_IO_DONE);
	if (n > 0) {
		ab_conn_deadline(conn, 0);
		c->partial = false;
		ab_buf_fini(&c->frame);
		ab_buf_add(&c->frame, in->data, (size_t)n);
		ab_buf_skip(in, (size_t)n);
		(void)ab_agent_request_parse(ab_buf_bytes(&c->frame), c->frame.len, &c->request);
		serve_request(conn);
	} else if (n < 0) {
		c->request = (struct ab_agent_request){ .kind = AB_AGENT_BAD };
		c->begun = conn->engine->loop.now;
		refuse_request(conn, &ab_agent_refuses_malformed);
	} else if (io == AB_IO_WAIT) {
		/* Not anew with each byte. */
		if (!in->len || !c->partial)
			ab_conn_deadline(conn, in->len ? AB_HEAD_MS : AB_IDLE_MS);
		c->partial = in->len > 0;
	} else {
		ab_conn_close(conn, false);
	}
}

static void end_client(struct ab_conn *conn)
{
	struct ab_agent_client *c = ab_take(conn->client_of_agent);
	struct ab_request_record r;

	if (!c)
		return;
	if (c->asking) {
		conn->client_of_agent = c;
		describe_request(conn, &r);
		r.error = "the client closed the connection first";
		ab_conn_record(conn, &r);
		conn->client_of_agent = NULL;
	}
	conn->engine->agent->nconns--;
	forget_request(c);
	ab_agent_binding_fini(&c->binding);
	ab_buf_fini(&c->frame);
	free(c);
}

void ab_agent_open(struct ab_engine *engine, int fd, uint16_t port)
{
	static const struct ab_conn_kind kind = { .end = end_client };
	struct ab_conn *conn = ab_conn_new(engine, AB_DOOR_AGENT, fd, read_request);
	int on = 1;

	(void)port;
	if (!conn)
		return;
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	conn->client_of_agent = ab_alloc(sizeof(*conn->client_of_agent));
	conn->kind = &kind;
	if (engine->agent->nconns++ >= AB_AGENT_CONNS) {
		conn->client_of_agent->begun = engine->loop.now;
		conn->client_of_agent->refusal = &ab_agent_refuses_crowd;
		conn->client_of_agent->request.kind = AB_AGENT_BAD;
		refuse_request(conn, &ab_agent_refuses_crowd);
		return;
	}
	ab_conn_deadline(conn, AB_IDLE_MS);
}
