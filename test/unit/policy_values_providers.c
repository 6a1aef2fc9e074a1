#include "policy/values/providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "policy/model/list_element.h"
#include "policy/model/secrets_config.h"
#include "policy/values/host.h"
#include "tap.h"

static size_t count_variable(const char *name)
{
	size_t n = 0;

	for (size_t i = 0; ab_provider_at(i); i++)
		for (size_t k = 0; k < AB_PROVIDER_NAMES; k++)
			n += !strcmp(ab_provider_at(i)->names[k], name);
	for (size_t i = 0; i < ab_nuncovered; i++)
		n += ab_uncovered[i].variable && !strcmp(ab_uncovered[i].variable, name);
	return n;
}

/* Rows of other vendors: their keys have another form. */
static size_t count_others(const struct ab_provider *p, const char *host)
{
	size_t n = 0;

	for (size_t i = 0; ab_provider_at(i); i++)
		for (size_t k = 0; k < AB_PROVIDER_HOSTS; k++)
			n += !strcmp(ab_provider_at(i)->hosts[k], host) &&
			     strcmp(ab_provider_at(i)->prefixes[0], p->prefixes[0]) != 0;
	return n;
}

/* Filled from the front, and every text ends in its place. */
static size_t holes(const char *texts, size_t n, size_t size)
{
	size_t bad = 0;

	for (size_t i = 0; i < n; i++) {
		const char *s = texts + i * size;

		bad += !memchr(s, '\0', size);
		bad += i > 0 && s[0] && !texts[(i - 1) * size];
	}
	return bad;
}

static size_t bad_names(const struct ab_provider *p)
{
	size_t bad = holes(p->names[0], AB_PROVIDER_NAMES, sizeof(p->names[0]));

	for (size_t k = 0; k < AB_PROVIDER_NAMES && p->names[k][0]; k++) {
		bad += ab_variable_check(p->names[k], strlen(p->names[k]), true, NULL) < 0;
		bad += count_variable(p->names[k]) != 1;
		bad += ab_provider_find(p->names[k]) != p;
	}
	return bad + !p->names[0][0];
}

static size_t bad_hosts(const struct ab_provider *p)
{
	size_t bad = holes(p->hosts[0], AB_PROVIDER_HOSTS, sizeof(p->hosts[0]));

	for (size_t k = 0; k < AB_PROVIDER_HOSTS && p->hosts[k][0]; k++) {
		char text[AB_HOST_ENTRY_TEXT];
		struct ab_host_entry e;

		if (ab_host_entry_parse(p->hosts[k], strlen(p->hosts[k]), &e, NULL) < 0)
			return bad + 1;
		ab_host_entry_format(&e, text);
		bad += strcmp(text, p->hosts[k]) || e.port || e.host.kind != AB_HOST_NAME;
		bad += count_others(p, p->hosts[k]) != 0;
	}
	return bad + !p->hosts[0][0];
}

static size_t bad_carriers(const struct ab_provider *p)
{
	size_t bad = p->ncarriers == 0 || p->ncarriers > AB_PROVIDER_CARRIERS;

	for (size_t k = 0; k < p->ncarriers; k++) {
		char text[AB_CARRIER_TEXT];
		struct ab_carrier c;

		ab_carrier_format(&p->carriers[k], text);
		bad += ab_carrier_parse(text, &c, NULL) < 0 || c.kind != p->carriers[k].kind ||
		       strcmp(c.name, p->carriers[k].name) != 0;
	}
	return bad;
}

static size_t bad_prefixes(const struct ab_provider *p)
{
	size_t bad = holes(p->prefixes[0], AB_PROVIDER_PREFIXES, sizeof(p->prefixes[0]));

	for (size_t i = 0; i < AB_PROVIDER_PREFIXES; i++)
		for (size_t k = 0; k < i; k++)
			bad += p->prefixes[i][0] && !strcmp(p->prefixes[i], p->prefixes[k]);
	return bad;
}

static size_t bad_gateway(const struct ab_provider *p)
{
	size_t k = 0;

	if (!p->base_variable[0])
		return p->base_host[0] || p->base_path[0];
	while (k < AB_PROVIDER_HOSTS && strcmp(p->hosts[k], p->base_host) != 0)
		k++;
	return (k == AB_PROVIDER_HOSTS) + (p->base_host[0] == '*') +
	       !ab_is_variable(p->base_variable, strlen(p->base_variable), "") +
	       (p->base_path[0] && p->base_path[0] != '/') +
	       (ab_provider_find(p->base_variable) != NULL);
}

static void test_rows(void)
{
	for (size_t i = 0; ab_provider_at(i); i++) {
		const struct ab_provider *p = ab_provider_at(i);

		ok(i == 0 || strcmp(ab_provider_at(i - 1)->name, p->name) < 0,
		   "%s stands in order, and once", p->name);
		ok(p->title[0], "has a title");
		ok(strspn(p->name, "abcdefghijklmnopqrstuvwxyz") == strlen(p->name),
		   "which can stand in a path");
		ok(bad_names(p) == 0, "has variables of its own");
		ok(bad_hosts(p) == 0, "has canonical hosts of its own");
		ok(bad_carriers(p) == 0, "has carriers that a file can name");
		ok(bad_prefixes(p) == 0, "has each prefix once");
		ok(bad_gateway(p) == 0, "has a gateway to one of its hosts");
		ok(holes(p->files[0], AB_PROVIDER_FILES, sizeof(p->files[0])) == 0 &&
			   (!p->files[0][0] || p->files[0][0] == '~'),
		   "has files in the home folder");
	}
	ok(!ab_provider_find("") && !ab_provider_find("OPENAI_API_KE"), "nothing else is found");
}

static void test_uncovered(void)
{
	size_t bad = 0;

	for (size_t i = 0; i < ab_nuncovered; i++) {
		const struct ab_uncovered *u = &ab_uncovered[i];

		bad += (!u->variable && !u->file) || !u->what[0];
		bad += u->variable && count_variable(u->variable) != 1;
		bad += u->file && strncmp(u->file, "~/", 2) != 0;
		for (size_t k = 0; k < i; k++)
			bad += u->file && ab_uncovered[k].file &&
			       !strcmp(u->file, ab_uncovered[k].file);
	}
	ok(bad == 0, "what nothing covers is named once, with the reason");
}

static char *slurp(const char *name)
{
	const char *root = getenv("AB_SOURCE_ROOT");
	const char *slash = strrchr(__FILE__, '/');
	ab_autofree char *path =
		root ? ab_printf("%s/completions/%s", root, name)
		     : ab_printf("%.*s/../../completions/%s", slash ? (int)(slash - __FILE__) : 1,
				 slash ? __FILE__ : ".", name);
	char *text = ab_alloc(1 << 16);
	FILE *f = fopen(path, "r");

	if (f) {
		text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
		fclose(f);
	}
	return text;
}

static void test_completions(void)
{
	static const char *const files[] = { "agentbox.bash", "_agentbox", "agentbox.fish" };

	for (size_t i = 0; i < AB_COUNT(files); i++) {
		ab_autofree char *text = slurp(files[i]);
		size_t missing = 0;

		for (size_t p = 0; ab_provider_at(p); p++)
			for (size_t k = 0; k < AB_PROVIDER_NAMES; k++)
				missing += !strstr(text, ab_provider_at(p)->names[k]);
		ok(missing == 0, "%s offers every variable", files[i]);
	}
}

/* Base URLs with and without "/v1" lead to the same place. */
static void test_versions(void)
{
	static const struct {
		const char *variable, *rest, *leads;
	} cases[] = {
		{ "ANTHROPIC_API_KEY", "/v1/messages", "/v1/messages" },
		{ "ANTHROPIC_API_KEY", "/messages", "/v1/messages" },
		{ "ANTHROPIC_API_KEY", "/messages?beta=true", "/v1/messages?beta=true" },
		{ "ANTHROPIC_API_KEY", "/messages/count_tokens", "/v1/messages/count_tokens" },
		{ "ANTHROPIC_API_KEY", "/messagesx", "/messagesx" },
		{ "ANTHROPIC_API_KEY", "/api/hello", "/api/hello" },
		{ "ANTHROPIC_API_KEY", "/v1/v1/messages", "/v1/messages" },
		{ "ANTHROPIC_API_KEY", "/v1", "/v1" },
		{ "ANTHROPIC_API_KEY", "", "" },
		{ "OPENAI_API_KEY", "/chat/completions", "/v1/chat/completions" },
		{ "CODEX_API_KEY", "/v1/responses", "/v1/responses" },
		{ "OPENAI_API_KEY", "/v10/models", "/v10/models" },
		{ "GEMINI_API_KEY", "/v1beta/models/m:generateContent",
		  "/v1beta/models/m:generateContent" },
		{ "GROQ_API_KEY", "/openai/v1/models", "/openai/v1/models" },
		{ "NONE", "/messages", "/messages" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *before, *rest = cases[i].rest;
		char leads[128];
		size_t skip;

		ab_provider_version(ab_provider_find(cases[i].variable), rest, strlen(rest),
				    &before, &skip);
		snprintf(leads, sizeof(leads), "%s%s", before, rest + skip);
		is_str(leads, cases[i].leads, rest);
	}
	ok(ab_provider_of_host("api.openai.com:443") == ab_provider_find("CODEX_API_KEY"),
	   "a provider by its host");
	ok(!ab_provider_of_host("api.openai.co:443") && !ab_provider_of_host(":443"),
	   "and not by another");
}

int main(void)
{
	test_versions();
	test_rows();
	test_uncovered();
	test_completions();
	return done();
}
