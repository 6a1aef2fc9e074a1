#include <string.h>

#include "audit/read/details.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/text/ascii.h"
#include "layer/diff/label_state.h"

enum {
	HOSTS_MAX = 64, /* of one lock file */
	CHECKS = 64,	/* unusual dependencies that are looked up in the old manifest */
};

/* Members of package.json that make a tool run something. */
static const char *const script_members[] = {
	"scripts",
	"gypfile",
	"packageManager",
	"pnpm",
	"husky",
	"lint-staged",
	"simple-git-hooks",
	"pre-commit",
	"workspaces",
	"eslintConfig",
	"prettier",
	"jest",
	"trustedDependencies",
	"babel",
	"stylelint",
	"mocha",
	"ava",
	"nyc",
	"xo",
	"wireit",
	"lavamoat",
};

static const char *const dependency_members[] = {
	"dependencies",	    "devDependencies", "optionalDependencies",
	"peerDependencies", "overrides",       "resolutions",
};

/* Members of composer.json. */
static const char *const composer_members[] = { "scripts", "config", "repositories" };
enum { COMPOSER_REPOSITORIES = 2 };

/* Manifests in which single lines matter. In lower case. A needle also matches a line without its
 * blanks and quotes. */
static const struct {
	char name[20];
	char who[10];
	uint8_t id;
	char needles[6][18];
} line_rows[] = {
	{ "cargo.toml",
	  "cargo",
	  AB_LABEL_BUILD,
	  { "build=", "links=", "proc-macro", "proc_macro" } },
	{ "cargo.toml",
	  "cargo",
	  AB_LABEL_REGISTRY,
	  { "git=", "registry", "[patch", "[replace", "path=" } },
	{ "requirements*.txt",
	  "pip",
	  AB_LABEL_REGISTRY,
	  { "://", "--index-url", "--extra-index-url", "--find-links", "-i ", "-f " } },
	{ "constraints*.txt", "pip", AB_LABEL_REGISTRY, { "://", "--index-url" } },
	{ "pipfile", "pipenv", AB_LABEL_REGISTRY, { "://", "git=", "path=", "file=" } },
	{ "pipfile", "pipenv", AB_LABEL_BUILD, { "[scripts]" } },
	{ "go.mod", "go", AB_LABEL_REGISTRY, { "replace ", "=>" } },
	{ "go.mod", "go", AB_LABEL_BUILD, { "toolchain ", "tool " } },
	{ "go.work", "go", AB_LABEL_REGISTRY, { "replace ", "=>" } },
	{ "environment.y*ml", "conda", AB_LABEL_REGISTRY, { "://", "channel" } },
	{ "pubspec.yaml", "dart", AB_LABEL_REGISTRY, { "git:", "path:", "hosted:" } },
};

/* Lock files, and what is before an address that packages come from; "": any address. */
static const struct {
	char name[20];
	char key[12];
} lock_rows[] = {
	{ "package-lock.json", "\"resolved\"" },
	{ "npm-shrinkwrap.json", "\"resolved\"" },
	{ "yarn.lock", "" },
	{ "pnpm-lock.yaml", "" },
	{ "bun.lock", "" },
	{ "deno.lock", "" },
	{ "cargo.lock", "" },
	{ "poetry.lock", "" },
	{ "uv.lock", "" },
	{ "pdm.lock", "" },
	{ "pylock*.toml", "" },
	{ "pipfile.lock", "" },
	{ "composer.lock", "\"url\"" },
	{ "gemfile.lock", "remote" },
	{ "mix.lock", "" },
	{ "pubspec.lock", "" },
	{ "podfile.lock", "" },
	{ "flake.lock", "" },
	{ "package.resolved", "" },
	{ ".terraform.lock.hcl", "" },
	{ "gradle.lockfile", "" },
};

/* Where the packages of a new lock file usually come from. */
static const char usual_hosts[][40] = {
	"registry.npmjs.org",
	"registry.yarnpkg.com",
	"jsr.io",
	"npm.jsr.io",
	"pypi.org",
	"files.pythonhosted.org",
	"crates.io",
	"index.crates.io",
	"static.crates.io",
	"rubygems.org",
	"repo.packagist.org",
	"hex.pm",
	"repo.hex.pm",
	"pub.dev",
	"pub.dartlang.org",
	"registry.terraform.io",
	"repo.maven.apache.org",
	"proxy.golang.org",
	"deno.land",
	"github.com/rust-lang/crates.io-index",
};

/* Anybody can publish there. */
static const char code_hosts[][28] = {
	"github.com", "codeload.github.com", "raw.githubusercontent.com",
	"gitlab.com", "bitbucket.org",	     "codeberg.org",
	"git.sr.ht",  "gist.github.com",     "cdn.jsdelivr.net",
};

/* The host of the URL at `p`, which begins behind "://"; empty if there is none. */
static size_t measure_host(const char **p, const char *end)
{
	const char *host = *p, *at;
	size_t n = 0;

	while (host + n < end && n < 256 && (unsigned char)host[n] > ' ' &&
	       !strchr("/?#\"'<>)]},;|\\", host[n]))
		n++;
	at = memrchr(host, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	*p = host;
	return n;
}

/* On a host where anybody can publish, a repository is the source: "github.com/x/y". */
static size_t measure_source(const char *host, size_t n, const char *end)
{
	size_t slashes = 0, k = n;

	for (size_t i = 0; i < AB_COUNT(code_hosts); i++)
		if (n == strlen(code_hosts[i]) && memcmp(host, code_hosts[i], n) == 0)
			slashes = 3;
	if (!slashes)
		return n;
	while (host + k < end && k < n + 200 && (unsigned char)host[k] > ' ' &&
	       !strchr("?#\"'<>)]},;|\\", host[k]) && (slashes -= host[k] == '/') > 0)
		k++;
	return k;
}

/* Has the line before the URL only this key, punctuation and the protocol? */
static bool follows_key(const char *text, const char *url, const char *key)
{
	const char *p = url;
	size_t n = strlen(key);

	if (!n)
		return true;
	while (p > text && (ab_is_alnum((unsigned char)p[-1]) || p[-1] == '+'))
		p--;
	while (p > text && strchr("\" \t:", p[-1]) && p[-1])
		p--;
	/* The loop also takes the key's own quote. */
	if (key[n - 1] == '"')
		p++;
	return (size_t)(p - text) >= n && memcmp(p - n, key, n) == 0;
}

/* False: there are more than HOSTS_MAX. */
static bool collect_hosts(const struct ab_label_side *side, const char *key, struct ab_strv *ret)
{
	const char *p = side->data, *end = p + side->len;

	while ((p = memmem(p, (size_t)(end - p), "://", 3))) {
		const char *url = p, *host = p + 3;
		size_t n = measure_host(&host, end);

		p += 3;
		if (n && follows_key(side->data, url, key)) {
			ab_autofree char *name = ab_strndup(host, measure_source(host, n, end));

			for (char *c = name; *c; c++)
				*c = (char)ab_lower((unsigned char)*c);
			if (!ab_strv_has(ret, name) && ret->len == HOSTS_MAX)
				return false;
			ab_strv_add_once(ret, name);
		}
	}
	return true;
}

static bool is_usual_host(const char *host)
{
	for (size_t i = 0; i < AB_COUNT(usual_hosts); i++)
		if (strcmp(usual_hosts[i], host) == 0)
			return true;
	return false;
}

static void check_lock(const struct ab_label_input *in, const char *key, struct ab_label_hits *hits)
{
	ab_autostrv struct ab_strv old = { 0 }, new = { 0 };
	bool known = in->change->was == AB_TYPE_NONE || (in->old.data && !in->old.cut);

	if (!in->new.data || in->new.cut || !known) {
		ab_label_add(hits, AB_LABEL_REGISTRY, NULL, "cannot be checked");
		return;
	}
	/* If the old file has too many, some that are not new are reported. */
	if (in->old.data)
		(void)collect_hosts(&in->old, key, &old);
	if (!collect_hosts(&in->new, key, &new)) {
		ab_label_add(hits, AB_LABEL_REGISTRY, NULL, "very many hosts");
		return;
	}
	for (size_t i = 0; i < new.len; i++)
		if (!ab_strv_has(&old, new.v[i]) && !is_usual_host(new.v[i])) {
			ab_label_add(hits, AB_LABEL_REGISTRY, NULL, new.v[i]);
			return;
		}
}

static bool is_same_detail(const struct ab_detail *a, const struct ab_detail *b)
{
	return a->kind == b->kind && a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* One text of an object. */
struct text {
	const char *at;
	size_t len;
	bool name; /* of a member */
};

static bool next_text(const char **p, const char *end, struct text *ret)
{
	const char *q = memchr(*p, '"', (size_t)(end - *p));

	if (!q)
		return false;
	ret->at = ++q;
	while (q < end && *q != '"')
		q += *q == '\\' && q + 1 < end ? 2 : 1;
	if (q >= end)
		return false;
	ret->len = (size_t)(q - ret->at);
	*p = ++q;
	while (q < end && ab_is_space((unsigned char)*q))
		q++;
	ret->name = q < end && *q == ':';
	return true;
}

/* A version of a registry has neither a protocol nor a path. An alias ("npm:other@1") is another
 * package than the name says. */
static bool is_elsewhere(const struct text *t)
{
	static const char own[][12] = { "workspace:", "catalog:" };

	for (size_t i = 0; i < AB_COUNT(own); i++)
		if (t->len >= strlen(own[i]) && memcmp(t->at, own[i], strlen(own[i])) == 0)
			return false;
	return memchr(t->at, ':', t->len) || memchr(t->at, '/', t->len) ||
	       memchr(t->at, '\\', t->len);
}

static void check_dependencies(const struct ab_detail *old, const struct ab_detail *new,
			       struct ab_label_hits *hits)
{
	const char *p = new->at, *end;
	struct text value;
	size_t checks = 0;

	if (new->kind != AB_DETAIL_NESTED)
		return;
	end = p + new->len;
	while (next_text(&p, end, &value)) {
		ab_autofree char *detail = NULL;

		if (value.name || !is_elsewhere(&value))
			continue;
		if (checks++ < CHECKS && old->kind == AB_DETAIL_NESTED &&
		    memmem(old->at, old->len, value.at - 1, value.len + 2))
			continue;
		detail = ab_strndup(value.at, value.len);
		ab_label_add(hits, AB_LABEL_REGISTRY, "npm", detail);
		return;
	}
}

/* Without a byte order mark, which package managers skip. */
static int find_members(const struct ab_label_side *side, const char *const names[], size_t n,
			struct ab_detail ret[])
{
	bool marked = side->len >= 3 && memcmp(side->data, "\xef\xbb\xbf", 3) == 0;

	return ab_details_find(side->data + (marked ? 3 : 0), side->len - (marked ? 3 : 0), names,
			       n, ret);
}

static void check_package_json(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	struct ab_detail old_scripts[AB_COUNT(script_members)] = { 0 };
	struct ab_detail new_scripts[AB_COUNT(script_members)];
	struct ab_detail old_deps[AB_COUNT(dependency_members)] = { 0 };
	struct ab_detail new_deps[AB_COUNT(dependency_members)];
	bool known = in->change->was == AB_TYPE_NONE || (in->old.data && !in->old.cut);

	if (!in->new.data || in->new.cut || !known ||
	    find_members(&in->new, script_members, AB_COUNT(script_members), new_scripts) < 0 ||
	    find_members(&in->new, dependency_members, AB_COUNT(dependency_members), new_deps) <
		    0) {
		ab_label_add(hits, AB_LABEL_BUILD, "npm", "cannot be checked");
		return;
	}
	if (in->old.data &&
	    (find_members(&in->old, script_members, AB_COUNT(script_members), old_scripts) < 0 ||
	     find_members(&in->old, dependency_members, AB_COUNT(dependency_members), old_deps) <
		     0)) {
		memset(old_scripts, 0, sizeof(old_scripts));
		memset(old_deps, 0, sizeof(old_deps));
	}
	for (size_t i = 0; i < AB_COUNT(script_members); i++)
		if (new_scripts[i].kind != AB_DETAIL_NONE &&
		    !is_same_detail(&old_scripts[i], &new_scripts[i]))
			ab_label_add(hits, AB_LABEL_BUILD, "npm", script_members[i]);
	for (size_t i = 0; i < AB_COUNT(dependency_members); i++)
		check_dependencies(&old_deps[i], &new_deps[i], hits);
}

static void check_composer_json(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	struct ab_detail old[AB_COUNT(composer_members)] = { 0 };
	struct ab_detail new[AB_COUNT(composer_members)];
	bool known = in->change->was == AB_TYPE_NONE || (in->old.data && !in->old.cut);

	if (!in->new.data || in->new.cut || !known ||
	    find_members(&in->new, composer_members, AB_COUNT(composer_members), new) < 0) {
		ab_label_add(hits, AB_LABEL_BUILD, "composer", "cannot be checked");
		return;
	}
	if (in->old.data &&
	    find_members(&in->old, composer_members, AB_COUNT(composer_members), old) < 0)
		memset(old, 0, sizeof(old));
	for (size_t i = 0; i < AB_COUNT(composer_members); i++)
		if (new[i].kind != AB_DETAIL_NONE && !is_same_detail(&old[i], &new[i]))
			ab_label_add(hits,
				     i == COMPOSER_REPOSITORIES ? AB_LABEL_REGISTRY
								: AB_LABEL_BUILD,
				     "composer", composer_members[i]);
}

static bool has_text(const struct ab_buf *b, const char *text)
{
	return b->len && memmem(b->data, b->len, text, strlen(text));
}

/* The needles of one row. Each way to write a key counts: `git  = x`, `"git" = x`, `tool\tx`. */
static bool has_needle(void *arg, const char *line, size_t len)
{
	const char(*needles)[18] = arg;
	ab_autobuf struct ab_buf spaced = { 0 }, bare = { 0 };
	const char *key_end = memchr(line, '=', len);
	bool escaped = key_end && memchr(line, '\\', (size_t)(key_end - line));

	for (size_t i = 0; i < len; i++) {
		ab_buf_add(&spaced, line[i] == '\t' || line[i] == '(' ? " " : line + i, 1);
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '"' && line[i] != '\'')
			ab_buf_add(&bare, line + i, 1);
	}
	for (size_t i = 0; i < 6 && needles[i][0]; i++) {
		/* A quoted key may have escapes: "b\u0075ild". */
		if (has_text(&spaced, needles[i]) || has_text(&bare, needles[i]) ||
		    (escaped && needles[i][strlen(needles[i]) - 1] == '='))
			return true;
	}
	return false;
}

static void check_lines(const struct ab_label_input *in, size_t row, struct ab_label_hits *hits)
{
	char needles[6][18];
	ab_autofree char *detail = NULL;
	const char *line;
	size_t len;

	if (!in->new.data || in->new.cut ||
	    (in->change->was != AB_TYPE_NONE && (!in->old.data || in->old.cut))) {
		ab_label_add(hits, line_rows[row].id, line_rows[row].who, "cannot be checked");
		return;
	}
	memcpy(needles, line_rows[row].needles, sizeof(needles));
	line = ab_label_new_line(in, has_needle, needles, &len);
	if (!line)
		return;
	while (len && ab_is_blank((unsigned char)*line)) {
		line++;
		len--;
	}
	detail = ab_strndup(line, len);
	ab_label_add(hits, line_rows[row].id, line_rows[row].who, detail);
}

void ab_label_packages(const struct ab_label_input *in, const char *name,
		       struct ab_label_hits *hits)
{
	if (in->change->is == AB_TYPE_NONE || in->change->is == AB_TYPE_DIR ||
	    in->change->kind == AB_CHANGE_MODE)
		return;
	if (strcmp(name, "package.json") == 0 || strcmp(name, "package.json5") == 0 ||
	    strcmp(name, "package.yaml") == 0)
		check_package_json(in, hits);
	if (strcmp(name, "composer.json") == 0)
		check_composer_json(in, hits);
	for (size_t i = 0; i < AB_COUNT(line_rows); i++)
		if (ab_label_matches(line_rows[i].name, name))
			check_lines(in, i, hits);
	for (size_t i = 0; i < AB_COUNT(lock_rows); i++)
		if (ab_label_matches(lock_rows[i].name, name))
			check_lock(in, lock_rows[i].key, hits);
}
