#include "workspace/git/gitchange.h"

#include "workspace/git/gitconfig.h"

#define SECTION_MAX 1024
#define STILL_NAMED "still names a remote that is gone"

/* What a line is. */
enum line {
	END,
	BAD,  /* the text cannot be judged: r->bad says why */
	FREE, /* the box may add, change and remove it */
	KEPT,
};

/* One pass over a text. */
struct reader {
	const char *p, *end;
	const char *bad; /* why the text cannot be judged, or NULL */
	const struct ab_gitkeys_terms *terms;
	struct ab_buf section; /* "remote.origin." as written, but the first part in lower case */
	struct ab_buf key;     /* section and name, NUL-terminated */
	struct ab_buf value;
	const char *line; /* the assignment, without its end */
	size_t len;
};

static void add_byte(struct ab_buf *b, char c)
{
	ab_buf_add(b, &c, 1);
}

/* An empty text, with its NUL. */
static void clear_text(struct ab_buf *b)
{
	b->len = 0;
	ab_buf_add(b, "", 0);
}

static bool is_name_byte(char c)
{
	return ab_is_alnum((unsigned char)c) || c == '-';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* [name] or [name "sub"], and nothing else in the line. */
static bool read_header(struct reader *r, const char *p, const char *end)
{
	clear_text(&r->section);
	for (p++; p < end && is_name_byte(*p); p++)
		add_byte(&r->section, (char)ab_lower((unsigned char)*p));
	if (r->section.len == 0 || r->section.len > SECTION_MAX)
		return false;
	add_byte(&r->section, '.');
	if (end - p > 2 && p[0] == ' ' && p[1] == '"') {
		for (p += 2; p < end && *p != '"'; p++) {
			if (*p == '\\' || r->section.len > SECTION_MAX)
				return false;
			add_byte(&r->section, *p);
		}
		if (p == end)
			return false;
		p++;
		add_byte(&r->section, '.');
	}
	return p < end && *p == ']' && skip_blanks(p + 1, end) == end;
}

/*
 * The value from behind "=" to the end of the line. *ret_simple: it is written without an escape
 * or a comment, and if it has quotes, they are around all of it. False: git does not accept it, or
 * it continues in the next line.
 */
static bool read_value(struct reader *r, const char *p, const char *end, bool *ret_simple)
{
	bool quoted = false, simple = true;
	size_t keep = 0; /* without the blanks before a comment */
	const char *first;

	p = skip_blanks(p, end);
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	first = p;
	for (; p < end; p++) {
		if (*p == '\\') {
			if (++p == end || !strchr("tnb\"\\", *p))
				return false;
			simple = false;
		} else if (*p == '"') {
			simple &= quoted ? p == end - 1 : p == first;
			quoted = !quoted;
			continue;
		} else if (!quoted && (*p == '#' || *p == ';')) {
			simple = false;
			break;
		}
		add_byte(&r->value, *p);
		if (quoted || !ab_is_blank(*p))
			keep = r->value.len;
	}
	r->value.len = keep;
	r->value.data[keep] = '\0';
	*ret_simple = simple;
	return !quoted;
}

static enum line read_assignment(struct reader *r, const char *p, const char *end)
{
	const char *name = p;
	bool simple;

	clear_text(&r->key);
	clear_text(&r->value);
	if (r->section.len == 0 || !is_name_byte(*p) || *p == '-' || ab_is_digit((unsigned char)*p))
		return BAD;
	ab_buf_add(&r->key, r->section.data, r->section.len);
	for (; p < end && is_name_byte(*p); p++)
		add_byte(&r->key, (char)ab_lower((unsigned char)*p));
	if (p - name > SECTION_MAX)
		return BAD;
	p = skip_blanks(p, end);
	if (p == end)
		return KEPT; /* a flag without a value */
	if (*p != '=' || !read_value(r, p + 1, end, &simple))
		return BAD;
	return simple && ab_gitkeys_allow(r->key.data, r->value.data, r->terms) ? FREE : KEPT;
}

/* No byte that a reader could take for an end of the line or of the text. */
static bool has_plain_bytes(const char *p, const char *end)
{
	for (; p < end; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

static enum line refuse_text(struct reader *r, const char *why)
{
	r->bad = why;
	return BAD;
}

/* The next assignment: FREE or KEPT. */
static enum line next_line(struct reader *r)
{
	while (r->p < r->end) {
		const char *line = r->p, *nl = memchr(line, '\n', (size_t)(r->end - line));
		const char *end = nl ? nl : r->end, *p = skip_blanks(line, end);
		enum line is;

		r->p = nl ? nl + 1 : r->end;
		if (!has_plain_bytes(line, end))
			return refuse_text(r, "contains control characters");
		if (p == end || *p == '#' || *p == ';')
			continue;
		if (*p == '[') {
			if (!read_header(r, p, end))
				return refuse_text(r, "has a section line in an unusual form");
			continue;
		}
		is = read_assignment(r, p, end);
		r->line = line;
		r->len = (size_t)(end - line);
		return is == BAD ? refuse_text(r, "has a line in an unusual form") : is;
	}
	return END;
}

/* False at the end of the text, or with r->bad set. */
static bool next_kept(struct reader *r)
{
	enum line is;

	do {
		is = next_line(r);
	} while (is == FREE);
	return is == KEPT;
}

static bool is_same_line(const struct reader *a, const struct reader *b)
{
	return a->section.len == b->section.len && a->len == b->len &&
	       memcmp(a->section.data, b->section.data, a->section.len) == 0 &&
	       memcmp(a->line, b->line, a->len) == 0;
}

static bool blame_key(struct ab_gitchange *ret, const struct reader *r, const char *why)
{
	snprintf(ret->key, sizeof(ret->key), "%s", r->key.data);
	ret->why = why;
	return false;
}

static bool blame_text(struct ab_gitchange *ret, const char *why)
{
	ret->key[0] = '\0';
	ret->why = why;
	return false;
}

/* The line of `after` comes later: what was here is gone. */
static bool was_removed(struct reader *before, const struct reader *after, struct ab_gitchange *ret)
{
	blame_key(ret, before, "may not be removed");
	while (next_kept(before))
		if (is_same_line(before, after))
			return true;
	return false;
}

static bool compare(struct reader *before, struct reader *after, struct ab_gitchange *ret)
{
	for (;;) {
		bool had = next_kept(before), has = next_kept(after);

		if (before->bad || after->bad)
			return blame_text(ret, after->bad ? after->bad : before->bad);
		if (!had && !has)
			return true;
		if (had && has && is_same_line(before, after))
			continue;
		if (!has)
			return blame_key(ret, before, "may not be removed");
		if (had && was_removed(before, after, ret))
			return false;
		return blame_key(ret, after, ab_gitkeys_explain(after->key.data));
	}
}

static struct reader open_text(const char *data, size_t len, const struct ab_gitkeys_terms *terms)
{
	struct reader r = { .p = data, .end = data + len, .terms = terms };

	clear_text(&r.section);
	return r;
}

static void close_text(struct reader *r)
{
	ab_buf_fini_all(&r->section, &r->key, &r->value);
}

/* -------------------------------------------------------- names of remotes */

/*
 * git takes the name of a remote that has no address for a path, and would push there. So no change may
 * leave such a name, except for one that was there before. `git remote rename` and `git remote
 * remove` change the names only after the remote: what they are about to do is done with it.
 */
struct remotes {
	struct ab_strv names; /* those with an address; sorted */
	struct ab_strv uses;  /* "KEY\nNAME"; sorted */
	struct ab_strv fixed; /* the same of lines that stay as they are */
};

static void free_remotes(struct remotes *r)
{
	ab_strv_fini_all(&r->names, &r->uses, &r->fixed);
}

/* "KEY\nNAME", if the line names a remote. */
static char *read_use(const struct reader *r)
{
	return ab_gitkeys_names_remote(r->key.data, r->value.data)
		       ? ab_printf("%s\n%s", r->key.data, r->value.data)
		       : NULL;
}

/* A text that compare() has read. */
static struct remotes collect_remotes(const char *data, size_t len,
				      const struct ab_gitkeys_terms *terms)
{
	struct reader r = open_text(data, len, terms);
	struct remotes found = { 0 };
	enum line is;

	while ((is = next_line(&r)) == FREE || is == KEPT) {
		char *name = ab_gitkeys_remote(r.key.data, r.value.data), *use = read_use(&r);

		if (name)
			ab_strv_give(&found.names, name);
		if (use)
			ab_strv_give(is == FREE ? &found.uses : &found.fixed, use);
	}
	close_text(&r);
	ab_strv_sort(&found.names);
	ab_strv_sort(&found.uses);
	return found;
}

/* A remote lost its address with this change. */
static bool was_removed_now(const struct remotes *old, const struct remotes *fresh,
			    const char *name)
{
	return ab_strv_has_sorted(&old->names, name) && !ab_strv_has_sorted(&fresh->names, name);
}

/* May this line be in the new text? `had`: it was in the old one. */
static bool may_use(const struct remotes *fresh, const struct ab_gitkeys_terms *terms,
		    const char *name, bool had)
{
	return had || (ab_strv_has_sorted(&fresh->names, name) &&
		       !(terms->is_path && terms->is_path(terms->arg, name)));
}

/* *ret_gone: a name must be changed, too. */
static bool check_uses(const struct remotes *old, const struct remotes *fresh,
		       const struct ab_gitkeys_terms *terms, bool *ret_gone,
		       struct ab_gitchange *ret)
{
	for (size_t i = 0; i < fresh->fixed.len; i++)
		if (was_removed_now(old, fresh, strchr(fresh->fixed.v[i], '\n') + 1))
			return blame_text(ret, STILL_NAMED);
	for (size_t i = 0; i < fresh->uses.len; i++) {
		const char *use = fresh->uses.v[i], *name = strchr(use, '\n') + 1;

		*ret_gone |= was_removed_now(old, fresh, name);
		if (may_use(fresh, terms, name, ab_strv_has_sorted(&old->uses, use)))
			continue;
		snprintf(ret->key, sizeof(ret->key), "%.*s", (int)(name - use - 1), use);
		ret->why = ab_gitkeys_explain(ret->key);
		return false;
	}
	return true;
}

/* The new name of the only remote that was renamed, if it can be written without quotes; or NULL. */
static const char *find_new_name(const struct remotes *old, const struct remotes *fresh)
{
	const char *found = NULL;

	for (size_t i = 0; i < fresh->names.len; i++) {
		const char *name = fresh->names.v[i];

		if (ab_strv_has_sorted(&old->names, name) || (found && strcmp(found, name) == 0))
			continue;
		if (found)
			return NULL;
		found = name;
	}
	for (const char *p = found; p && *p; p++)
		if (!is_name_byte(*p) && *p != '_' && *p != '.')
			return NULL;
	return found;
}

/* The text, with the new name in each line that names a remote that is gone, or without the line. */
static void write_renamed(struct reader *r, const struct remotes *old, const struct remotes *fresh,
			  struct ab_buf *ret)
{
	const char *from = r->p, *name = find_new_name(old, fresh);
	enum line is;

	while ((is = next_line(r)) == FREE || is == KEPT) {
		ab_autofree char *use = is == FREE ? read_use(r) : NULL;

		if (!use || !was_removed_now(old, fresh, r->value.data))
			continue;
		ab_buf_add(ret, from, (size_t)(r->line - from));
		if (name)
			ab_buf_printf(ret, "\t%s = %s\n", strrchr(r->key.data, '.') + 1, name);
		from = r->p;
	}
	ab_buf_add(ret, from, (size_t)(r->end - from));
}

static bool compare_remotes(const char *before, size_t before_len, const char *after,
			    size_t after_len, const struct ab_gitkeys_terms *terms,
			    struct ab_gitchange *ret, struct ab_buf *ret_text)
{
	struct remotes old = collect_remotes(before, before_len, terms);
	struct remotes fresh = collect_remotes(after, after_len, terms);
	bool gone = false, allowed = check_uses(&old, &fresh, terms, &gone, ret);

	if (allowed && gone && ret_text) {
		struct reader r = open_text(after, after_len, terms);

		write_renamed(&r, &old, &fresh, ret_text);
		close_text(&r);
	} else if (allowed && gone) {
		allowed = blame_text(ret, STILL_NAMED);
	}
	free_remotes(&old);
	free_remotes(&fresh);
	return allowed;
}

bool ab_gitchange_allowed(const char *before, size_t before_len, const char *after,
			  size_t after_len, const struct ab_gitkeys_terms *terms,
			  struct ab_gitchange *ret, struct ab_buf *ret_text)
{
	struct reader a, b;
	bool allowed;

	if (before_len > AB_GITCONFIG_MAX || after_len > AB_GITCONFIG_MAX)
		return blame_text(ret, "is too long");
	a = open_text(before, before_len, terms);
	b = open_text(after, after_len, terms);
	allowed = compare(&a, &b, ret);
	close_text(&a);
	close_text(&b);
	return allowed &&
	       compare_remotes(before, before_len, after, after_len, terms, ret, ret_text);
}
