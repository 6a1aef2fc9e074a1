#pragma once
/*
 * The messages of an ssh agent: what a client asks for, what is to be signed, and
 * what the agent answers (draft-ietf-sshm-ssh-agent, and PROTOCOL.agent and
 * PROTOCOL.sshsig of OpenSSH). Pure: bytes in, views out.
 */
#include "proxy/io/ssh_text.h"

enum {
	AB_AGENT_REQUEST_MAX = 32 * 1024, /* of a client, with its length */
	AB_AGENT_REPLY_MAX = 256 * 1024,  /* of the agent; OpenSSH's own limit */
};

enum ab_agent_kind {
	AB_AGENT_LIST,	/* which keys are there */
	AB_AGENT_SIGN,	/* key, data, flags */
	AB_AGENT_BIND,	/* host_key, session, signature, forwards */
	AB_AGENT_OTHER, /* type, and the name of an extension: never served */
	AB_AGENT_BAD,	/* does not follow the protocol */
};

struct ab_agent_request {
	enum ab_agent_kind kind;
	uint8_t type;
	struct ab_ssh_text extension;
	struct ab_ssh_text key, data;
	uint32_t flags;
	struct ab_ssh_text host_key, session, signature;
	bool forwards;
};

/* >0: bytes of the message; 0: incomplete; <0: too long or empty, close. */
ssize_t ab_agent_request_parse(const uint8_t *data, size_t len, struct ab_agent_request *ret);

/* What the client wants to have signed. */
enum ab_signed_kind {
	AB_SIGNED_LOGIN,    /* session, user, method, key; host_key if the method binds it */
	AB_SIGNED_DOCUMENT, /* name_space, digest */
	AB_SIGNED_UNKNOWN,  /* anything else */
};

struct ab_signed {
	enum ab_signed_kind kind;
	struct ab_ssh_text session, user, key, host_key, name_space;
	bool bound; /* the method names the server's key: host_key */
};

void ab_signed_parse(struct ab_ssh_text data, struct ab_signed *ret);

/* The agent's replies. >0: bytes of the message; 0: incomplete; <0: too long or empty. */
enum ab_agent_reply_kind {
	AB_AGENT_KEYS,	    /* body: the list */
	AB_AGENT_SIGNATURE, /* body: the signature */
	AB_AGENT_REFUSED,   /* anything else */
};
struct ab_agent_reply {
	enum ab_agent_reply_kind kind;
	struct ab_ssh_text body;
};
ssize_t ab_agent_reply_parse(const uint8_t *data, size_t len, struct ab_agent_reply *ret);

/* One key of the list after the other; false: no more. *ret_bad: the list is malformed. */
struct ab_agent_keys {
	struct ab_ssh_reader reader;
	uint32_t left;
};
void ab_agent_keys_begin(struct ab_ssh_text body, struct ab_agent_keys *ret);
bool ab_agent_keys_next(struct ab_agent_keys *keys, struct ab_ssh_text *ret_key);

/* Is it a plain public key, and not a certificate? */
bool ab_ssh_key_is_plain(struct ab_ssh_text key);

/* Messages for the client, and for the agent. */
void ab_agent_put_failure(struct ab_buf *b, bool extension);
void ab_agent_put_success(struct ab_buf *b);
void ab_agent_put_signature(struct ab_buf *b, struct ab_ssh_text signature);
/* `list`: a number of keys, each of them two strings. */
void ab_agent_put_keys(struct ab_buf *b, uint32_t n, const struct ab_buf *list);
/* The same message again, made of its parts. */
void ab_agent_put_request(struct ab_buf *b, const struct ab_agent_request *request);
