#include "proxy/sign/sign.h"

#include <strings.h>

#include "proxy/sign/sign_chunks.h"

/* The key bound to this host: its first entry, or -1. */
static int find_bound(const struct ab_vault *vault, const struct ab_host *host, uint16_t port)
{
	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		const struct ab_secret *s = ab_vault_at(vault, i)->secret;

		if (s->sign && s->part == AB_PART_ID && ab_vault_bound(vault, i, host, port))
			return (int)i;
	}
	return -1;
}

bool ab_sign_is_for(const struct ab_vault *vault, const struct ab_host *host, uint16_t port)
{
	return find_bound(vault, host, port) >= 0;
}

bool ab_sign_needs_body(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
			const struct ab_http_request *rq)
{
	struct ab_sigv4 sig;

	if (rq->head.body == AB_HTTP_NONE || !ab_sign_is_for(vault, host, port) ||
	    ab_sigv4_find(rq) == AB_SIGV4_NOWHERE || ab_sigv4_read(rq, &sig))
		return false;
	return sig.payload == AB_SIGV4_ABSENT &&
	       !(sig.place == AB_SIGV4_QUERY && ab_sigv4_is_s3(sig.service));
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct ab_sign *sign, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sign->why, sizeof(sign->why), fmt, ap);
	va_end(ap);
	sign->result = AB_SIGN_REFUSED;
	return false;
}

/* The last line of what is signed. */
static bool find_payload(const struct ab_sign_setup *setup, const struct ab_http_request *rq,
			 struct ab_sign *sign)
{
	const struct ab_sigv4 *sig = &sign->sig;

	switch (sig->payload) {
	case AB_SIGV4_HASH:
	case AB_SIGV4_UNSIGNED:
	case AB_SIGV4_CHUNKS:
	case AB_SIGV4_TRAILER:
		memcpy(sign->payload, sig->content, sizeof(sign->payload));
		break;
	case AB_SIGV4_UNKNOWN:
		return refuse(sign, "its payload is signed as %.64s, which cannot be signed anew",
			      sig->content);
	case AB_SIGV4_ABSENT:
		if (sig->place == AB_SIGV4_QUERY && ab_sigv4_is_s3(sig->service))
			snprintf(sign->payload, sizeof(sign->payload), "UNSIGNED-PAYLOAD");
		else if (rq->head.body != AB_HTTP_NONE && !setup->body)
			return refuse(sign, "it has no x-amz-content-sha256, and its body is not "
					    "there to be hashed");
		else
			ab_sha256(setup->body, setup->body_len, sign->payload);
		break;
	}
	if ((sig->payload == AB_SIGV4_CHUNKS || sig->payload == AB_SIGV4_TRAILER) &&
	    (sig->place == AB_SIGV4_QUERY || rq->head.body == AB_HTTP_NONE))
		return refuse(sign, "it announces signed chunks that it cannot have");
	return true;
}

/* The signature of `rq`, whose fields and parameters are all there but it, with this key. false: a
 * header that is to be signed is not there. */
static bool sign_request(const struct ab_sign *sign, struct ab_http_text host,
			 const struct ab_http_request *rq, const char *names, const char *key,
			 size_t key_len, char ret[65])
{
	const struct ab_sigv4_input in = {
		.method = rq->method,
		.path = rq->path,
		.head = &rq->head,
		.host = host,
		.signed_names = names,
		.payload = sign->payload,
		.s3 = ab_sigv4_is_s3(sign->sig.service),
	};
	ab_autobuf struct ab_buf canonical = { .wipe = true }, text = { 0 };
	uint8_t signing[AB_SHA256_SIZE];
	bool whole = ab_sigv4_canonical(&in, &canonical);

	ab_sigv4_string(&sign->sig, &canonical, &text);
	ab_sigv4_key(key, key_len, &sign->sig, signing);
	ab_sigv4_sign(signing, &text, ret);
	explicit_bzero(signing, sizeof(signing));
	return whole;
}

/* The placeholder's signature must be right: only then the request was made in this
 * run. */
static bool check_signature(const struct ab_http_request *rq, struct ab_sign *sign)
{
	const struct ab_vault_entry *key = sign->parts[AB_PART_KEY];
	const struct ab_http_field *host = ab_http_find(&rq->head, "host");
	char right[65];

	if (!sign_request(sign, host ? host->value : ab_http_text(""), rq, sign->sig.signed_names,
			  key->placeholder, key->placeholder_len, right))
		return refuse(sign, "it signs a header that it does not have");
	if (!ab_sigv4_equal(right, sign->sig.signature))
		return refuse(sign,
			      "its signature does not match the placeholder of %s in this box",
			      sign->parts[AB_PART_ID]->secret->name);
	return true;
}

static bool check_token(struct ab_sign *sign)
{
	const struct ab_vault_entry *token = sign->parts[AB_PART_TOKEN];
	const struct ab_sigv4 *sig = &sign->sig;

	if (!sig->has_token)
		return true;
	if (token->placeholder &&
	    (sig->place == AB_SIGV4_QUERY ? ab_http_decodes_to(sig->token, token->placeholder)
					  : ab_http_is_exactly(sig->token, token->placeholder)))
		return true;
	return refuse(sign, "its session token is not the placeholder of this box");
}

static bool check_time(const struct ab_sign_setup *setup, struct ab_sign *sign)
{
	const struct ab_sigv4 *sig = &sign->sig;
	bool query = sig->place == AB_SIGV4_QUERY;
	int64_t most = query ? (int64_t)sig->expires : AB_SIGN_SKEW;

	if (sig->time > setup->now + (query ? setup->presigned : AB_SIGN_SKEW))
		return refuse(sign, "its date %s is in the future", sig->at);
	if (setup->now > sig->time + most)
		return refuse(sign, "its date %s is too old", sig->at);
	return true;
}

/* Is the word on the list? An empty list, and "*", permit all. */
static bool is_listed(const struct ab_strv *list, const char *word)
{
	return !list->len || ab_strv_has(list, "*") || ab_strv_has(list, word);
}

static bool check_scope(const struct ab_secret *secret, struct ab_sign *sign)
{
	const struct ab_sigv4 *sig = &sign->sig;

	if (!is_listed(&secret->services, sig->service))
		return refuse(sign, "%s is not for the service %s", secret->name, sig->service);
	if (!is_listed(&secret->regions, sig->region))
		return refuse(sign, "%s is not for the region %s", secret->name, sig->region);
	return true;
}

static bool verify_request(const struct ab_sign_setup *setup, const struct ab_http_request *rq,
			   struct ab_sign *sign)
{
	const struct ab_vault_entry *id = sign->parts[AB_PART_ID];
	const char *why = ab_sigv4_read(rq, &sign->sig);

	if (why)
		return refuse(sign, "%s", why);
	if (!id->placeholder || strcmp(sign->sig.id, id->placeholder) != 0)
		return refuse(sign, "it is signed with another key than the placeholder of %s",
			      id->secret->name);
	return find_payload(setup, rq, sign) && check_signature(rq, sign) && check_token(sign) &&
	       check_time(setup, sign) && check_scope(id->secret, sign);
}

/* The real signature is for this request only: it need not be valid as long as the box's own. */
static void shorten_life(const struct ab_sign_setup *setup, struct ab_sigv4 *sig)
{
	int64_t most = setup->now + setup->presigned - sig->time;

	if (sig->expires > most)
		sig->expires = most > 1 ? (uint32_t)most : 1;
}

/* Path and query without the parameters that are written anew. */
static char *strip_query(struct ab_http_text rest)
{
	struct ab_http_text path = ab_http_until(&rest, '?');
	ab_autobuf struct ab_buf out = { 0 };

	ab_buf_add(&out, path.s, path.len);
	ab_http_put_others(&out, rest, ab_sigv4_own, AB_COUNT(ab_sigv4_own));
	return ab_buf_take(&out);
}

void ab_sign_verify(const struct ab_sign_setup *setup, const struct ab_http_request *rq,
		    struct ab_http_request *asked, struct ab_sign *ret)
{
	*ret = (struct ab_sign){ .secret = find_bound(setup->vault, setup->host, setup->port) };
	if (ret->secret < 0)
		return;
	for (size_t part = 0; part < AB_PARTS; part++)
		ret->parts[part] = ab_vault_at(setup->vault, (size_t)ret->secret + part);
	if (ab_sigv4_find(rq) == AB_SIGV4_NOWHERE) {
		if (ret->parts[AB_PART_ID]->secret->require)
			ret->result = AB_SIGN_MISSING;
		else
			ret->secret = -1;
		return;
	}
	if (!verify_request(setup, rq, ret))
		return;
	if (!ret->parts[AB_PART_ID]->value || !ret->parts[AB_PART_KEY]->value) {
		ret->result = AB_SIGN_ABSENT;
		return;
	}
	ret->result = AB_SIGN_DONE;
	if (ret->sig.place == AB_SIGV4_QUERY) {
		shorten_life(setup, &ret->sig);
		ret->path = strip_query(asked->path);
		asked->path = asked->target = ab_http_text(ret->path);
	} else {
		ab_http_remove(&asked->head, "authorization");
		ab_http_remove(&asked->head, "x-amz-security-token");
	}
}

void ab_sign_fini(struct ab_sign *sign)
{
	free(ab_take(sign->path));
}

static bool is_sent(const struct ab_http_head *head, const char *name, size_t len)
{
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		if (f->name.len == len && strncasecmp(f->name.s, name, len) == 0 &&
		    ab_http_forwarded(head, f))
			return true;
	}
	return false;
}

static void put_name(struct ab_buf *out, const char *name, size_t len)
{
	ab_buf_puts(out, out->len ? ";" : "");
	ab_buf_add(out, name, len);
}

/* The names that the client signed and that are sent, and the token; sorted. */
static void put_names(struct ab_buf *out, const char *names, const struct ab_http_head *head,
		      bool token)
{
	static const char own[] = "x-amz-security-token";

	for (const char *s = names; *s; s += strspn(s, ";")) {
		size_t n = strcspn(s, ";");

		if (token && strncmp(own, s, n) < 0) {
			put_name(out, own, sizeof(own) - 1);
			token = false;
		}
		if ((n == 4 && strncmp(s, "host", n) == 0) || is_sent(head, s, n))
			put_name(out, s, n);
		s += n;
	}
	if (token)
		put_name(out, own, sizeof(own) - 1);
}

/* Append a field; its value is in `signature` of the request. */
static bool add_field(struct ab_http_request *rq, const char *name, struct ab_http_text value)
{
	struct ab_http_head *head = &rq->head;

	if (head->nfields == AB_HTTP_FIELDS)
		return false;
	head->fields[head->nfields++] =
		(struct ab_http_field){ .name = ab_http_text(name), .value = value };
	return true;
}

static void put_credential(struct ab_buf *out, const struct ab_sign *sign)
{
	const struct ab_vault_entry *id = sign->parts[AB_PART_ID];

	ab_buf_add(out, id->value, id->value_len);
	ab_buf_puts(out, "/");
	ab_sigv4_scope(&sign->sig, out);
}

/* "Authorization: AWS4-HMAC-SHA256 Credential=..." */
static bool renew_field(const struct ab_sign *sign, struct ab_http_text host,
			struct ab_swapped *swapped, char ret[65])
{
	const struct ab_vault_entry *key = sign->parts[AB_PART_KEY];
	const struct ab_vault_entry *token = sign->parts[AB_PART_TOKEN];
	struct ab_http_request *rq = &swapped->request;
	struct ab_buf *out = &swapped->signature;
	ab_autobuf struct ab_buf names = { 0 };

	put_names(&names, sign->sig.signed_names, &rq->head, token->value != NULL);
	if (token->value && !add_field(rq, "X-Amz-Security-Token",
				       (struct ab_http_text){ token->value, token->value_len }))
		return false;
	(void)sign_request(sign, host, rq, names.data, key->value, key->value_len, ret);
	ab_buf_puts(out, "AWS4-HMAC-SHA256 Credential=");
	put_credential(out, sign);
	ab_buf_printf(out, ", SignedHeaders=%s, Signature=%s", names.data, ret);
	return add_field(rq, "Authorization", (struct ab_http_text){ out->data, out->len });
}

static void put_parameter(struct ab_buf *out, const char *name, const void *value, size_t len)
{
	const char *mark = memchr(out->data, '?', out->len);

	ab_buf_puts(out, mark ? "&" : "?");
	ab_buf_puts(out, name);
	ab_buf_puts(out, "=");
	ab_http_escape(out, value, len, AB_SIGV4_PLAIN);
}

/* X-Amz-SignedHeaders stays: a presigned URL signs what its user will send. */
static bool renew_query(const struct ab_sign *sign, struct ab_http_text host,
			struct ab_swapped *swapped, char ret[65])
{
	const struct ab_vault_entry *key = sign->parts[AB_PART_KEY];
	const struct ab_vault_entry *token = sign->parts[AB_PART_TOKEN];
	struct ab_http_request *rq = &swapped->request;
	struct ab_buf *out = &swapped->signature;
	struct ab_buf credential = { .wipe = true };
	char expires[16];

	ab_buf_add(out, rq->path.s, rq->path.len);
	put_parameter(out, "X-Amz-Expires", expires,
		      (size_t)snprintf(expires, sizeof(expires), "%u", sign->sig.expires));
	put_credential(&credential, sign);
	put_parameter(out, "X-Amz-Credential", credential.data, credential.len);
	ab_buf_fini(&credential);
	if (token->value)
		put_parameter(out, "X-Amz-Security-Token", token->value, token->value_len);
	rq->path = rq->target = (struct ab_http_text){ out->data, out->len };
	(void)sign_request(sign, host, rq, sign->sig.signed_names, key->value, key->value_len, ret);
	put_parameter(out, "X-Amz-Signature", ret, 64);
	rq->path = rq->target = (struct ab_http_text){ out->data, out->len };
	return rq->target.len <= AB_HTTP_TARGET_MAX;
}

bool ab_sign_renew(const struct ab_sign *sign, struct ab_http_text host, struct ab_swapped *swapped,
		   char ret_signature[65])
{
	swapped->signature.wipe = true;
	return (sign->sig.place == AB_SIGV4_QUERY
			? renew_query(sign, host, swapped, ret_signature)
			: renew_field(sign, host, swapped, ret_signature)) &&
	       ab_http_fits(&swapped->request);
}

struct ab_sign_chunks *ab_sign_chunks_of(const struct ab_sign *sign, const char signature[65])
{
	const struct ab_vault_entry *key = sign->parts[AB_PART_KEY];
	struct ab_sign_chunks_setup setup = {
		.sig = &sign->sig,
		.trailer = sign->sig.payload == AB_SIGV4_TRAILER,
		.signature = signature,
	};
	struct ab_sign_chunks *chunks;

	if (sign->sig.payload != AB_SIGV4_CHUNKS && sign->sig.payload != AB_SIGV4_TRAILER)
		return NULL;
	ab_sigv4_key(key->placeholder, key->placeholder_len, &sign->sig, setup.old_key);
	ab_sigv4_key(key->value, key->value_len, &sign->sig, setup.new_key);
	chunks = ab_sign_chunks_new(&setup);
	explicit_bzero(&setup, sizeof(setup));
	return chunks;
}
