#include "workspace/tree/names.h"

#include <fnmatch.h>

/* What ext4 folds to letters of ASCII (Unicode's full case folding), and others to some of them. */
static const struct {
	uint32_t c;
	char to[4];
} foldings[] = {
	{ 0xdf, "ss" },	   { 0x17f, "s" },   { 0x1e9e, "ss" }, { 0x212a, "k" },
	{ 0xfb00, "ff" },  { 0xfb01, "fi" }, { 0xfb02, "fl" }, { 0xfb03, "ffi" },
	{ 0xfb04, "ffl" }, { 0xfb05, "st" }, { 0xfb06, "st" },
};

/* The length of the character at `p`, and what it folds to in `ret`. */
static size_t fold_character(const char *p, size_t left, char ret[5])
{
	uint32_t c;
	size_t n = ab_utf8_get(p, left, &c);

	memset(ret, 0, 5);
	if (n == 1 && !ab_utf8_hidden(c))
		ret[0] = (char)ab_lower((int)c);
	else if (n == 0 || !ab_utf8_hidden(c))
		memcpy(ret, p, n ? n : 1);
	for (size_t i = 0; n > 1 && i < AB_COUNT(foldings); i++)
		if (foldings[i].c == c)
			snprintf(ret, 5, "%s", foldings[i].to);
	return n ? n : 1;
}

void ab_name_fold(const char *name, char ret[NAME_MAX + 1])
{
	size_t left = strcspn(name, "/"), len = 0;
	char to[5];

	if (left > NAME_MAX)
		left = NAME_MAX;
	while (left > 0) {
		size_t n = fold_character(name, left, to);

		memcpy(ret + len, to, strlen(to));
		len += strlen(to);
		name += n;
		left -= n;
	}
	/* Not those of a pattern: without them it would match more. */
	while (len > 1 && strchr(" .", ret[len - 1]) && !strchr("*?]\\", ret[len - 2]))
		len--;
	ret[len] = '\0';
	/* The short name of .git on old Windows file systems. */
	if (strcmp(ret, "git~1") == 0)
		memcpy(ret, ".git", sizeof(".git"));
}

const char *ab_name_folded(const char *name, char ret[NAME_MAX + 1])
{
	const char *p = name;

	while ((ab_is_alnum(*p) && ab_lower(*p) == *p) || *p == '-' || *p == '_' || *p == '/' ||
	       (p[0] == '.' && p[1]))
		p++;
	if (!*p)
		return name;
	ab_name_fold(name, ret);
	return ret;
}

bool ab_name_folds_to(const char *entry, const char *name)
{
	char a[NAME_MAX + 1], b[NAME_MAX + 1];

	return strcmp(ab_name_folded(entry, a), ab_name_folded(name, b)) == 0;
}

static void sort_unique(struct ab_strv *sv)
{
	ab_strv_sort(sv);
	for (size_t i = sv->len; i-- > 1;)
		if (strcmp(sv->v[i - 1], sv->v[i]) == 0)
			ab_strv_remove(sv, i);
}

bool ab_name_is_clean(const char *name)
{
	for (const char *p = name; *p; p++)
		if ((p == name || p[-1] == '/') &&
		    (*p == '/' || (p[0] == '.' && (p[1] == '/' || !p[1])) ||
		     (p[0] == '.' && p[1] == '.' && (p[2] == '/' || !p[2]))))
			return false;
	return name[0] && name[strlen(name) - 1] != '/';
}

static void add_relative(struct ab_names *names, const char *name)
{
	if (strncmp(name, ".git/", 5) == 0)
		ab_strv_add(&names->git, name + 5);
	else
		ab_strv_add(&names->top, name);
}

/* `n`: the length of the name's first component. */
static bool has_same_first(const char *other, const char *name, size_t n)
{
	return strncmp(other, name, n) == 0 && (!other[n] || other[n] == '/');
}

static void sort_first_components(struct ab_names *names)
{
	for (size_t i = 0; i < names->top.len; i++) {
		const char *name = names->top.v[i];
		size_t n = strcspn(name, "/");
		char first[NAME_MAX + 1];

		if (i > 0 && has_same_first(names->top.v[i - 1], name, n))
			continue;
		ab_name_fold(name, first);
		if (ab_path_is_pattern(first)) {
			ab_strv_add(&names->patterns, first);
		} else {
			names->plain_first[(unsigned char)first[0]] = true;
			ab_strv_add(&names->plain, first);
		}
	}
	sort_unique(&names->plain);
	sort_unique(&names->patterns);
}

void ab_names_init(struct ab_names *names, const struct ab_strv *deny_write)
{
	*names = (struct ab_names){ 0 };
	for (size_t i = 0; i < deny_write->len; i++) {
		const char *entry = deny_write->v[i];
		ab_autofree char *path = NULL;

		if (entry[0] == '/') {
			ab_strv_add(&names->absolute, entry);
		} else if (ab_name_is_clean(entry)) {
			add_relative(names, entry);
		} else {
			path = ab_path_resolve(entry, "", NULL);
			if (path && path[1])
				add_relative(names, path + 1);
		}
	}
	/*
	 * These also decide which configuration git reads: a "commondir" file in
	 * a git directory makes git read config and hooks elsewhere, and a file in
	 * "remotes" or "branches" gives a remote its address.
	 */
	if (ab_strv_has(&names->git, "config")) {
		ab_strv_add(&names->git, "config.worktree");
		ab_strv_add(&names->git, "commondir");
		ab_strv_add(&names->git, "remotes");
		ab_strv_add(&names->git, "branches");
	}
	sort_unique(&names->top);
	sort_unique(&names->git);
	sort_unique(&names->absolute);
	sort_first_components(names);
}

void ab_names_fini(struct ab_names *names)
{
	ab_strv_fini_all(&names->plain, &names->patterns, &names->top, &names->git,
			 &names->absolute);
}

static int compare_component(const void *entry, const void *component)
{
	return strcmp(entry, *(char *const *)component);
}

/* "*.suffix", the usual pattern, without fnmatch(). */
static bool matches_pattern(const char *pattern, const char *entry)
{
	size_t tail = strlen(pattern) - 1, len = strlen(entry);

	if (pattern[0] == '*' && !ab_path_is_pattern(pattern + 1) && !strchr(pattern, '\\'))
		return len >= tail && memcmp(entry + len - tail, pattern + 1, tail) == 0;
	return fnmatch(pattern, entry, 0) == 0;
}

bool ab_names_touch(const struct ab_names *names, const char *entry)
{
	char folded[NAME_MAX + 1];

	entry = ab_name_folded(entry, folded);
	if (names->plain_first[(unsigned char)entry[0]] &&
	    bsearch(entry, names->plain.v, names->plain.len, sizeof(names->plain.v[0]),
		    compare_component))
		return true;
	for (size_t i = 0; i < names->patterns.len; i++)
		if (matches_pattern(names->patterns.v[i], entry))
			return true;
	return false;
}

bool ab_name_is_sample(const char *name)
{
	size_t n = strlen(name);

	return n > 7 && strcmp(name + n - 7, ".sample") == 0;
}

/* `first`: the first component of the name, or how it folds. */
static bool matches_first(const char *name, const char *first, const char *entry,
			  const char **ret_rest)
{
	/* A leading dot is not special: a rule protects everything that it matches. */
	if (ab_path_is_pattern(first) ? fnmatch(first, entry, 0) != 0 : strcmp(first, entry) != 0)
		return false;
	name += strcspn(name, "/");
	*ret_rest = name + (*name == '/');
	return true;
}

bool ab_name_starts(const char *name, const char *entry, const char **ret_rest)
{
	char first[NAME_MAX + 1];
	size_t n;

	/* Nearly all names differ in the first byte. */
	if (name[0] != entry[0] && !strchr("*?[\\", name[0]))
		return false;
	n = strcspn(name, "/");
	if (n > NAME_MAX)
		return false;
	memcpy(first, name, n);
	first[n] = '\0';
	return matches_first(name, first, entry, ret_rest);
}

bool ab_name_starts_folded(const char *name, const char *folded, const char **ret_rest)
{
	char first[NAME_MAX + 1];

	if (!ab_name_is_near(folded, name))
		return false;
	ab_name_fold(name, first);
	return matches_first(name, first, folded, ret_rest);
}

size_t ab_name_measure(const char *name, const char *path)
{
	char part[NAME_MAX + 1];
	size_t n = 0;

	while (*name) {
		size_t len = strcspn(path + n, "/");

		if (!len || len > NAME_MAX)
			return 0;
		memcpy(part, path + n, len);
		part[len] = '\0';
		if (!ab_name_starts(name, part, &name))
			return 0;
		n += len + (path[n + len] == '/');
	}
	return n;
}

/* Compare from this slash of the path on. 1 if the whole name is there; 0 if the path
 * ends within it, literally (a pattern would match every folder); -1 otherwise. A
 * git directory is recognized by its content, and is also protected as a root. */
static int compare_at(const char *at, const char *name)
{
	bool letters = strncmp(name, ".git/", 5) != 0;
	char folded[NAME_MAX + 1], first[NAME_MAX + 1];

	while (*at == '/' && *name) {
		size_t n = strcspn(at + 1, "/");

		ab_name_fold(at + 1, folded);
		ab_name_fold(name, first);
		letters &= strcmp(folded, first) == 0;
		if (!ab_name_starts_folded(name, folded, &name))
			return -1;
		at += n + 1;
	}
	if (!*name)
		return 1;
	return letters && !*at ? 0 : -1;
}

static bool opens_name(const char *path, const char *name, bool *ret_holds)
{
	bool holds = false;

	while (*path == '/') {
		int r = compare_at(path, name);

		if (r > 0) {
			*ret_holds = false;
			return true;
		}
		holds |= r == 0;
		path += 1 + strcspn(path + 1, "/");
	}
	*ret_holds = holds;
	return holds;
}

const char *ab_names_opened(const struct ab_strv *deny_write, const char *path, bool *ret_holds)
{
	for (size_t i = 0; i < deny_write->len; i++) {
		const char *name = deny_write->v[i];

		*ret_holds = false;
		if (name[0] == '/' ? ab_path_within(path, name) : opens_name(path, name, ret_holds))
			return name;
	}
	return NULL;
}

void ab_names_tell(struct ab_strv *ret, const char *start, size_t n, const char *what,
		   const char *rest, const struct ab_strv *shown)
{
	struct ab_buf b = { 0 };

	if (n == 0)
		return;
	ab_buf_printf(&b, "%s %zu %s%s %s: ", start, n, what, n == 1 ? "" : "s", rest);
	for (size_t i = 0; i < shown->len; i++) {
		ab_buf_puts(&b, i ? ", " : "");
		ab_buf_escape(&b, shown->v[i]);
	}
	ab_buf_puts(&b, n > shown->len ? ", ..." : "");
	ab_strv_give(ret, ab_buf_take(&b));
}
