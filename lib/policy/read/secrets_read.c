#include "base/text/units.h"
#include "policy/model/list_element.h"
#include "policy/model/secrets_config.h"
#include "policy/read/oauth_read.h"
#include "policy/read/source_read.h"
#include "policy/values/complaint.h"

#define EXPIRES_MIN_MS 10000ULL
#define EXPIRES_MAX_MS (366ULL * 24 * 3600 * 1000)

enum member {
	FROM = AB_SOURCE_FROM,
	ENV = AB_SOURCE_ENV,
	KEY = AB_SOURCE_KEY,
	HOSTS = AB_SOURCE_MEMBERS,
	AS,
	ALSO,
	MODE,
	FORMAT,
	REQUIRE,
	PLACEHOLDER,
	VIA,
	NAMES,
	FILES,
	TRIPWIRE,
	EXPIRES,
	SIGN,
	PROFILE,
	SERVICES,
	REGIONS,
	OAUTH,
	MEMBERS,
};

static const char *const members[MEMBERS] = {
	AB_SOURCE_NAMES,       [HOSTS] = "hosts",
	[AS] = "as",	       [ALSO] = "also",
	[MODE] = "mode",       [FORMAT] = "format",
	[REQUIRE] = "require", [PLACEHOLDER] = "placeholder",
	[VIA] = "via",	       [NAMES] = "names",
	[FILES] = "files",     [TRIPWIRE] = "onTripwire",
	[EXPIRES] = "expires", [SIGN] = "sign",
	[PROFILE] = "profile", [SERVICES] = "services",
	[REGIONS] = "regions", [OAUTH] = "oauth",
};

/* Further members that belong to one kind of source. */
static const struct {
	enum member member;
	enum ab_secret_from from;
	const char *right;
} sources[] = {
	{ PROFILE, AB_FROM_FILE, "use \"from\": \"file\"" },
	{ EXPIRES, AB_FROM_COMMAND, "use \"from\": \"command\"" },
};

/* The members that only a value that is sent, or only a key that signs, has. */
static const struct {
	enum member member;
	bool sign;
} kinds[] = {
	{ ENV, false },	   { KEY, false },     { AS, false },	  { ALSO, false },
	{ MODE, false },   { FORMAT, false },  { VIA, false },	  { NAMES, false },
	{ PROFILE, true }, { SERVICES, true }, { REGIONS, true }, { OAUTH, false },
};

/* The members that a secret with access tokens does not have. */
static const enum member not_oauth[] = { ALSO, EXPIRES };

static const struct ab_members_kind kind = {
	.names = members,
	.n = MEMBERS,
	.most = AB_SECRET_TEXT,
	.fitting = AB_SOURCE_FITTING,
};

static int take_host(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		     struct ab_complaint *why)
{
	return ab_secret_host(ctx->arena, to, text, strlen(text), why);
}

static int take_carrier(const struct ab_context *ctx, struct ab_strv *to, const char *text,
			struct ab_complaint *why)
{
	struct ab_carrier carrier;

	return ab_carrier_parse(text, &carrier, why) < 0 ? -1 : ab_list_add(ctx->arena, to, text);
}

static int take_place(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		      struct ab_complaint *why)
{
	if (strcmp(text, "path") != 0 && strcmp(text, "body") != 0)
		return ab_why_invalid(why, text, "use path or body");
	return ab_list_add_once(ctx->arena, to, text);
}

static int take_name(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		     struct ab_complaint *why)
{
	if (ab_variable_check(text, strlen(text), true, why) < 0)
		return -1;
	return ab_list_add_once(ctx->arena, to, text);
}

static int take_file(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		     struct ab_complaint *why)
{
	const char *path = ab_list_element_path(ctx, text, why);

	return path ? ab_list_add_once(ctx->arena, to, path) : -1;
}

/* The name of a service or region. */
static int take_scope(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		      struct ab_complaint *why)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t n = strlen(text);

	if (strcmp(text, "*") != 0 && (!n || n > 60 || strspn(text, letters) < n))
		return ab_why_invalid(why, text, "use a name like s3 or eu-west-1, or *");
	return ab_list_add_once(ctx->arena, to, text);
}

static void read_sign(struct ab_members *m, struct ab_secret *s)
{
	static const char *const words[] = { "aws-sigv4" };

	if (m->given[SIGN]) {
		(void)ab_members_word(m, SIGN, words, AB_COUNT(words), "use aws-sigv4");
		ab_secret_signs(m->r->ctx->arena, s);
	}
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (m->given[kinds[i].member] && kinds[i].sign != s->sign)
			ab_members_complain(m, kinds[i].member,
					    s->sign ? "does not belong to a key that signs"
						    : "belongs to a key that signs",
					    s->sign ? "remove it" : "use \"sign\": \"aws-sigv4\"");
	ab_members_strings(m, SERVICES, AB_SECRET_LIST, take_scope, &s->services,
			   "use one like [\"s3\"], or [\"*\"]");
	ab_members_strings(m, REGIONS, AB_SECRET_LIST, take_scope, &s->regions,
			   "use one like [\"eu-west-1\"]");
	if (s->sign && !m->given[SERVICES])
		ab_members_complain(m, SERVICES, "is missing", "use one like [\"s3\"], or [\"*\"]");
	s->profile = ab_members_text(m, PROFILE);
}

static void read_oauth(struct ab_members *m, struct ab_secret *s)
{
	if (!m->given[OAUTH] || s->sign)
		return;
	s->oauth = ab_oauth_read(m->r, m->given[OAUTH], s);
	m->bad |= !s->oauth;
	for (size_t i = 0; i < AB_COUNT(not_oauth); i++)
		if (m->given[not_oauth[i]])
			ab_members_complain(m, not_oauth[i],
					    "does not belong to a secret with oauth", "remove it");
}

/* The key of a service account is a whole file, and the box gets another one in its place. */
static void check_account(struct ab_members *m, const struct ab_secret *s)
{
	if (!s->oauth || s->oauth->grant != AB_OAUTH_ACCOUNT)
		return;
	if (s->from != AB_FROM_FILE)
		ab_members_complain(m, FROM, "must be file for a service account",
				    "use \"from\": \"file\", \"file\": \"~/key.json\"");
	if (m->given[KEY])
		ab_members_complain(m, KEY, "does not belong to a service account", "remove it");
	if (m->given[FILES])
		ab_members_complain(m, FILES, "does not belong to a service account", "remove it");
}

static void read_expires(struct ab_members *m, struct ab_secret *s)
{
	const char *text = ab_members_text(m, EXPIRES);
	uint64_t ms;

	if (!text)
		return;
	if (ab_parse_duration(text, &ms) < 0 || ms < EXPIRES_MIN_MS || ms > EXPIRES_MAX_MS)
		ab_members_complain(m, EXPIRES, "is not a duration between ten seconds and a year",
				    "use one like \"50m\"");
	else
		s->expires_ms = ms;
}

static void read_source(struct ab_members *m, struct ab_secret *s)
{
	ab_source_members_read(m, s->sign ? "~/.aws/credentials" : NULL, false, s);
	for (size_t i = 0; i < AB_COUNT(sources); i++)
		if (m->given[sources[i].member] && sources[i].from != s->from)
			ab_members_complain(m, sources[i].member,
					    "does not belong to this kind of source",
					    sources[i].right);
	read_expires(m, s);
}

static void read_hosts(struct ab_members *m, struct ab_secret *s)
{
	static const char right[] = "use one like [\"api.example.com\"]";

	ab_members_strings(m, HOSTS, AB_SECRET_LIST, take_host, &s->hosts, right);
	if (m->given[HOSTS])
		return;
	if (s->sign) {
		if (!m->bad && ab_secret_endpoints(m->r->ctx->arena, s, &m->why) < 0)
			ab_members_refuse(m, HOSTS);
		return;
	}
	ab_secret_known_hosts(m->r->ctx->arena, s);
	if (s->hosts.len == 0)
		ab_members_complain(m, HOSTS,
				    "is missing, and this name is not a known service key", right);
}

/* "any", one carrier, or a list of them. */
static void read_carriers(struct ab_members *m, struct ab_secret *s)
{
	const struct ab_json_scan_node *given = m->given[AS];
	struct ab_strv texts = { 0 };
	struct ab_carrier *v;

	if (!given)
		return;
	if (!given->text)
		ab_members_strings(m, AS, AB_SECRET_LIST, take_carrier, &texts,
				   "use one like \"bearer\" or [\"bearer\", \"header:x-api-key\"]");
	else if (strcmp(given->text, "any") != 0 &&
		 take_carrier(m->r->ctx, &texts, given->text, &m->why) < 0)
		ab_members_refuse(m, AS);
	s->carriers = v = ab_arena_alloc(m->r->ctx->arena, (texts.len + 1) * sizeof(*v));
	s->ncarriers = texts.len;
	for (size_t i = 0; i < texts.len; i++)
		ab_carrier_parse(texts.v[i], &v[i], NULL);
}

static void check_format(struct ab_members *m, struct ab_secret *s)
{
	const char *format = s->format;
	const char *hole = format ? strstr(format, "{}") : NULL;

	if (!format)
		return;
	for (const char *p = format; *p; p++)
		if (*p & 0x80)
			hole = NULL;
	if (!hole || strstr(hole + 2, "{}"))
		ab_members_complain(m, FORMAT, "must contain {} once, where the value goes",
				    "use one like \"Bearer {}\"");
	else if (!s->inject)
		ab_members_complain(m, FORMAT, "needs mode inject", "use \"mode\": \"inject\"");
}

static void read_mode(struct ab_members *m, struct ab_secret *s)
{
	static const char *const words[] = { "swap", "inject" };

	s->inject = ab_members_word(m, MODE, words, AB_COUNT(words), "use swap or inject");
	s->format = ab_members_text(m, FORMAT);
	s->require = ab_members_flag(m, REQUIRE);
	if (s->inject && s->ncarriers == 0 && !m->bad)
		ab_members_complain(m, MODE, "needs to know where to inject the value",
				    "use \"as\": \"bearer\", or another carrier");
	if (s->inject && s->require)
		ab_members_complain(m, REQUIRE, "cannot be combined with mode inject",
				    "use \"mode\": \"swap\"");
	check_format(m, s);
}

static void read_rest(struct ab_members *m, struct ab_secret *s)
{
	static const char *const ways[] = { "tls", "gateway", "both" };
	static const char *const ends[] = { "refuse", "stop" };
	struct ab_strv places = { 0 };

	s->life = ab_members_word(m, PLACEHOLDER, ab_secret_lives, AB_LIFE_COUNT,
				  "use workspace, run or stable");
	s->via = ab_members_word(m, VIA, ways, AB_COUNT(ways), "use tls, gateway or both");
	s->stop = ab_members_word(m, TRIPWIRE, ends, AB_COUNT(ends), "use refuse or stop");
	if (s->via != AB_VIA_TLS && (!s->provider || !s->provider->base_variable[0]))
		ab_members_complain(m, VIA,
				    "needs a known variable for the base URL, and there is none",
				    "use tls");
	ab_members_strings(m, ALSO, AB_SECRET_LIST, take_place, &places, "use one like [\"body\"]");
	s->in_path = ab_strv_has(&places, "path");
	s->in_body = ab_strv_has(&places, "body");
	ab_members_strings(m, NAMES, AB_SECRET_LIST, take_name, &s->names,
			   "use one like [\"OTHER_NAME\"]");
	ab_members_strings(m, FILES, AB_SECRET_LIST, take_file, &s->files,
			   "use one like [\"~/.netrc\"]");
}

static void read_secret(struct ab_members *m)
{
	struct ab_arena *a = m->r->ctx->arena;
	struct ab_secret s = ab_secret_new(a, m->node->key);

	read_sign(m, &s);
	read_oauth(m, &s);
	read_source(m, &s);
	check_account(m, &s);
	read_hosts(m, &s);
	read_carriers(m, &s);
	read_mode(m, &s);
	read_rest(m, &s);
	if (!m->bad)
		ab_value_add(a, &m->r->config->v[AB_KEY_SECRETS],
			     ab_secret_item(a, s, ab_reader_origin(m->r, m->node)));
}

static int check_name(const char *name, struct ab_complaint *why)
{
	return ab_variable_check(name, strlen(name), true, why);
}

const struct ab_members_list ab_secrets_members = {
	.kind = &kind,
	.key = AB_KEY_SECRETS,
	.example = "{ \"hosts\": [\"api.example.com\"] }",
	.object = "{ \"NAME\": { \"hosts\": [\"api.example.com\"] } }",
	.check_name = check_name,
	.read = read_secret,
};
