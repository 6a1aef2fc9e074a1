#include "policy/toolchains/registry_files.h"

#include <stdio.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"
#include "base/text/toml.h"
#include "policy/toolchains/registry_text.h"
#include "policy/values/host.h"

enum { LIST_MAX = 2048, SECTION_MAX = 64 };

void ab_registry_fini(struct ab_registry *r)
{
	ab_strv_fini(&r->urls);
	ab_buf_fini(&r->shown);
}

/* "registry", or "@scope:registry". */
static bool is_npm_registry(const char *key, size_t len)
{
	static const char end[] = ":registry";
	const size_t n = sizeof(end) - 1;

	if (ab_registry_is_word(key, len, "registry"))
		return true;
	return len > n + 1 && key[0] == '@' && memcmp(key + len - n, end, n) == 0 &&
	       ab_registry_has_only(key + 1, len - n - 1, "._~-");
}

static void read_npm_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	ab_autofree char *url = NULL;
	const char *value;
	size_t key, n;

	(void)arg;
	s = ab_registry_trim(s, &len);
	if (!len || *s == ';' || *s == '#' ||
	    ab_registry_split_pair(s, len, '=', &key, &value, &n) < 0)
		return;
	if (is_npm_registry(s, key))
		url = ab_registry_keep_url(r, value, n);
	if (url)
		ab_buf_printf(&r->shown, "%.*s=%s\n", (int)key, s, url);
	else if ((ab_registry_is_word(s, key, "strict-ssl") && ab_registry_is_bool(value, n)) ||
		 (ab_registry_is_word(s, key, "cafile") && ab_registry_is_file(value, n)))
		ab_buf_printf(&r->shown, "%.*s=%.*s\n", (int)key, s, (int)n, value);
}

void ab_registry_npmrc(const char *text, struct ab_registry *ret)
{
	ab_registry_each_line(text, ret, read_npm_line, NULL);
}

/* Where a line of YAML is: below npmScopes, below one of its scopes, or neither. */
struct yarn {
	bool scopes;
	size_t depth; /* of the scope's name */
	char scope[SECTION_MAX];
	bool opened; /* "npmScopes:" is in the output */
};

static void put_yarn(struct ab_registry *r, struct yarn *y, bool top, const char *url)
{
	if (top) {
		ab_buf_printf(&r->shown, "npmRegistryServer: \"%s\"\n", url);
		return;
	}
	if (!y->opened)
		ab_buf_puts(&r->shown, "npmScopes:\n");
	y->opened = true;
	ab_buf_printf(&r->shown, "  %s:\n    npmRegistryServer: \"%s\"\n", y->scope, url);
}

static void read_yarn_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	struct yarn *y = arg;
	ab_autofree char *url = NULL;
	size_t depth = 0, key, n;
	const char *value;

	while (depth < len && s[depth] == ' ')
		depth++;
	if (depth == len || s[depth] == '#' ||
	    ab_registry_split_pair(s + depth, len - depth, ':', &key, &value, &n) < 0)
		return;
	s = ab_registry_trim(s + depth, &key);
	if (depth == 0) {
		y->scopes = ab_registry_is_word(s, key, "npmScopes");
		y->scope[0] = '\0';
		y->depth = 0;
	} else if (y->scopes && n == 0 && (!y->depth || depth <= y->depth)) {
		y->depth = depth;
		y->scope[0] = '\0';
		if (key < SECTION_MAX && ab_registry_has_only(s, key, "._-"))
			snprintf(y->scope, sizeof(y->scope), "%.*s", (int)key, s);
	}
	if (!ab_registry_is_word(s, key, "npmRegistryServer") || (depth && !y->scope[0]))
		return;
	url = ab_registry_keep_url(r, value, n);
	if (url)
		put_yarn(r, y, depth == 0, url);
	if (depth)
		y->scope[0] = '\0';
}

void ab_registry_yarnrc(const char *text, struct ab_registry *ret)
{
	struct yarn y = { 0 };

	ab_registry_each_line(text, ret, read_yarn_line, &y);
}

struct pip {
	char section[SECTION_MAX];
	bool opened;	 /* the section is in the output */
	const char *key; /* of the line before: its value may continue */
	bool started;	 /* the key is in the output */
};

static const char *find_pip_key(const char *s, size_t len)
{
	static const char *const keys[] = { "index-url", "extra-index-url", "find-links",
					    "trusted-host", "cert" };

	for (size_t i = 0; i < AB_COUNT(keys); i++) {
		bool same = strlen(keys[i]) == len;

		/* pip accepts "_" for "-", and any case. */
		for (size_t k = 0; same && k < len; k++)
			same = (s[k] == '_' ? '-' : ab_lower(s[k])) == keys[i][k];
		if (same)
			return keys[i];
	}
	return NULL;
}

/* One word of a value; NULL: it is not kept. */
static char *keep_pip_word(struct ab_registry *r, const char *key, const char *s, size_t len)
{
	struct ab_host_entry e;

	if (strcmp(key, "cert") == 0)
		return ab_registry_is_file(s, len) ? ab_strndup(s, len) : NULL;
	if (strcmp(key, "trusted-host") == 0)
		return ab_host_entry_parse(s, len, &e, NULL) == 0 && !e.below ? ab_strndup(s, len)
									      : NULL;
	return ab_registry_keep_url(r, s, len);
}

static void put_pip_words(struct ab_registry *r, struct pip *p, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		ab_autofree char *word = NULL;
		size_t n = 0;

		while (s < end && ab_is_space(*s))
			s++;
		while (s + n < end && !ab_is_space(s[n]))
			n++;
		word = n ? keep_pip_word(r, p->key, s, n) : NULL;
		s += n;
		if (!word)
			continue;
		if (!p->opened)
			ab_buf_printf(&r->shown, "[%s]\n", p->section);
		p->opened = true;
		if (!p->started)
			ab_buf_printf(&r->shown, "%s = %s\n", p->key, word);
		else
			ab_buf_printf(&r->shown, "    %s\n", word);
		p->started = true;
	}
}

static void read_pip_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	struct pip *p = arg;
	const char *value, *text;
	size_t key, n = len;

	text = ab_registry_trim(s, &n);
	if (!n || *text == '#' || *text == ';')
		return;
	if (ab_is_blank(*s) && p->key) {
		put_pip_words(r, p, text, n);
		return;
	}
	p->key = NULL;
	if (*text == '[') {
		p->section[0] = '\0';
		p->opened = false;
		if (text[n - 1] == ']' && n - 2 < SECTION_MAX &&
		    ab_registry_has_only(text + 1, n - 2, "_-"))
			snprintf(p->section, sizeof(p->section), "%.*s", (int)(n - 2), text + 1);
		return;
	}
	if (!p->section[0] || ab_registry_split_pair(text, n, '=', &key, &value, &n) < 0)
		return;
	p->key = find_pip_key(text, key);
	p->started = false;
	if (p->key)
		put_pip_words(r, p, value, n);
}

void ab_registry_pip(const char *text, struct ab_registry *ret)
{
	struct pip p = { 0 };

	ab_registry_each_line(text, ret, read_pip_line, &p);
}

struct uv {
	struct ab_registry *r;
	unsigned table;
	struct ab_buf more; /* further members of the [[index]] */
	char *url;
};

/* An [[index]] without a usable URL is left out as a whole. */
static void end_uv_index(struct uv *u)
{
	if (u->url)
		ab_buf_printf(&u->r->shown, "[[index]]\nurl = \"%s\"\n%s", u->url,
			      u->more.data ? u->more.data : "");
	free(u->url);
	u->url = NULL;
	ab_buf_fini(&u->more);
}

static void read_uv(void *arg, const struct ab_toml_value *v)
{
	ab_autofree char *url = NULL;
	struct uv *u = arg;
	size_t n = strlen(v->text);

	if (v->table != u->table)
		end_uv_index(u);
	u->table = v->table;
	if (ab_toml_is(v, "index.url") && v->kind == '"' && !u->url)
		u->url = ab_registry_keep_url(u->r, v->text, n);
	else if (ab_toml_is(v, "index.name") && v->kind == '"' &&
		 ab_registry_has_only(v->text, n, "_.-"))
		ab_buf_printf(&u->more, "name = \"%s\"\n", v->text);
	else if ((ab_toml_is(v, "index.default") || ab_toml_is(v, "index.explicit")) &&
		 v->kind == 't')
		ab_buf_printf(&u->more, "%s = true\n", v->keys[1]);
	else if (ab_toml_is(v, "index-url") && v->kind == '"' &&
		 (url = ab_registry_keep_url(u->r, v->text, n)))
		ab_buf_printf(&u->r->shown, "index-url = \"%s\"\n", url);
	else if (ab_toml_is(v, "extra-index-url") && v->kind == '"')
		free(ab_registry_keep_url(u->r, v->text,
					  n)); /* its host; a list cannot be written in pieces */
}

void ab_registry_uv(const char *text, struct ab_registry *ret)
{
	struct uv u = { .r = ret };
	unsigned line;

	ab_toml_scan(text, strlen(text), read_uv, &u, &line);
	end_uv_index(&u);
}

static void read_cargo(void *arg, const struct ab_toml_value *v)
{
	struct ab_registry *r = arg;
	ab_autofree char *url = NULL;
	const char *text = v->text;
	size_t n = strlen(text);

	if (v->kind != '"' || v->element || v->nkeys < 2 ||
	    (v->nkeys == 3 && !ab_registry_has_only(v->keys[1], strlen(v->keys[1]), "_-")))
		return;
	if (ab_toml_is(v, "registry.default") && ab_registry_has_only(text, n, "_-"))
		ab_buf_printf(&r->shown, "registry.default = \"%s\"\n", text);
	else if (ab_toml_is(v, "source.*.replace-with") && ab_registry_has_only(text, n, "_-"))
		ab_buf_printf(&r->shown, "source.%s.replace-with = \"%s\"\n", v->keys[1], text);
	else if ((ab_toml_is(v, "source.*.registry") || ab_toml_is(v, "registries.*.index")) &&
		 (url = ab_registry_keep_url(r, text, n)))
		ab_buf_printf(&r->shown, "%s.%s.%s = \"%s\"\n", v->keys[0], v->keys[1], v->keys[2],
			      url);
}

void ab_registry_cargo(const char *text, struct ab_registry *ret)
{
	unsigned line;

	ab_toml_scan(text, strlen(text), read_cargo, ret, &line);
}

/* A list like GOPROXY: URLs, "direct" and "off". */
static void put_go_proxies(struct ab_registry *r, const char *s, size_t len)
{
	ab_autobuf struct ab_buf list = { 0 };
	const char *end = s + len;

	while (s < end) {
		ab_autofree char *url = NULL;
		size_t n = 0;

		while (s + n < end && s[n] != ',' && s[n] != '|')
			n++;
		if (ab_registry_is_word(s, n, "direct") || ab_registry_is_word(s, n, "off"))
			url = ab_strndup(s, n);
		else
			url = ab_registry_keep_url(r, s, n);
		if (url)
			ab_buf_printf(&list, "%s%s", list.len ? "," : "", url);
		s += n + 1;
	}
	if (list.len)
		ab_buf_printf(&r->shown, "GOPROXY=%s\n", list.data);
}

static void read_go_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	static const char *const others[] = { "GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB",
					      "GOINSECURE" };
	const char *value;
	size_t key, n;

	(void)arg;
	s = ab_registry_trim(s, &len);
	if (ab_registry_split_pair(s, len, '=', &key, &value, &n) < 0)
		return;
	if (ab_registry_is_word(s, key, "GOPROXY"))
		put_go_proxies(r, value, n);
	for (size_t i = 0; i < AB_COUNT(others); i++)
		if (ab_registry_is_word(s, key, others[i]) && n < LIST_MAX &&
		    ab_registry_has_only(value, n, "*./,_-"))
			ab_buf_printf(&r->shown, "%s=%.*s\n", others[i], (int)n, value);
}

void ab_registry_go(const char *text, struct ab_registry *ret)
{
	ab_registry_each_line(text, ret, read_go_line, NULL);
}

/* "BUNDLE_MIRROR__ALL", or the same with the URL of a source. Bundler writes "__" for a dot and
 * "___" for a dash. */
static bool is_bundle_mirror(const char *key, size_t len)
{
	static const char start[] = "BUNDLE_MIRROR__";
	const size_t n = sizeof(start) - 1;
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *url = NULL;

	if (len <= n || memcmp(key, start, n) != 0 || !ab_registry_has_only(key, len, "_:/"))
		return false;
	if (ab_registry_is_word(key + n, len - n, "ALL"))
		return true;
	for (size_t i = n; i < len; i++) {
		size_t bars = 0;

		while (bars < 3 && i + bars < len && key[i + bars] == '_')
			bars++;
		ab_buf_printf(&b, "%c", bars == 3 ? '-' : bars == 2 ? '.' : ab_lower(key[i]));
		i += bars > 1 ? bars - 1 : 0;
	}
	url = ab_registry_url(b.data, b.len);
	return url != NULL;
}

static void begin_yaml(struct ab_registry *r)
{
	if (!r->shown.len)
		ab_buf_puts(&r->shown, "---\n");
}

/* `KEY: "value"`: the key may have a colon, which no blank follows. */
static void read_bundle_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	const char *colon = memmem(s, len, ": ", 2), *value;
	ab_autofree char *url = NULL;
	size_t key, n;

	(void)arg;
	if (!colon)
		return;
	key = (size_t)(colon - s);
	n = len - key - 2;
	value = ab_registry_trim(colon + 2, &n);
	if (is_bundle_mirror(s, key))
		url = ab_registry_keep_url(r, value, n);
	else if (ab_registry_is_word(s, key, "BUNDLE_SSL_CA_CERT") && ab_registry_is_file(value, n))
		url = ab_strndup(value, n);
	if (!url)
		return;
	begin_yaml(r);
	ab_buf_printf(&r->shown, "%.*s: \"%s\"\n", (int)key, s, url);
}

void ab_registry_bundle(const char *text, struct ab_registry *ret)
{
	ab_registry_each_line(text, ret, read_bundle_line, NULL);
}

struct gem {
	bool sources; /* these lines are elements of :sources: */
	bool opened;  /* ":sources:" is in the output */
};

static void read_gem_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	struct gem *g = arg;
	ab_autofree char *url = NULL;

	s = ab_registry_trim(s, &len);
	if (!len || *s == '#')
		return;
	if (*s != '-' || len < 2 || s[1] != ' ') {
		g->sources = ab_registry_is_word(s, len, ":sources:") ||
			     ab_registry_is_word(s, len, "sources:");
		return;
	}
	len -= 2;
	s = ab_registry_trim(s + 2, &len);
	url = g->sources ? ab_registry_keep_url(r, s, len) : NULL;
	if (!url)
		return;
	begin_yaml(r);
	ab_buf_printf(&r->shown, "%s- %s\n", g->opened ? "" : ":sources:\n", url);
	g->opened = true;
}

void ab_registry_gemrc(const char *text, struct ab_registry *ret)
{
	struct gem g = { 0 };

	ab_registry_each_line(text, ret, read_gem_line, &g);
}

void ab_registry_variable(const char *text, struct ab_registry *ret)
{
	while (*text) {
		size_t n = strcspn(text, " \t,|\r\n");
		const char *name = memchr(text, '=', n), *colon = memchr(text, ':', n);
		size_t skip = name && colon && name < colon ? (size_t)(name + 1 - text) : 0;

		free(ab_registry_keep_url(ret, text + skip, n - skip)); /* UV_INDEX: "name=URL" */
		text += n + (text[n] != '\0');
	}
}
