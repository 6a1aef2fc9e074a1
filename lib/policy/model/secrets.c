#include "policy/model/secrets.h"

#include "base/text/guess.h"
#include "base/text/units.h"
#include "policy/model/secrets_config.h"
#include "policy/values/complaint.h"

/* How each kind is written. A name follows a colon; `more` may be in it. */
static const struct {
	const char *text, *more, *wrong, *right;
} carriers[] = {
	[AB_CARRY_BEARER] = { "bearer" },
	[AB_CARRY_TOKEN] = { "token" },
	[AB_CARRY_BASIC] = { "basic" },
	[AB_CARRY_HEADER] = { "header:", "-", "does not name a header",
			      "use one like \"header:x-api-key\"" },
	[AB_CARRY_QUERY] = { "query:", "-.~", "does not name a parameter",
			     "use one like \"query:key\"" },
};

void ab_carrier_format(const struct ab_carrier *c, char ret[AB_CARRIER_TEXT])
{
	snprintf(ret, AB_CARRIER_TEXT, "%s%s", carriers[c->kind].text, c->name);
}

/* Sorted. Fields that belong to one connection, or that say where a message
 * goes and where it ends: a secret must not be able to change that. */
static const char *const never[] = {
	"accept-encoding",
	"connection",
	"content-encoding",
	"content-length",
	"expect",
	"host",
	"keep-alive",
	"proxy-authenticate",
	"proxy-authorization",
	"proxy-connection",
	"te",
	"trailer",
	"transfer-encoding",
	"upgrade",
	"via",
};

static int take_name(const char *text, struct ab_carrier *c, struct ab_complaint *why)
{
	const char *name = strchr(text, ':') + 1;
	bool header = c->kind == AB_CARRY_HEADER;
	size_t len = strlen(name);

	if (len >= sizeof(c->name) || !ab_is_variable(name, len, carriers[c->kind].more))
		return ab_complaint_value(why, text, carriers[c->kind].wrong, "%s",
					  carriers[c->kind].right);
	for (size_t i = 0; i < len; i++)
		c->name[i] = header ? (char)ab_lower(name[i]) : name[i];
	if (header && ab_has_word(never, AB_COUNT(never), c->name))
		return ab_complaint_value(why, text, "is a connection header",
					  "a secret cannot be sent in it");
	return 0;
}

int ab_carrier_parse(const char *text, struct ab_carrier *ret, struct ab_complaint *why)
{
	for (size_t i = 0; i < AB_COUNT(carriers); i++) {
		struct ab_carrier c = { .kind = (enum ab_carrier_kind)i };
		bool named = carriers[i].more != NULL;

		if (strncmp(carriers[i].text, text, strlen(carriers[i].text) + !named) != 0)
			continue;
		if (named && take_name(text, &c, why) < 0)
			return -1;
		*ret = c;
		return 0;
	}
	return ab_why_invalid(why, text,
			      "use bearer, token, basic, header:NAME, query:NAME or any");
}

int ab_secret_host(struct ab_arena *a, struct ab_strv *hosts, const char *s, size_t len,
		   struct ab_complaint *why)
{
	ab_autofree char *text = ab_strndup(s, len);
	char buf[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;

	if (s[0] == '@')
		return ab_complaint_value(why, text, "is a group of hosts",
					  "list each host that may receive the value");
	if (ab_host_entry_parse(text, len, &e, why) < 0)
		return -1;
	if (e.host.kind != AB_HOST_NAME)
		return ab_complaint_value(why, text, "is an address",
					  "use the name in the server's certificate");
	if (e.below && !strchr(e.host.text, '.'))
		return ab_complaint_value(why, text, "is too wide", "use one like *.example.com");
	if (!e.port)
		e.port = 443;
	ab_host_entry_format(&e, buf);
	return ab_list_add_once(a, hosts, buf);
}

struct ab_secret ab_secret_new(struct ab_arena *a, const char *name)
{
	struct ab_secret s = {
		.name = ab_arena_dup(a, name),
		.provider = ab_provider_find(name),
	};

	s.env = s.name;
	ab_list_add(a, &s.names, name);
	if (!s.provider)
		return s;
	s.carriers = s.provider->carriers;
	s.ncarriers = s.provider->ncarriers;
	return s;
}

void ab_secret_known_hosts(struct ab_arena *a, struct ab_secret *s)
{
	for (size_t i = 0; s->provider && i < AB_PROVIDER_HOSTS; i++)
		if (s->provider->hosts[i][0])
			ab_secret_host(a, &s->hosts, s->provider->hosts[i],
				       strlen(s->provider->hosts[i]), NULL);
}

const char *const ab_secret_lives[AB_LIFE_COUNT] = {
	[AB_LIFE_WORKSPACE] = "workspace",
	[AB_LIFE_RUN] = "run",
	[AB_LIFE_STABLE] = "stable",
};

const char *const ab_secret_part_names[AB_PARTS] = {
	[AB_PART_ID] = "AWS_ACCESS_KEY_ID",
	[AB_PART_KEY] = "AWS_SECRET_ACCESS_KEY",
	[AB_PART_TOKEN] = "AWS_SESSION_TOKEN",
};

const char *const ab_oauth_grants[AB_OAUTH_GRANTS] = {
	[AB_OAUTH_REFRESH] = "refresh_token",
	[AB_OAUTH_CLIENT] = "client_credentials",
	[AB_OAUTH_ACCOUNT] = "service_account",
};

/* What the variable of part 1 is called, after the secret's name. */
static const char *const oauth_suffixes[AB_OAUTH_GRANTS] = {
	[AB_OAUTH_REFRESH] = "_REFRESH_TOKEN",
	[AB_OAUTH_CLIENT] = "_CLIENT_SECRET",
	[AB_OAUTH_ACCOUNT] = "_KEY_ID",
};

bool ab_secrets_export(const struct ab_secrets *secrets, const char *variable)
{
	for (size_t i = 0; i < secrets->len; i++)
		if (ab_strv_has(&secrets->v[i].names, variable))
			return true;
	return false;
}

size_t ab_secret_parts(const struct ab_secret *secret)
{
	return secret->sign ? AB_PARTS : secret->oauth ? 2 : 1;
}

int ab_oauth_url(struct ab_arena *a, struct ab_oauth *oauth, const char *text,
		 struct ab_complaint *why)
{
	static const char scheme[] = "https://",
			  right[] = "use one like https://auth.example.com/token";
	const char *rest = text + sizeof(scheme) - 1;
	struct ab_host_entry e;
	size_t n;

	if (strncmp(text, scheme, sizeof(scheme) - 1) != 0)
		return ab_complaint_value(why, text, "is not an https URL", right);
	n = strcspn(rest, "/");
	/* A path that no server and no client reads in another way. */
	if (!rest[n] || !ab_has_only(rest + n, strlen(rest + n), "-_.~/") ||
	    strstr(rest + n, "//") || strstr(rest + n, "/."))
		return ab_complaint_value(why, text, "does not have a plain path", right);
	if (ab_host_entry_parse(rest, n, &e, why) < 0)
		return -1;
	if (e.host.kind != AB_HOST_NAME || e.below)
		return ab_complaint_value(why, text, "does not name one host", right);
	oauth->host = e.host;
	oauth->port = e.port ? e.port : 443;
	oauth->path = ab_arena_dup(a, rest + n);
	oauth->url = ab_arena_dup(a, text);
	return 0;
}

/*
 * The regional endpoints of a service, and its global one, which belongs to
 * us-east-1. Buckets and the like are names below them.
 */
static int add_endpoints(struct ab_arena *a, struct ab_secret *s, const char *service,
			 const char *region, struct ab_complaint *why)
{
	ab_autofree char *regional = ab_printf("%s.%s.amazonaws.com", service, region);
	ab_autofree char *global = ab_printf("%s.amazonaws.com", service);
	bool has_global = strcmp(region, "us-east-1") == 0 || strcmp(region, "aws-global") == 0;
	const char *const names[] = { regional, has_global ? global : NULL };

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		ab_autofree char *below = names[i] ? ab_printf("*.%s", names[i]) : NULL;

		if (!names[i])
			continue;
		if (ab_secret_host(a, &s->hosts, names[i], strlen(names[i]), why) < 0 ||
		    ab_secret_host(a, &s->hosts, below, strlen(below), why) < 0)
			return -1;
	}
	return 0;
}

int ab_secret_endpoints(struct ab_arena *a, struct ab_secret *s, struct ab_complaint *why)
{
	if (!s->services.len || !s->regions.len || ab_strv_has(&s->services, "*") ||
	    ab_strv_has(&s->regions, "*"))
		return ab_complaint_say(why, "list hosts, or services and regions without \"*\"",
					"is missing");
	for (size_t i = 0; i < s->services.len; i++)
		for (size_t k = 0; k < s->regions.len; k++)
			if (add_endpoints(a, s, s->services.v[i], s->regions.v[k], why) < 0)
				return -1;
	if (s->hosts.len > AB_SECRET_LIST)
		return ab_complaint_say(why, "list the hosts that are needed",
					"would be more than %d endpoints", AB_SECRET_LIST);
	return 0;
}

void ab_secret_signs(struct ab_arena *a, struct ab_secret *s)
{
	s->sign = true;
	s->provider = NULL;
	s->carriers = NULL;
	s->ncarriers = 0;
	s->names = (struct ab_strv){ 0 };
	for (size_t i = 0; i < AB_PARTS; i++)
		ab_list_add(a, &s->names, ab_secret_part_names[i]);
	s->env = ab_secret_part_names[AB_PART_ID];
}

static void put_carriers(struct ab_buf *b, const struct ab_secret *s)
{
	ab_buf_jsonf(b, s->ncarriers ? ",'as':[" : ",'as':'any'");
	for (size_t i = 0; i < s->ncarriers; i++) {
		char text[AB_CARRIER_TEXT];

		ab_carrier_format(&s->carriers[i], text);
		ab_buf_jsonf(b, ",%s", text);
	}
	ab_buf_puts(b, s->ncarriers ? "]" : "");
}

static void put_source(struct ab_buf *b, const struct ab_secret *s);

static void put_oauth(struct ab_buf *b, const struct ab_oauth *o)
{
	if (!o)
		return;
	ab_buf_jsonf(b, ",'oauth':{'grant':%s?,'url':%s?,'client':%s", ab_oauth_grants[o->grant],
		     o->url, o->client);
	if (o->client_secret) {
		ab_buf_jsonf(b, ",'clientSecret':{");
		put_source(b, o->client_secret);
		ab_buf_puts(b, "}");
	}
	ab_buf_jsonf(b, "?,'scopes':%p?,'body':%s?,'login':%s}", ab_list(&o->scopes),
		     o->json ? "json" : NULL, o->basic ? "basic" : NULL);
}

static void put_source(struct ab_buf *b, const struct ab_secret *s)
{
	static const char *const from[] = {
		[AB_FROM_ENV] = "env", [AB_FROM_FILE] = "file", [AB_FROM_COMMAND] = "command"
	};

	ab_buf_jsonf(b, "'from':%s?,'sign':%s", from[s->from], s->sign ? "aws-sigv4" : NULL);
	put_oauth(b, s->oauth);
	ab_buf_jsonf(b, "?,'env':%s?,'file':%s?,'key':%s?,'profile':%s?,'command':%p",
		     s->from == AB_FROM_ENV && !s->sign ? s->env : NULL, s->file, s->key,
		     s->profile, ab_list(&s->command));
}

static const char *make_canonical(struct ab_arena *a, const struct ab_secret *s)
{
	static const char *const via[] = {
		[AB_VIA_TLS] = NULL, [AB_VIA_GATEWAY] = "gateway", [AB_VIA_BOTH] = "both"
	};
	char *places[] = { (char[]){ "path" }, (char[]){ "body" } };
	const struct ab_strv also = { places + !s->in_path, (size_t)s->in_path + s->in_body };
	size_t own = s->sign ? AB_PARTS : 1;
	const struct ab_strv more = { s->names.v + own, s->names.len - own };
	ab_autobuf struct ab_buf b = { 0 };
	char duration[48];

	ab_buf_printf(&b, "%s={", s->name);
	put_source(&b, s);
	ab_buf_jsonf(&b, "?,'expires':%s?,'services':%p?,'regions':%p?,'hosts':%p",
		     s->expires_ms ? ab_format_duration(s->expires_ms, duration) : NULL,
		     ab_list(&s->services), ab_list(&s->regions), ab_list(&s->hosts));
	if (!s->sign)
		put_carriers(&b, s);
	ab_buf_jsonf(
		&b,
		"?,'also':%p?,'mode':%s?,'format':%s?,'require':%-s?,'placeholder':%s?,'via':%s"
		"?,'names':%p?,'files':%p?,'onTripwire':%s}",
		ab_list(&also), s->inject ? "inject" : NULL, s->format, s->require ? "true" : NULL,
		s->life ? ab_secret_lives[s->life] : NULL, via[s->via], ab_list(&more),
		ab_list(&s->files), s->stop ? "stop" : NULL);
	return ab_arena_dup(a, b.data);
}

struct ab_item ab_secret_item(struct ab_arena *a, struct ab_secret secret,
			      const struct ab_origin *from)
{
	struct ab_secret *kept = ab_arena_alloc(a, sizeof(*kept));
	ab_autofree char *origin = ab_origin_text(from);

	*kept = secret;
	kept->origin = ab_arena_dup(a, origin);
	return (struct ab_item){ .text = make_canonical(a, kept), .from = from, .secret = kept };
}

static struct ab_item *find_secret(const struct ab_value *v, const char *name)
{
	return ab_find_row(v->items, v->len, secret->name, name);
}

/* "HOST[,HOST...]" */
static int take_hosts(struct ab_arena *a, struct ab_strv *hosts, const char *text,
		      struct ab_complaint *why)
{
	for (;; text++) {
		size_t n = strcspn(text, ",");

		if (hosts->len >= AB_SECRET_LIST)
			return ab_complaint_say(why, "use a pattern like *.example.com",
						"more than %d hosts", AB_SECRET_LIST);
		if (ab_secret_host(a, hosts, text, n, why) < 0)
			return -1;
		text += n;
		if (!*text)
			return 0;
	}
}

int ab_secret_put(const struct ab_put *p, const char *text)
{
	size_t n = strcspn(text, "@");
	ab_autofree char *name = ab_strndup(text, n);
	struct ab_item *same;
	struct ab_secret s;

	if (strchr(text, '='))
		return ab_complaint_say(
			p->why, "set the variable and pass only its name: --secret NAME",
			"do not put a value on the command line, where others can read it");
	if (ab_variable_check(text, n, true, p->why) < 0)
		return -1;
	same = find_secret(p->v, name);
	s = same ? *same->secret : ab_secret_new(p->ctx->arena, name);
	s.wanted = true;
	if (text[n] && take_hosts(p->ctx->arena, &s.hosts, text + n + 1, p->why) < 0)
		return -1;
	ab_value_set(p->ctx->arena, p->v, same, ab_secret_item(p->ctx->arena, s, p->from));
	return 0;
}

void ab_secrets_add(struct ab_arena *a, struct ab_value *base, const struct ab_value *flags)
{
	for (size_t i = 0; i < flags->len; i++) {
		const struct ab_secret *flag = flags->items[i].secret;
		struct ab_item *there = find_secret(base, flag->name);
		struct ab_secret s = there ? *there->secret : *flag;

		s.wanted = true;
		if (flag->hosts.len)
			s.hosts = flag->hosts;
		else if (!there)
			ab_secret_known_hosts(a, &s);
		ab_value_set(a, base, there, ab_secret_item(a, s, flags->items[i].from));
	}
	base->from = flags->from;
}

/* The secret before position i that exports this variable, or NULL. */
static const struct ab_secret *find_exporter(const struct ab_value *v, size_t i,
					     const char *variable)
{
	for (size_t k = 0; k < i; k++)
		if (ab_strv_has(&v->items[k].secret->names, variable))
			return v->items[k].secret;
	return NULL;
}

int ab_secrets_check(const struct ab_value *v, const struct ab_origin **ret_from,
		     struct ab_complaint *why)
{
	size_t entries = 0;

	for (size_t i = 0; i < v->len; i++) {
		const struct ab_secret *s = v->items[i].secret;

		entries += ab_secret_parts(s);
		if (entries > AB_SECRETS_MAX) {
			*ret_from = v->items[i].from;
			return ab_complaint_say(why, "list only those you need",
						"more than %d secrets", AB_SECRETS_MAX);
		}
		for (size_t k = 0; k < s->names.len; k++) {
			const char *name = s->names.v[k];
			const struct ab_secret *other = find_exporter(v, i, name);

			if (!other)
				continue;
			*ret_from = v->items[i].from;
			return ab_complaint_say(why, "a variable can hold only one of them",
						"%s: the variable %s also belongs to %s", s->name,
						name, other->name);
		}
	}
	return 0;
}

static int refuse_without_host(const struct ab_secret *s, struct ab_complaint *why)
{
	const char *known[64];
	ab_autofree char *right = NULL;
	const struct ab_provider *p;
	const char *guess;
	size_t n = 0;

	for (size_t i = 0; (p = ab_provider_at(i)); i++)
		for (size_t k = 0; k < AB_PROVIDER_NAMES && n < 64; k++)
			if (p->names[k][0])
				known[n++] = p->names[k];
	guess = ab_guess(s->name, known, n);
	if (strcmp(s->name, "COPILOT_PROVIDER_API_KEY") == 0)
		right = ab_printf("name the host of COPILOT_PROVIDER_BASE_URL: --secret %s@HOST",
				  s->name);
	else
		right = guess ? ab_printf("did you mean %s? Or name its host: --secret %s@HOST",
					  guess, s->name)
			      : ab_printf("name its host: --secret %s@HOST", s->name);
	return ab_complaint_say(why, right, "%s is not a known service key", s->name);
}

/* A placeholder would only break what signs with it. */
static int refuse_signing(const struct ab_secret *s, struct ab_complaint *why)
{
	const struct ab_uncovered *u = s->sign || s->oauth ? NULL : ab_uncovered_of(s->name);

	if (!u || !u->signs)
		return 0;
	return ab_complaint_say(why,
				u->remedy ? u->remedy
					  : "use short-lived keys with few rights, and "
					    "--pass-env to show them to the box",
				"%s cannot be replaced by a placeholder: %s", s->name, u->what);
}

/* With `via`, the gateway's host must be one of the hosts of the secret. */
static int check_gateway(const struct ab_secret *s, struct ab_complaint *why)
{
	ab_autofree char *to = NULL;

	if (s->via == AB_VIA_TLS)
		return 0;
	to = ab_printf("%s:443", s->provider->base_host);
	if (ab_hosts_cover(s->hosts.v, s->hosts.len, to, false))
		return 0;
	return ab_complaint_say(why, "add it, or use \"via\": \"tls\"",
				"%s: the gateway connects to %s, which is not one of its hosts",
				s->name, s->provider->base_host);
}

/* The entry of its token URL. */
static const char *token_host(struct ab_arena *a, const struct ab_oauth *oauth)
{
	struct ab_host_entry e = ab_host_entry_of(&oauth->host, oauth->port);
	char text[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&e, text);
	return ab_arena_dup(a, text);
}

static void allow_hosts(struct ab_arena *a, struct ab_value *allow, const struct ab_item *item)
{
	const struct ab_strv *hosts = &item->secret->hosts;

	for (size_t i = 0; i < hosts->len; i++)
		ab_value_add_once(a, allow, hosts->v[i], item->from, item->secret->name);
	if (item->secret->oauth)
		ab_value_add_once(a, allow, token_host(a, item->secret->oauth), item->from,
				  item->secret->name);
}

int ab_secrets_finish(struct ab_arena *a, struct ab_config *c, const struct ab_origin **ret_from,
		      struct ab_complaint *why)
{
	const struct ab_value *v = &c->v[AB_KEY_SECRETS];

	if (ab_secrets_check(v, ret_from, why) < 0)
		return -1;
	for (size_t i = 0; i < v->len; i++) {
		const struct ab_secret *s = v->items[i].secret;

		*ret_from = v->items[i].from;
		if (refuse_signing(s, why) < 0)
			return -1;
		if (s->hosts.len == 0)
			return refuse_without_host(s, why);
		if (check_gateway(s, why) < 0)
			return -1;
		allow_hosts(a, &c->v[AB_KEY_NET_ALLOW], &v->items[i]);
	}
	return 0;
}

/* Either part of a secret that is exchanged for access tokens. */
static void fill_oauth(struct ab_arena *a, struct ab_secret *s)
{
	struct ab_oauth *oauth = ab_arena_alloc(a, sizeof(*oauth));
	struct ab_secret *login;
	ab_autofree char *name = ab_printf("%s%s", s->name, oauth_suffixes[s->oauth->grant]);

	*oauth = *s->oauth;
	s->oauth = oauth;
	if (oauth->client_secret) {
		login = ab_arena_alloc(a, sizeof(*login));
		*login = *oauth->client_secret;
		login->name = s->name;
		login->origin = s->origin;
		login->writable = s->writable;
		oauth->client_secret = login;
	}
	if (!s->part)
		return;
	s->name = ab_arena_dup(a, name);
	s->names = (struct ab_strv){ 0 };
	/* The key file in the box has the id. */
	if (oauth->grant != AB_OAUTH_ACCOUNT)
		ab_list_add(a, &s->names, s->name);
	s->hosts = (struct ab_strv){ 0 };
	ab_list_add(a, &s->hosts, token_host(a, oauth));
	s->provider = NULL;
	s->carriers = NULL;
	s->ncarriers = 0;
	s->inject = s->require = false;
	s->via = AB_VIA_TLS;
}

struct ab_secrets ab_secrets_fill(struct ab_arena *a, const struct ab_value *v,
				  const struct ab_strv *writable)
{
	struct ab_secret *s = ab_arena_alloc(a, (v->len * AB_PARTS + 1) * sizeof(*s));
	size_t n = 0;

	for (size_t i = 0; i < v->len; i++) {
		const struct ab_secret *given = v->items[i].secret;

		for (size_t part = 0; part < ab_secret_parts(given); part++, n++) {
			s[n] = *given;
			s[n].writable = *writable;
			s[n].part = (enum ab_secret_part)part;
			if (given->oauth)
				fill_oauth(a, &s[n]);
			if (!given->sign)
				continue;
			s[n].names = (struct ab_strv){ 0 };
			ab_list_add(a, &s[n].names, ab_secret_part_names[part]);
			if (!part)
				continue;
			s[n].name = ab_secret_part_names[part];
			s[n].files = (struct ab_strv){ 0 };
		}
	}
	return (struct ab_secrets){ .v = s, .len = n };
}
