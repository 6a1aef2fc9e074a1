/* Requests of the box for tokens: which are answered, with what, and which are not, and why. */
#include "proxy/sign/token_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/text/base64.h"
#include "proxy/io/tls_rsa.h"
#include "proxy/secrets/vault.h"
#include "tap.h"

enum { NOW = 1700000000 };

static char read_scope[] = "read", list_scope[] = "list", auth[] = "auth.test:443";
static char *scopes[] = { read_scope, list_scope }, *auth_hosts[] = { auth };

#define URL(p)                                                \
	.url = "https://auth.test" p, .port = 443, .path = p, \
	.host = { .kind = AB_HOST_NAME, .text = "auth.test" }

static const struct ab_oauth refresh = { .grant = AB_OAUTH_REFRESH, URL("/token"), .client = "c1" };
static const struct ab_oauth client = {
	.grant = AB_OAUTH_CLIENT, URL("/token"), .client = "c2", .scopes = { .v = scopes, .len = 2 }
};
static const struct ab_oauth account = { .grant = AB_OAUTH_ACCOUNT,
					 URL("/token"),
					 .scopes = { .v = scopes, .len = 2 } };

#define TWO(n, o)                                                                         \
	{ .name = n, .oauth = &(o), .life = AB_LIFE_RUN },                                \
	{                                                                                 \
		.name = n "_1", .oauth = &(o), .part = 1, .life = AB_LIFE_RUN, .hosts = { \
			.v = auth_hosts,                                                  \
			.len = 1                                                          \
		}                                                                         \
	}
static const struct ab_secret secrets[] = { TWO("R", refresh), TWO("C", client),
					    TWO("A", account) };

static struct ab_vault *vault;
static struct ab_rsa *other;

static void fill_vault(void)
{
	static const struct ab_secrets all = { .v = secrets, .len = AB_COUNT(secrets) };
	static const char value[] = "RealValue-0123456789";
	struct ab_error err;
	struct ab_rsa *key;

	if (ab_vault_new(&all, NULL, &vault, &err) < 0 || ab_rsa_new(&key, &err) < 0 ||
	    ab_rsa_new(&other, &err) < 0)
		abort();
	for (size_t i = 0; i < AB_COUNT(secrets); i += 2)
		if (ab_vault_reserve(vault, i, &err) < 0)
			abort();
	if (ab_vault_set(vault, 1, value, strlen(value), &err) < 0 ||
	    ab_vault_set(vault, 3, value, strlen(value), &err) < 0 ||
	    ab_vault_reserve(vault, 5, &err) < 0)
		abort();
	ab_vault_keep_key(vault, 5, key);
}

/* In the order of the numbers in the texts: %R and %C are placeholders. */
static const struct {
	const char *name, *type, *login, *body;
	int secret;	 /* -1: */
	const char *why; /* a part of it */
} cases[] = {
	{ "a refresh token", "f", NULL, "grant_type=refresh_token&refresh_token=%R", 0, NULL },
	{ "with a client", "f", NULL, "grant_type=refresh_token&refresh_token=%R&client_id=c1&", 0,
	  NULL },
	{ "in JSON", "j", NULL,
	  "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"%R\",\"x\":1}", 0, NULL },
	{ "escaped", "f", NULL, "grant%5ftype=refresh_token&refresh_token=%R&scope=a+b%20c", 0,
	  NULL },
	{ "a client secret", "f", NULL,
	  "grant_type=client_credentials&client_id=c2&client_secret=%C", 2, NULL },
	{ "with a scope", "f", NULL,
	  "grant_type=client_credentials&client_secret=%C&scope=list+read", 2, NULL },
	{ "in Authorization", "f", "c2:%C", "grant_type=client_credentials&client_id=c2", 2, NULL },
	{ "another scope", "f", NULL, "grant_type=client_credentials&client_secret=%C&scope=write",
	  -1, "scope" },
	{ "another client", "f", NULL, "grant_type=refresh_token&refresh_token=%R&client_id=c2", -1,
	  "client_id" },
	{ "another client in Authorization", "f", "c1:%C",
	  "grant_type=client_credentials&client_id=c2", -1, "twice" },
	{ "another token", "f", NULL, "grant_type=refresh_token&refresh_token=x", -1,
	  "not the placeholder" },
	{ "a longer one", "f", NULL, "grant_type=refresh_token&refresh_token=%Rx", -1,
	  "not the placeholder" },
	{ "that of another grant", "f", NULL, "grant_type=refresh_token&refresh_token=%C", -1,
	  "not the placeholder" },
	{ "none", "f", NULL, "grant_type=refresh_token", -1, "not the placeholder" },
	{ "a code", "f", NULL, "grant_type=authorization_code&code=x", -1, "outside of the box" },
	{ "no grant", "f", NULL, "refresh_token=%R", -1, "grant_type" },
	{ "twice", "f", NULL, "grant_type=refresh_token&refresh_token=x&refresh_token=%R", -1,
	  "twice" },
	{ "twice in JSON", "j", NULL, "{\"grant_type\":\"refresh_token\",\"grant_type\":\"x\"}", -1,
	  "JSON" },
	{ "a broken form", "f", NULL, "grant_type", -1, "malformed" },
	{ "a broken escape", "f", NULL, "grant_type=%zz", -1, "malformed" },
	{ "a NUL", "f", NULL, "grant_type=refresh_token%00", -1, "malformed" },
	{ "not JSON", "j", NULL, "grant_type=refresh_token", -1, "JSON" },
	{ "a list", "j", NULL, "[]", -1, "JSON" },
	{ "another type", "text/plain", NULL, "grant_type=refresh_token&refresh_token=%R", -1,
	  "Content-Type" },
	{ "a broken login", "f", "", "grant_type=client_credentials", -1, "Authorization" },
	{ "an assertion of none", "f", NULL,
	  "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", -1, "no assertion" },
	{ "a short assertion", "f", NULL,
	  "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b", -1, "malformed" },
};

static void put_text(struct ab_buf *b, const char *text)
{
	for (; *text; text++)
		if (text[0] == '%' && (text[1] == 'R' || text[1] == 'C'))
			ab_buf_puts(b, ab_vault_at(vault, *++text == 'R' ? 1 : 3)->placeholder);
		else
			ab_buf_add(b, text, 1);
}

static int judge(const char *type, const char *login, const char *body, size_t len,
		 const char **why)
{
	static const struct ab_host host = { .kind = AB_HOST_NAME, .text = "auth.test" };
	ab_autobuf struct ab_buf pair = { 0 }, field = { 0 };
	char digits[512];
	struct ab_http_head head = { 0 };
	struct ab_token_request rq;
	int secret = -1;

	type = strcmp(type, "f") == 0	? "application/x-www-form-urlencoded; charset=utf-8"
	       : strcmp(type, "j") == 0 ? "application/json"
					: type;
	head.fields[head.nfields++] = (struct ab_http_field){ .name = { "Content-Type", 12 },
							      .value = { type, strlen(type) } };
	if (login) {
		put_text(&pair, login);
		ab_buf_puts(&field, "Basic ");
		ab_buf_add(&field, digits,
			   ab_base64_encode(pair.len ? pair.data : "", pair.len, AB_BASE64_STANDARD,
					    digits));
		head.fields[head.nfields++] =
			(struct ab_http_field){ .name = { "authorization", 13 },
						.value = { field.data, field.len } };
	}
	*why = ab_token_request_read(&head, body, len, &rq);
	if (*why)
		return -1;
	secret = ab_token_find(vault, &host, 443, "/token", &rq, NOW, why);
	ab_token_request_fini(&rq);
	return secret;
}

static void put_part(struct ab_buf *b, const void *data, size_t len)
{
	char digits[2048];
	size_t n = ab_base64_encode(data, len, AB_BASE64_URL, digits);

	while (n && digits[n - 1] == '=')
		n--;
	ab_buf_add(b, digits, n);
}

static const struct {
	const char *name, *head, *claims;
	bool other;	 /* key */
	const char *why; /* NULL: it is answered */
} assertions[] = {
#define HEAD "{\"alg\":\"RS256\",\"typ\":\"JWT\"}"
#define CLAIMS \
	"\"iss\":\"a@b\",\"aud\":\"https://auth.test/token\",\"exp\":1700003600,\"iat\":1700000000"
	{ "an assertion", HEAD, "{" CLAIMS ",\"scope\":\"read\"}", false, NULL },
	{ "of itself", HEAD, "{" CLAIMS ",\"scope\":\"read list\",\"sub\":\"a@b\"}", false, NULL },
	{ "of another key", HEAD, "{" CLAIMS ",\"scope\":\"read\"}", true, "not signed" },
	{ "of no algorithm", "{\"alg\":\"none\"}", "{" CLAIMS ",\"scope\":\"read\"}", false,
	  "not signed" },
	{ "for another user", HEAD, "{" CLAIMS ",\"scope\":\"read\",\"sub\":\"x@y\"}", false,
	  "another user" },
	{ "for a user of another kind", HEAD, "{" CLAIMS ",\"scope\":\"read\",\"sub\":1}", false,
	  "another user" },
	{ "for more", HEAD, "{" CLAIMS ",\"scope\":\"read write\"}", false, "scope" },
	{ "without a scope", HEAD, "{" CLAIMS "}", false, "no scope" },
	{ "for an ID token", HEAD, "{" CLAIMS ",\"target_audience\":\"x\"}", false, "ID token" },
	{ "for another URL", HEAD,
	  "{\"aud\":\"https://auth.test/x\",\"exp\":1700003600,\"scope\":\"read\"}", false,
	  "another token URL" },
	{ "an old one", HEAD,
	  "{\"aud\":\"https://auth.test/token\",\"exp\":1699990000,\"scope\":\"read\"}", false,
	  "expired" },
	{ "one without an end", HEAD, "{\"aud\":\"https://auth.test/token\",\"scope\":\"read\"}",
	  false, "expired" },
	{ "no JSON", HEAD, "x", false, "malformed" },
};

static void check_assertion(size_t i)
{
	static const char form[] =
		"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
		"&assertion=";
	ab_autobuf struct ab_buf jwt = { 0 }, body = { 0 };
	const struct ab_rsa *key = assertions[i].other ? other : ab_vault_at(vault, 5)->key;
	uint8_t signature[AB_RSA_SIGNATURE_MAX];
	const char *why;
	int secret;

	put_part(&jwt, assertions[i].head, strlen(assertions[i].head));
	ab_buf_puts(&jwt, ".");
	put_part(&jwt, assertions[i].claims, strlen(assertions[i].claims));
	put_part((ab_buf_puts(&body, form), ab_buf_add(&body, jwt.data, jwt.len),
		  ab_buf_puts(&body, "."), &body),
		 signature, ab_rsa_sign(key, jwt.data, jwt.len, signature));
	secret = judge("f", NULL, body.data, body.len, &why);
	ok(assertions[i].why ? secret < 0 && strstr(why, assertions[i].why) : secret == 4, "%s: %s",
	   assertions[i].name, secret < 0 ? why : "answered");
}

static void check_answer(size_t i, const char *has, bool again)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_token_answer(&b, vault, i);
	ok(strstr(b.data, ab_vault_at(vault, i)->placeholder) && strstr(b.data, has) &&
		   !strstr(b.data, "RealValue"),
	   "the answer has placeholders");
	ok(!strstr(b.data, "\"refresh_token\"") == !again,
	   "and a refresh token only if it was one");
}

int main(void)
{
	static const struct ab_host host = { .kind = AB_HOST_NAME, .text = "auth.test" };
	const char *why;

	fill_vault();
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autobuf struct ab_buf body = { 0 };
		int secret;

		put_text(&body, cases[i].body);
		secret = judge(cases[i].type, cases[i].login, body.data, body.len, &why);
		ok(secret == cases[i].secret && (secret >= 0 || strstr(why, cases[i].why)),
		   "%s: %s", cases[i].name, secret < 0 ? why : "answered");
	}
	for (size_t i = 0; i < AB_COUNT(assertions); i++)
		check_assertion(i);
	ok(ab_token_path(vault, &host, 443, "/token") == AB_TOKEN_URL, "the token URL");
	ok(ab_token_path(vault, &host, 443, "/token/") == AB_TOKEN_LIKE_URL, "another spelling");
	ok(ab_token_path(vault, &host, 443, "/tokens") == AB_TOKEN_OTHER, "another path");
	ok(ab_token_path(vault, &host, 8443, "/token") == AB_TOKEN_OTHER, "another port");
	ok(ab_token_has_url(vault, &host, 443) && !ab_token_has_url(vault, &host, 8443),
	   "a host with a token URL");
	check_answer(0, "expires_in", true);
	check_answer(2, "\"scope\":\"read list\"", false);
	ab_rsa_free(other);
	ab_vault_free(vault);
	return done();
}
