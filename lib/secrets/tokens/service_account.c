#include "secrets/tokens/service_account.h"

#include <malloc.h>

#include "base/text/base64.h"
#include "base/text/json_scan.h"
#include "policy/model/secrets.h"
#include "proxy/io/tls_rsa.h"

enum { LIFETIME_S = 3600 };

/* The scanner copies what it reads. */
static void wipe_scan(struct ab_json_scan *json)
{
	if (json->strings)
		explicit_bzero(json->strings, malloc_usable_size(json->strings));
	ab_json_scan_fini(json);
}
#define auto_wiped __attribute__((cleanup(wipe_scan)))

static bool read_object(const char *text, size_t len, struct ab_json_scan *ret)
{
	return ab_json_scan_parse(ret, text, len) == 0 && ret->len && ret->nodes[0].kind == '{';
}

static struct ab_rsa *read_key(const struct ab_json_scan *json)
{
	const char *pem = ab_json_scan_text(json->nodes, "private_key");

	return pem ? ab_rsa_read(pem, strlen(pem)) : NULL;
}

const char *ab_service_account_check(const char *text, size_t len)
{
	auto_wiped struct ab_json_scan json = { 0 };
	const char *type;
	struct ab_rsa *key;

	if (!read_object(text, len, &json))
		return "is not a JSON object";
	type = ab_json_scan_text(json.nodes, "type");
	if (!type || strcmp(type, "service_account") != 0)
		return "is not the key file of a service account";
	if (!ab_json_scan_text(json.nodes, "client_email"))
		return "has no client_email";
	key = read_key(&json);
	ab_rsa_free(key);
	return key ? NULL : "has no RSA private_key of at least 2048 bits";
}

void ab_service_account_cover(const char *text, size_t len, const struct ab_oauth *oauth,
			      const struct ab_rsa *key, const char *key_id, struct ab_buf *ret)
{
	/* Facts about the account, which clients need; nothing else is copied. */
	static const char *const open[] = { "type",	 "project_id",	    "client_email",
					    "client_id", "universe_domain", "quota_project_id" };
	auto_wiped struct ab_json_scan json = { 0 };
	ab_autofree char *pem = ab_rsa_pem(key);

	ab_buf_puts(ret, "{\n");
	if (read_object(text, len, &json))
		for (size_t i = 0; i < AB_COUNT(open); i++) {
			const char *value = ab_json_scan_text(json.nodes, open[i]);

			if (value)
				ab_buf_jsonf(ret, "  %s: %s,\n", open[i], value);
		}
	ab_buf_jsonf(ret, "  'private_key_id': %s,\n  'private_key': %s,\n  'token_uri': %s\n}\n",
		     key_id, pem ? pem : "", oauth->url);
}

static void put_part(struct ab_buf *out, const void *data, size_t len)
{
	ab_base64_add(out, data, len, AB_BASE64_URL, false);
}

const char *ab_service_account_assert(const char *text, size_t len, const struct ab_oauth *oauth,
				      int64_t now, struct ab_buf *ret)
{
	auto_wiped struct ab_json_scan json = { 0 };
	ab_autobuf struct ab_buf head = { 0 }, claims = { 0 };
	ab_autofree char *scope = ab_strv_join(&oauth->scopes, " ");
	uint8_t signature[AB_RSA_SIGNATURE_MAX];
	const char *why = ab_service_account_check(text, len), *id;
	struct ab_rsa *key;
	size_t n;

	if (why)
		return why;
	if (!read_object(text, len, &json))
		return "is not a JSON object";
	key = read_key(&json);
	id = ab_json_scan_text(json.nodes, "private_key_id");
	ab_buf_jsonf(&head, "{'alg':'RS256','typ':'JWT'");
	if (id)
		ab_buf_jsonf(&head, ",'kid':%s", id);
	ab_buf_puts(&head, "}");
	ab_buf_jsonf(&claims, "{'iss':%s,'scope':%s,'aud':%s,'iat':%jd,'exp':%jd}",
		     ab_json_scan_text(json.nodes, "client_email"), scope, oauth->url, now,
		     now + LIFETIME_S);
	put_part(ret, head.data, head.len);
	ab_buf_puts(ret, ".");
	put_part(ret, claims.data, claims.len);
	n = key ? ab_rsa_sign(key, ret->data, ret->len, signature) : 0;
	ab_rsa_free(key);
	if (!n)
		return "has a private_key that cannot sign";
	ab_buf_puts(ret, ".");
	put_part(ret, signature, n);
	return NULL;
}
