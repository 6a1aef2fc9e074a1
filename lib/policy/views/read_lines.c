/* Settings in lines: pairs, with and without sections. */
#include "policy/views/tree.h"
#include "policy/views/view.h"

static char *trim(char *s)
{
	size_t len = strlen(s);

	while (len && strchr(" \t\r\f\v", s[len - 1]))
		len--;
	s[len] = '\0';
	return s + strspn(s, " \t\r\f\v");
}

/* One pair of quotes. What is escaped in them has a backslash, so no kind of value accepts it. */
static char *unquote(char *s)
{
	size_t len = strlen(s);

	if (len < 2 || (*s != '"' && *s != '\'') || s[len - 1] != *s)
		return s;
	s[len - 1] = '\0';
	return s + 1;
}

/* End the key at the first of the separators and return the value; NULL: there is none. */
static char *split(char *s, const char *separators)
{
	char *value = s + strcspn(s, separators);

	if (!*value || value == s)
		return NULL;
	*value++ = '\0';
	return trim(value);
}

struct lines {
	struct ab_tree *tree;
	bool section;	/* one is open */
	bool continues; /* of Java: the last line goes on */
	/* Of Python: the last value, which goes on in lines that are indented more than its key. */
	char *key; /* NULL: there is none */
	size_t indent;
	struct ab_buf text;
};

static void end_value(struct lines *l)
{
	if (l->key)
		ab_tree_add(l->tree, l->key, '"', l->text.data ? l->text.data : "");
	l->key = NULL;
	ab_buf_fini(&l->text);
}

/* Each line of a copy, which `take` may change. */
static bool read_lines(const char *text, struct ab_tree *tree,
		       void (*take)(struct lines *l, char *line))
{
	struct lines l = { .tree = tree, .text = { .wipe = true } };
	char *copy = ab_strdup(text), *rest = copy;

	for (char *line; (line = strsep(&rest, "\n")) && !tree->full;)
		take(&l, line);
	end_value(&l);
	ab_free_wiped(copy);
	return !tree->full;
}

/* "[name]". One that is not understood has a name that no table has. */
static void open_section(struct lines *l, char *s)
{
	size_t len = strlen(s);
	bool good = len > 2 && s[len - 1] == ']' && !memchr(s + 1, ']', len - 2);

	if (l->section)
		ab_tree_close(l->tree);
	if (good)
		s[len - 1] = '\0';
	l->section = ab_tree_open(l->tree, good ? s + 1 : "[]", '{');
}

/* Without quotes a comment may follow. After a backslash it is none, and the backslash stays: no kind of
 * value accepts it. */
static char *end_npm_value(char *s)
{
	char *value = unquote(s);
	size_t n = strcspn(s, ";#");

	if (value != s)
		return value;
	if (n == 0 || s[n - 1] != '\\')
		s[n] = '\0';
	return trim(s);
}

static void add_npm_pair(struct lines *l, char *s)
{
	char *value = split(s, "=");

	if (!value)
		l->tree->lost++;
	else
		ab_tree_add(l->tree, trim(s), '"', end_npm_value(value));
}

static void take_npm_line(struct lines *l, char *line)
{
	char *s = trim(line);

	if (*s == '[')
		open_section(l, s);
	else if (*s && *s != ';' && *s != '#')
		add_npm_pair(l, s);
}

bool ab_read_npmrc(const char *text, struct ab_tree *ret)
{
	return read_lines(text, ret, take_npm_line);
}

static void take_pair(struct lines *l, char *line)
{
	char *value = *trim(line) ? split(line, "=") : NULL;

	/* Go ignores every other line, and so a key with a blank. */
	if (value)
		ab_tree_add(l->tree, line, '"', value);
	else if (*line && line[0] != '#')
		l->tree->lost++;
}

bool ab_read_pairs(const char *text, struct ab_tree *ret)
{
	return read_lines(text, ret, take_pair);
}

/* A line that is indented belongs to the one before. */
static void take_yarn_line(struct lines *l, char *line)
{
	char *value = *line == '#' ? NULL : split(line, " \t");

	if (value)
		ab_tree_add(l->tree, unquote(line), '"', unquote(value));
	else if (*line && *line != '#')
		l->tree->lost++;
}

bool ab_read_yarn(const char *text, struct ab_tree *ret)
{
	return read_lines(text, ret, take_yarn_line);
}

/* Does the line go on in the next one? */
static bool is_continued(const char *line)
{
	size_t len = strlen(line), n = 0;

	while (n < len && line[len - 1 - n] == '\\')
		n++;
	return n % 2;
}

/* "key value", "key=value", "key:value". What has a backslash in it is not understood. */
static void add_property(struct lines *l, char *s)
{
	size_t n = strcspn(s, "=: \t\f");
	char *value = s + n + strspn(s + n, " \t\f");

	if (strchr(s, '\\')) {
		l->tree->lost++;
		return;
	}
	value += *value == '=' || *value == ':';
	value = trim(value);
	s[n] = '\0';
	ab_tree_add(l->tree, s, '"', value);
}

static void take_property_line(struct lines *l, char *line)
{
	size_t len = strlen(line);
	char *s = line + strspn(line, " \t\f");
	bool before = l->continues;

	if (len && line[len - 1] == '\r')
		line[--len] = '\0';
	/* Some end a line at a carriage return, too. */
	l->continues = (before || (*s != '#' && *s != '!')) && is_continued(line);
	if (before || strchr(line, '\r'))
		l->tree->lost++;
	else if (*s && *s != '#' && *s != '!')
		add_property(l, s);
}

bool ab_read_properties(const char *text, struct ab_tree *ret)
{
	return read_lines(text, ret, take_property_line);
}

/* pip accepts "_" for "-", and any case. */
static void begin_value(struct lines *l, char *s, size_t indent)
{
	char *value = split(s, "=:");

	if (!value) {
		l->tree->lost++;
		return;
	}
	l->key = trim(s);
	for (char *c = l->key; *c; c++)
		*c = *c == '_' ? '-' : (char)ab_lower(*c);
	l->indent = indent;
	ab_buf_puts(&l->text, value);
}

static void take_pip_line(struct lines *l, char *line)
{
	size_t indent = strspn(line, " \t\r\f\v");
	char *s = trim(line);

	if (!*s || *s == '#' || *s == ';')
		return;
	if (l->key && indent > l->indent) {
		ab_buf_printf(&l->text, "\n%s", s);
		return;
	}
	end_value(l);
	if (*s == '[')
		open_section(l, s);
	else
		begin_value(l, s, indent);
}

/* As Python's configparser reads it, but for a carriage return within a line, which ends it there: such
 * a line is not understood. */
bool ab_read_pip(const char *text, struct ab_tree *ret)
{
	return read_lines(text, ret, take_pip_line);
}
