#include "proxy/wire/ssh_agent.h"

/* Types of messages. */
enum {
	FAILURE = 5,
	SUCCESS = 6,
	REQUEST_IDENTITIES = 11,
	IDENTITIES_ANSWER = 12,
	SIGN_REQUEST = 13,
	SIGN_RESPONSE = 14,
	EXTENSION = 27,
	EXTENSION_FAILURE = 28,
};

enum { USERAUTH_REQUEST = 50 }; /* RFC 4252 */

static const char session_bind[] = "session-bind@openssh.com";

/* The body of the message at `data`: >0, 0 or <0 as in ab_agent_request_parse(). */
static ssize_t take_frame(const uint8_t *data, size_t len, size_t max, struct ab_ssh_reader *ret)
{
	struct ab_ssh_reader head = { .at = data, .left = len };
	uint32_t n = ab_ssh_number_of(&head, 4);

	if (head.bad)
		return 0;
	if (n == 0 || n > max - 4)
		return -1;
	if (n > head.left)
		return 0;
	*ret = (struct ab_ssh_reader){ .at = head.at, .left = n };
	return (ssize_t)n + 4;
}

static void take_bind(struct ab_ssh_reader *r, struct ab_agent_request *ret)
{
	uint8_t forwards;

	ret->kind = AB_AGENT_BIND;
	ret->host_key = ab_ssh_string(r);
	ret->session = ab_ssh_string(r);
	ret->signature = ab_ssh_string(r);
	forwards = ab_ssh_byte(r);
	ret->forwards = forwards != 0;
	if (forwards > 1)
		r->bad = true;
}

ssize_t ab_agent_request_parse(const uint8_t *data, size_t len, struct ab_agent_request *ret)
{
	struct ab_ssh_reader r;
	ssize_t n = take_frame(data, len, AB_AGENT_REQUEST_MAX, &r);

	if (n <= 0)
		return n;
	*ret = (struct ab_agent_request){ .kind = AB_AGENT_OTHER, .type = ab_ssh_byte(&r) };
	switch (ret->type) {
	case REQUEST_IDENTITIES:
		ret->kind = AB_AGENT_LIST;
		break;
	case SIGN_REQUEST:
		ret->kind = AB_AGENT_SIGN;
		ret->key = ab_ssh_string(&r);
		ret->data = ab_ssh_string(&r);
		ret->flags = ab_ssh_number_of(&r, 4);
		break;
	case EXTENSION:
		ret->extension = ab_ssh_string(&r);
		if (!r.bad && ab_ssh_is(ret->extension, session_bind))
			take_bind(&r, ret);
		else if (!r.bad)
			return n;
		break;
	default:
		return n; /* whatever it contains */
	}
	if (!ab_ssh_ended(&r))
		*ret = (struct ab_agent_request){ .kind = AB_AGENT_BAD, .type = ret->type };
	return n;
}

static bool take_login(struct ab_ssh_text data, struct ab_signed *ret)
{
	struct ab_ssh_reader r = ab_ssh_read(data);
	struct ab_ssh_text service, method, algorithm;
	uint8_t type, has_key;

	ret->session = ab_ssh_string(&r);
	type = ab_ssh_byte(&r);
	ret->user = ab_ssh_string(&r);
	service = ab_ssh_string(&r);
	method = ab_ssh_string(&r);
	has_key = ab_ssh_byte(&r);
	algorithm = ab_ssh_string(&r);
	ret->key = ab_ssh_string(&r);
	if (r.bad || type != USERAUTH_REQUEST || has_key != 1 || !ret->session.len ||
	    !algorithm.len || !ab_ssh_is(service, "ssh-connection"))
		return false;
	ret->bound = ab_ssh_is(method, "publickey-hostbound-v00@openssh.com");
	if (ret->bound)
		ret->host_key = ab_ssh_string(&r);
	return (ret->bound || ab_ssh_is(method, "publickey")) && ab_ssh_ended(&r);
}

static bool take_document(struct ab_ssh_text data, struct ab_signed *ret)
{
	static const char magic[] = { 'S', 'S', 'H', 'S', 'I', 'G' };
	struct ab_ssh_reader r = ab_ssh_read(data);
	struct ab_ssh_text reserved, hash, digest;

	if (data.len < sizeof(magic) || memcmp(data.at, magic, sizeof(magic)) != 0)
		return false;
	r.at += sizeof(magic);
	r.left -= sizeof(magic);
	ret->name_space = ab_ssh_string(&r);
	reserved = ab_ssh_string(&r);
	hash = ab_ssh_string(&r);
	digest = ab_ssh_string(&r);
	return ab_ssh_ended(&r) && ret->name_space.len && !reserved.len &&
	       ((ab_ssh_is(hash, "sha256") && digest.len == 32) ||
		(ab_ssh_is(hash, "sha512") && digest.len == 64));
}

/* No data is both: as the length of a session, "SSHS" is larger than any message. */
void ab_signed_parse(struct ab_ssh_text data, struct ab_signed *ret)
{
	*ret = (struct ab_signed){ .kind = AB_SIGNED_LOGIN };
	if (take_login(data, ret))
		return;
	*ret = (struct ab_signed){ .kind = AB_SIGNED_DOCUMENT };
	if (take_document(data, ret))
		return;
	*ret = (struct ab_signed){ .kind = AB_SIGNED_UNKNOWN };
}

ssize_t ab_agent_reply_parse(const uint8_t *data, size_t len, struct ab_agent_reply *ret)
{
	struct ab_ssh_reader r;
	ssize_t n = take_frame(data, len, AB_AGENT_REPLY_MAX, &r);
	uint8_t type;

	if (n <= 0)
		return n;
	*ret = (struct ab_agent_reply){ .kind = AB_AGENT_REFUSED };
	type = ab_ssh_byte(&r);
	if (type == IDENTITIES_ANSWER)
		*ret = (struct ab_agent_reply){ AB_AGENT_KEYS, { r.at, r.left } };
	if (type != SIGN_RESPONSE)
		return n;
	ret->body = ab_ssh_string(&r);
	if (ab_ssh_ended(&r))
		ret->kind = AB_AGENT_SIGNATURE;
	return n;
}

void ab_agent_keys_begin(struct ab_ssh_text body, struct ab_agent_keys *ret)
{
	ret->reader = ab_ssh_read(body);
	ret->left = ab_ssh_number_of(&ret->reader, 4);
}

bool ab_agent_keys_next(struct ab_agent_keys *keys, struct ab_ssh_text *ret_key)
{
	if (keys->reader.bad || !keys->left)
		return false;
	keys->left--;
	*ret_key = ab_ssh_string(&keys->reader);
	(void)ab_ssh_string(&keys->reader); /* the comment */
	return !keys->reader.bad;
}

bool ab_ssh_key_is_plain(struct ab_ssh_text key)
{
	static const char cert[] = "-cert-v01@openssh.com";
	struct ab_ssh_reader r = ab_ssh_read(key);
	struct ab_ssh_text type = ab_ssh_string(&r);
	size_t n = sizeof(cert) - 1;

	return !r.bad && type.len &&
	       !(type.len > n && memcmp(type.at + type.len - n, cert, n) == 0);
}

static void put_bare(struct ab_buf *b, uint8_t type)
{
	ab_ssh_put_number_of(b, 1, 4);
	ab_ssh_put_byte(b, type);
}

void ab_agent_put_failure(struct ab_buf *b, bool extension)
{
	put_bare(b, extension ? EXTENSION_FAILURE : FAILURE);
}

void ab_agent_put_success(struct ab_buf *b)
{
	put_bare(b, SUCCESS);
}

void ab_agent_put_signature(struct ab_buf *b, struct ab_ssh_text signature)
{
	ab_ssh_put_number_of(b, 1 + 4 + signature.len, 4);
	ab_ssh_put_byte(b, SIGN_RESPONSE);
	ab_ssh_put_string(b, signature);
}

void ab_agent_put_keys(struct ab_buf *b, uint32_t n, const struct ab_buf *list)
{
	ab_ssh_put_number_of(b, 1 + 4 + list->len, 4);
	ab_ssh_put_byte(b, IDENTITIES_ANSWER);
	ab_ssh_put_number_of(b, n, 4);
	ab_buf_add(b, list->data, list->len);
}

void ab_agent_put_request(struct ab_buf *b, const struct ab_agent_request *q)
{
	static const struct ab_ssh_text bind = { (const uint8_t *)session_bind,
						 sizeof(session_bind) - 1 };
	ab_autobuf struct ab_buf body = { 0 };

	switch (q->kind) {
	case AB_AGENT_LIST:
		ab_ssh_put_byte(&body, REQUEST_IDENTITIES);
		break;
	case AB_AGENT_SIGN:
		ab_ssh_put_byte(&body, SIGN_REQUEST);
		ab_ssh_put_string(&body, q->key);
		ab_ssh_put_string(&body, q->data);
		ab_ssh_put_number_of(&body, q->flags, 4);
		break;
	case AB_AGENT_BIND:
		ab_ssh_put_byte(&body, EXTENSION);
		ab_ssh_put_string(&body, bind);
		ab_ssh_put_string(&body, q->host_key);
		ab_ssh_put_string(&body, q->session);
		ab_ssh_put_string(&body, q->signature);
		ab_ssh_put_byte(&body, q->forwards);
		break;
	case AB_AGENT_OTHER:
	case AB_AGENT_BAD:
		return;
	}
	ab_ssh_put_number_of(b, body.len, 4);
	ab_buf_add(b, body.data, body.len);
}
