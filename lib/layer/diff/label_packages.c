#include "audit/read/details.h"
#include "base/text/words.h"
#include "layer/diff/label_state.h"

enum {
	HOSTS_MAX = 64, /* of one lock file */
	MEMBERS = 32,	/* of a row of manifests */
	CHECKS = 64,	/* unusual dependencies that are looked up in the old manifest */
};

/*
 * Manifests in JSON, and members of them. A new or changed member has the label, with the member as
 * the detail. Of dependencies only those count that come from another place than a registry.
 */
static const struct manifest {
	const char *names, *who;
	enum ab_label_id id;
	bool dependencies;
	const char *members;
} manifests[] = {
	{ "package.json package.json5 package.yaml", "npm", AB_LABEL_BUILD, false,
	  "scripts gypfile packageManager pnpm husky lint-staged simple-git-hooks pre-commit "
	  "workspaces eslintConfig prettier jest trustedDependencies babel stylelint mocha ava nyc "
	  "xo wireit lavamoat" },
	{ "package.json package.json5 package.yaml", "npm", AB_LABEL_REGISTRY, true,
	  "dependencies devDependencies optionalDependencies peerDependencies overrides "
	  "resolutions" },
	{ "composer.json", "composer", AB_LABEL_BUILD, false, "scripts config" },
	{ "composer.json", "composer", AB_LABEL_REGISTRY, false, "repositories" },
};

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
	const char *names, *key;
} lock_rows[] = {
	{ "package-lock.json npm-shrinkwrap.json", "\"resolved\"" },
	{ "composer.lock", "\"url\"" },
	{ "gemfile.lock", "remote" },
	{ "yarn.lock pnpm-lock.yaml bun.lock deno.lock cargo.lock poetry.lock uv.lock pdm.lock "
	  "pylock*.toml pipfile.lock mix.lock pubspec.lock podfile.lock flake.lock "
	  "package.resolved .terraform.lock.hcl gradle.lockfile",
	  "" },
};

/* Where the packages of a new lock file usually come from. */
static const char usual_hosts[] =
	"registry.npmjs.org registry.yarnpkg.com jsr.io npm.jsr.io pypi.org files.pythonhosted.org "
	"crates.io index.crates.io static.crates.io rubygems.org repo.packagist.org hex.pm "
	"repo.hex.pm pub.dev pub.dartlang.org registry.terraform.io repo.maven.apache.org "
	"proxy.golang.org deno.land github.com/rust-lang/crates.io-index";

/* Anybody can publish there. */
static const char code_hosts[] =
	"github.com codeload.github.com raw.githubusercontent.com gitlab.com bitbucket.org "
	"codeberg.org git.sr.ht gist.github.com cdn.jsdelivr.net";

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
	size_t slashes = 3, k = n;

	if (!ab_word_listed(code_hosts, host, n))
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

/* Can both sides be read as a whole? */
static bool is_readable(const struct ab_label_input *in)
{
	return in->fresh.data && !in->fresh.cut &&
	       (in->change->was == AB_TYPE_NONE || (in->old.data && !in->old.cut));
}

static void check_lock(const struct ab_label_input *in, const char *key, struct ab_label_hits *hits)
{
	ab_autostrv struct ab_strv old = { 0 }, fresh = { 0 };

	if (!is_readable(in)) {
		ab_label_add(hits, AB_LABEL_REGISTRY, NULL, "cannot be checked");
		return;
	}
	/* If the old file has too many, some that are not new are reported. */
	if (in->old.data)
		(void)collect_hosts(&in->old, key, &old);
	if (!collect_hosts(&in->fresh, key, &fresh)) {
		ab_label_add(hits, AB_LABEL_REGISTRY, NULL, "very many hosts");
		return;
	}
	for (size_t i = 0; i < fresh.len; i++)
		if (!ab_strv_has(&old, fresh.v[i]) &&
		    !ab_word_listed(usual_hosts, fresh.v[i], strlen(fresh.v[i]))) {
			ab_label_add(hits, AB_LABEL_REGISTRY, NULL, fresh.v[i]);
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

static void check_dependencies(const struct ab_detail *old, const struct ab_detail *fresh,
			       struct ab_label_hits *hits)
{
	const char *p = fresh->at, *end;
	struct text value;
	size_t checks = 0;

	if (fresh->kind != AB_DETAIL_NESTED)
		return;
	end = p + fresh->len;
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
static int find_members(const struct ab_label_side *side, const struct ab_strv *names,
			struct ab_detail *ret)
{
	bool marked = side->len >= 3 && memcmp(side->data, "\xef\xbb\xbf", 3) == 0;

	return ab_details_find(side->data + (marked ? 3 : 0), side->len - (marked ? 3 : 0),
			       (const char *const *)names->v, names->len, ret);
}

static void check_manifest(const struct ab_label_input *in, const struct manifest *m,
			   struct ab_label_hits *hits)
{
	struct ab_detail old[MEMBERS] = { 0 }, fresh[MEMBERS];
	ab_autostrv struct ab_strv names = { 0 };
	const char *list = m->members, *word;

	for (size_t n; (word = ab_word_next(&list, &n));)
		ab_strv_give(&names, ab_strndup(word, n));
	if (!is_readable(in) || find_members(&in->fresh, &names, fresh) < 0) {
		ab_label_add(hits, AB_LABEL_BUILD, m->who, "cannot be checked");
		return;
	}
	if (in->old.data && find_members(&in->old, &names, old) < 0)
		memset(old, 0, sizeof(old));
	for (size_t i = 0; i < names.len; i++)
		if (m->dependencies)
			check_dependencies(&old[i], &fresh[i], hits);
		else if (fresh[i].kind != AB_DETAIL_NONE && !is_same_detail(&old[i], &fresh[i]))
			ab_label_add(hits, m->id, m->who, names.v[i]);
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

	if (!is_readable(in)) {
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

static bool matches_word(const char *patterns, const char *name)
{
	const char *word;

	for (size_t n; (word = ab_word_next(&patterns, &n));)
		if (ab_label_matches(word, name))
			return true;
	return false;
}

void ab_label_packages(const struct ab_label_input *in, const char *name,
		       struct ab_label_hits *hits)
{
	if (in->change->is == AB_TYPE_NONE || in->change->is == AB_TYPE_DIR ||
	    in->change->kind == AB_CHANGE_MODE)
		return;
	for (size_t i = 0; i < AB_COUNT(manifests); i++)
		if (ab_word_listed(manifests[i].names, name, strlen(name)))
			check_manifest(in, &manifests[i], hits);
	for (size_t i = 0; i < AB_COUNT(line_rows); i++)
		if (ab_label_matches(line_rows[i].name, name))
			check_lines(in, i, hits);
	for (size_t i = 0; i < AB_COUNT(lock_rows); i++)
		if (matches_word(lock_rows[i].names, name))
			check_lock(in, lock_rows[i].key, hits);
}
