#include "policy/toolchains/registries.h"

#include "base/system/own_path.h"
#include "policy/toolchains/registry_files.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"

enum { FILE_MAX = 256 * 1024, HOSTS_MAX = 64 };

struct source {
	const char *home;
	char *const *environ;
};

enum place {
	IN_HOME,
	IN_CONFIG, /* $XDG_CONFIG_HOME, else ~/.config */
	IN_SYSTEM, /* absolute; the box sees it */
};

struct registry_file {
	enum place place;
	const char *name;
	const struct ab_view_format *format;
};

static const struct tool {
	const char *group;
	const char *variables[7];
	struct registry_file files[5];
} tools[] = {
	{ "npm",
	  { "npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER" },
	  { { IN_HOME, ".npmrc", &ab_registry_npmrc },
	    { IN_HOME, ".yarnrc.yml", &ab_registry_yarnrc } } },
	{ "pypi",
	  { "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL",
	    "UV_EXTRA_INDEX_URL" },
	  { { IN_CONFIG, "pip/pip.conf", &ab_registry_pip },
	    { IN_HOME, ".pip/pip.conf", &ab_registry_pip },
	    { IN_SYSTEM, "/etc/pip.conf", &ab_registry_pip },
	    { IN_CONFIG, "uv/uv.toml", &ab_registry_uv } } },
	{ "crates",
	  { NULL },
	  { { IN_HOME, ".cargo/config.toml", &ab_registry_cargo },
	    { IN_HOME, ".cargo/config", &ab_registry_cargo } } },
	{ "go", { "GOPROXY" }, { { IN_CONFIG, "go/env", &ab_registry_go } } },
	{ "maven",
	  { NULL },
	  { { IN_HOME, ".m2/settings.xml", &ab_registry_maven },
	    { IN_HOME, ".gradle/gradle.properties", &ab_registry_gradle },
	    { IN_SYSTEM, "/etc/maven/settings.xml", &ab_registry_maven } } },
	{ "rubygems",
	  { "BUNDLE_MIRROR__ALL", "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/" },
	  { { IN_HOME, ".bundle/config", &ab_registry_bundle },
	    { IN_HOME, ".gemrc", &ab_registry_gemrc },
	    { IN_CONFIG, "gem/gemrc", &ab_registry_gemrc },
	    { IN_SYSTEM, "/etc/gemrc", &ab_registry_gemrc } } },
	{ "packagist",
	  { NULL },
	  { { IN_CONFIG, "composer/config.json", &ab_registry_composer },
	    { IN_HOME, ".composer/config.json", &ab_registry_composer } } },
	{ "nuget",
	  { NULL },
	  { { IN_HOME, ".nuget/NuGet/NuGet.Config", &ab_registry_nuget },
	    { IN_CONFIG, "NuGet/NuGet.Config", &ab_registry_nuget } } },
};

static const struct tool *find_tool(const char *group)
{
	return ab_find_row(tools, AB_COUNT(tools), group, group);
}

static char *make_path(const struct source *s, const struct registry_file *f)
{
	const char *config;

	switch (f->place) {
	case IN_SYSTEM:
		return ab_strdup(f->name);
	case IN_CONFIG:
		config = ab_environ_get(s->environ, "XDG_CONFIG_HOME");
		if (config && config[0] == '/')
			return ab_printf("%s/%s", config, f->name);
		return s->home ? ab_printf("%s/.config/%s", s->home, f->name) : NULL;
	case IN_HOME:
		break;
	}
	return s->home ? ab_printf("%s/%s", s->home, f->name) : NULL;
}

/* Open a regular file; -1: there is none. *ret_fault: why it is not obeyed, or NULL. */
static int open_registry(const char *path, const char **ret_fault)
{
	ab_autoclose int fd = ab_own_path_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ab_autofree char *where = NULL;
	struct stat st;

	*ret_fault = fd < 0 && errno == EPERM ? "is behind a link of another user" : NULL;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	*ret_fault = ab_own_path_check(fd, path, &where);
	if (*ret_fault && strcmp(where, path) != 0)
		*ret_fault = "is in a folder that others can write";
	return ab_take_fd(&fd);
}

/* A file that is too large has no view: it is as if it could not be read. */
static void make_view(int fd, const struct registry_file *f, struct ab_view *ret)
{
	char *data;
	size_t len;

	if (ab_read_all(fd, FILE_MAX, &data, &len) < 0) {
		ret->broken = true;
		return;
	}
	ab_view_make(f->format, data, len, ret);
	explicit_bzero(data, len); /* it may have tokens */
	free(data);
}

/* These are the user's own files, so links are followed. A file that another user can have written is
 * ignored; false: it is, or there is none. */
static bool read_registry(const char *path, const struct registry_file *f, struct ab_view *ret)
{
	const char *fault;
	ab_autoclose int fd = open_registry(path, &fault);

	if (fd < 0 || fault)
		return false;
	make_view(fd, f, ret);
	return true;
}

bool ab_registry_add_host(const char *url, struct ab_strv *entries)
{
	const char *authority = strstr(url, "://") + 3;
	const char *host = authority + (strncmp(authority, "git@", 4) == 0 ? 4 : 0);
	char buf[AB_HOST_ENTRY_TEXT];
	struct ab_host_entry e;

	if (entries->len >= HOSTS_MAX ||
	    ab_host_entry_parse(host, strcspn(host, "/"), &e, NULL) < 0)
		return false;
	ab_host_entry_format(&e, buf);
	ab_strv_add_once(entries, buf);
	return true;
}

void ab_registries_hosts(const char *group, const char *home, char *const *env,
			 struct ab_strv *ret_entries)
{
	const struct tool *t = find_tool(group);
	const struct source s = { home, env };
	ab_autostrv struct ab_strv urls = { 0 };

	for (size_t i = 0; t && t->variables[i]; i++) {
		const char *value = ab_environ_get(env, t->variables[i]);

		if (value)
			ab_registry_variable(value, &urls);
	}
	for (size_t i = 0; t && t->files[i].name; i++) {
		ab_autofree char *path = make_path(&s, &t->files[i]);
		ab_autoview struct ab_view v = { 0 };

		if (path && read_registry(path, &t->files[i], &v))
			ab_strv_extend(&urls, &v.urls);
	}
	for (size_t i = 0; i < urls.len; i++)
		ab_registry_add_host(urls.v[i], ret_entries);
}

void ab_registries_faults(const char *group, const char *home, char *const *env,
			  struct ab_strv *ret_notes)
{
	const struct tool *t = find_tool(group);
	const struct source s = { home, env };

	for (size_t i = 0; t && t->files[i].name; i++) {
		ab_autofree char *path = make_path(&s, &t->files[i]);
		const char *fault = NULL;
		ab_autoclose int fd = path ? open_registry(path, &fault) : -1;

		(void)fd;
		if (fault)
			ab_strv_addf(ret_notes, "%s %s, so its registries are not used", path,
				     fault);
	}
}

void ab_registries_paths(const char *home, char *const *env, struct ab_strv *ret_paths)
{
	const struct source s = { home, env };

	for (size_t i = 0; i < AB_COUNT(tools); i++)
		for (size_t k = 0; tools[i].files[k].name; k++) {
			char *path = make_path(&s, &tools[i].files[k]);

			if (path)
				ab_strv_give(ret_paths, path);
		}
}

/* Takes the text of the view. A file that is gone has none. */
static void add_view(struct ab_registry_views *views, const char *path, struct ab_view *v)
{
	char *real = realpath(path, NULL);

	if (real)
		*ab_append(views->v, views->len) =
			(struct ab_registry_view){ .path = ab_strdup(path),
						   .real = real,
						   .text = ab_buf_take(&v->text),
						   .left = v->left,
						   .broken = v->broken };
}

void ab_registries_views(const char *group, const char *home, char *const *env,
			 struct ab_registry_views *ret)
{
	const struct tool *t = find_tool(group);
	const struct source s = { home, env };

	for (size_t i = 0; t && t->files[i].name; i++) {
		ab_autoview struct ab_view v = { 0 };
		ab_autofree char *path = make_path(&s, &t->files[i]);

		if (t->files[i].place != IN_SYSTEM && path &&
		    read_registry(path, &t->files[i], &v) && v.text.len)
			add_view(ret, path, &v);
	}
}

/* False: there is no such file, or all of it may be seen. */
static bool read_visible(const char *path, const struct registry_file *f, struct ab_view *ret)
{
	const char *fault;
	ab_autoclose int fd = open_registry(path, &fault);

	if (fd >= 0)
		make_view(fd, f, ret);
	else
		ret->broken = fault != NULL;
	return fd < 0 ? ret->broken : !ret->whole;
}

void ab_registries_visible(const char *home, char *const *env, const struct ab_strv *files,
			   struct ab_registry_views *ret)
{
	const struct source s = { home, env };

	for (size_t i = 0; i < AB_COUNT(tools) && (!files || files->len); i++)
		for (size_t k = 0; tools[i].files[k].name; k++) {
			const struct registry_file *f = &tools[i].files[k];
			ab_autofree char *path = f->place == IN_SYSTEM ? NULL : make_path(&s, f);
			ab_autoview struct ab_view v = { 0 };

			if (path && (!files || ab_strv_has(files, path)) &&
			    read_visible(path, f, &v))
				add_view(ret, path, &v);
		}
}

void ab_registry_views_drop(struct ab_registry_views *views, size_t i)
{
	struct ab_registry_view *v = &views->v[i];

	ab_free_all(v->path, v->real, v->text);
	memmove(v, v + 1, (--views->len - i) * sizeof(*v));
}

void ab_registry_views_fini(struct ab_registry_views *views)
{
	while (views->len)
		ab_registry_views_drop(views, views->len - 1);
	free(views->v);
	*views = (struct ab_registry_views){ 0 };
}
