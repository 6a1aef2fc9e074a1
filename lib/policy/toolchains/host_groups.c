#include "policy/toolchains/host_groups.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"

enum { FILE_MAX = 256 * 1024, SOURCES_MAX = 64, HOSTS_MAX = 64 };

/* The hosts from which the tool of a group fetches. */
struct found {
	struct ab_strv *hosts;
	bool main; /* the tool's main source is among them */
};

struct source {
	const char *home;
	char *const *environ;
};

/* Add the host of a URL; false: it is not a URL. */
static bool add_url(struct ab_strv *hosts, const char *s, size_t len)
{
	const char *host = memmem(s, len, "://", 3), *at;
	char buf[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;
	size_t n = 0;

	if (!host || hosts->len >= HOSTS_MAX)
		return false;
	host += 3;
	while (host + n < s + len && !strchr("/?#\"' \t,|\r", host[n]))
		n++;
	at = memrchr(host, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (ab_host_entry_parse(host, n, &e, NULL) < 0 || e.below)
		return false;
	ab_host_entry_format(&e, buf);
	ab_strv_add_once(hosts, buf);
	return true;
}

/* Add the host of every URL in a list like GOPROXY. */
static bool add_urls(struct ab_strv *hosts, const char *s, size_t len)
{
	const char *end = s + len;
	bool any = false;

	while (s < end) {
		size_t n = 0;

		while (s + n < end && !strchr(" \t,|", s[n]))
			n++;
		any |= add_url(hosts, s, n);
		s += n + 1;
	}
	return any;
}

/* Read a regular file of bounded size; NULL: there is none. These are the
 * user's own files, so links are followed. */
static char *read_file(const char *path)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *data;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    ab_read_all(fd, FILE_MAX, &data, &len) < 0)
		return NULL;
	return data;
}

/* The value of "KEY = value", "KEY: value" or "KEY value", or NULL. */
static const char *find_value(const char *line, const char *key, char separator)
{
	size_t n = strlen(key), blank;

	line += strspn(line, " \t");
	if (strncasecmp(line, key, n) != 0)
		return NULL;
	line += n;
	blank = strspn(line, " \t");
	if (separator == ' ')
		return blank ? line + blank : NULL;
	return line[blank] == separator ? line + blank + 1 : NULL;
}

/* Add the URLs after `key` in a file of lines. A key that starts with ":" may
 * have anything before it. */
static bool scan_lines(const char *path, const char *key, char separator, struct ab_strv *hosts)
{
	ab_autofree char *data = read_file(path);
	bool any = false;

	for (char *line = data; line && *line;) {
		size_t n = strcspn(line, "\n");
		char *next = line + n + (line[n] == '\n');
		const char *value;

		line[n] = '\0';
		value = find_value(line, key, separator);
		if (!value && key[0] == ':' && strstr(line, key))
			value = find_value(strstr(line, key), key, separator);
		if (value)
			any |= add_urls(hosts, value, strlen(value));
		line = next;
	}
	return any;
}

static bool scan_home(const struct source *s, const char *name, const char *key,
		      struct ab_strv *hosts)
{
	ab_autofree char *path = NULL;

	if (!s->home)
		return false;
	path = ab_printf("%s/%s", s->home, name);
	return scan_lines(path, key, '=', hosts);
}

/* A file under $XDG_CONFIG_HOME, else ~/.config. */
static bool scan_config(const struct source *s, const char *name, const char *key,
			struct ab_strv *hosts)
{
	const char *top = ab_environ_get(s->environ, "XDG_CONFIG_HOME");
	ab_autofree char *path = NULL;

	if (top && top[0] == '/')
		path = ab_printf("%s/%s", top, name);
	else if (s->home)
		path = ab_printf("%s/.config/%s", s->home, name);
	return path && scan_lines(path, key, '=', hosts);
}

static bool scan_variable(const struct source *s, const char *name, struct ab_strv *hosts)
{
	const char *value = ab_environ_get(s->environ, name);

	return value && add_urls(hosts, value, strlen(value));
}

static void find_npm(const struct source *s, struct found *f)
{
	f->main = scan_variable(s, "npm_config_registry", f->hosts) ||
		  scan_variable(s, "NPM_CONFIG_REGISTRY", f->hosts) ||
		  scan_home(s, ".npmrc", "registry", f->hosts);
	scan_home(s, ".npmrc", ":registry", f->hosts); /* @scope:registry */
}

static void find_pypi(const struct source *s, struct found *f)
{
	f->main = scan_variable(s, "PIP_INDEX_URL", f->hosts) ||
		  scan_variable(s, "UV_DEFAULT_INDEX", f->hosts) ||
		  scan_config(s, "pip/pip.conf", "index-url", f->hosts) ||
		  scan_home(s, ".pip/pip.conf", "index-url", f->hosts) ||
		  scan_lines("/etc/pip.conf", "index-url", '=', f->hosts);
	scan_variable(s, "PIP_EXTRA_INDEX_URL", f->hosts);
	scan_config(s, "pip/pip.conf", "extra-index-url", f->hosts);
	scan_home(s, ".pip/pip.conf", "extra-index-url", f->hosts);
	scan_lines("/etc/pip.conf", "extra-index-url", '=', f->hosts);
}

static void find_crates(const struct source *s, struct found *f)
{
	/* A source that replaces crates.io has a "registry"; additional
	 * registries have an "index". */
	f->main = scan_home(s, ".cargo/config.toml", "registry", f->hosts) ||
		  scan_home(s, ".cargo/config", "registry", f->hosts);
	scan_home(s, ".cargo/config.toml", "index", f->hosts);
}

static void find_go(const struct source *s, struct found *f)
{
	f->main = scan_variable(s, "GOPROXY", f->hosts) ||
		  scan_config(s, "go/env", "GOPROXY", f->hosts);
}

/* Blank out comments: the settings that Maven comes with have their examples in them. */
static void blank_comments(char *xml)
{
	char *start = xml, *end;

	while ((start = strstr(start, "<!--"))) {
		end = strstr(start, "-->");
		end = end ? end + 3 : start + strlen(start);
		memset(start, ' ', (size_t)(end - start));
		start = end;
	}
}

/* The text of <name> in an element whose content ends at `end`, or NULL. */
static const char *find_text(const char *s, const char *end, const char *name, size_t *ret_len)
{
	const char *text = memmem(s, (size_t)(end - s), name, strlen(name));

	if (!text)
		return NULL;
	text += strlen(name);
	*ret_len = strcspn(text, "<");
	return text + *ret_len <= end ? text : NULL;
}

/* Does <mirrorOf> name Maven Central, or everything? "external:http:*" does not: Maven comes with
 * such a mirror, which only blocks plain HTTP. */
static bool mirrors_central(const char *s, size_t len)
{
	static const char *const names[] = { "central", "*", "external:*" };

	for (const char *end = s + len; s < end; s++) {
		size_t n = strcspn(s, ", \t\r\n<");

		for (size_t i = 0; i < AB_COUNT(names); i++)
			if (n == strlen(names[i]) && memcmp(s, names[i], n) == 0)
				return true;
		s += n;
	}
	return false;
}

/* The URL of every <mirror> that is not there to block. */
static void scan_mirrors(const char *path, struct found *f)
{
	ab_autofree char *xml = read_file(path);
	const char *mirror = xml, *end, *url, *of;
	size_t url_len, of_len, n;

	if (xml)
		blank_comments(xml);
	while (mirror && (mirror = strstr(mirror, "<mirror>")) &&
	       (end = strstr(mirror, "</mirror>"))) {
		url = find_text(mirror, end, "<url>", &url_len);
		of = find_text(mirror, end, "<mirrorOf>", &of_len);
		if (url && of && !find_text(mirror, end, "<blocked>true", &n) &&
		    add_urls(f->hosts, url, url_len))
			f->main |= mirrors_central(of, of_len);
		mirror = end;
	}
}

static void find_maven(const struct source *s, struct found *f)
{
	ab_autofree char *path = s->home ? ab_printf("%s/.m2/settings.xml", s->home) : NULL;

	if (path)
		scan_mirrors(path, f);
	scan_mirrors("/etc/maven/settings.xml", f);
}

static bool is_sources(const char *name)
{
	size_t n = strlen(name);

	return (n > 5 && strcmp(name + n - 5, ".list") == 0) ||
	       (n > 8 && strcmp(name + n - 8, ".sources") == 0);
}

static void scan_apt(const char *path, struct found *f)
{
	/* "deb [options] URL suite", or "URIs: URL ..." */
	f->main |= scan_lines(path, "deb", ' ', f->hosts);
	f->main |= scan_lines(path, "URIs", ':', f->hosts);
}

static void find_debian(const struct source *s, struct found *f)
{
	DIR *dir = opendir("/etc/apt/sources.list.d");
	struct dirent *d;
	int n = 0;

	(void)s;
	scan_apt("/etc/apt/sources.list", f);
	while (dir && n++ < SOURCES_MAX && (d = readdir(dir))) {
		ab_autofree char *path = ab_printf("/etc/apt/sources.list.d/%s", d->d_name);

		if (is_sources(d->d_name))
			scan_apt(path, f);
	}
	if (dir)
		closedir(dir);
	ab_strv_sort(f->hosts);
}

static const struct group {
	const char *name;
	void (*find)(const struct source *s, struct found *f);
	const char *hosts[16];
	bool apart; /* nothing needs them together */
} groups[] = {
	{ "github",
	  NULL,
	  { "github.com", "*.github.com", "*.githubusercontent.com", "*.githubassets.com",
	    "ghcr.io" } },
	{ "npm", find_npm, { "*.npmjs.org", "registry.yarnpkg.com" } },
	{ "pypi", find_pypi, { "pypi.org", "*.pypi.org", "*.pythonhosted.org" } },
	{ "crates", find_crates, { "crates.io", "*.crates.io", "static.rust-lang.org" } },
	{ "go", find_go, { "golang.org", "*.golang.org", "go.dev" } },
	{ "maven",
	  find_maven,
	  { "repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org",
	    "plugins-artifacts.gradle.org", "services.gradle.org", "downloads.gradle.org" } },
	{ "rubygems", NULL, { "rubygems.org", "*.rubygems.org" } },
	{ "packagist", NULL, { "packagist.org", "*.packagist.org", "getcomposer.org" } },
	{ "nuget", NULL, { "nuget.org", "*.nuget.org" } },
	{ "hex", NULL, { "hex.pm", "*.hex.pm" } },
	{ "debian", find_debian, { "*.debian.org" } },
	{ "llm",
	  NULL,
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

bool ab_group_expand(const char *name, const char *home, char *const *env,
		     struct ab_strv *ret_entries)
{
	struct source source = { home, env };
	struct found found = { .hosts = ret_entries };

	for (size_t i = 0; i < AB_COUNT(groups); i++) {
		const struct group *g = &groups[i];

		if (strcmp(g->name, name) != 0)
			continue;
		if (g->find)
			g->find(&source, &found);
		for (size_t k = 0; !found.main && g->hosts[k]; k++)
			ab_strv_add(ret_entries, g->hosts[k]);
		return true;
	}
	return false;
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
	for (size_t i = 0; i < AB_COUNT(groups); i++)
		for (size_t k = 0; strcmp(groups[i].name, name) == 0 && groups[i].hosts[k]; k++)
			ab_strv_add(ret_entries, groups[i].hosts[k]);
}
