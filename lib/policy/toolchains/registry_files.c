#include "policy/toolchains/registry_files.h"

#include <stdio.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"
#include "base/text/toml.h"
#include "policy/values/host.h"
#include "policy/values/secret_text.h"

enum { URL_MAX = 2048, URLS_MAX = 64, SECTION_MAX = 64 };

void ab_registry_fini(struct ab_registry *r)
{
	ab_strv_fini(&r->urls);
	ab_buf_fini(&r->shown);
}

/* Only these characters: the text goes into files of many grammars. */
static bool has_only(const char *s, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++)
		if (!ab_is_alnum(s[i]) && (!s[i] || !strchr(more, s[i])))
			return false;
	return true;
}

/* "550e8400-e29b-41d4-a716-446655440000" */
static bool is_uuid(const char *s, size_t len)
{
	enum { UUID_LEN = 36 };

	for (size_t i = 0; len == UUID_LEN && i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : ab_hex(s[i]) < 0)
			return false;
	}
	return len == UUID_LEN;
}

/* Does a name between slashes look like a token? Some registries have one there. It is a UUID, a long
 * word without a digit or a separator, or words with digits that are long together: a token may have
 * separators, and ordinary names have numbers, but short ones. */
static bool is_random_name(const char *s, size_t len)
{
	enum { RANDOM_MIN = 16 };
	size_t mixed = 0;

	for (size_t i = 0; i < len; i++) {
		size_t start = i, digits = 0, joints = 0;

		for (; i < len && (ab_is_alnum(s[i]) || s[i] == '_'); i++) {
			digits += ab_is_digit(s[i]);
			joints += s[i] == '_';
		}
		if (digits)
			mixed += i - start;
		else if (!joints && i - start >= RANDOM_MIN)
			return true;
	}
	return mixed >= RANDOM_MIN || is_uuid(s, len);
}

static bool has_random_part(const char *path, size_t len)
{
	for (const char *end = path + len; path < end; path++) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t n = (size_t)((slash ? slash : end) - path);

		if (is_random_name(path, n))
			return true;
		path += n;
	}
	return false;
}

char *ab_registry_url(const char *s, size_t len)
{
	const char *host = memmem(s, len, "://", 3), *at, *path;
	ab_autofree char *url = NULL;
	struct ab_host_entry e;
	size_t n, rest, scheme;

	if (!host || len > URL_MAX || host == s || !has_only(s, (size_t)(host - s), "+"))
		return NULL;
	scheme = (size_t)(host - s);
	host += 3;
	rest = len - (size_t)(host - s);
	for (n = 0; n < rest && !strchr("/?#", host[n]);)
		n++;
	path = host + n;
	rest -= n;
	at = memrchr(host, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (ab_host_entry_parse(host, n, &e, NULL) < 0 || e.below)
		return NULL;
	for (n = 0; n < rest && path[n] != '?' && path[n] != '#';)
		n++;
	if (!has_only(path, n, "/._~%!*+,;=-") || has_random_part(path, n))
		return NULL;
	url = ab_printf("%.*s://%.*s%.*s", (int)scheme, s, (int)(path - host), host, (int)n, path);
	return ab_secret_text(url) ? NULL : ab_take(url);
}

/* A value without blanks and quotes around it. */
static const char *trim(const char *s, size_t *len)
{
	while (*len && ab_is_space(s[*len - 1]))
		--*len;
	while (*len && ab_is_space(*s)) {
		s++;
		--*len;
	}
	if (*len >= 2 && (*s == '"' || *s == '\'') && s[*len - 1] == *s) {
		s++;
		*len -= 2;
	}
	return s;
}

/* Keep the URL, and return it clean; NULL: it is not kept. Free it. */
static char *keep_url(struct ab_registry *r, const char *s, size_t len)
{
	char *url = r->urls.len < URLS_MAX ? ab_registry_url(s, len) : NULL;

	if (url)
		ab_strv_add_once(&r->urls, url);
	return url;
}

/* Call `line` for each line, without its end. */
static void each_line(const char *text, struct ab_registry *r,
		      void (*line)(struct ab_registry *r, const char *s, size_t len, void *arg),
		      void *arg)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		line(r, text, n, arg);
		text += n + (text[n] == '\n');
	}
}

/* "key SEPARATOR value"; -1: it is not one. */
static int split_pair(const char *s, size_t len, char separator, size_t *ret_key,
		      const char **ret_value, size_t *ret_len)
{
	const char *at = memchr(s, separator, len);

	if (!at)
		return -1;
	*ret_key = (size_t)(at - s);
	while (*ret_key && ab_is_space(s[*ret_key - 1]))
		--*ret_key;
	*ret_len = len - (size_t)(at + 1 - s);
	*ret_value = trim(at + 1, ret_len);
	return 0;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(s, word, len) == 0;
}

static bool is_bool(const char *s, size_t len)
{
	return is_word(s, len, "true") || is_word(s, len, "false");
}

static bool is_file(const char *s, size_t len)
{
	return len > 1 && len < 1024 && s[0] == '/' && has_only(s, len, "/._-+@");
}

/* "registry", or "@scope:registry". */
static bool is_npm_registry(const char *key, size_t len)
{
	static const char end[] = ":registry";
	const size_t n = sizeof(end) - 1;

	if (is_word(key, len, "registry"))
		return true;
	return len > n + 1 && key[0] == '@' && memcmp(key + len - n, end, n) == 0 &&
	       has_only(key + 1, len - n - 1, "._~-");
}

static void read_npm_line(struct ab_registry *r, const char *s, size_t len, void *arg)
{
	ab_autofree char *url = NULL;
	const char *value;
	size_t key, n;

	(void)arg;
	s = trim(s, &len);
	if (!len || *s == ';' || *s == '#' || split_pair(s, len, '=', &key, &value, &n) < 0)
		return;
	if (is_npm_registry(s, key))
		url = keep_url(r, value, n);
	if (url)
		ab_buf_printf(&r->shown, "%.*s=%s\n", (int)key, s, url);
	else if ((is_word(s, key, "strict-ssl") && is_bool(value, n)) ||
		 (is_word(s, key, "cafile") && is_file(value, n)))
		ab_buf_printf(&r->shown, "%.*s=%.*s\n", (int)key, s, (int)n, value);
}

void ab_registry_npmrc(const char *text, struct ab_registry *ret)
{
	each_line(text, ret, read_npm_line, NULL);
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
	    split_pair(s + depth, len - depth, ':', &key, &value, &n) < 0)
		return;
	s = trim(s + depth, &key);
	if (depth == 0) {
		y->scopes = is_word(s, key, "npmScopes");
		y->scope[0] = '\0';
		y->depth = 0;
	} else if (y->scopes && n == 0 && (!y->depth || depth <= y->depth)) {
		y->depth = depth;
		y->scope[0] = '\0';
		if (key < SECTION_MAX && has_only(s, key, "._-"))
			snprintf(y->scope, sizeof(y->scope), "%.*s", (int)key, s);
	}
	if (!is_word(s, key, "npmRegistryServer") || (depth && !y->scope[0]))
		return;
	url = keep_url(r, value, n);
	if (url)
		put_yarn(r, y, depth == 0, url);
	if (depth)
		y->scope[0] = '\0';
}

void ab_registry_yarnrc(const char *text, struct ab_registry *ret)
{
	struct yarn y = { 0 };

	each_line(text, ret, read_yarn_line, &y);
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
		return is_file(s, len) ? ab_strndup(s, len) : NULL;
	if (strcmp(key, "trusted-host") == 0)
		return ab_host_entry_parse(s, len, &e, NULL) == 0 && !e.below ? ab_strndup(s, len)
									      : NULL;
	return keep_url(r, s, len);
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

	text = trim(s, &n);
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
		if (text[n - 1] == ']' && n - 2 < SECTION_MAX && has_only(text + 1, n - 2, "_-"))
			snprintf(p->section, sizeof(p->section), "%.*s", (int)(n - 2), text + 1);
		return;
	}
	if (!p->section[0] || split_pair(text, n, '=', &key, &value, &n) < 0)
		return;
	p->key = find_pip_key(text, key);
	p->started = false;
	if (p->key)
		put_pip_words(r, p, value, n);
}

void ab_registry_pip(const char *text, struct ab_registry *ret)
{
	struct pip p = { 0 };

	each_line(text, ret, read_pip_line, &p);
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
		u->url = keep_url(u->r, v->text, n);
	else if (ab_toml_is(v, "index.name") && v->kind == '"' && has_only(v->text, n, "_.-"))
		ab_buf_printf(&u->more, "name = \"%s\"\n", v->text);
	else if ((ab_toml_is(v, "index.default") || ab_toml_is(v, "index.explicit")) &&
		 v->kind == 't')
		ab_buf_printf(&u->more, "%s = true\n", v->keys[1]);
	else if (ab_toml_is(v, "index-url") && v->kind == '"' && (url = keep_url(u->r, v->text, n)))
		ab_buf_printf(&u->r->shown, "index-url = \"%s\"\n", url);
	else if (ab_toml_is(v, "extra-index-url") && v->kind == '"')
		free(keep_url(u->r, v->text, n)); /* its host; a list cannot be written in pieces */
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
	    (v->nkeys == 3 && !has_only(v->keys[1], strlen(v->keys[1]), "_-")))
		return;
	if (ab_toml_is(v, "registry.default") && has_only(text, n, "_-"))
		ab_buf_printf(&r->shown, "registry.default = \"%s\"\n", text);
	else if (ab_toml_is(v, "source.*.replace-with") && has_only(text, n, "_-"))
		ab_buf_printf(&r->shown, "source.%s.replace-with = \"%s\"\n", v->keys[1], text);
	else if ((ab_toml_is(v, "source.*.registry") || ab_toml_is(v, "registries.*.index")) &&
		 (url = keep_url(r, text, n)))
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
		if (is_word(s, n, "direct") || is_word(s, n, "off"))
			url = ab_strndup(s, n);
		else
			url = keep_url(r, s, n);
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
	s = trim(s, &len);
	if (split_pair(s, len, '=', &key, &value, &n) < 0)
		return;
	if (is_word(s, key, "GOPROXY"))
		put_go_proxies(r, value, n);
	for (size_t i = 0; i < AB_COUNT(others); i++)
		if (is_word(s, key, others[i]) && n < URL_MAX && has_only(value, n, "*./,_-"))
			ab_buf_printf(&r->shown, "%s=%.*s\n", others[i], (int)n, value);
}

void ab_registry_go(const char *text, struct ab_registry *ret)
{
	each_line(text, ret, read_go_line, NULL);
}

void ab_registry_variable(const char *text, struct ab_registry *ret)
{
	while (*text) {
		size_t n = strcspn(text, " \t,|\r\n");
		const char *name = memchr(text, '=', n), *colon = memchr(text, ':', n);
		size_t skip = name && colon && name < colon ? (size_t)(name + 1 - text) : 0;

		free(keep_url(ret, text + skip, n - skip)); /* UV_INDEX: "name=URL" */
		text += n + (text[n] != '\0');
	}
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
	if (text + *ret_len > end)
		return NULL;
	return trim(text, ret_len);
}

/* A <mirror> that is not there to block. */
static void read_mirror(struct ab_registry *r, const char *s, const char *end)
{
	size_t url_len, of_len, id_len = 0, n;
	const char *url = find_text(s, end, "<url>", &url_len);
	const char *of = find_text(s, end, "<mirrorOf>", &of_len);
	const char *id = find_text(s, end, "<id>", &id_len);
	ab_autofree char *clean = NULL;

	if (!url || !of || find_text(s, end, "<blocked>true", &n) ||
	    !has_only(of, of_len, "*,:!._- "))
		return;
	clean = keep_url(r, url, url_len);
	if (!clean)
		return;
	if (!id || !id_len || !has_only(id, id_len, "._-")) {
		id = "mirror";
		id_len = strlen(id);
	}
	ab_buf_printf(&r->shown,
		      "%s<mirror><id>%.*s</id><mirrorOf>%.*s</mirrorOf><url>%s</url></mirror>\n",
		      r->shown.len ? "" : "<settings><mirrors>\n", (int)id_len, id, (int)of_len, of,
		      clean);
}

void ab_registry_maven(const char *text, struct ab_registry *ret)
{
	ab_autofree char *xml = ab_strdup(text);
	const char *mirror = xml, *end;

	blank_comments(xml);
	while ((mirror = strstr(mirror, "<mirror>")) && (end = strstr(mirror, "</mirror>"))) {
		read_mirror(ret, mirror, end);
		mirror = end;
	}
	if (ret->shown.len)
		ab_buf_puts(&ret->shown, "</mirrors></settings>\n");
}
