#include "proxy/sign/token_request.h"

#include "base/text/base64.h"
#include "base/text/json_scan.h"
#include "policy/values/urlpath.h"
#include "proxy/io/tls_rsa.h"
#include "proxy/secrets/vault.h"

enum {
	EXPIRES_S = 3600, /* told to the client: the placeholder itself stays valid */
	SKEW_S = 600,	  /* of the clock in an assertion; the box has ours */
	LOGIN_MAX = 8192, /* bytes of an Authorization field */
};

/* The parameters that are read; others are ignored. */
static const struct parameter {
	const char *name;
	size_t at;
} parameters[] = {
	{ "grant_type", offsetof(struct ab_token_request, grant_type) },
	{ "refresh_token", offsetof(struct ab_token_request, refresh_token) },
	{ "client_id", offsetof(struct ab_token_request, client_id) },
	{ "client_secret", offsetof(struct ab_token_request, client_secret) },
	{ "assertion", offsetof(struct ab_token_request, assertion) },
	{ "scope", offsetof(struct ab_token_request, scope) },
};

static char **find_parameter(struct ab_token_request *rq, const char *name)
{
	const struct parameter *p = ab_find_row(parameters, AB_COUNT(parameters), name, name);

	return p ? (char **)((char *)rq + p->at) : NULL;
}

void ab_token_request_fini(struct ab_token_request *rq)
{
	for (size_t i = 0; i < AB_COUNT(parameters); i++)
		ab_free_wiped(*(char **)((char *)rq + parameters[i].at));
	*rq = (struct ab_token_request){ 0 };
}

static const char twice[] = "a parameter is there twice";

/* Takes the text. */
static const char *keep_parameter(struct ab_token_request *rq, const char *name, char *text)
{
	char **at = find_parameter(rq, name);

	if (!at || *at) {
		ab_free_wiped(text);
		return at ? twice : NULL;
	}
	*at = text;
	return NULL;
}

/* Decoded; NULL: it is not a text of a form. */
static char *decode_text(const char *s, size_t len)
{
	char *ret = ab_alloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = s[i] == '%'   ? ab_percent(s + i, len - i)
			: s[i] == '+' ? ' '
				      : (unsigned char)s[i];

		if (c <= 0) {
			ab_free_wiped(ret);
			return NULL;
		}
		ret[n++] = (char)c;
		i += s[i] == '%' ? 2 : 0;
	}
	return ret;
}

static const char *read_form(struct ab_http_text form, struct ab_token_request *rq)
{
	static const char malformed[] = "its form is malformed";

	while (form.len) {
		struct ab_http_text value = ab_http_until(&form, '&');
		bool any = value.len > 0, named = any && memchr(value.s, '=', value.len);
		struct ab_http_text key = ab_http_until(&value, '=');
		ab_autofree char *name = named ? decode_text(key.s, key.len) : NULL;
		char *text = named ? decode_text(value.s, value.len) : NULL;
		const char *why;

		if (!any)
			continue;
		if (!name || !text) {
			ab_free_wiped(text);
			return malformed;
		}
		why = keep_parameter(rq, name, text);
		if (why)
			return why;
	}
	return NULL;
}

static const char *read_json(const char *s, size_t len, struct ab_token_request *rq)
{
	ab_autoscan struct ab_json_scan json = { 0 };

	if (ab_json_scan_parse(&json, s, len) < 0 || !json.len || json.nodes[0].kind != '{')
		return "its body is not an object of JSON";
	ab_json_scan_each(member, &json.nodes[0])
	{
		const char *why = member->text
					  ? keep_parameter(rq, member->key, ab_strdup(member->text))
					  : NULL;

		if (why)
			return why;
	}
	return NULL;
}

/* "Basic ...": client id and secret, each encoded as in a form (RFC 6749, 2.3.1). */
static const char *read_login(struct ab_http_text field, struct ab_token_request *rq)
{
	static const char malformed[] = "its Authorization field is malformed";
	char text[LOGIN_MAX];
	const char *why = malformed, *colon;
	size_t len;

	if (!ab_http_begins(field, "basic "))
		return NULL;
	if (field.len - 6 <= sizeof(text) - 3 &&
	    ab_base64_decode(field.s + 6, field.len - 6, text, &len) &&
	    (colon = memchr(text, ':', len)) != NULL) {
		char *id = decode_text(text, (size_t)(colon - text));
		char *secret = decode_text(colon + 1, len - (size_t)(colon + 1 - text));

		why = NULL;
		if (!id || !secret) {
			ab_free_wiped(id);
			ab_free_wiped(secret);
			return malformed;
		}
		/* Some clients repeat the id in the body. */
		if (rq->client_id && strcmp(rq->client_id, id) != 0)
			why = twice;
		ab_free_wiped(rq->client_id);
		rq->client_id = id;
		if (why)
			ab_free_wiped(secret);
		else
			why = keep_parameter(rq, "client_secret", secret);
	}
	explicit_bzero(text, sizeof(text));
	return why;
}

static bool has_type(struct ab_http_text type, const char *wanted)
{
	size_t n = strlen(wanted);

	return ab_http_begins(type, wanted) &&
	       (type.len == n || type.s[n] == ';' || type.s[n] == ' ');
}

const char *ab_token_request_read(const struct ab_http_head *head, const void *body, size_t len,
				  struct ab_token_request *ret)
{
	const struct ab_http_field *type = ab_http_find(head, "content-type");
	const struct ab_http_field *login = ab_http_find(head, "authorization");
	const char *why;

	*ret = (struct ab_token_request){ 0 };
	if (len > AB_TOKEN_BODY_MAX)
		return "its body is larger than 64 KiB";
	if (type && has_type(type->value, "application/json"))
		why = read_json(body, len, ret);
	else if (type && has_type(type->value, "application/x-www-form-urlencoded"))
		why = read_form((struct ab_http_text){ body, len }, ret);
	else
		why = "its Content-Type is neither a form nor JSON";
	if (!why && login)
		why = read_login(login->value, ret);
	if (why)
		ab_token_request_fini(ret);
	return why;
}

static bool is_host(const struct ab_oauth *oauth, const struct ab_host *host, uint16_t port)
{
	return oauth && oauth->port == port && strcmp(oauth->host.text, host->text) == 0;
}

static bool is_at(const struct ab_oauth *oauth, const struct ab_host *host, uint16_t port,
		  const char *path)
{
	return is_host(oauth, host, port) && strcmp(oauth->path, path) == 0;
}

bool ab_token_has_url(const struct ab_vault *vault, const struct ab_host *host, uint16_t port)
{
	for (size_t i = 0; i < ab_vault_len(vault); i++)
		if (ab_vault_at(vault, i)->placeholder &&
		    is_host(ab_vault_at(vault, i)->secret->oauth, host, port))
			return true;
	return false;
}

enum ab_token_path ab_token_path(const struct ab_vault *vault, const struct ab_host *host,
				 uint16_t port, const char *path)
{
	enum ab_token_path ret = AB_TOKEN_OTHER;

	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		const struct ab_oauth *oauth = ab_vault_at(vault, i)->secret->oauth;

		if (!ab_vault_at(vault, i)->placeholder || !is_host(oauth, host, port))
			continue;
		if (is_at(oauth, host, port, path))
			return AB_TOKEN_URL;
		if (ab_urlpath_may_mean(path, oauth->path))
			ret = AB_TOKEN_LIKE_URL;
	}
	return ret;
}

/* Does the client list only scopes of the settings? Without any in the settings it may list what it
 * likes: the token has the scopes of the login. */
static bool has_scopes(const struct ab_oauth *oauth, const char *scope)
{
	while (scope && *scope && oauth->scopes.len) {
		size_t n = strcspn(scope, " ");
		ab_autofree char *one = ab_strndup(scope, n);

		if (n && !ab_strv_has(&oauth->scopes, one))
			return false;
		scope += n + strspn(scope + n, " ");
	}
	return true;
}

static const char other_scope[] = "it asks for a scope that the settings do not list";

static const char *check_client(const struct ab_oauth *oauth, const struct ab_token_request *rq)
{
	if (rq->client_id && oauth->client && strcmp(rq->client_id, oauth->client) != 0)
		return "its client_id is not the one in the settings";
	return has_scopes(oauth, rq->scope) ? NULL : other_scope;
}

static bool is_placeholder(const struct ab_vault_entry *e, const char *text)
{
	return text && e->placeholder && strcmp(e->placeholder, text) == 0;
}

/* `part` of a JWT: an object of JSON in base64. */
static bool read_part(const char *part, size_t len, struct ab_json_scan *ret)
{
	ab_autofree char *text = ab_alloc(len / 4 * 3 + 3);
	size_t n;

	return ab_base64_decode(part, len, text, &n) && ab_json_scan_parse(ret, text, n) == 0 &&
	       ret->len && ret->nodes[0].kind == '{';
}

static const char *check_claims(const struct ab_oauth *oauth, const struct ab_json_scan *claims,
				int64_t now)
{
	const char *aud = ab_json_scan_text(claims->nodes, "aud"),
		   *sub = ab_json_scan_text(claims->nodes, "sub");
	const char *iss = ab_json_scan_text(claims->nodes, "iss");
	const struct ab_json_scan_node *exp = ab_json_scan_find(&claims->nodes[0], "exp");

	if (!aud || strcmp(aud, oauth->url) != 0)
		return "its assertion is for another token URL";
	if (ab_json_scan_find(&claims->nodes[0], "sub") && (!sub || !iss || strcmp(sub, iss) != 0))
		return "it asks for a token of another user";
	if (ab_json_scan_find(&claims->nodes[0], "target_audience"))
		return "it asks for an ID token, which the host does not get";
	if (!exp || exp->kind != '0' || exp->integer < now - SKEW_S)
		return "its assertion has expired";
	if (!ab_json_scan_text(claims->nodes, "scope"))
		return "its assertion has no scope";
	return has_scopes(oauth, ab_json_scan_text(claims->nodes, "scope")) ? NULL : other_scope;
}

/* NULL; or why the assertion is not one of this key. */
static const char *check_assertion(const struct ab_vault_entry *e, const char *jwt, int64_t now)
{
	static const char malformed[] = "its assertion is malformed";
	const char *dot = strchr(jwt, '.'), *last = strrchr(jwt, '.');
	ab_autoscan struct ab_json_scan head = { 0 }, claims = { 0 };
	uint8_t signature[AB_RSA_SIGNATURE_MAX + 3];
	size_t len, digits;

	if (!dot || last == dot || memchr(dot + 1, '.', (size_t)(last - dot - 1)))
		return malformed;
	digits = strlen(last + 1);
	if (digits > AB_BASE64_ROOM(AB_RSA_SIGNATURE_MAX) ||
	    !ab_base64_decode(last + 1, digits, signature, &len) ||
	    !read_part(jwt, (size_t)(dot - jwt), &head) ||
	    !read_part(dot + 1, (size_t)(last - dot - 1), &claims))
		return malformed;
	if (!ab_json_scan_text(head.nodes, "alg") ||
	    strcmp(ab_json_scan_text(head.nodes, "alg"), "RS256") != 0 ||
	    !ab_rsa_verify(e->key, jwt, (size_t)(last - jwt), signature, len))
		return "its assertion is not signed with the key file in the box";
	return check_claims(e->secret->oauth, &claims, now);
}

/* The grants of the settings, and what a client sends for each. */
static const struct grant {
	const char *type;
	enum ab_oauth_grant grant;
	const char *none; /* why no secret matches */
} grants[] = {
	{ "refresh_token", AB_OAUTH_REFRESH,
	  "its refresh_token is not the placeholder of a secret with this token URL" },
	{ "client_credentials", AB_OAUTH_CLIENT,
	  "its client_secret is not the placeholder of a secret with this token URL" },
	{ "urn:ietf:params:oauth:grant-type:jwt-bearer", AB_OAUTH_ACCOUNT,
	  "no service account has this token URL" },
};

/* Does the request have the placeholder of this entry, which is part 1? If so, *ret_why is NULL or
 * what else is wrong. */
static bool has_credential(const struct ab_vault_entry *e, const struct ab_token_request *rq,
			   int64_t now, const char **ret_why)
{
	const struct ab_oauth *oauth = e->secret->oauth;

	switch (oauth->grant) {
	case AB_OAUTH_REFRESH:
		*ret_why = check_client(oauth, rq);
		return is_placeholder(e, rq->refresh_token);
	case AB_OAUTH_CLIENT:
		*ret_why = check_client(oauth, rq);
		return is_placeholder(e, rq->client_secret);
	case AB_OAUTH_ACCOUNT:
		if (!e->key)
			return false;
		*ret_why = rq->assertion ? check_assertion(e, rq->assertion, now)
					 : "it has no assertion";
		return true;
	case AB_OAUTH_GRANTS:
		break;
	}
	return false;
}

int ab_token_find(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		  const char *path, const struct ab_token_request *rq, int64_t now,
		  const char **ret_why)
{
	const struct grant *grant =
		rq->grant_type ? ab_find_row(grants, AB_COUNT(grants), type, rq->grant_type) : NULL;

	*ret_why = grant ? grant->none
			 : "its grant_type is not one that the host exchanges; log in "
			   "outside of the box";
	for (size_t i = 0; grant && i < ab_vault_len(vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(vault, i);
		const char *why = NULL;

		if (!e->secret->part || !is_at(e->secret->oauth, host, port, path) ||
		    e->secret->oauth->grant != grant->grant || !has_credential(e, rq, now, &why))
			continue;
		if (!why)
			return (int)i - 1;
		*ret_why = why;
	}
	return -1;
}

void ab_token_answer(struct ab_buf *out, const struct ab_vault *vault, size_t i)
{
	const struct ab_vault_entry *access = ab_vault_at(vault, i),
				    *own = ab_vault_at(vault, i + 1);
	const struct ab_oauth *oauth = access->secret->oauth;
	ab_autobuf struct ab_buf body = { 0 }, scope = { 0 };

	ab_buf_jsonf(&body, "{'access_token':%s,'token_type':'Bearer','expires_in':%d",
		     access->placeholder, EXPIRES_S);
	if (oauth->grant == AB_OAUTH_REFRESH && own->placeholder)
		ab_buf_jsonf(&body, ",'refresh_token':%s", own->placeholder);
	for (size_t k = 0; k < oauth->scopes.len; k++)
		ab_buf_printf(&scope, "%s%s", k ? " " : "", oauth->scopes.v[k]);
	if (scope.len)
		ab_buf_jsonf(&body, ",'scope':%s", scope.data);
	ab_buf_puts(&body, "}");
	ab_buf_printf(out,
		      "HTTP/1.1 200 OK\r\n"
		      "Content-Type: application/json\r\n"
		      "Content-Length: %zu\r\n"
		      "Cache-Control: no-store\r\n"
		      "Connection: close\r\n"
		      "\r\n",
		      body.len);
	ab_buf_add(out, body.data, body.len);
}
