#include "workspace/tree/glob.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "workspace/tree/dir.h"

#define ENTRIES_MAX 20000
#define MATCHES_MAX 4096
#define MANY_NAMES 24
#define SMALL_FOLDER 400

struct rule {
	char *text;	  /* without "!" and a last "**" */
	const char *rest; /* what is left of it below the open folder */
	size_t index;	  /* its place in the list */
	bool take_back;
};

struct match {
	char *path; /* as the rule says it */
	char *real;
	enum ab_node kind;
	size_t index;
};

struct expansion {
	struct match *v;
	size_t len;
	size_t entries; /* budget left */
	uid_t uid;	/* the caller's */
	struct ab_error *err;
};

/* Lists of rules are sorted, so one folder is opened once for all. */
static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct rule *)a)->text, ((const struct rule *)b)->text);
}

/* Nothing is there, or nobody with our rights could read it. */
static bool is_absent(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == EACCES || errnum == ELOOP;
}

static int refuse(struct expansion *x, const char *text)
{
	ab_fail(x->err, AB_ECONFIG, 0,
		"filesystem.denyRead: \"%s\" matches too much to be hidden "
		"one by one",
		text);
	return ab_hint(x->err, "Deny the folder itself.");
}

/* An open folder on the way. Its real path is found out when something in it
 * matches, once. */
struct folder {
	int fd;
	const char *path; /* as the rules say it */
	char *real;
};

/*
 * What the caller cannot open, the box cannot either: it has the same uid and
 * fewer rights. Our own could be given another mode first, a link may lead
 * anywhere, and a folder that cannot be listed may still be entered.
 */
static bool is_closed_to_us(const struct expansion *x, int dir, const char *name,
			    const struct stat *st)
{
	return !S_ISLNK(st->st_mode) && st->st_uid != x->uid && faccessat(dir, name, R_OK, 0) < 0 &&
	       errno == EACCES &&
	       (!S_ISDIR(st->st_mode) || (faccessat(dir, name, X_OK, 0) < 0 && errno == EACCES));
}

static char *real_in(struct folder *f, const char *name)
{
	if (!f->real)
		f->real = ab_real_path(f->fd);
	return f->real ? ab_path_join(f->real, name) : NULL;
}

/* The object `name` in the open folder is denied by rule r. */
static int add_match(struct expansion *x, struct folder *f, const char *name, const struct rule *r)
{
	ab_autofree char *real = NULL;
	ab_autoclose int fd = -1;
	struct stat st;

	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return is_absent(errno)
			       ? 0
			       : ab_fail(x->err, AB_ESYSTEM, errno, "look at %s/%s", f->path, name);
	if (is_closed_to_us(x, f->fd, name, &st))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		fd = openat(f->fd, name, O_PATH | O_CLOEXEC);
		if (fd < 0 && is_absent(errno))
			return 0;
		if (fd >= 0 && fstat(fd, &st) == 0)
			real = ab_real_path(fd);
	} else {
		real = real_in(f, name);
	}
	if (!real)
		return ab_fail(x->err, AB_ESYSTEM, errno, "resolve %s/%s", f->path, name);
	if (strcmp(real, "/") == 0 || x->len == MATCHES_MAX)
		return refuse(x, r->text);
	if ((x->len & (x->len + 1)) == 0)
		x->v = ab_realloc(x->v, 2 * (x->len + 1) * sizeof(x->v[0]));
	x->v[x->len++] = (struct match){
		.path = ab_path_join(f->path, name),
		.real = ab_take(real),
		.kind = ab_node_of(st.st_mode),
		.index = r->index,
	};
	return 0;
}

static int expand(struct expansion *x, struct folder *f, struct rule *rules, size_t n);

/* A folder of our own that we cannot look into, but that the box, which has
 * our uid, could give another mode. */
static bool is_locked(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       faccessat(fd, ".", R_OK | X_OK, 0) < 0 && errno == EACCES;
}

/* What the rules name in it cannot be found: all of it is denied. */
static int deny_whole(struct expansion *x, struct folder *f, const char *name,
		      const struct rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!rules[i].take_back)
			return add_match(x, f, name, &rules[i]);
	return 0;
}

/* All rules here have the same first component, and it stands for `name`. */
static int enter(struct expansion *x, struct folder *f, const char *name, const struct rule *rules,
		 size_t n)
{
	ab_autofree struct rule *below = ab_alloc(n * sizeof(*below));
	ab_autofree char *deeper = NULL;
	ab_autoclose int fd = -1;
	struct folder inner;
	size_t nbelow = 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		const char *slash = strchr(rules[i].rest, '/');

		if (slash) {
			below[nbelow] = rules[i];
			below[nbelow++].rest = slash + 1;
		} else if (add_match(x, f, name, &rules[i]) < 0) {
			return -1;
		}
	}
	if (nbelow == 0)
		return 0;
	fd = openat(f->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return is_absent(errno)
			       ? 0
			       : ab_fail(x->err, AB_ESYSTEM, errno, "open %s/%s", f->path, name);
	if (is_locked(fd))
		return deny_whole(x, f, name, below, nbelow);
	deeper = ab_path_join(f->path, name);
	inner = (struct folder){ .fd = fd, .path = deeper };
	rc = expand(x, &inner, below, nbelow);
	free(inner.real);
	return rc;
}

static int enter_matching(struct expansion *x, struct folder *f, const char *pattern,
			  const struct rule *rules, size_t n)
{
	ab_autoclose int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0 && is_absent(errno))
		return 0;
	if (fd < 0 || ab_listing_read(&l, fd, x->entries) < 0)
		return ab_fail(x->err, AB_ESYSTEM, errno, "read %s", f->path);
	if (l.cut)
		return refuse(x, rules[0].text);
	x->entries -= l.len;
	for (size_t i = 0; i < l.len; i++)
		if (fnmatch(pattern, l.v[i].name, 0) == 0 && enter(x, f, l.v[i].name, rules, n) < 0)
			return -1;
	return 0;
}

/*
 * Many rules meet in one folder (the home, ~/.config), and most of them name
 * what is not there: to list a small folder once is cheaper than to ask for
 * each name.
 */
static bool list_folder(const struct folder *f, const struct rule *rules, size_t n,
			struct ab_listing *l)
{
	ab_autoclose int fd = -1;
	size_t distinct = 1;

	for (size_t i = 1; i < n; i++) {
		size_t len = strcspn(rules[i].rest, "/");

		distinct += strncmp(rules[i - 1].rest, rules[i].rest, len) ||
			    (rules[i - 1].rest[len] != '/' && rules[i - 1].rest[len]);
	}
	if (distinct < MANY_NAMES)
		return false;
	fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && ab_listing_read(l, fd, SMALL_FOLDER) == 0 && !l->cut;
}

static int expand(struct expansion *x, struct folder *f, struct rule *rules, size_t n)
{
	ab_autolisting struct ab_listing l = { 0 };
	bool listed = list_folder(f, rules, n, &l);

	for (size_t i = 0, k; i < n; i = k) {
		size_t len = strcspn(rules[i].rest, "/");
		ab_autofree char *one = ab_strndup(rules[i].rest, len);
		int rc;

		for (k = i + 1; k < n; k++)
			if (strcspn(rules[k].rest, "/") != len ||
			    strncmp(rules[k].rest, one, len) != 0)
				break;
		if (listed && !ab_path_is_pattern(one) && !ab_listing_find(&l, one))
			continue;
		rc = ab_path_is_pattern(one) ? enter_matching(x, f, one, rules + i, k - i)
					     : enter(x, f, one, rules + i, k - i);
		if (rc < 0)
			return -1;
	}
	return 0;
}

enum relation { APART, SAME, ABOVE, BELOW };

/* Where is the pattern, seen from the path? */
static enum relation relate(const char *pattern, const char *path)
{
	while (*pattern && *path) {
		char a[NAME_MAX + 1], b[NAME_MAX + 1];
		size_t n, m;

		pattern++, path++;
		n = strcspn(pattern, "/");
		m = strcspn(path, "/");
		if (n > NAME_MAX || m > NAME_MAX)
			return APART;
		memcpy(a, pattern, n);
		memcpy(b, path, m);
		a[n] = b[m] = '\0';
		if (fnmatch(a, b, 0) != 0)
			return APART;
		pattern += n;
		path += m;
	}
	if (!*pattern && !*path)
		return SAME;
	return *path ? ABOVE : BELOW;
}

/* 1: taken back, 0: stays, -1: the exception cannot be kept. */
static int judge(const struct match *m, const struct rule *rules, size_t n, struct ab_error *err)
{
	for (size_t i = 0; i < n; i++) {
		enum relation rel;

		if (!rules[i].take_back || rules[i].index < m->index)
			continue;
		rel = relate(rules[i].text, m->path);
		if (rel == APART)
			rel = relate(rules[i].text, m->real);
		if (rel == SAME || rel == ABOVE)
			return 1;
		if (rel == BELOW && m->kind == AB_NODE_DIR) {
			ab_fail(err, AB_ECONFIG, 0,
				"filesystem.denyRead: \"!%s\" takes back a part"
				" of %s, which is denied as a whole",
				rules[i].text, m->path);
			return ab_hint(err, "Deny \"%s/*\" instead of \"%s\".", m->path, m->path);
		}
	}
	return 0;
}

static int read_rule(const char *entry, size_t index, struct rule *ret, struct ab_error *err)
{
	struct rule r = { .index = index, .take_back = entry[0] == '!' };
	size_t n;

	r.text = ab_strdup(entry + r.take_back);
	n = strlen(r.text);
	if (n > 3 && strcmp(r.text + n - 3, "/**") == 0)
		r.text[n - 3] = '\0';
	/* Few have a star at all. */
	if (r.text[0] == '/' && r.text[1] &&
	    (!strchr(r.text, '*') || (!strstr(r.text, "/**/") && strcmp(r.text, "/**") != 0))) {
		r.rest = r.text + 1;
		*ret = r;
		return 0;
	}
	free(r.text);
	ab_fail(err, AB_ECONFIG, 0, "filesystem.denyRead: \"%s\" cannot be enforced", entry);
	return ab_hint(err, "Write a path; \"**\" may stand at its end only.");
}

static int collect(struct expansion *x, const struct rule *rules, size_t n, struct ab_guard **ret,
		   size_t *ret_n)
{
	struct ab_guard *v = NULL;
	size_t len = 0;

	for (size_t i = 0; i < x->len; i++) {
		int taken = judge(&x->v[i], rules, n, x->err);

		if (taken < 0) {
			ab_guards_free(v, len);
			return -1;
		}
		if (!taken)
			ab_guards_add(&v, &len, x->v[i].real, x->v[i].kind);
	}
	ab_guards_settle(v, &len);
	*ret = v;
	*ret_n = len;
	return 0;
}

int ab_expand_deny(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
		   struct ab_error *err)
{
	ab_autofree struct rule *rules = ab_alloc(patterns->len * sizeof(*rules));
	ab_autofree struct rule *deny = ab_alloc(patterns->len * sizeof(*deny));
	struct expansion x = { .entries = ENTRIES_MAX, .uid = geteuid(), .err = err };
	ab_autoclose int root = -1;
	struct folder top = { .path = "/" };
	size_t n = 0, ndeny = 0;
	int rc = 0;

	for (size_t i = 0; i < patterns->len && rc == 0; i++) {
		rc = read_rule(patterns->v[i], i, &rules[n], err);
		if (rc == 0 && !rules[n++].take_back)
			deny[ndeny++] = rules[n - 1];
	}
	if (rc == 0) {
		qsort(deny, ndeny, sizeof(*deny), by_text);
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		top.fd = root;
		rc = root < 0 ? ab_fail(err, AB_ESYSTEM, errno, "open /")
			      : expand(&x, &top, deny, ndeny);
		free(top.real);
	}
	if (rc == 0)
		rc = collect(&x, rules, n, ret, ret_n);
	for (size_t i = 0; i < x.len; i++) {
		free(x.v[i].path);
		free(x.v[i].real);
	}
	free(x.v);
	for (size_t i = 0; i < n; i++)
		free(rules[i].text);
	return rc;
}
