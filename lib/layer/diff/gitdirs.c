#include "layer/diff/gitdirs.h"

#include "layer/diff/label_state.h"
#include "workspace/git/gitkeys.h"
#include "workspace/git/gitlead.h"
#include "workspace/tree/dir.h"

/* A folder that may be a git directory: the first parts of a path and of the folded one. */
struct place {
	const char *path, *folded;
	size_t len, folded_len;
};

void ab_gitdirs_init(struct ab_gitdirs *dirs, const struct ab_layer_view *view,
		     const struct ab_changes *changes)
{
	*dirs = (struct ab_gitdirs){ .view = view };
	for (size_t i = 0; i < changes->len; i++) {
		const struct ab_change *c = &changes->v[i];
		ab_autobuf struct ab_buf folded = { 0 };

		ab_label_fold(ab_path_name(c->path), &folded);
		if (c->is == AB_TYPE_NONE || !ab_label_is_gitdir_part(folded.data))
			continue;
		folded.len = 0;
		ab_label_fold(c->path, &folded);
		ab_strv_give(&dirs->parts, ab_buf_take(&folded));
	}
	ab_strv_sort(&dirs->parts);
}

void ab_gitdirs_fini(struct ab_gitdirs *dirs)
{
	ab_strv_fini(&dirs->parts);
}

/* Folding leaves the slashes alone. */
static struct place get_place(const char *path, const char *folded, size_t folded_len)
{
	struct place p = { path, folded, 0, folded_len };
	size_t names = folded_len > 0;

	for (size_t i = 0; i < folded_len; i++)
		names += folded[i] == '/';
	for (; names > 0; names--) {
		p.len += path[p.len] == '/';
		p.len += strcspn(path + p.len, "/");
	}
	return p;
}

/* Does the folder have this entry, before or after the changes? What cannot be looked at counts. */
static bool has_entry(const struct ab_gitdirs *dirs, const struct place *p, const char *name,
		      const char *folded)
{
	ab_autofree char *entry =
		ab_printf("%.*s%s%s", (int)p->len, p->path, p->len ? "/" : "", name);
	ab_autofree char *fresh = ab_printf("%.*s%s%s", (int)p->folded_len, p->folded,
					    p->folded_len ? "/" : "", folded);
	ab_autoclose int fd = -1;

	if (ab_strv_has_sorted(&dirs->parts, fresh))
		return true;
	fd = ab_open_beneath(dirs->view->lower, entry, O_PATH | O_NOFOLLOW);
	/* ELOOP: the host has a link where the changes have a folder. */
	return fd >= 0 || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP);
}

/* git recognizes a directory by its content, whatever its name is: a repository, one whose other half
 * "commondir" names, or that half. */
static bool is_gitdir(const struct ab_gitdirs *dirs, const struct place *p)
{
	bool objects = has_entry(dirs, p, "objects", "objects");

	if (has_entry(dirs, p, "HEAD", "head"))
		return objects || has_entry(dirs, p, "commondir", "commondir");
	return objects && has_entry(dirs, p, "refs", "refs");
}

bool ab_gitdirs_contain(const struct ab_gitdirs *dirs, const char *path, const char *folded)
{
	size_t at = 0, len;

	while (ab_label_maybe_gitdir(folded, &at, &len)) {
		struct place p = get_place(path, folded, len);

		if (is_gitdir(dirs, &p))
			return true;
	}
	return false;
}

static bool has_file(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Did git obey the host's folder before the changes? A commondir was looked at when it came. */
static bool was_gitdir(int dir)
{
	return has_file(dir, "HEAD") &&
	       (has_file(dir, "commondir") || (has_file(dir, "objects") && has_file(dir, "refs")));
}

static char *find_file(int dir)
{
	const char *file;

	for (size_t i = 0; (file = ab_label_git_lead(i)) != NULL; i++) {
		ab_autofree char *name = ab_strndup(file, strcspn(file, "*"));
		ab_autoclose int fd = ab_open_beneath(dir, name, O_RDONLY | O_NONBLOCK);
		ab_autolisting struct ab_listing l = { 0 };

		if (fd < 0 ? errno != ENOENT && errno != ENOTDIR
			   : !strchr(file, '*') || ab_listing_read(&l, fd, 1) < 0 || l.len)
			return ab_strdup(name);
	}
	return NULL;
}

char *ab_gitdirs_completed(const struct ab_gitdirs *dirs, const struct ab_change *change,
			   const char *folded)
{
	static const struct ab_gitkeys_terms terms = { .made = true };
	const char *slash = strrchr(folded, '/');
	ab_autofree char *path = NULL;
	ab_autoclose int dir = -1;
	struct place p;
	char *lead;

	if (change->is == AB_TYPE_NONE || !ab_label_is_gitdir_part(folded))
		return NULL;
	p = get_place(change->path, folded, slash ? (size_t)(slash - folded) : 0);
	if (!is_gitdir(dirs, &p))
		return NULL;
	path = p.len ? ab_strndup(p.path, p.len) : ab_strdup(".");
	dir = ab_open_beneath(dirs->view->lower, path, O_PATH | O_DIRECTORY);
	if (dir < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return NULL;
	if (dir < 0)
		return ab_strdup("what cannot be read");
	if (was_gitdir(dir))
		return NULL;
	lead = ab_gitdir_lead(dir, &terms);
	return lead ? lead : find_file(dir);
}
