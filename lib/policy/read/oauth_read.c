#include "policy/read/oauth_read.h"

#include "policy/model/secrets_config.h"
#include "policy/read/source_read.h"
#include "policy/values/providers.h"

enum member { GRANT, URL, CLIENT, CLIENT_SECRET, SCOPES, BODY, LOGIN, MEMBERS };

static const char *const members[MEMBERS] = {
	[GRANT] = "grant",   [URL] = "url",   [CLIENT] = "client", [CLIENT_SECRET] = "clientSecret",
	[SCOPES] = "scopes", [BODY] = "body", [LOGIN] = "login",
};

static const char *const sources[AB_SOURCE_MEMBERS] = { AB_SOURCE_NAMES };

/* Printable, and short: these texts are sent. */
static bool is_printable(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			return false;
	return text[0] && strlen(text) <= AB_SECRET_TEXT;
}

static const struct ab_members_kind kind = {
	.names = members,
	.n = MEMBERS,
	.fits = is_printable,
	.fitting = "1 to 1024 printable ASCII characters",
};

static const struct ab_members_kind source_kind = {
	.names = sources,
	.n = AB_SOURCE_MEMBERS,
	.most = AB_SECRET_TEXT,
	.fitting = AB_SOURCE_FITTING,
};

static int take_scope(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		      struct ab_complaint *why)
{
	if (strchr(text, ' '))
		return ab_complaint_value(why, text, "has a blank", "list each scope by itself");
	return ab_list_add_once(ctx->arena, to, text);
}

static const struct ab_secret *read_client_secret(struct ab_members *m)
{
	const struct ab_json_scan_node *node = m->given[CLIENT_SECRET];
	struct ab_members in = { .r = m->r, .node = node, .kind = &source_kind };
	struct ab_secret *s = ab_arena_alloc(m->r->ctx->arena, sizeof(*s));

	if (node->kind != '{') {
		ab_members_wrong_type(m, CLIENT_SECRET, "an object",
				      "use { \"from\": \"env\", \"env\": \"NAME\" }");
		return NULL;
	}
	*s = (struct ab_secret){ 0 };
	ab_members_find(&in);
	ab_source_members_read(&in, NULL, true, s);
	m->bad |= in.bad;
	return s;
}

static void read_url(struct ab_members *m, struct ab_oauth *oauth, const struct ab_secret *s)
{
	const struct ab_token_endpoint *known =
		ab_token_endpoint_find(s->provider, oauth->grant == AB_OAUTH_ACCOUNT);
	const char *text = ab_members_text(m, URL);

	if (!m->given[URL] && !known) {
		ab_members_complain(m, URL, "is missing", "use the token URL of the service");
		return;
	}
	if (!m->given[URL]) {
		text = known->url;
		oauth->json = known->json;
	}
	if (text && ab_oauth_url(m->r->ctx->arena, oauth, text, &m->why) < 0)
		ab_members_refuse(m, URL);
}

/* The members that a kind of grant does not have, or needs. */
static void check_grant(struct ab_members *m, const struct ab_oauth *oauth)
{
	bool account = oauth->grant == AB_OAUTH_ACCOUNT;
	const enum member foreign[] = { CLIENT, CLIENT_SECRET, BODY, LOGIN };

	for (size_t i = 0; account && i < AB_COUNT(foreign); i++)
		if (m->given[foreign[i]])
			ab_members_complain(m, foreign[i], "does not belong to a service account",
					    "remove it");
	if (account && !oauth->scopes.len)
		ab_members_complain(
			m, SCOPES, "is missing",
			"use one like [\"https://www.googleapis.com/auth/devstorage.read_only\"]");
	if (oauth->grant == AB_OAUTH_CLIENT && m->given[CLIENT_SECRET])
		ab_members_complain(m, CLIENT_SECRET,
				    "is the secret itself with client_credentials",
				    "name its source beside \"oauth\"");
	if ((oauth->grant == AB_OAUTH_CLIENT || oauth->client_secret) && !oauth->client)
		ab_members_complain(m, CLIENT, "is missing", "use the client id");
	if (oauth->basic && oauth->grant == AB_OAUTH_REFRESH && !oauth->client_secret)
		ab_members_complain(m, LOGIN, "needs a client secret", "use \"body\"");
}

const struct ab_oauth *ab_oauth_read(struct ab_reader *r, const struct ab_json_scan_node *node,
				     const struct ab_secret *s)
{
	static const char *const bodies[] = { "form", "json" }, *const logins[] = { "body",
										    "basic" };
	struct ab_members m = { .r = r, .node = node, .kind = &kind };
	struct ab_oauth *oauth = ab_arena_alloc(r->ctx->arena, sizeof(*oauth));

	*oauth = (struct ab_oauth){ 0 };
	if (node->kind != '{') {
		ab_reader_wrong_type(r, node, "an object",
				     "use { \"url\": \"https://auth.example.com/token\", ... }");
		return NULL;
	}
	ab_members_find(&m);
	oauth->grant = ab_members_word(&m, GRANT, ab_oauth_grants, AB_OAUTH_GRANTS,
				       "use refresh_token, client_credentials or service_account");
	read_url(&m, oauth, s);
	oauth->client = ab_members_text(&m, CLIENT);
	if (m.given[CLIENT_SECRET])
		oauth->client_secret = read_client_secret(&m);
	ab_members_strings(&m, SCOPES, AB_SECRET_LIST, take_scope, &oauth->scopes,
			   "use one like [\"read\"]");
	if (m.given[BODY])
		oauth->json =
			ab_members_word(&m, BODY, bodies, AB_COUNT(bodies), "use form or json");
	oauth->basic = ab_members_word(&m, LOGIN, logins, AB_COUNT(logins), "use body or basic");
	if (!m.bad)
		check_grant(&m, oauth);
	return m.bad ? NULL : oauth;
}
