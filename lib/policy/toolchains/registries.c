#include "policy/toolchains/registries.h"

#include "base/system/own_path.h"
#include "base/text/words.h"
#include "policy/toolchains/registry_files.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"

enum { FILE_MAX = 256 * 1024, HOSTS_MAX = 64 };

enum place {
	IN_HOME,
	IN_CONFIG, /* $XDG_CONFIG_HOME, else ~/.config */
	IN_SYSTEM, /* absolute; the box sees it */
};

/* Of one group the first file comes first. */
static const struct registry_file {
	char group[12];
	enum place place;
	char name[28];
	const struct ab_view_format *format;
} files[] = {
	{ "npm", IN_HOME, ".npmrc", &ab_registry_npmrc },
	{ "npm", IN_HOME, ".yarnrc.yml", &ab_registry_yarnrc },
	{ "pypi", IN_CONFIG, "pip/pip.conf", &ab_registry_pip },
	{ "pypi", IN_HOME, ".pip/pip.conf", &ab_registry_pip },
	{ "pypi", IN_SYSTEM, "/etc/pip.conf", &ab_registry_pip },
	{ "pypi", IN_CONFIG, "uv/uv.toml", &ab_registry_uv },
	{ "crates", IN_HOME, ".cargo/config.toml", &ab_registry_cargo },
	{ "crates", IN_HOME, ".cargo/config", &ab_registry_cargo },
	{ "go", IN_CONFIG, "go/env", &ab_registry_go },
	{ "maven", IN_HOME, ".m2/settings.xml", &ab_registry_maven },
	{ "maven", IN_HOME, ".gradle/gradle.properties", &ab_registry_gradle },
	{ "maven", IN_SYSTEM, "/etc/maven/settings.xml", &ab_registry_maven },
	{ "rubygems", IN_HOME, ".bundle/config", &ab_registry_bundle },
	{ "rubygems", IN_HOME, ".gemrc", &ab_registry_gemrc },
	{ "rubygems", IN_CONFIG, "gem/gemrc", &ab_registry_gemrc },
	{ "rubygems", IN_SYSTEM, "/etc/gemrc", &ab_registry_gemrc },
	{ "packagist", IN_CONFIG, "composer/config.json", &ab_registry_composer },
	{ "packagist", IN_HOME, ".composer/config.json", &ab_registry_composer },
	{ "nuget", IN_HOME, ".nuget/NuGet/NuGet.Config", &ab_registry_nuget },
	{ "nuget", IN_CONFIG, "NuGet/NuGet.Config", &ab_registry_nuget },
};

static const struct variables {
	char group[12], names[120];
} variables[] = {
	{ "npm", "npm_config_registry NPM_CONFIG_REGISTRY YARN_NPM_REGISTRY_SERVER" },
	{ "pypi", "PIP_INDEX_URL PIP_EXTRA_INDEX_URL UV_DEFAULT_INDEX UV_INDEX UV_INDEX_URL "
		  "UV_EXTRA_INDEX_URL" },
	{ "go", "GOPROXY" },
	{ "rubygems", "BUNDLE_MIRROR__ALL BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/" },
};

/* NULL: it is not of this group's tools (NULL: any), or there is no home folder. */
static char *find_path(const struct registry_file *f, const char *group, const char *home,
		       char *const *env)
{
	const char *config = f->place == IN_CONFIG ? ab_environ_get(env, "XDG_CONFIG_HOME") : NULL;

	if (group && strcmp(f->group, group) != 0)
		return NULL;
	if (f->place == IN_SYSTEM)
		return ab_strdup(f->name);
	if (config && config[0] == '/')
		return ab_printf("%s/%s", config, f->name);
	return home ? ab_printf("%s/%s%s", home, f->place == IN_CONFIG ? ".config/" : "", f->name)
		    : NULL;
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
	const struct variables *v = ab_find_row(variables, AB_COUNT(variables), group, group);
	const char *names = v ? v->names : NULL, *word;
	ab_autostrv struct ab_strv urls = { 0 };

	for (size_t n; (word = ab_word_next(&names, &n));) {
		ab_autofree char *name = ab_strndup(word, n);
		const char *value = ab_environ_get(env, name);

		if (value)
			ab_registry_variable(value, &urls);
	}
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		ab_autofree char *path = find_path(&files[i], group, home, env);
		ab_autoview struct ab_view view = { 0 };

		if (path && read_registry(path, &files[i], &view))
			ab_strv_extend(&urls, &view.urls);
	}
	for (size_t i = 0; i < urls.len; i++)
		ab_registry_add_host(urls.v[i], ret_entries);
}

void ab_registries_faults(const char *group, const char *home, char *const *env,
			  struct ab_strv *ret_notes)
{
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		ab_autofree char *path = find_path(&files[i], group, home, env);
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
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		char *path = find_path(&files[i], NULL, home, env);

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
	for (size_t i = 0; i < AB_COUNT(files); i++) {
		ab_autoview struct ab_view v = { 0 };
		ab_autofree char *path =
			files[i].place == IN_SYSTEM ? NULL : find_path(&files[i], group, home, env);

		if (path && read_registry(path, &files[i], &v) && v.text.len)
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

void ab_registries_visible(const char *home, char *const *env, const struct ab_strv *exist,
			   struct ab_registry_views *ret)
{
	for (size_t i = 0; i < AB_COUNT(files) && (!exist || exist->len); i++) {
		ab_autofree char *path =
			files[i].place == IN_SYSTEM ? NULL : find_path(&files[i], NULL, home, env);
		ab_autoview struct ab_view v = { 0 };

		if (path && (!exist || ab_strv_has(exist, path)) &&
		    read_visible(path, &files[i], &v))
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
