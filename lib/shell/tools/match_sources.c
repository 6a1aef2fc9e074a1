/*
 * Package managers that are pointed at another registry or at an address: what they
 * install then comes from there, and most of them run its scripts.
 */
#include "shell/command/grammar.h"
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

/* Sorted by name. */
static const struct manager {
	char name[12];
	char installs[48]; /* the first operands that install: "install add" */
	char sources[88];  /* options whose value is a registry or an address */
	bool addresses;	   /* an operand may be an address */
} managers[] = {
	{ "bun", "add i install", "registry", true },
	{ "bundle", "config install", "source", false },
	{ "cargo", "add build fetch install update", "git index registry", false },
	{ "composer", "config require", "repository repository-url", false },
	{ "conda", "create install", "c channel", true },
	{ "gem", "fetch i install sources", "s source clear-sources a add", true },
	{ "go", "get install", "", false },
	{ "npm", "add config exec i in install set x", "registry", true },
	{ "npx", "", "registry p package", true },
	{ "pip", "config download install wheel",
	  "i index-url extra-index-url f find-links pypi-url", true },
	{ "pipx", "inject install run", "index-url i pip-args spec", true },
	{ "pnpm", "add config dlx exec i install", "registry", true },
	{ "poetry", "add source", "source", true },
	{ "uv", "add pip run sync tool",
	  "index index-url default-index extra-index-url f find-links", true },
	{ "uvx", "", "from index index-url", true },
	{ "yarn", "add config dlx install", "registry", true },
};

/* Registries and forges that everybody uses. */
static const char usual[] =
	"bitbucket.org codeberg.org codeload.github.com conda.anaconda.org crates.io "
	"deno.land download.pytorch.org files.pythonhosted.org git.sr.ht github.com "
	"gitlab.com index.crates.io jsr.io npm.jsr.io npm.pkg.github.com packagist.org "
	"pypi.nvidia.com pypi.org pypi.python.org registry.npmjs.org registry.yarnpkg.com "
	"repo.anaconda.com repo.packagist.org rubygems.org test.pypi.org";

/* The host of "https://user@host:443/x", "git+https://host/x", "name @ https://host". A
 * plain connection is never usual: anybody on the way can change what it brings. */
static bool is_unusual_address(struct ab_text t)
{
	const char *scheme = t.len ? memmem(t.s, t.len, "://", 3) : NULL, *at;
	struct ab_text host;

	if (!scheme)
		return false;
	host = ab_text_rest(t, (uint32_t)(scheme + 3 - t.s));
	for (const char *end = "/?#"; *end; end++)
		host = ab_text_cut(&host, *end);
	host = ab_text_cut(&host, AB_UNKNOWN);
	at = memrchr(host.s, '@', host.len);
	if (at)
		host = ab_text_rest(host, (uint32_t)(at + 1 - host.s));
	host = ab_text_cut(&host, ':');
	if (ab_text_is(host, "localhost") || ab_text_is(host, "127.0.0.1"))
		return false;
	return !ab_listed(usual, host) || (scheme - t.s >= 4 && memcmp(scheme - 4, "http", 4) == 0);
}

static bool has_source(const struct manager *m, const struct ab_simple *command)
{
	bool installs = !m->installs[0], first = true;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, m->name); ab_opt_next(&w);) {
		if (w.what == AB_OPT_OPERAND) {
			if (first && m->installs[0]) {
				if (!ab_listed(m->installs, w.value.text))
					return false;
				installs = true;
			} else if ((m->addresses || w.maybe_value) &&
				   is_unusual_address(w.value.text)) {
				return true;
			}
			first = false;
		} else if (ab_opt_listed(&w, m->sources) && w.value.text.s &&
			   is_unusual_address(w.value.text)) {
			return true;
		}
	}
	return installs && !m->addresses && ab_text_is(command->name, "bundle") &&
	       command->argc > 3 && is_unusual_address(command->argv[command->argc - 1].text);
}

/* Variables that set the registry for one command. */
static bool binds_source(const struct ab_simple *command)
{
	static const char names[] = "BUNDLE_MIRROR__ALL GOPROXY NPM_CONFIG_REGISTRY PIP_INDEX_URL "
				    "PIP_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX_URL "
				    "npm_config_registry YARN_REGISTRY";

	for (size_t i = 0; i < command->nbindings; i++) {
		const struct ab_binding *b = &command->bindings[i];

		if (ab_listed(names, b->name) && is_unusual_address(b->value.text) &&
		    !ab_text_contains(b->value.text, "proxy.golang.org"))
			return true;
	}
	return false;
}

void ab_match_sources(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_text name = command->name;
	const struct manager *m;

	if (!ab_command_in(command, AB_TABLE_SOURCES))
		return;
	while (name.len > 3 && strchr("0123456789.", name.s[name.len - 1]))
		name.len--;
	m = AB_LOOKUP(managers, name);
	if ((m && has_source(m, command)) || (command->nbindings && m && binds_source(command)))
		ab_hit_add(hits, AB_RULE_PACKAGE_SOURCE, command->range);
}
