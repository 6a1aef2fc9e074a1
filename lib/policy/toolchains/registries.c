#include "policy/toolchains/registries.h"

#include "base/system/own_path.h"
#include "base/text/words.h"
#include "policy/toolchains/registry_files.h"
#include "policy/toolchains/tool_places.h"
#include "policy/values/host.h"
#include "policy/values/paths.h"

enum { FILE_MAX = 256 * 1024, HOSTS_MAX = 64 };

/* Of one group the first file comes first. */
static const struct ab_registry_row {
	char group[12];
	char path[36];
	const struct ab_view_format *format;
} files[] = {
	{ "npm", "~/.npmrc", &ab_registry_npmrc },
	{ "npm", "~/.yarnrc", &ab_registry_yarn1 },
	{ "npm", "~/.yarnrc.yml", &ab_registry_yarnrc },
	{ "npm", "~/.config/pnpm/rc", &ab_registry_npmrc },
	{ "npm", "~/.config/pnpm/auth.ini", &ab_registry_npmrc },
	{ "npm", "~/.config/pnpm/config.yaml", &ab_registry_pnpm },
	{ "npm", "~/.bunfig.toml", &ab_registry_bun },
	{ "npm", "~/.config/.bunfig.toml", &ab_registry_bun },
	{ "npm", "~/.config/.npmrc", &ab_registry_npmrc },
	{ "pypi", "~/.config/pip/pip.conf", &ab_registry_pip },
	{ "pypi", "~/.pip/pip.conf", &ab_registry_pip },
	{ "pypi", "/etc/pip.conf", &ab_registry_pip },
	{ "pypi", "~/.config/uv/uv.toml", &ab_registry_uv },
	{ "crates", "~/.cargo/config.toml", &ab_registry_cargo },
	{ "crates", "~/.cargo/config", &ab_registry_cargo },
	{ "go", "~/.config/go/env", &ab_registry_go },
	{ "maven", "~/.m2/settings.xml", &ab_registry_maven },
	{ "maven", "~/.gradle/gradle.properties", &ab_registry_gradle },
	{ "maven", "/etc/maven/settings.xml", &ab_registry_maven },
	{ "rubygems", "~/.bundle/config", &ab_registry_bundle },
	{ "rubygems", "~/.gemrc", &ab_registry_gemrc },
	{ "rubygems", "~/.config/gem/gemrc", &ab_registry_gemrc },
	{ "rubygems", "/etc/gemrc", &ab_registry_gemrc },
	{ "packagist", "~/.config/composer/config.json", &ab_registry_composer },
	{ "packagist", "~/.composer/config.json", &ab_registry_composer },
	{ "nuget", "~/.nuget/NuGet/NuGet.Config", &ab_registry_nuget },
	{ "nuget", "~/.config/NuGet/NuGet.Config", &ab_registry_nuget },
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

static void add_file(struct ab_arena *a, const struct ab_registry_row *row, const char *path,
		     bool linked, struct ab_registry_file **list)
{
	struct ab_registry_file *f = ab_arena_alloc(a, sizeof(*f));

	*f = (struct ab_registry_file){ *list, row, ab_arena_dup(a, path), .linked = linked };
	*list = f;
}

struct ab_registry_file *ab_registries_find(struct ab_arena *a, const struct ab_tool_place *places)
{
	struct ab_registry_file *list = NULL;

	for (const struct ab_registry_row *row = files + AB_COUNT(files); row-- > files;) {
		if (row->path[0] == '/')
			add_file(a, row, row->path, false, &list);
		for (const struct ab_tool_place *p = places; p; p = p->next) {
			ab_autofree char *path = ab_tool_place_path(p, row->path);

			if (path)
				add_file(a, row, path, p->linked, &list);
		}
	}
	return list;
}

/* May it name hosts of this group? */
static bool belongs_to(const struct ab_registry_file *f, const char *group)
{
	return !f->linked && strcmp(f->row->group, group) == 0;
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

/* False: there is none. One that is too large is as if it could not be read. These are the user's own files,
 * so links are followed. With a fault it is not obeyed, but hidden like the others. */
static bool read_registry(const struct ab_registry_file *f, struct ab_view *ret,
			  const char **ret_fault)
{
	ab_autoclose int fd = open_registry(f->path, ret_fault);
	char *data;
	size_t len;

	ret->broken = fd < 0 ? *ret_fault != NULL : ab_read_all(fd, FILE_MAX, &data, &len) < 0;
	if (fd < 0 || ret->broken)
		return ret->broken;
	ab_view_make(f->row->format, data, len, ret);
	explicit_bzero(data, len); /* it may have tokens */
	free(data);
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

void ab_registries_hosts(const char *group, const struct ab_registry_file *list, char *const *env,
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
	for (const struct ab_registry_file *f = list; f; f = f->next) {
		ab_autoview struct ab_view view = { 0 };
		const char *fault;

		if (belongs_to(f, group) && read_registry(f, &view, &fault) && !fault)
			ab_strv_extend(&urls, &view.urls);
	}
	for (size_t i = 0; i < urls.len; i++)
		ab_registry_add_host(urls.v[i], ret_entries);
}

void ab_registries_faults(const char *group, const struct ab_registry_file *list,
			  struct ab_strv *ret_notes)
{
	for (const struct ab_registry_file *f = list; f; f = f->next) {
		const char *fault = NULL;
		ab_autoclose int fd = belongs_to(f, group) ? open_registry(f->path, &fault) : -1;

		(void)fd;
		if (fault)
			ab_strv_addf(ret_notes, "%s %s, so its registries are not used", f->path,
				     fault);
	}
}

/* Takes the text of the view. A file that is gone has none. */
static void add_view(struct ab_registry_views *views, const struct ab_registry_file *f,
		     struct ab_view *v)
{
	char *real = realpath(f->path, NULL);

	if (real)
		*ab_append(views->v, views->len) =
			(struct ab_registry_view){ .path = ab_strdup(f->path),
						   .real = real,
						   .text = ab_buf_take(&v->text),
						   .left = v->left,
						   .broken = v->broken };
}

void ab_registries_views(const char *group, const struct ab_registry_file *list,
			 struct ab_registry_views *ret)
{
	for (const struct ab_registry_file *f = list; f; f = f->next) {
		ab_autoview struct ab_view v = { 0 };
		const char *fault;

		if ((group ? belongs_to(f, group) : !f->missing) && f->row->path[0] == '~' &&
		    read_registry(f, &v, &fault) && (group ? !fault && v.text.len : !v.whole))
			add_view(ret, f, &v);
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
