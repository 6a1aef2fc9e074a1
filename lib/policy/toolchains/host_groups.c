#include "policy/toolchains/host_groups.h"

#include <strings.h>

#include "base/system/folder.h"
#include "policy/toolchains/registries.h"
#include "policy/values/host.h"
#include "policy/views/value.h"

enum { FILE_MAX = 256 * 1024, SOURCES_MAX = 64 };

/* Add the host of every URL in a line of apt's sources; true: there was one. */
static bool add_urls(struct ab_strv *hosts, const char *s)
{
	bool any = false;

	while (*s) {
		size_t n = strcspn(s, " \t\r");
		ab_autofree char *url = ab_clean_url(s, n);

		any |= url && ab_registry_add_host(url, hosts);
		s += n + (s[n] != '\0');
	}
	return any;
}

/* Behind "deb [options] URL suite" and "URIs: URL ..."; NULL: it is another line. */
static const char *find_urls(const char *line)
{
	line += strspn(line, " \t");
	if (strncasecmp(line, "deb", 3) == 0 && ab_is_blank(line[3]))
		return line + 3;
	if (strncasecmp(line, "URIs", 4) != 0)
		return NULL;
	line += 4 + strspn(line + 4, " \t");
	return *line == ':' ? line + 1 : NULL;
}

/* Add the URLs of a file of apt's sources. */
static bool scan_apt(const char *path, struct ab_strv *hosts)
{
	ab_autofree char *data = NULL;
	bool any = false;
	size_t len;

	(void)ab_read_file(AT_FDCWD, path, 0, FILE_MAX, &data, &len);
	for (char *rest = data, *line; (line = strsep(&rest, "\n"));) {
		const char *urls = find_urls(line);

		any |= urls && add_urls(hosts, urls);
	}
	return any;
}

static bool is_sources(const char *name)
{
	size_t n = strlen(name);

	return (n > 5 && strcmp(name + n - 5, ".list") == 0) ||
	       (n > 8 && strcmp(name + n - 8, ".sources") == 0);
}

/* The sources of apt are complete, and the box sees them: if there are any, the table is not needed. */
static bool find_apt_sources(struct ab_strv *hosts)
{
	ab_autodir DIR *dir = opendir("/etc/apt/sources.list.d");
	bool any = scan_apt("/etc/apt/sources.list", hosts);
	struct dirent *d;
	int n = 0;

	while (dir && n++ < SOURCES_MAX && (d = readdir(dir))) {
		ab_autofree char *path = ab_printf("/etc/apt/sources.list.d/%s", d->d_name);

		if (is_sources(d->d_name))
			any |= scan_apt(path, hosts);
	}
	ab_strv_sort(hosts);
	return any;
}

static const struct group {
	const char *name;
	const char *hosts[16];
	bool apart; /* nothing needs them together */
} groups[] = {
	{ "github",
	  { "github.com", "*.github.com", "*.githubusercontent.com", "*.githubassets.com",
	    "ghcr.io" } },
	{ "npm", { "*.npmjs.org", "registry.yarnpkg.com" } },
	{ "pypi", { "pypi.org", "*.pypi.org", "*.pythonhosted.org" } },
	{ "crates", { "crates.io", "*.crates.io", "static.rust-lang.org" } },
	{ "go", { "golang.org", "*.golang.org", "go.dev" } },
	{ "maven",
	  { "repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org",
	    "plugins-artifacts.gradle.org", "services.gradle.org", "downloads.gradle.org" } },
	{ "rubygems", { "rubygems.org", "*.rubygems.org" } },
	{ "packagist", { "packagist.org", "*.packagist.org", "getcomposer.org" } },
	{ "nuget", { "nuget.org", "*.nuget.org" } },
	{ "hex", { "hex.pm", "*.hex.pm" } },
	{ "debian", { "*.debian.org" } },
	{ "llm",
	  { "api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com",
	    "openrouter.ai", "api.mistral.ai", "api.groq.com", "api.deepseek.com", "api.x.ai",
	    "api.together.xyz", "api.cohere.com", "api.fireworks.ai", "api.cerebras.ai",
	    "api.perplexity.ai" },
	  .apart = true },
};

const char *const ab_group_names[] = { "github", "npm",	  "pypi",     "crates",
				       "go",	 "maven", "rubygems", "packagist",
				       "nuget",	 "hex",	  "debian",   "llm" };
const size_t ab_group_count = AB_COUNT(ab_group_names);

char *ab_group_list(void)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < ab_group_count; i++)
		ab_buf_printf(&b, "%s@%s", i ? " " : "", ab_group_names[i]);
	return ab_buf_take(&b);
}

bool ab_group_expand(const char *name, const struct ab_registry_file *files, char *const *env,
		     struct ab_strv *ret_entries)
{
	const struct group *g = ab_find_row(groups, AB_COUNT(groups), name, name);

	if (!g)
		return false;
	ab_registries_hosts(name, files, env, ret_entries);
	if (strcmp(name, "debian") == 0 && find_apt_sources(ret_entries))
		return true;
	for (size_t k = 0; g->hosts[k]; k++)
		ab_strv_add_once(ret_entries, g->hosts[k]);
	return true;
}

static bool has_host(const struct group *g, const struct ab_host *host)
{
	for (size_t k = 0; g->hosts[k]; k++) {
		struct ab_host_entry e;

		if (ab_host_entry_parse(g->hosts[k], strlen(g->hosts[k]), &e, NULL) == 0 &&
		    ab_host_entry_denies(&e, host, 0))
			return true;
	}
	return false;
}

const char *ab_group_of(const char *text)
{
	struct ab_host host;

	if (ab_host_parse(text, strlen(text), &host, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < AB_COUNT(groups); i++)
		if (!groups[i].apart && has_host(&groups[i], &host))
			return groups[i].name;
	return NULL;
}

void ab_group_hosts(const char *name, struct ab_strv *ret_entries)
{
	const struct group *g = ab_find_row(groups, AB_COUNT(groups), name, name);

	for (size_t k = 0; g && g->hosts[k]; k++)
		ab_strv_add(ret_entries, g->hosts[k]);
}
