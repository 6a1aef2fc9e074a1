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

/* A reader of lines. It changes its copy of the text. */
struct lines {
	char *copy, *rest;
	struct ab_tree *tree;
	bool section; /* one is open */
};

static struct lines begin(const char *text, struct ab_tree *tree)
{
	char *copy = ab_strdup(text);

	return (struct lines){ .copy = copy, .rest = copy, .tree = tree };
}

static bool end(struct lines *l)
{
	ab_free_wiped(l->copy);
	return !l->tree->full;
}

static char *next_line(struct lines *l)
{
	return strsep(&l->rest, "\n");
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

bool ab_read_npmrc(const char *text, struct ab_tree *ret)
{
	struct lines l = begin(text, ret);

	for (char *line; (line = next_line(&l)) && !ret->full;) {
		char *s = trim(line);

		if (*s == '[')
			open_section(&l, s);
		else if (*s && *s != ';' && *s != '#')
			add_npm_pair(&l, s);
	}
	return end(&l);
}

bool ab_read_pairs(const char *text, struct ab_tree *ret)
{
	struct lines l = begin(text, ret);

	for (char *line; (line = next_line(&l)) && !ret->full;) {
		char *value = *trim(line) ? split(line, "=") : NULL;

		/* Go ignores every other line, and so a key with a blank. */
		if (value)
			ab_tree_add(ret, line, '"', value);
		else if (*line && line[0] != '#')
			ret->lost++;
	}
	return end(&l);
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

bool ab_read_properties(const char *text, struct ab_tree *ret)
{
	struct lines l = begin(text, ret);
	bool continues = false;

	for (char *line; (line = next_line(&l)) && !ret->full;) {
		size_t len = strlen(line);
		char *s = line + strspn(line, " \t\f");
		bool before = continues;

		if (len && line[len - 1] == '\r')
			line[--len] = '\0';
		/* Some end a line at a carriage return, too. */
		continues = (before || (*s != '#' && *s != '!')) && is_continued(line);
		if (before || strchr(line, '\r'))
			ret->lost++;
		else if (*s && *s != '#' && *s != '!')
			add_property(&l, s);
	}
	return end(&l);
}

struct pip {
	struct lines l;
	bool has_key;
	size_t indent;	    /* of the key: what is indented more is of its value */
	char *key;	    /* in the copy */
	struct ab_buf text; /* its value so far */
};

static void end_value(struct pip *p)
{
	if (p->has_key)
		ab_tree_add(p->l.tree, p->key, '"', p->text.data ? p->text.data : "");
	p->has_key = false;
	ab_buf_fini(&p->text);
}

/* pip accepts "_" for "-", and any case. */
static void begin_value(struct pip *p, char *s, size_t indent)
{
	char *value = split(s, "=:");

	if (!value) {
		p->l.tree->lost++;
		return;
	}
	p->key = trim(s);
	for (char *c = p->key; *c; c++)
		*c = *c == '_' ? '-' : (char)ab_lower(*c);
	p->has_key = true;
	p->indent = indent;
	ab_buf_puts(&p->text, value);
}

static void read_pip_line(struct pip *p, char *line)
{
	size_t indent = strspn(line, " \t\r\f\v");
	char *s = trim(line);

	if (!*s || *s == '#' || *s == ';')
		return;
	if (p->has_key && indent > p->indent) {
		ab_buf_printf(&p->text, "\n%s", s);
		return;
	}
	end_value(p);
	if (*s == '[')
		open_section(&p->l, s);
	else
		begin_value(p, s, indent);
}

/* As Python's configparser reads it, but for a carriage return within a line, which ends it there: such
 * a line is not understood. */
bool ab_read_pip(const char *text, struct ab_tree *ret)
{
	struct pip p = { .l = begin(text, ret), .text = { .wipe = true } };

	for (char *line; (line = next_line(&p.l)) && !ret->full;)
		read_pip_line(&p, line);
	end_value(&p);
	return end(&p.l);
}
