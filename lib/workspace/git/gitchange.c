#include "workspace/git/gitchange.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/text/ascii.h"
#include "workspace/git/gitconfig.h"

#define SECTION_MAX 1024

/* What a free line may have as its value. */
enum kind {
	WORD,	  /* letters, digits, "-" and "_": a flag, a number, one of git's words */
	TEXT,	  /* only shown to people or kept by a tool */
	REF,	  /* a branch, a refspec, a pathspec: not an option */
	ADDRESS,  /* another machine, or a repository whose hooks are closed */
	SOURCE,	  /* a URL or a path that is only cloned: neither "helper::x" nor an option */
	REMOTE,	  /* the name of a remote, or "." */
	UPDATE,	  /* submodule.*.update: not a command */
	WORKTREE, /* like WORD, if config.worktree is closed */
};

/* Sorted by key. "*" is any subsection, or at the end any name. */
static const struct free_key {
	const char *key;
	enum kind kind;
} free_keys[] = {
	{ "advice.*", WORD },
	{ "author.email", TEXT },
	{ "author.name", TEXT },
	{ "branch.*.description", TEXT },
	{ "branch.*.gh-merge-base", REF },
	{ "branch.*.github-pr-owner-number", TEXT },
	{ "branch.*.merge", REF },
	{ "branch.*.pushremote", REMOTE },
	{ "branch.*.rebase", WORD },
	{ "branch.*.remote", REMOTE },
	{ "branch.*.vscode-merge-base", REF },
	{ "branch.autosetupmerge", WORD },
	{ "branch.autosetuprebase", WORD },
	{ "branch.sort", TEXT },
	{ "color.*", TEXT },
	{ "column.*", TEXT },
	{ "commit.verbose", WORD },
	{ "committer.email", TEXT },
	{ "committer.name", TEXT },
	{ "core.abbrev", WORD },
	{ "core.autocrlf", WORD },
	{ "core.eol", WORD },
	{ "core.filemode", WORD },
	{ "core.ignorecase", WORD },
	{ "core.logallrefupdates", WORD },
	{ "core.precomposeunicode", WORD },
	{ "core.quotepath", WORD },
	{ "core.sparsecheckout", WORD },
	{ "core.sparsecheckoutcone", WORD },
	{ "diff.algorithm", WORD },
	{ "diff.colormoved", WORD },
	{ "diff.renames", WORD },
	{ "extensions.worktreeconfig", WORKTREE },
	{ "fetch.prune", WORD },
	{ "fetch.prunetags", WORD },
	{ "gc.auto", WORD },
	{ "gitflow.branch.*", REF },
	{ "gitflow.initialized", WORD },
	{ "gitflow.prefix.*", REF },
	{ "gitflow.version", TEXT },
	{ "index.sparse", WORD },
	{ "init.defaultbranch", REF },
	{ "lfs.*.access", WORD },
	{ "lfs.*.locksverify", WORD },
	{ "lfs.repositoryformatversion", WORD },
	{ "log.date", TEXT },
	{ "maintenance.auto", WORD },
	{ "maintenance.strategy", WORD },
	{ "merge.conflictstyle", WORD },
	{ "merge.ff", WORD },
	{ "pull.ff", WORD },
	{ "pull.rebase", WORD },
	{ "push.autosetupremote", WORD },
	{ "push.default", WORD },
	{ "push.followtags", WORD },
	{ "rebase.autosquash", WORD },
	{ "rebase.autostash", WORD },
	{ "rebase.updaterefs", WORD },
	{ "remote.*.fetch", REF },
	{ "remote.*.followremotehead", WORD },
	{ "remote.*.gh-resolved", TEXT },
	{ "remote.*.mirror", WORD },
	{ "remote.*.prune", WORD },
	{ "remote.*.prunetags", WORD },
	{ "remote.*.pushurl", ADDRESS },
	{ "remote.*.skipdefaultupdate", WORD },
	{ "remote.*.skipfetchall", WORD },
	{ "remote.*.tagopt", WORD },
	{ "remote.*.url", ADDRESS },
	{ "remote.pushdefault", REMOTE },
	{ "rerere.autoupdate", WORD },
	{ "rerere.enabled", WORD },
	{ "status.showuntrackedfiles", WORD },
	{ "submodule.*.active", WORD },
	{ "submodule.*.branch", REF },
	{ "submodule.*.fetchrecursesubmodules", WORD },
	{ "submodule.*.ignore", WORD },
	{ "submodule.*.path", REF },
	{ "submodule.*.shallow", WORD },
	{ "submodule.*.update", UPDATE },
	{ "submodule.*.url", SOURCE },
	{ "submodule.active", REF },
	{ "submodule.recurse", WORD },
	{ "tag.sort", TEXT },
	{ "user.email", TEXT },
	{ "user.name", TEXT },
	{ "user.useconfigonly", WORD },
};

static bool is_word(const char *value)
{
	for (const char *p = value; *p; p++)
		if (!ab_is_alnum((unsigned char)*p) && *p != '-' && *p != '_')
			return false;
	return true;
}

/* "ext::sh -c x" runs a program, "helper::x" another one, and ssh takes "-oProxyCommand=x" for an
 * option. */
static bool is_plain_source(const char *value)
{
	return value[0] != '-' && !strstr(value, "::") && !strstr(value, "://-");
}

/* "host:path", or a URL of a protocol for which git needs no other helper. */
static bool is_elsewhere(const char *value)
{
	static const char *const protocols[] = {
		"http", "https", "ssh", "git", "git+ssh", "ssh+git",
	};
	const char *url = strstr(value, "://");
	size_t n = strcspn(value, ":/");

	if (!url)
		return n > 0 && value[n] == ':';
	for (size_t i = 0; i < AB_COUNT(protocols); i++)
		if (n == strlen(protocols[i]) && value + n == url &&
		    strncmp(value, protocols[i], n) == 0)
			return true;
	return false;
}

static bool is_closed_repo(const struct ab_strv *repos, const char *value)
{
	size_t n = strlen(value);

	while (n > 1 && value[n - 1] == '/')
		n--;
	for (size_t i = 0; repos && i < repos->len; i++)
		if (strlen(repos->v[i]) == n && strncmp(repos->v[i], value, n) == 0)
			return true;
	return false;
}

/* Without a slash: a name that no remote has is taken for a path. */
static bool is_remote(const char *value)
{
	return strcmp(value, ".") == 0 ||
	       (value[0] && value[0] != '-' && value[0] != '.' && !strpbrk(value, ":/"));
}

static bool is_plain_update(const char *value)
{
	static const char *const words[] = { "checkout", "merge", "none", "rebase" };

	for (size_t i = 0; i < AB_COUNT(words); i++)
		if (strcmp(value, words[i]) == 0)
			return true;
	return false;
}

static bool is_free(const char *key, const char *value, const struct ab_gitchange_terms *terms)
{
	for (size_t i = 0; i < AB_COUNT(free_keys); i++) {
		if (!ab_gitconfig_key_matches(free_keys[i].key, key))
			continue;
		switch (free_keys[i].kind) {
		case WORD:
			return is_word(value);
		case TEXT:
			return true;
		case REF:
			return value[0] != '-';
		case ADDRESS:
			return is_plain_source(value) &&
			       (is_elsewhere(value) || is_closed_repo(terms->repos, value));
		case SOURCE:
			return is_plain_source(value);
		case REMOTE:
			return is_remote(value);
		case UPDATE:
			return is_plain_update(value);
		case WORKTREE:
			return terms->worktree_pinned && is_word(value);
		}
	}
	return false;
}

static const char *explain_refusal(const char *key, const char *value)
{
	if (ab_gitconfig_runs(key, value))
		return "can make git run a program or read other files";
	for (size_t i = 0; i < AB_COUNT(free_keys); i++)
		if (ab_gitconfig_key_matches(free_keys[i].key, key))
			return free_keys[i].kind == ADDRESS
				       ? "may only be an address on another host, or the full path "
					 "of a repository that was there at the start"
				       : "may not get this value";
	return "is not among the settings that the box may change";
}

/* One pass over a text: each call of next_kept() returns its next line that is not free. */
struct reader {
	const char *p, *end;
	const char *bad; /* why the text cannot be judged, or NULL */
	const struct ab_gitchange_terms *terms;
	struct ab_buf section; /* "remote.origin." as written, but the first part in lower case */
	struct ab_buf key;     /* section and name, NUL-terminated */
	struct ab_buf value;
	const char *line; /* the kept line, without its end */
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
	}
	*ret_simple = simple;
	return !quoted;
}

/* 1: a kept line, 0: a free one, -1: it cannot be judged. */
static int read_assignment(struct reader *r, const char *p, const char *end)
{
	const char *name = p;
	bool simple;

	clear_text(&r->key);
	clear_text(&r->value);
	if (r->section.len == 0 || !is_name_byte(*p) || *p == '-' || ab_is_digit((unsigned char)*p))
		return -1;
	ab_buf_add(&r->key, r->section.data, r->section.len);
	for (; p < end && is_name_byte(*p); p++)
		add_byte(&r->key, (char)ab_lower((unsigned char)*p));
	if (p - name > SECTION_MAX)
		return -1;
	p = skip_blanks(p, end);
	if (p == end)
		return 1; /* a flag without a value */
	if (*p != '=' || !read_value(r, p + 1, end, &simple))
		return -1;
	return !(simple && is_free(r->key.data, r->value.data, r->terms));
}

/* No byte that a reader could take for an end of the line or of the text. */
static bool has_plain_bytes(const char *p, const char *end)
{
	for (; p < end; p++)
		if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

static bool refuse_text(struct reader *r, const char *why)
{
	r->bad = why;
	return false;
}

/* False at the end of the text, or with r->bad set. */
static bool next_kept(struct reader *r)
{
	while (r->p < r->end) {
		const char *line = r->p, *nl = memchr(line, '\n', (size_t)(r->end - line));
		const char *end = nl ? nl : r->end, *p = skip_blanks(line, end);
		int kept;

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
		kept = read_assignment(r, p, end);
		if (kept < 0)
			return refuse_text(r, "has a line in an unusual form");
		if (kept) {
			r->line = line;
			r->len = (size_t)(end - line);
			return true;
		}
	}
	return false;
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
		return blame_key(ret, after, explain_refusal(after->key.data, after->value.data));
	}
}

static struct reader open_text(const char *data, size_t len, const struct ab_gitchange_terms *terms)
{
	struct reader r = { .p = data, .end = data + len, .terms = terms };

	clear_text(&r.section);
	return r;
}

static void close_text(struct reader *r)
{
	ab_buf_fini(&r->section);
	ab_buf_fini(&r->key);
	ab_buf_fini(&r->value);
}

bool ab_gitchange_allowed(const char *before, size_t before_len, const char *after,
			  size_t after_len, const struct ab_gitchange_terms *terms,
			  struct ab_gitchange *ret)
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
	return allowed;
}
