/*
 * The part of YAML in which tools write their settings: mappings and lists by indentation, and values
 * of one line. A file with anything else (values on several lines, flow style, anchors, tags, several
 * documents) is not read: it would be easy to take a value for a key. A list of mappings is skipped.
 */
#include "policy/views/tree.h"
#include "policy/views/view.h"

struct yaml {
	struct ab_tree *tree;
	size_t indents[AB_TREE_DEPTH]; /* of the keys of what is open; [0] is of the file */
	size_t depth;
	char *key; /* the last one, if it has no value so far */
	size_t key_indent;
	bool list;   /* the innermost that is open is one */
	size_t skip; /* what is indented more than this belongs to a skipped element */
	bool skips;
	bool begun; /* there was more than comments */
};

/* The end of the quoted text that begins here; NULL: it has an escape, or goes on in the next line. */
static char *find_closing(char *s)
{
	char *close = strchr(s + 1, *s);

	if (!close || (*s == '"' && memchr(s, '\\', (size_t)(close - s))) || close[1] == *s)
		return NULL;
	return close;
}

static bool is_comment_or_end(const char *s)
{
	size_t gap = strspn(s, " ");

	return !s[gap] || (gap && s[gap] == '#');
}

/* A value of one line, without its quotes. NULL: there is more to it than we understand. */
static char *read_scalar(char *s, bool *ret_quoted)
{
	char *close, *comment;

	*ret_quoted = *s == '"' || *s == '\'';
	if (*ret_quoted) {
		close = find_closing(s);
		if (!close || !is_comment_or_end(close + 1))
			return NULL;
		*close = '\0';
		return s + 1;
	}
	if (*s && strchr("{}[]|>&*!%@`,?", *s))
		return NULL;
	comment = *s == '#' ? s : strstr(s, " #");
	if (comment)
		*comment = '\0';
	for (size_t n = strlen(s); n && s[n - 1] == ' ';)
		s[--n] = '\0';
	/* "key: a: b" is not YAML, nor is "key: a:". */
	return strstr(s, ": ") || (*s && s[strlen(s) - 1] == ':') ? NULL : s;
}

/* End the key; the value, or NULL: this is not a pair. Keys may have colons in them. */
static char *split_key(char *s, char **ret_key)
{
	char *end;

	if (*s == '"' || *s == '\'') {
		end = find_closing(s);
		if (!end || end[1] != ':')
			return NULL;
		*ret_key = s + 1;
		*end++ = '\0';
	} else {
		if (strchr("{}[]|>&*!%@`,?#-", *s))
			return NULL;
		*ret_key = s;
		end = strstr(s, ": ");
		if (!end && s[strlen(s) - 1] == ':')
			end = s + strlen(s) - 1;
		if (!end || memmem(s, (size_t)(end - s), " #", 2))
			return NULL;
	}
	*end++ = '\0';
	return end + strspn(end, " ");
}

static bool is_plain_word(const char *s)
{
	return strcmp(s, "true") == 0 || strcmp(s, "false") == 0 ||
	       (*s && strspn(s, "0123456789") == strlen(s));
}

static void add_scalar(struct yaml *y, const char *key, const char *text, bool quoted)
{
	ab_tree_add(y->tree, key, !quoted && is_plain_word(text) ? 'w' : '"', text);
}

/* The key of the line before has no value. */
static void end_key(struct yaml *y)
{
	if (y->key)
		ab_tree_add(y->tree, y->key, '"', "");
	y->key = NULL;
}

/* Open the mapping or the list that is the value of the last key. */
static bool open_value(struct yaml *y, size_t indent, bool list)
{
	if (y->depth + 1 >= AB_TREE_DEPTH || !ab_tree_open(y->tree, y->key, list ? '[' : '{'))
		return false;
	y->indents[++y->depth] = indent;
	y->list = list;
	y->key = NULL;
	return true;
}

static void close_value(struct yaml *y)
{
	end_key(y);
	ab_tree_close(y->tree);
	y->depth--;
	y->list = false; /* a list in a list is not read */
}

/* "- value" */
static bool read_element(struct yaml *y, size_t indent, char *s)
{
	bool quoted;
	char *key, *text;

	if (y->key && indent >= y->key_indent && !open_value(y, indent, true))
		return false;
	while (y->depth && (indent < y->indents[y->depth] || (!y->list && !y->key)))
		close_value(y);
	if (!y->list || indent != y->indents[y->depth])
		return false;
	s += 1 + strspn(s + 1, " ");
	y->skips = split_key(s, &key) != NULL;
	y->skip = indent;
	if (y->skips) {
		y->tree->lost++;
		return true;
	}
	text = read_scalar(s, &quoted);
	if (text)
		add_scalar(y, NULL, text, quoted);
	return text != NULL;
}

static bool read_mapping_line(struct yaml *y, size_t indent, char *s)
{
	char *key, *value, *text;
	bool quoted;

	if (y->key && indent > y->key_indent && !open_value(y, indent, false))
		return false;
	end_key(y);
	while (y->depth && (indent < y->indents[y->depth] || y->list))
		close_value(y);
	value = indent == y->indents[y->depth] ? split_key(s, &key) : NULL;
	if (!value)
		return false;
	text = read_scalar(value, &quoted);
	if (!text)
		return false;
	if (*text || quoted) {
		add_scalar(y, key, text, quoted);
		return true;
	}
	y->key = key;
	y->key_indent = indent;
	return true;
}

/* A line of an element that is skipped: it must be one that we would understand. */
static bool skip_line(struct yaml *y, char *s)
{
	char *key, *value;
	bool quoted;

	y->tree->lost++;
	if (strncmp(s, "- ", 2) == 0)
		s += 2;
	value = split_key(s, &key);
	return value && read_scalar(value, &quoted);
}

static bool read_line(struct yaml *y, char *line)
{
	size_t indent = strspn(line, " "), len = strlen(line);
	bool first = !y->begun;
	char *s = line + indent;

	if (len && line[len - 1] == '\r')
		line[len - 1] = '\0';
	if (!*s || *s == '#')
		return true;
	y->begun = true;
	if (first && strcmp(line, "---") == 0)
		return true;
	if (strpbrk(line, "\t\r") || strncmp(line, "---", 3) == 0 || strncmp(line, "...", 3) == 0)
		return false;
	if (y->skips && indent > y->skip)
		return skip_line(y, s);
	y->skips = false;
	return strncmp(s, "- ", 2) == 0 ? read_element(y, indent, s)
					: read_mapping_line(y, indent, s);
}

bool ab_read_yaml(const char *text, struct ab_tree *ret)
{
	struct yaml y = { .tree = ret };
	char *copy = ab_strdup(text), *rest = copy;
	bool good = true;

	for (char *line; good && (line = strsep(&rest, "\n"));)
		good = read_line(&y, line);
	end_key(&y);
	while (y.depth)
		close_value(&y);
	ab_free_wiped(copy);
	return good && !ret->full;
}
