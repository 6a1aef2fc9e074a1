#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "policy/element.h"
#include "policy/members.h"
#include "policy/secrets_config.h"
#include "policy/why.h"

#define EXPIRES_MIN_MS 10000ULL
#define EXPIRES_MAX_MS (366ULL * 24 * 3600 * 1000)

enum member {
	FROM,
	ENV,
	FILE_,
	KEY,
	COMMAND,
	HOSTS,
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
	MEMBERS,
};

static const char *const members[MEMBERS] = {
	[FROM] = "from",       [ENV] = "env",
	[FILE_] = "file",      [KEY] = "key",
	[COMMAND] = "command", [HOSTS] = "hosts",
	[AS] = "as",	       [ALSO] = "also",
	[MODE] = "mode",       [FORMAT] = "format",
	[REQUIRE] = "require", [PLACEHOLDER] = "placeholder",
	[VIA] = "via",	       [NAMES] = "names",
	[FILES] = "files",     [TRIPWIRE] = "onTripwire",
	[EXPIRES] = "expires",
};

/* Which members each source has. */
static const struct {
	enum member member;
	enum ab_secret_from from;
	const char *right;
} sources[] = {
	{ ENV, AB_FROM_ENV, "write \"from\": \"env\"" },
	{ FILE_, AB_FROM_FILE, "write \"from\": \"file\"" },
	{ KEY, AB_FROM_FILE, "write \"from\": \"file\"" },
	{ COMMAND, AB_FROM_COMMAND, "write \"from\": \"command\"" },
	{ EXPIRES, AB_FROM_COMMAND, "write \"from\": \"command\"" },
};

/* A secret that is being read. */
struct draft {
	struct ab_reader *r;
	const char *path; /* "secrets.NAME" */
	uint32_t node;
	const json_t *given[MEMBERS];
	uint32_t at[MEMBERS];
	struct ab_secret secret;
	bool bad;
};

static void complain(struct draft *d, uint32_t node, const char *member,
		     const char *wrong, const char *right)
{
	ab_autofree char *path =
		ab_printf("%s%s%s", d->path, member[0] ? "." : "", member);

	ab_reader_report(d->r, node, path, wrong, right);
	d->bad = true;
}

static void wrong_type(struct draft *d, enum member m, const char *wanted,
		       const char *right)
{
	ab_autofree char *path = ab_printf("%s.%s", d->path, members[m]);

	ab_reader_wrong_type(d->r, d->at[m], path, d->given[m], wanted, right);
	d->bad = true;
}

/* Something printable, and not too long. */
static bool is_fit(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] == 0x7f)
			return false;
	return n <= AB_SECRET_TEXT;
}

/* A text that is there; NULL: none, or it was complained about. */
static const char *take_text(struct draft *d, enum member m)
{
	const char *text = json_string_value(d->given[m]);

	if (!d->given[m])
		return NULL;
	if (!text)
		wrong_type(d, m, "a text", "put it in quotes");
	else if (!text[0])
		complain(d, d->at[m], members[m], "is empty", "");
	else if (!is_fit(text))
		complain(d, d->at[m], members[m],
			 "is too long, or holds control characters",
			 "at most 1024 bytes");
	else
		return ab_arena_dup(d->r->ctx->arena, text);
	return NULL;
}

/* The index of the word that is there; 0 when none is. */
static unsigned take_word(struct draft *d, enum member m,
			  const char *const *words, size_t n, const char *right)
{
	const char *text = json_string_value(d->given[m]);
	struct ab_why why;

	if (!d->given[m])
		return 0;
	if (!text) {
		wrong_type(d, m, "a text", right);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	ab_why_value(&why, text, "is not possible here", "%s", right);
	complain(d, d->at[m], members[m], why.wrong, why.right);
	return 0;
}

typedef int take_fn(struct draft *d, const char *text, struct ab_why *why);

/* Each text of a list. */
static void take_list(struct draft *d, enum member m, take_fn *take,
		      const char *right)
{
	const json_t *list = d->given[m];
	uint32_t k = d->at[m] + 1;

	if (!list)
		return;
	if (!json_is_array(list)) {
		wrong_type(d, m, "a list", right);
		return;
	}
	if (json_array_size(list) == 0 ||
	    json_array_size(list) > AB_SECRET_LIST) {
		complain(d, d->at[m], members[m],
			 json_array_size(list) ? "has more than 32 entries"
					       : "is empty",
			 right);
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);
		const char *text = json_string_value(e);
		ab_autofree char *name = ab_printf("%s[%zu]", members[m], i);
		ab_autofree char *path = ab_printf("%s.%s", d->path, name);
		struct ab_why why = { .right = "" };

		if (!text) {
			ab_reader_wrong_type(d->r, k, path, e, "a text",
					     "put it in quotes");
			d->bad = true;
		} else if (!is_fit(text)) {
			complain(d, k, name,
				 "is too long, or holds control characters",
				 "at most 1024 bytes");
		} else if (take(d, text, &why) < 0) {
			complain(d, k, name, why.wrong, why.right);
		}
		k = d->r->nodes[k].next;
	}
}

static int take_argument(struct draft *d, const char *text, struct ab_why *why)
{
	if (!text[0] && d->secret.command.len == 0)
		return ab_why_value(
			why, text, "is not a command",
			"write one like [\"pass\", \"show\", \"x\"]");
	ab_secret_list(d->r->ctx->arena, &d->secret.command, text);
	return 0;
}

static int take_host(struct draft *d, const char *text, struct ab_why *why)
{
	return ab_secret_host(d->r->ctx->arena, &d->secret.hosts, text,
			      strlen(text), why);
}

static int take_carrier(struct draft *d, const char *text, struct ab_why *why)
{
	struct ab_secret *s = &d->secret;
	struct ab_carrier *v = ab_arena_alloc(d->r->ctx->arena,
					      (s->ncarriers + 1) * sizeof(*v));

	if (ab_carrier_parse(text, &v[s->ncarriers], why) < 0)
		return -1;
	if (s->ncarriers)
		memcpy(v, s->carriers, s->ncarriers * sizeof(*v));
	s->carriers = v;
	s->ncarriers++;
	return 0;
}

static int take_place(struct draft *d, const char *text, struct ab_why *why)
{
	if (strcmp(text, "path") == 0)
		d->secret.in_path = true;
	else if (strcmp(text, "body") == 0)
		d->secret.in_body = true;
	else
		return ab_why_value(why, text, "is not possible here",
				    "write \"path\" or \"body\"");
	return 0;
}

static int take_name(struct draft *d, const char *text, struct ab_why *why)
{
	if (ab_secret_name(text, strlen(text), why) < 0)
		return -1;
	if (!ab_strv_has(&d->secret.names, text))
		ab_secret_list(d->r->ctx->arena, &d->secret.names, text);
	return 0;
}

static int take_file(struct draft *d, const char *text, struct ab_why *why)
{
	const char *path = ab_element_path(d->r->ctx, text, why);

	if (!path)
		return -1;
	if (!ab_strv_has(&d->secret.files, path))
		ab_secret_list(d->r->ctx->arena, &d->secret.files, path);
	return 0;
}

static void read_path(struct draft *d)
{
	const char *text = take_text(d, FILE_);
	struct ab_why why = { .right = "" };

	if (!text)
		return;
	d->secret.file = ab_element_path(d->r->ctx, text, &why);
	if (!d->secret.file)
		complain(d, d->at[FILE_], members[FILE_], why.wrong, why.right);
}

static void read_env(struct draft *d)
{
	const char *text = take_text(d, ENV);
	struct ab_why why = { .right = "" };

	if (!text)
		return;
	if (!ab_is_variable(text, strlen(text), "")) {
		ab_why_value(&why, text, "is not the name of a variable",
			     "letters, digits and _");
		complain(d, d->at[ENV], members[ENV], why.wrong, why.right);
	}
	d->secret.env = text;
}

static void read_expires(struct draft *d)
{
	const char *text = take_text(d, EXPIRES);
	uint64_t ms;

	if (!text)
		return;
	if (ab_parse_duration(text, &ms) < 0 || ms < EXPIRES_MIN_MS ||
	    ms > EXPIRES_MAX_MS)
		complain(d, d->at[EXPIRES], members[EXPIRES],
			 "is no duration between ten seconds and a year",
			 "write one like \"50m\"");
	else
		d->secret.expires_ms = ms;
}

static void read_source(struct draft *d)
{
	static const char *const words[] = { "env", "file", "command" };
	static const char list[] = "write one like [\"pass\", \"show\", \"x\"]";
	struct ab_secret *s = &d->secret;

	s->from = take_word(d, FROM, words, AB_COUNT(words),
			    "write \"env\", \"file\" or \"command\"");
	for (size_t i = 0; i < AB_COUNT(sources); i++)
		if (d->given[sources[i].member] && sources[i].from != s->from)
			complain(d, d->at[sources[i].member],
				 members[sources[i].member],
				 "is of another source than \"from\" says",
				 sources[i].right);
	read_env(d);
	read_path(d);
	s->key = take_text(d, KEY);
	take_list(d, COMMAND, take_argument, list);
	read_expires(d);
	if (s->from == AB_FROM_FILE && !d->given[FILE_])
		complain(d, d->node, members[FILE_], "is missing",
			 "write \"file\": \"~/path\"");
	if (s->from == AB_FROM_COMMAND && !d->given[COMMAND])
		complain(d, d->node, members[COMMAND], "is missing", list);
	if (s->from != AB_FROM_ENV)
		s->env = NULL;
}

static void read_hosts(struct draft *d)
{
	static const char right[] = "write one like [\"api.example.com\"]";

	take_list(d, HOSTS, take_host, right);
	if (d->given[HOSTS])
		return;
	ab_secret_known_hosts(d->r->ctx->arena, &d->secret);
	if (d->secret.hosts.len == 0)
		complain(d, d->node, members[HOSTS],
			 "is missing, and no service is known by this name",
			 right);
}

static void read_carriers(struct draft *d)
{
	const char *text = json_string_value(d->given[AS]);
	struct ab_why why = { .right = "" };

	if (!d->given[AS])
		return;
	d->secret.carriers = NULL;
	d->secret.ncarriers = 0;
	if (!text)
		take_list(
			d, AS, take_carrier,
			"write one like \"bearer\" or [\"bearer\", \"header:x-api-key\"]");
	else if (strcmp(text, "any") != 0 && take_carrier(d, text, &why) < 0)
		complain(d, d->at[AS], members[AS], why.wrong, why.right);
}

static void check_format(struct draft *d)
{
	const char *format = d->secret.format;
	const char *hole = format ? strstr(format, "{}") : NULL;

	if (!format)
		return;
	for (const char *p = format; *p; p++)
		if (*p & 0x80)
			hole = NULL;
	if (!hole || strstr(hole + 2, "{}"))
		complain(d, d->at[FORMAT], members[FORMAT],
			 "must have one {} where the value goes",
			 "write one like \"Bearer {}\"");
	else if (!d->secret.inject)
		complain(d, d->at[FORMAT], members[FORMAT],
			 "is for what is injected",
			 "write \"mode\": \"inject\"");
}

static void read_mode(struct draft *d)
{
	static const char *const words[] = { "swap", "inject" };
	struct ab_secret *s = &d->secret;

	s->inject = take_word(d, MODE, words, AB_COUNT(words),
			      "write \"swap\" or \"inject\"");
	s->format = take_text(d, FORMAT);
	s->require = json_is_true(d->given[REQUIRE]);
	if (d->given[REQUIRE] && !json_is_boolean(d->given[REQUIRE]))
		wrong_type(d, REQUIRE, "true or false", "without quotes");
	if (s->inject && s->ncarriers == 0 && !d->bad)
		complain(d, d->at[MODE], members[MODE],
			 "does not know where to put the value",
			 "write \"as\": \"bearer\", or another carrier");
	if (s->inject && s->require)
		complain(d, d->at[REQUIRE], members[REQUIRE],
			 "is not possible with what is injected",
			 "write \"mode\": \"swap\"");
	check_format(d);
}

static void read_rest(struct draft *d)
{
	static const char *const lives[] = { "run", "stable" };
	static const char *const ways[] = { "tls", "gateway", "both" };
	static const char *const ends[] = { "refuse", "stop" };
	struct ab_secret *s = &d->secret;

	s->stable = take_word(d, PLACEHOLDER, lives, AB_COUNT(lives),
			      "write \"run\" or \"stable\"");
	s->via = take_word(d, VIA, ways, AB_COUNT(ways),
			   "write \"tls\", \"gateway\" or \"both\"");
	s->stop = take_word(d, TRIPWIRE, ends, AB_COUNT(ends),
			    "write \"refuse\" or \"stop\"");
	if (s->via != AB_VIA_TLS &&
	    (!s->provider || !s->provider->base_variable[0]))
		complain(d, d->at[VIA], members[VIA],
			 "needs a variable for the base URL, and none is known",
			 "write \"tls\"");
	take_list(d, ALSO, take_place, "write one like [\"body\"]");
	take_list(d, NAMES, take_name, "write one like [\"OTHER_NAME\"]");
	take_list(d, FILES, take_file, "write one like [\"~/.netrc\"]");
}

static void read_secret(struct ab_reader *r, uint32_t node, const char *name,
			const json_t *object)
{
	ab_autofree char *path =
		ab_printf("%s.%s", ab_keys[AB_KEY_SECRETS].path, name);
	struct draft d = { .r = r, .path = path, .node = node };
	struct ab_why why = { .right = "" };

	if (ab_secret_name(name, strlen(name), &why) < 0) {
		complain(&d, node, "", why.wrong, why.right);
		return;
	}
	if (!json_is_object(object)) {
		ab_reader_wrong_type(
			r, node, path, object, "an object",
			"write { \"hosts\": [\"api.example.com\"] }");
		return;
	}
	d.secret = ab_secret_new(r->ctx->arena, name);
	d.bad = !ab_members_find(d.r, d.node, d.path, object, members, MEMBERS,
				 d.given, d.at);
	read_source(&d);
	read_hosts(&d);
	read_carriers(&d);
	read_mode(&d);
	read_rest(&d);
	if (!d.bad)
		ab_value_add(r->ctx->arena, &r->config->v[AB_KEY_SECRETS],
			     ab_secret_item(r->ctx->arena, d.secret,
					    ab_reader_origin(r, node)));
}

void ab_secrets_read(struct ab_reader *r, uint32_t node, const json_t *object)
{
	if (!json_is_object(object)) {
		ab_reader_wrong_type(
			r, node, ab_keys[AB_KEY_SECRETS].path, object,
			"an object",
			"write { \"NAME\": { \"hosts\": [\"api.example.com\"] } }");
		return;
	}
	r->config->v[AB_KEY_SECRETS].from = ab_reader_origin(r, node);
	for (uint32_t k = node + 1;
	     k < r->nodes[node].next && !ab_reader_full(r);
	     k = r->nodes[k].next) {
		json_t *key = ab_reader_key(r, k);
		const char *name = json_string_value(key);

		read_secret(r, k, name, json_object_get(object, name));
		json_decref(key);
	}
}
