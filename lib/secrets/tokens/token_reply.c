#include "secrets/tokens/token_reply.h"

#include "base/text/json_scan.h"
#include "proxy/wire/http_reply.h"

void ab_token_reply_fail(struct ab_token_reply *reply, const char *why)
{
	reply->outcome = AB_TOKEN_BAD;
	snprintf(reply->why, sizeof(reply->why), "%.150s", why);
}

bool ab_token_is_word(const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		if (text[n] <= ' ' || text[n] > '~')
			return false;
	return n >= AB_SECRET_MIN && n <= AB_SECRET_MAX;
}

/* Error codes are words of the standard or of the service, as "invalid_grant". The box sees
 * them, so nothing that looks like a part of a credential is kept. */
static void keep_error(const char *text, char ret[AB_TOKEN_ERROR])
{
	size_t n = text ? strspn(text, AB_TOKEN_ERROR_LETTERS) : 0;

	if (n && !text[n] && n < AB_TOKEN_ERROR)
		memcpy(ret, text, n + 1);
}

static void read_members(const struct ab_json_scan_node *object, struct ab_token_reply *ret)
{
	const char *access = NULL, *refresh = NULL, *type = "bearer";

	ab_json_scan_each(m, object)
	{
		if (strcmp(m->key, "access_token") == 0)
			access = m->text;
		else if (strcmp(m->key, "refresh_token") == 0)
			refresh = m->text;
		else if (strcmp(m->key, "token_type") == 0)
			type = m->text ? m->text : "";
		else if (strcmp(m->key, "expires_in") == 0 && m->kind == '0' && m->integer > 0)
			ret->expires_in = m->integer < AB_TOKEN_EXPIRES_MOST
						  ? m->integer
						  : AB_TOKEN_EXPIRES_MOST;
		else if (strcmp(m->key, "error") == 0)
			keep_error(m->text, ret->error);
	}
	/* Some services answer 200 with an error. */
	if (ret->status / 100 != 2 || (ret->error[0] && !access))
		return;
	if (!access)
		return ab_token_reply_fail(ret, "its answer has no access_token");
	if (strcasecmp(type, "bearer") != 0)
		return ab_token_reply_fail(ret, "its answer is not a bearer token");
	if (!ab_token_is_word(access) || (refresh && refresh[0] && !ab_token_is_word(refresh)))
		return ab_token_reply_fail(ret, "its answer has a token that cannot be used");
	ret->outcome = AB_TOKEN_GRANTED;
	snprintf(ret->access, sizeof(ret->access), "%s", access);
	snprintf(ret->refresh, sizeof(ret->refresh), "%s", refresh ? refresh : "");
}

void ab_token_reply_read(const struct ab_http_reply *http, struct ab_token_reply *ret)
{
	ab_autoscan struct ab_json_scan json = { 0 };
	const char *cut = ab_http_reply_why(http);

	*ret = (struct ab_token_reply){ .outcome = AB_TOKEN_REFUSED };
	if (cut)
		return ab_token_reply_fail(ret, cut);
	ret->status = http->status;
	if (http->body.len && ab_json_scan_parse(&json, http->body.data, http->body.len) == 0 &&
	    json.nodes[0].kind == '{')
		read_members(&json.nodes[0], ret);
	else if (http->status / 100 == 2)
		ab_token_reply_fail(ret, "its answer is not an object of JSON");
}
