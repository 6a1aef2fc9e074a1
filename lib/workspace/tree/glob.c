#include "workspace/tree/glob.h"

#include <dirent.h>
#include <fnmatch.h>
#include <linux/magic.h>

#include "workspace/tree/dir.h"
#include "workspace/tree/path_relation.h"

#define ENTRIES_MAX 20000
#define DEEP_ENTRIES_MAX 1000000 /* below "**" */
#define DEPTH_MAX 128
#define MATCHES_MAX 4096
#define MANY_NAMES 24
#define SMALL_FOLDER 400
/* So many rules are sorted first; for fewer, looking at all of them for each name takes less time. */
#define MANY_RULES 512

struct rule {
	char *text;	  /* without "!" and a trailing "**" */
	const char *rest; /* the rest of it below the open folder */
	size_t index;	  /* its position in the list */
};

struct match {
	char *path; /* as written in the rule */
	char *real;
	enum ab_node kind;
	size_t index;
};

struct expansion {
	struct match *v;
	size_t len;
	size_t entries; /* budget left */
	size_t deep;	/* the same for folders below "**" */
	bool shallow;	/* leave out what "**" finds */
	uid_t uid;	/* the caller's */
	bool sorted;	/* so are the rules */
	dev_t dev;	/* the file system that was looked at last, and whether it is a known one */
	bool known;
	const struct rule *exceptions;
	size_t nexceptions;
	struct ab_strv *missing;       /* or NULL */
	struct ab_hidden_names *notes; /* what was looked at; or NULL */
	struct ab_error *err;
};

/* ---- what was looked at ---- */

/* Of a folder of which more names than this matter, its own times tell whether they have changed. */
enum { FEW_NAMES = 2 };

/* How long a file system may take to give another change another time. */
enum { TICK_MS = 100, WHOLE_SECOND_MS = 3000 };

struct ab_looked {
	char *path;
	bool absent;  /* there was nothing of this name */
	bool follows; /* links */
	bool timed;   /* its times count */
	char *real;   /* if there is a link on the way to it; else NULL */
	struct stat st;
};

/* Did it change so recently that another change could have the same time? */
static bool is_recent(const struct timespec *changed)
{
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = ((int64_t)now.tv_sec - changed->tv_sec) * 1000 +
	      (now.tv_nsec - changed->tv_nsec) / 1000000;
	return age < (changed->tv_nsec ? TICK_MS : WHOLE_SECOND_MS);
}

/* Those whose folders have another time whenever a name in them is another one, and whose modes decide. */
static bool is_known(int fd)
{
	static const unsigned long known[] = { EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
					       BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
					       F2FS_SUPER_MAGIC,  OVERLAYFS_SUPER_MAGIC };

	return ab_is_on(fd, known, AB_COUNT(known));
}

static void note_looked(struct expansion *x, struct ab_looked looked)
{
	struct ab_hidden_names *notes = x->notes;

	if (looked.timed && (is_recent(&looked.st.st_ctim) || is_recent(&looked.st.st_mtim)))
		notes->told = false;
	*ab_append(notes->looked, notes->nlooked) = looked;
}

static bool looks_same(const struct ab_looked *l)
{
	struct stat st;

	if ((l->follows ? stat(l->path, &st) : lstat(l->path, &st)) < 0)
		return l->absent && errno == ENOENT;
	if (l->real) {
		ab_autofree char *real = realpath(l->path, NULL);

		if (!real || strcmp(real, l->real) != 0)
			return false;
	}
	return !l->absent && ab_stat_same(&st, &l->st) && st.st_mode == l->st.st_mode &&
	       st.st_uid == l->st.st_uid && st.st_gid == l->st.st_gid &&
	       (!l->timed || (ab_time_same(st.st_ctim, l->st.st_ctim) &&
			      ab_time_same(st.st_mtim, l->st.st_mtim)));
}

/* It is not enough to look at the same again. */
static void note_unsure(struct expansion *x)
{
	if (x->notes)
		x->notes->told = false;
}

static int compare_rules(const void *a, const void *b)
{
	return strcmp(((const struct rule *)a)->text, ((const struct rule *)b)->text);
}

/* Two looks must agree: one call that fails must not leave a name open to the box. */
static bool is_denied_access(int dir, const char *name, int how)
{
	return faccessat(dir, name, how, 0) < 0 && errno == EACCES &&
	       faccessat(dir, name, how, 0) < 0 && errno == EACCES;
}

static int fail_budget(struct expansion *x, const char *text)
{
	ab_fail(x->err, AB_ECONFIG, 0, "filesystem.denyRead: \"%s\" matches too many files", text);
	return ab_hint(x->err, "Deny the folder itself.");
}

/* An open folder. If a link led to it, its real path is determined once, when something in it
 * matches. */
struct folder {
	int fd;
	const char *path; /* as written in the rules */
	bool plain;	  /* no link led to it, so that is its real path */
	char *real;
	uid_t owner;
	mode_t mode;
	dev_t dev;
	bool few; /* few names in it matter: each of them is noted */
};

/* `name` does not exist in the open folder. */
static void note_absent(struct expansion *x, const struct folder *f, const char *name)
{
	if (x->notes && f->few)
		note_looked(x, (struct ab_looked){ .path = ab_path_join(f->path, name),
						   .absent = true });
}

/* Whether others can open it is known by its time only. */
static void note_object(struct expansion *x, const struct folder *f, const char *name,
			const struct stat *st)
{
	if (x->notes)
		note_looked(x, (struct ab_looked){ .path = ab_path_join(f->path, name),
						   .timed = st->st_uid != x->uid,
						   .st = *st });
}

/*
 * The box cannot open what the caller cannot open: it has the same uid and fewer
 * rights. But it could change the mode of the caller's own files, a link may lead anywhere,
 * and a folder that cannot be listed may still be entered. In a folder of the caller's
 * ("sudo" has left something in the home) the owner may well open it later, while
 * the box runs, so it is hidden too; in the system's folders nobody does that.
 */
static bool is_closed_to_us(const struct expansion *x, const struct folder *f, const char *name,
			    const struct stat *st)
{
	return !S_ISLNK(st->st_mode) && st->st_uid != x->uid && f->owner != x->uid &&
	       is_denied_access(f->fd, name, R_OK) &&
	       (!S_ISDIR(st->st_mode) || is_denied_access(f->fd, name, X_OK));
}

static char *get_real_path(struct folder *f, const char *name)
{
	if (f->plain)
		return ab_path_join(f->path, name);
	if (!f->real)
		f->real = ab_real_path(f->fd);
	return f->real ? ab_path_join(f->real, name) : NULL;
}

static int fail_at(struct expansion *x, const struct folder *f, const char *name, int errnum)
{
	ab_autofree char *path = ab_path_join(f->path, name);

	return ab_fail(x->err, AB_ESYSTEM, errnum, "examine %s", path);
}

/* A call has failed to reach `name`: 0 if that is so for the box as well. */
static int pass_absent(struct expansion *x, const struct folder *f, const char *name, int how)
{
	int errnum = errno;

	if (errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP ||
	    (errnum == EACCES && is_denied_access(f->fd, name, how)))
		return 0;
	return fail_at(x, f, name, errnum);
}

static bool is_taken_back(const struct expansion *x, const struct rule *r);

/* `name` does not exist in the open folder, and these rules lead there. */
static void add_missing(struct expansion *x, struct folder *f, const char *name,
			const struct rule *rules, size_t n)
{
	for (size_t i = 0; x->missing && i < n; i++) {
		char *path = is_taken_back(x, &rules[i]) ? NULL : get_real_path(f, name);

		if (!path)
			continue;
		ab_strv_give(x->missing, path);
		return;
	}
}

/* The object `name` in the open folder is denied by rule r. */
static int add_match(struct expansion *x, struct folder *f, const char *name, const struct rule *r)
{
	ab_autofree char *real = NULL;
	ab_autoclose int fd = -1;
	struct stat st;

	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0) {
		if (errno == ENOENT) {
			add_missing(x, f, name, r, 1);
			note_absent(x, f, name);
			return 0;
		}
		note_unsure(x);
		return pass_absent(x, f, name, F_OK);
	}
	note_object(x, f, name, &st);
	if (is_closed_to_us(x, f, name, &st))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		fd = openat(f->fd, name, O_PATH | O_CLOEXEC);
		if (fd < 0) {
			note_unsure(x); /* it may lead somewhere later */
			if (errno != ENOENT)
				return pass_absent(x, f, name, F_OK);
			add_missing(x, f, name, r, 1);
			return 0;
		}
		if (fstat(fd, &st) == 0)
			real = ab_real_path(fd);
		if (real && x->notes)
			note_looked(x, (struct ab_looked){ .path = ab_path_join(f->path, name),
							   .follows = true,
							   .real = ab_strdup(real),
							   .st = st });
	} else {
		real = get_real_path(f, name);
	}
	if (!real)
		return ab_fail(x->err, AB_ESYSTEM, errno, "resolve %s/%s", f->path, name);
	if (strcmp(real, "/") == 0 || x->len == MATCHES_MAX)
		return fail_budget(x, r->text);
	*ab_append(x->v, x->len) = (struct match){
		.path = ab_path_join(f->path, name),
		.real = ab_take(real),
		.kind = ab_node_of(st.st_mode),
		.index = r->index,
	};
	return 0;
}

static int expand(struct expansion *x, struct folder *f, struct rule *rules, size_t n);

/* Does its mode let us in? Most folders are on one file system, and this one call then does for all. */
static bool is_open_to_owner(struct expansion *x, const struct folder *f)
{
	if (f->owner != x->uid || ~f->mode & (S_IRUSR | S_IXUSR))
		return false;
	if (x->dev != f->dev)
		x->known = is_known(f->fd);
	x->dev = f->dev;
	return x->known;
}

/* A folder that cannot be searched now, but could be while the box runs: it is ours,
 * and the box could change its mode; or its owner could, and it is in a folder of
 * ours. */
static bool is_locked(struct expansion *x, const struct folder *above, const struct folder *f)
{
	return !is_open_to_owner(x, f) && (f->owner == x->uid || above->owner == x->uid) &&
	       is_denied_access(f->fd, ".", R_OK | X_OK);
}

/* There is no folder of this name. What else there is, is not noted. */
static void note_unopened(struct expansion *x, const struct folder *f, const char *name, int errnum)
{
	struct stat st;

	if (!x->notes)
		return;
	if (errnum == ENOENT && fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		note_absent(x, f, name);
	else
		note_unsure(x);
	errno = errnum;
}

/* Through a link if there is one. */
static int open_inner(const struct folder *f, const char *name, bool *ret_plain)
{
	int fd = openat(f->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*ret_plain = f->plain && fd >= 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
	if (fd < 0 && errno == ENOTDIR)
		fd = openat(f->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

/* The one that the fewest exceptions take back. */
static const struct rule *find_last(const struct rule *rules, size_t n)
{
	const struct rule *last = &rules[0];

	for (size_t i = 1; i < n; i++)
		if (rules[i].index > last->index)
			last = &rules[i];
	return last;
}

static size_t count_names(const struct rule *rules, size_t n)
{
	size_t distinct = 1;

	for (size_t i = 1; i < n; i++) {
		size_t len = strcspn(rules[i].rest, "/");

		distinct += strncmp(rules[i - 1].rest, rules[i].rest, len) ||
			    (rules[i - 1].rest[len] != '/' && rules[i - 1].rest[len]);
	}
	return distinct;
}

/* The folder that these rules lead into. Whether we may enter one of another user's is known by its
 * time only. */
static void note_folder(struct expansion *x, const struct folder *above, struct folder *f,
			const struct stat *st, const struct rule *rules, size_t n)
{
	struct ab_looked looked = { .follows = !f->plain, .st = *st };

	if (!x->notes)
		return;
	f->few = count_names(rules, n) <= FEW_NAMES;
	for (size_t i = 0; i < n; i++)
		f->few &= !ab_path_is_pattern(rules[i].rest);
	looked.timed = !f->few || (f->owner != x->uid && above && above->owner == x->uid);
	looked.path = ab_strdup(f->path);
	if (!f->plain)
		looked.real = ab_real_path(f->fd);
	if ((looked.timed && !is_known(f->fd)) || (!f->plain && !looked.real))
		note_unsure(x);
	note_looked(x, looked);
}

/* All rules here have the same first component, and it matches `name`. */
static int enter(struct expansion *x, struct folder *f, const char *name, const struct rule *rules,
		 size_t n)
{
	ab_autofree struct rule *below = ab_alloc(n * sizeof(*below));
	ab_autofree char *deeper = NULL;
	ab_autoclose int fd = -1;
	struct folder inner;
	size_t nbelow = 0;
	struct stat st;
	bool plain;
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
	fd = open_inner(f, name, &plain);
	if (fd < 0 && errno == ENOENT)
		add_missing(x, f, name, below, nbelow);
	if (fd < 0) {
		note_unopened(x, f, name, errno);
		return pass_absent(x, f, name, F_OK);
	}
	if (fstat(fd, &st) < 0)
		return fail_at(x, f, name, errno);
	deeper = ab_path_join(f->path, name);
	inner = (struct folder){ .fd = fd,
				 .path = deeper,
				 .plain = plain,
				 .owner = st.st_uid,
				 .mode = st.st_mode,
				 .dev = st.st_dev };
	note_folder(x, f, &inner, &st, below, nbelow);
	if (is_locked(x, f, &inner))
		/* Their entries cannot be found, so deny the whole folder. */
		return add_match(x, f, name, find_last(below, nbelow));
	rc = expand(x, &inner, below, nbelow);
	free(inner.real);
	return rc;
}

static int enter_matching(struct expansion *x, struct folder *f, const char *pattern,
			  const struct rule *rules, size_t n)
{
	ab_autoclose int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0)
		return pass_absent(x, f, ".", R_OK);
	if (ab_listing_read(&l, fd, x->entries) < 0)
		return ab_fail(x->err, AB_ESYSTEM, errno, "read %s", f->path);
	if (l.cut)
		return fail_budget(x, rules[0].text);
	x->entries -= l.len;
	for (size_t i = 0; i < l.len; i++)
		if (fnmatch(pattern, l.v[i].name, 0) == 0 && enter(x, f, l.v[i].name, rules, n) < 0)
			return -1;
	return 0;
}

/* One rule with the component "**": is the name what follows it? */
static int match_below(struct expansion *x, struct folder *f, const char *name,
		       const struct rule *r)
{
	struct rule below = *r;
	char pattern[NAME_MAX + 1];
	size_t len;

	below.rest = strchr(r->rest, '/') + 1;
	len = strcspn(below.rest, "/");
	if (len > NAME_MAX)
		return 0;
	memcpy(pattern, below.rest, len);
	pattern[len] = '\0';
	return fnmatch(pattern, name, 0) == 0 ? enter(x, f, name, &below, 1) : 0;
}

static int search(struct expansion *x, struct folder *f, const struct rule *rules, size_t n,
		  unsigned depth);

/* A folder below "**"; a link is followed by its own place only. */
static int search_inner(struct expansion *x, struct folder *f, const char *name,
			const struct rule *rules, size_t n, unsigned depth)
{
	ab_autoclose int fd = openat(f->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autofree char *path = ab_path_join(f->path, name);
	struct folder inner = { .fd = fd, .path = path, .plain = f->plain };
	struct stat st;
	int rc;

	if (fd < 0)
		return pass_absent(x, f, name, F_OK);
	if (fstat(fd, &st) < 0)
		return ab_fail(x->err, AB_ESYSTEM, errno, "open %s", path);
	inner.owner = st.st_uid;
	inner.mode = st.st_mode;
	inner.dev = st.st_dev;
	if (is_locked(x, f, &inner))
		return add_match(x, f, name, find_last(rules, n));
	rc = search(x, &inner, rules, n, depth);
	free(inner.real);
	return rc;
}

/* All rules have "**" here: look in this folder, and in all below it. */
static int search(struct expansion *x, struct folder *f, const struct rule *rules, size_t n,
		  unsigned depth)
{
	ab_autoclose int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	note_unsure(x);
	if (fd < 0)
		return pass_absent(x, f, ".", R_OK);
	if (ab_listing_read(&l, fd, x->deep) < 0)
		return ab_fail(x->err, AB_ESYSTEM, errno, "read %s", f->path);
	if (l.cut || depth == DEPTH_MAX)
		return fail_budget(x, rules[0].text);
	x->deep -= l.len;
	for (size_t i = 0; i < l.len; i++) {
		const struct ab_entry *e = &l.v[i];

		for (size_t k = 0; k < n; k++)
			if (match_below(x, f, e->name, &rules[k]) < 0)
				return -1;
		if ((e->type == DT_DIR || e->type == DT_UNKNOWN) &&
		    search_inner(x, f, e->name, rules, n, depth + 1) < 0)
			return -1;
	}
	return 0;
}

/*
 * Many rules apply to one folder (the home, ~/.config), and most of their names do not
 * exist: listing a small folder once is cheaper than looking up each name.
 */
static bool list_folder(const struct folder *f, const struct rule *rules, size_t n,
			struct ab_listing *l)
{
	ab_autoclose int fd = -1;

	if (count_names(rules, n) < MANY_NAMES)
		return false;
	fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && ab_listing_read(l, fd, SMALL_FOLDER) == 0 && !l->cut;
}

static bool begins_with(const struct rule *r, const char *name, size_t len)
{
	return strncmp(r->rest, name, len) == 0 && (!r->rest[len] || r->rest[len] == '/');
}

/* Put the rules that begin with the same name first, so that a folder is opened once for all of them. How
 * many they are. */
static size_t gather(const struct expansion *x, struct rule *rules, size_t n, const char *name,
		     size_t len)
{
	size_t same = 1;

	for (size_t i = 1; i < n; i++) {
		struct rule r = rules[i];

		if (begins_with(&r, name, len)) {
			rules[i] = rules[same];
			rules[same++] = r;
		} else if (x->sorted) {
			break;
		}
	}
	return same;
}

static int expand(struct expansion *x, struct folder *f, struct rule *rules, size_t n)
{
	ab_autolisting struct ab_listing l = { 0 };
	bool listed = list_folder(f, rules, n, &l);

	for (size_t i = 0, k; i < n; i = k) {
		size_t len = strcspn(rules[i].rest, "/");
		char usual[64] = "";
		ab_autofree char *longer =
			len < sizeof(usual) ? NULL : ab_strndup(rules[i].rest, len);
		const char *one = longer ? longer : memcpy(usual, rules[i].rest, len);
		int rc;

		k = i + gather(x, rules + i, n - i, one, len);
		if (listed && !ab_path_is_pattern(one) && !ab_listing_find(&l, one)) {
			add_missing(x, f, one, rules + i, k - i);
			continue;
		}
		if (strcmp(one, "**") == 0)
			rc = x->shallow ? 0 : search(x, f, rules + i, k - i, 0);
		else if (ab_path_is_pattern(one))
			rc = enter_matching(x, f, one, rules + i, k - i);
		else
			rc = enter(x, f, one, rules + i, k - i);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* For an entry of which nothing exists: does an exception name it, or a folder above it? */
static bool is_taken_back(const struct expansion *x, const struct rule *r)
{
	for (size_t i = 0; i < x->nexceptions; i++) {
		enum ab_path_relation rel;

		if (x->exceptions[i].index < r->index)
			continue;
		rel = ab_path_relate(x->exceptions[i].text, r->text);
		if (rel == AB_PATH_SAME || rel == AB_PATH_ABOVE)
			return true;
	}
	return false;
}

/* 1: cancelled, 0: denied, -1: the exception cannot be enforced. */
static int apply_exceptions(const struct match *m, const struct rule *rules, size_t n,
			    struct ab_error *err)
{
	for (size_t i = 0; i < n; i++) {
		enum ab_path_relation rel;

		if (rules[i].index < m->index)
			continue;
		rel = ab_path_relate(rules[i].text, m->path);
		if (rel == AB_PATH_APART)
			rel = ab_path_relate(rules[i].text, m->real);
		if (rel == AB_PATH_SAME || rel == AB_PATH_ABOVE)
			return 1;
		if (rel == AB_PATH_BELOW && m->kind == AB_NODE_DIR) {
			ab_fail(err, AB_ECONFIG, 0,
				"filesystem.denyRead: \"!%s\" is an exception inside %s,"
				" which is denied as a whole",
				rules[i].text, m->path);
			return ab_hint(err,
				       "show all of it: --read %s; or deny \"%s/*\" instead of "
				       "\"%s\" in the settings",
				       m->path, m->path, m->path);
		}
	}
	return 0;
}

static bool is_exception(const char *entry)
{
	return entry[0] == '!';
}

/* Its text is put at *to, which moves behind it. */
static int read_rule(const char *entry, size_t index, char **to, struct rule *ret,
		     struct ab_error *err)
{
	const char *from = entry + is_exception(entry);
	size_t n = strlen(from);
	struct rule r = { .index = index, .text = memcpy(*to, from, n + 1) };

	*to += n + 1;
	if (n > 3 && strcmp(r.text + n - 3, "/**") == 0)
		r.text[n - 3] = '\0';
	/* Most have no star. */
	if (r.text[0] == '/' && r.text[1] &&
	    (!strchr(r.text, '*') || ab_path_can_search(r.text, is_exception(entry)))) {
		r.rest = r.text + 1;
		*ret = r;
		return 0;
	}
	ab_fail(err, AB_ECONFIG, 0, "filesystem.denyRead: \"%s\" cannot be enforced", entry);
	return ab_hint(err, "Use a path; \"**\" is allowed once, below a folder, and not in an "
			    "exception.");
}

static int collect_matches(struct expansion *x, struct ab_guard **ret, size_t *ret_n)
{
	struct ab_guard *v = NULL;
	size_t len = 0;

	for (size_t i = 0; i < x->len; i++) {
		int taken = apply_exceptions(&x->v[i], x->exceptions, x->nexceptions, x->err);

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

static size_t count_bytes(const struct ab_strv *patterns)
{
	size_t sum = 0;

	for (size_t i = 0; i < patterns->len; i++)
		sum += strlen(patterns->v[i]) + 1;
	return sum;
}

static int expand_all(const struct ab_strv *patterns, bool shallow, struct ab_guard **ret,
		      size_t *ret_n, struct ab_strv *ret_missing, struct ab_hidden_names *notes,
		      struct ab_error *err)
{
	ab_autofree struct rule *deny = ab_alloc(patterns->len * sizeof(*deny));
	ab_autofree struct rule *exceptions = ab_alloc(patterns->len * sizeof(*exceptions));
	ab_autofree char *texts = ab_alloc(count_bytes(patterns));
	char *to = texts;
	struct expansion x = { .entries = ENTRIES_MAX,
			       .deep = DEEP_ENTRIES_MAX,
			       .shallow = shallow,
			       .uid = geteuid(),
			       .exceptions = exceptions,
			       .missing = ret_missing,
			       .notes = notes,
			       .err = err };
	ab_autoclose int root = -1;
	struct folder top = { .path = "/", .plain = true };
	struct stat st;
	size_t ndeny = 0;
	int rc = 0;

	for (size_t i = 0; i < patterns->len && rc == 0; i++) {
		struct rule r;

		rc = read_rule(patterns->v[i], i, &to, &r, err);
		if (rc == 0 && is_exception(patterns->v[i]))
			exceptions[x.nexceptions++] = r;
		else if (rc == 0)
			deny[ndeny++] = r;
	}
	if (rc == 0) {
		x.sorted = ndeny > MANY_RULES;
		if (x.sorted)
			qsort(deny, ndeny, sizeof(*deny), compare_rules);
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		top.fd = root;
		if (root < 0 || fstat(root, &st) < 0)
			rc = ab_fail(err, AB_ESYSTEM, errno, "open /");
		if (rc == 0 && ndeny) {
			note_folder(&x, NULL, &top, &st, deny, ndeny);
			rc = expand(&x, &top, deny, ndeny);
		}
		free(top.real);
	}
	if (rc == 0)
		rc = collect_matches(&x, ret, ret_n);
	for (size_t i = 0; i < x.len; i++)
		ab_free_all(x.v[i].path, x.v[i].real);
	free(x.v);
	return rc;
}

int ab_expand_deny(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
		   struct ab_error *err)
{
	return expand_all(patterns, false, ret, ret_n, NULL, NULL, err);
}

int ab_expand_deny_shallow(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
			   struct ab_error *err)
{
	return expand_all(patterns, true, ret, ret_n, NULL, NULL, err);
}

int ab_expand_deny_missing(const struct ab_strv *patterns, struct ab_guard **ret, size_t *ret_n,
			   struct ab_strv *ret_missing, struct ab_error *err)
{
	return expand_all(patterns, false, ret, ret_n, ret_missing, NULL, err);
}

int ab_hidden_names_find(const struct ab_strv *patterns, struct ab_hidden_names *ret,
			 struct ab_error *err)
{
	*ret = (struct ab_hidden_names){ .told = true };
	if (expand_all(patterns, false, &ret->v, &ret->n, &ret->missing, ret, err) == 0)
		return 0;
	ab_hidden_names_fini(ret);
	return -1;
}

static bool are_same(const struct ab_hidden_names *a, const struct ab_hidden_names *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].kind != b->v[i].kind || strcmp(a->v[i].path, b->v[i].path) != 0)
			return false;
	return ab_strv_same(&a->missing, &b->missing);
}

bool ab_hidden_names_stand(const struct ab_hidden_names *names, const struct ab_strv *patterns)
{
	struct ab_hidden_names now = { 0 };
	struct ab_error err = { 0 };
	bool told = names->told, same;

	for (size_t i = 0; told && i < names->nlooked; i++)
		told = looks_same(&names->looked[i]);
	if (told)
		return true;
	same = expand_all(patterns, false, &now.v, &now.n, &now.missing, NULL, &err) == 0 &&
	       are_same(names, &now);
	ab_hidden_names_fini(&now);
	return same;
}

void ab_hidden_names_fini(struct ab_hidden_names *names)
{
	ab_guards_free(names->v, names->n);
	ab_strv_fini(&names->missing);
	for (size_t i = 0; i < names->nlooked; i++)
		ab_free_all(names->looked[i].path, names->looked[i].real);
	free(names->looked);
	*names = (struct ab_hidden_names){ 0 };
}
