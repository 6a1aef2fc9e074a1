/* Settings in XML and JSON. */
#include <string.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"
#include "base/text/json_scan.h"
#include "policy/toolchains/registry_files.h"
#include "policy/toolchains/registry_text.h"

enum { LABEL_MAX = 128 };

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
	return ab_registry_trim(text, ret_len);
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
	    !ab_registry_has_only(of, of_len, "*,:!._- "))
		return;
	clean = ab_registry_keep_url(r, url, url_len);
	if (!clean)
		return;
	if (!id || !id_len || !ab_registry_has_only(id, id_len, "._-")) {
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

struct xml_tag {
	const char *name, *attributes;
	size_t name_len, attributes_len;
};

/* The next tag, its name with the "/" of an end; NULL: there is none, else what follows it. */
static const char *next_tag(const char *s, struct xml_tag *ret)
{
	char quote = '\0';

	s = strchr(s, '<');
	if (!s)
		return NULL;
	ret->name = ++s;
	ret->name_len = (*s == '/') + strcspn(s + (*s == '/'), "/> \t\r\n");
	ret->attributes = s += ret->name_len;
	for (; *s && (quote || *s != '>'); s++)
		if (*s == quote)
			quote = '\0';
		else if (!quote && (*s == '"' || *s == '\''))
			quote = *s;
	ret->attributes_len = (size_t)(s - ret->attributes);
	return *s ? s + 1 : NULL;
}

static bool is_tag(const struct xml_tag *t, const char *name)
{
	return ab_registry_is_word(t->name, t->name_len, name);
}

/* The value of `name="value"`; NULL: there is none. */
static const char *find_attribute(const struct xml_tag *t, const char *name, size_t *ret_len)
{
	const char *s = t->attributes, *end = s + t->attributes_len;

	while (s < end) {
		const char *start, *equals, *close;
		size_t n;

		while (s < end && ab_is_space(*s))
			s++;
		start = s;
		equals = memchr(s, '=', (size_t)(end - s));
		if (!equals)
			return NULL;
		n = (size_t)(equals - start);
		for (s = equals + 1; s < end && ab_is_space(*s);)
			s++;
		close = s < end && (*s == '"' || *s == '\'')
				? memchr(s + 1, *s, (size_t)(end - s - 1))
				: NULL;
		if (!close)
			return NULL;
		start = ab_registry_trim(start, &n);
		if (ab_registry_is_word(start, n, name)) {
			*ret_len = (size_t)(close - s - 1);
			return s + 1;
		}
		s = close + 1;
	}
	return NULL;
}

/* A name that the user gave to a source, or a pattern of names. */
static const char *find_plain(const struct xml_tag *t, const char *name, const char *more,
			      size_t *ret_len)
{
	const char *value = find_attribute(t, name, ret_len);

	return value && *ret_len && *ret_len < LABEL_MAX &&
			       ab_registry_has_only(value, *ret_len, more)
		       ? value
		       : NULL;
}

enum nuget_part { NUGET_NONE, NUGET_SOURCES, NUGET_DISABLED, NUGET_MAPPING };

static const char *const nuget_parts[] = {
	[NUGET_SOURCES] = "packageSources",
	[NUGET_DISABLED] = "disabledPackageSources",
	[NUGET_MAPPING] = "packageSourceMapping",
};

struct nuget {
	struct ab_registry *r;
	enum nuget_part part;
	enum nuget_part opened; /* this part is in the output, and not closed */
	const char *source;	/* of the mapping; NULL: none, or it is in the output */
	size_t source_len;
	bool mapped; /* <packageSource> is in the output, and not closed */
};

static void close_mapped(struct nuget *n)
{
	if (n->mapped)
		ab_buf_puts(&n->r->shown, "</packageSource>\n");
	n->mapped = false;
	n->source = NULL;
}

static void close_part(struct nuget *n)
{
	close_mapped(n);
	if (n->opened)
		ab_buf_printf(&n->r->shown, "</%s>\n", nuget_parts[n->opened]);
	n->opened = NUGET_NONE;
	n->part = NUGET_NONE;
}

static void open_part(struct nuget *n)
{
	if (!n->r->shown.len)
		ab_buf_puts(&n->r->shown, "<configuration>\n");
	if (!n->opened)
		ab_buf_printf(&n->r->shown, "<%s>\n", nuget_parts[n->part]);
	n->opened = n->part;
}

static void read_nuget_source(struct nuget *n, const struct xml_tag *t)
{
	size_t key_len, len, version_len, insecure_len;
	const char *key = find_plain(t, "key", " ._-", &key_len);
	const char *value = find_attribute(t, "value", &len);
	const char *version = find_plain(t, "protocolVersion", "", &version_len);
	const char *insecure = find_attribute(t, "allowInsecureConnections", &insecure_len);
	ab_autofree char *url = key && value ? ab_registry_keep_url(n->r, value, len) : NULL;

	if (!url)
		return;
	open_part(n);
	ab_buf_printf(&n->r->shown, "<add key=\"%.*s\" value=\"%s\"", (int)key_len, key, url);
	if (version)
		ab_buf_printf(&n->r->shown, " protocolVersion=\"%.*s\"", (int)version_len, version);
	if (insecure && ab_registry_is_word(insecure, insecure_len, "true"))
		ab_buf_puts(&n->r->shown, " allowInsecureConnections=\"true\"");
	ab_buf_puts(&n->r->shown, " />\n");
}

static void read_nuget_disabled(struct nuget *n, const struct xml_tag *t)
{
	size_t key_len, len;
	const char *key = find_plain(t, "key", " ._-", &key_len);
	const char *value = find_attribute(t, "value", &len);

	if (!key || !value || !ab_registry_is_word(value, len, "true"))
		return;
	open_part(n);
	ab_buf_printf(&n->r->shown, "<add key=\"%.*s\" value=\"true\" />\n", (int)key_len, key);
}

/* Which source a package may come from: without it, a public package could take a private name. */
static void read_nuget_pattern(struct nuget *n, const struct xml_tag *t)
{
	size_t len;
	const char *pattern = find_plain(t, "pattern", "*._-", &len);

	if (!pattern || (!n->source && !n->mapped))
		return;
	open_part(n);
	if (!n->mapped)
		ab_buf_printf(&n->r->shown, "<packageSource key=\"%.*s\">\n", (int)n->source_len,
			      n->source);
	n->mapped = true;
	ab_buf_printf(&n->r->shown, "<package pattern=\"%.*s\" />\n", (int)len, pattern);
}

/* A tag in one of the three parts; any other one ends the part. */
static void read_nuget_tag(struct nuget *n, const struct xml_tag *t)
{
	if (is_tag(t, "add") && n->part == NUGET_SOURCES) {
		read_nuget_source(n, t);
	} else if (is_tag(t, "add") && n->part == NUGET_DISABLED) {
		read_nuget_disabled(n, t);
	} else if (is_tag(t, "clear")) {
		close_mapped(n);
		open_part(n);
		ab_buf_puts(&n->r->shown, "<clear />\n");
	} else if (is_tag(t, "packageSource") && n->part == NUGET_MAPPING) {
		close_mapped(n);
		n->source = find_plain(t, "key", " ._-", &n->source_len);
	} else if (is_tag(t, "package") && n->part == NUGET_MAPPING) {
		read_nuget_pattern(n, t);
	} else if (is_tag(t, "/packageSource") && n->part == NUGET_MAPPING) {
		close_mapped(n);
	} else if (!is_tag(t, "/add") && !is_tag(t, "/clear") && !is_tag(t, "/package")) {
		close_part(n);
	}
}

void ab_registry_nuget(const char *text, struct ab_registry *ret)
{
	ab_autofree char *xml = ab_strdup(text);
	struct nuget n = { .r = ret };
	struct xml_tag t;
	const char *s = xml;

	blank_comments(xml);
	while ((s = next_tag(s, &t))) {
		if (n.part)
			read_nuget_tag(&n, &t);
		for (size_t i = NUGET_SOURCES; !n.part && i < AB_COUNT(nuget_parts); i++)
			if (is_tag(&t, nuget_parts[i]))
				n.part = (enum nuget_part)i;
	}
	close_part(&n);
	if (ret->shown.len)
		ab_buf_puts(&ret->shown, "</configuration>\n");
}

static const struct ab_json_scan_node *find_member(const struct ab_json_scan_node *object,
						   const char *key)
{
	if (object && object->kind == '{')
		ab_json_scan_each(child, object) if (strcmp(child->key, key) == 0) return child;
	return NULL;
}

static bool is_plain(const char *text, const char *more)
{
	size_t n = strlen(text);

	return n && n < LABEL_MAX && ab_registry_has_only(text, n, more);
}

/* "only" and "exclude": patterns of package names. false: one of them cannot be shown. */
static bool put_patterns(struct ab_buf *b, const struct ab_json_scan_node *repository,
			 const char *key)
{
	const struct ab_json_scan_node *list = find_member(repository, key);
	const char *comma = "";

	if (!list)
		return true;
	if (list->kind != '[')
		return false;
	ab_buf_printf(b, ", \"%s\": [", key);
	ab_json_scan_each(child, list)
	{
		if (child->kind != '"' || !is_plain(child->text, "*./_-"))
			return false;
		ab_buf_printf(b, "%s\"%s\"", comma, child->text);
		comma = ", ";
	}
	ab_buf_puts(b, "]");
	return true;
}

/* A repository of packages: its URL, and which packages may come from it. A login in "options" is
 * left out. */
static bool put_repository(struct ab_registry *r, struct ab_buf *b,
			   const struct ab_json_scan_node *repository)
{
	const struct ab_json_scan_node *type = find_member(repository, "type");
	const struct ab_json_scan_node *url = find_member(repository, "url");
	const struct ab_json_scan_node *canonical = find_member(repository, "canonical");
	ab_autofree char *clean = NULL;

	if (!type || type->kind != '"' || strcmp(type->text, "composer") != 0 || !url ||
	    url->kind != '"')
		return false;
	clean = ab_registry_url(url->text, strlen(url->text));
	if (!clean)
		return false;
	ab_buf_printf(b, "{\"type\": \"composer\", \"url\": \"%s\"", clean);
	if (canonical && canonical->kind == 'f')
		ab_buf_puts(b, ", \"canonical\": false");
	if (!put_patterns(b, repository, "only") || !put_patterns(b, repository, "exclude"))
		return false;
	free(ab_registry_keep_url(r, url->text, strlen(url->text)));
	ab_buf_puts(b, "}");
	return true;
}

/* {"packagist.org": false} in a list, or "packagist.org": false in an object. */
static const struct ab_json_scan_node *find_switched_off(const struct ab_json_scan_node *repository)
{
	const struct ab_json_scan_node *n = repository;

	if (n->kind == '{' && n->count == 1 && !n->key)
		n++;
	return n->kind == 'f' && n->key && is_plain(n->key, "._/-") ? n : NULL;
}

static void put_repositories(struct ab_registry *r, struct ab_buf *b,
			     const struct ab_json_scan_node *all)
{
	const bool named = all->kind == '{';

	ab_json_scan_each(child, all)
	{
		const struct ab_json_scan_node *off = find_switched_off(child);
		ab_autobuf struct ab_buf one = { 0 };

		if (off && named)
			ab_buf_printf(&one, "\"%s\": false", off->key);
		else if (off)
			ab_buf_printf(&one, "{\"%s\": false}", off->key);
		else if (named && is_plain(child->key, "._/-"))
			ab_buf_printf(&one, "\"%s\": ", child->key);
		if ((off || !named || one.len) && (off || put_repository(r, &one, child)))
			ab_buf_printf(b, "%s%s", b->len ? ",\n" : "", one.data);
	}
}

void ab_registry_composer(const char *text, struct ab_registry *ret)
{
	ab_autoscan struct ab_json_scan s = { 0 };
	const struct ab_json_scan_node *all, *config, *secure, *cafile;
	ab_autobuf struct ab_buf b = { 0 };

	if (ab_json_scan_parse(&s, text, strlen(text)) < 0)
		return;
	all = find_member(s.nodes, "repositories");
	if (all && (all->kind == '{' || all->kind == '['))
		put_repositories(ret, &b, all);
	if (!b.len)
		return;
	config = find_member(s.nodes, "config");
	secure = find_member(config, "secure-http");
	cafile = find_member(config, "cafile");
	ab_buf_puts(&ret->shown, "{\n");
	if (cafile && cafile->kind == '"' &&
	    ab_registry_is_file(cafile->text, strlen(cafile->text)))
		ab_buf_printf(&ret->shown,
			      "\"config\": {\"secure-http\": %s, \"cafile\": \"%s\"},\n",
			      secure && secure->kind == 'f' ? "false" : "true", cafile->text);
	else if (secure && secure->kind == 'f')
		ab_buf_puts(&ret->shown, "\"config\": {\"secure-http\": false},\n");
	ab_buf_printf(&ret->shown, "\"repositories\": %c\n%s\n%c\n}\n", all->kind, b.data,
		      all->kind == '{' ? '}' : ']');
}
