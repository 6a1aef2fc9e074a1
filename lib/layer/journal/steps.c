/*
 * Theory of operation.
 *
 * A step has three names beside each other: its own name, a temporary one and an aside one, which the
 * journal's token makes (plan.h). Until the journal says `done`, the original is whole, under exactly
 * one of four names, and nothing of it is removed or has its mode changed. Every change of state is
 * one rename.
 *
 *	state		name		temporary	aside		old/N
 *	planned		original	-		-		- (far: being copied)
 *	staged		original	new		-		- (far: a whole copy)
 *	swapped		new		original	-		- (far: a whole copy)
 *	between		-		new		original	- (far: a whole copy)
 *	kept		new		-		-		original
 *	kept, far	new		original	-		a whole copy
 *	done		new		-		-		original, or a whole copy
 *
 * "new" is nothing where a step only removes. "between" exists only where the file system cannot
 * exchange two names. "far": the undo folder cannot take the original by a rename, because it is on
 * another mount; where only a subvolume is in between, the copy is made at the end of the step.
 *
 * - Forward: from staged to kept, for all steps. `ready` is on the disk before, and with it what was
 *   staged and the copies of far originals.
 * - Then `done` is written, which decides: before it everything can be taken back, after it nothing
 *   is. Only now the far originals are removed from their temporary names (ab_step_clear); `done` is
 *   on the disk before. A removal that fails or is interrupted is repeated by the next command.
 * - Take back: the original returns from whichever name it has. It is not taken from the copy: it is
 *   whole until `done`, and has its links, attributes and owner.
 * - Undo: the original returns from old/N, by a rename or as a copy, which is complete under the aside
 *   name before it gets the temporary one. The copy in old/N goes away with the journal, after what
 *   was restored is on the disk. What is still under a temporary name because it could not be removed
 *   after `done` may have lost a part, so it never counts.
 */
#include "layer/journal/steps.h"

#include <linux/fs.h>
#include <sys/xattr.h>

#include "workspace/tree/copy_tree.h"
#include "workspace/tree/remove_tree.h"

/* ---- one name of the host ---- */

/* In the folders old and new. */
struct kept {
	char name[24];
};

static struct kept kept_name(size_t i)
{
	struct kept kept;

	snprintf(kept.name, sizeof(kept.name), "%zu", i);
	return kept;
}

/* The name of a step, its two temporary names, and what is under them. */
struct spot {
	int dir;
	const char *name;
	char temp[AB_STEP_NAME], aside[AB_STEP_NAME];
	char beside[AB_STEP_NAME], second[AB_STEP_NAME]; /* what stays (keep_beside()) */
	struct kept kept;				 /* the original in the undo folder */
	struct ab_look at_name, at_temp, at_aside, at_beside, at_second; /* ino 0: nothing */
};

static int look_name(int dir, const char *name, struct ab_look *ret)
{
	*ret = (struct ab_look){ 0 };
	if (ab_look_at(dir, name, ret) == 0 || errno == ENOENT)
		return 0;
	return -1;
}

static int look_spot(struct spot *s)
{
	if (look_name(s->dir, s->name, &s->at_name) < 0 ||
	    look_name(s->dir, s->temp, &s->at_temp) < 0 ||
	    look_name(s->dir, s->aside, &s->at_aside) < 0 ||
	    look_name(s->dir, s->beside, &s->at_beside) < 0 ||
	    look_name(s->dir, s->second, &s->at_second) < 0)
		return -1;
	return 0;
}

/* Without a look at what is there. */
static int find_spot(struct ab_site *site, size_t i, struct spot *s)
{
	s->dir = ab_parent_open(&site->host, site->root, site->steps.v[i].path, &s->name);
	if (s->dir < 0)
		return -1;
	ab_step_name(&site->steps, i, s->temp);
	snprintf(s->aside, sizeof(s->aside), "%.55s-aside", s->temp);
	snprintf(s->beside, sizeof(s->beside), "%.55s-kept", s->temp);
	snprintf(s->second, sizeof(s->second), "%.55s-kept2", s->temp);
	s->kept = kept_name(i);
	return 0;
}

static int open_spot(struct ab_site *site, size_t i, struct spot *s)
{
	return find_spot(site, i, s) < 0 ? -1 : look_spot(s);
}

static bool is_inode(const struct ab_look *look, const struct ab_identity *id)
{
	return id->ino && look->id.ino == id->ino && look->id.dev == id->dev;
}

/* `both`: each gets what the other had. Else only `from` has something. */
static int exchange(int from, const char *name, int to, const char *as, bool both)
{
	return both ? renameat2(from, name, to, as, RENAME_EXCHANGE)
		    : ab_rename_new(from, name, to, as);
}

/* Where the file system cannot exchange two names. The aside name tells recovery. */
static int exchange_slowly(struct spot *s, const struct ab_identity *expect)
{
	struct ab_look taken;

	if (ab_rename_new(s->dir, s->name, s->dir, s->aside) < 0)
		return -1;
	/* The wrong file may have got in between the look and the rename. */
	if (look_name(s->dir, s->aside, &taken) < 0 || !is_inode(&taken, expect)) {
		(void)ab_rename_new(s->dir, s->aside, s->dir, s->name);
		return ab_errno(ESTALE);
	}
	if (ab_rename_new(s->dir, s->temp, s->dir, s->name) < 0)
		return -1;
	return ab_rename_new(s->dir, s->aside, s->dir, s->temp);
}

/* The wrong file may have got in between the look and the rename. */
static int check_taken(struct spot *s, const struct ab_identity *expect, bool put)
{
	struct ab_look taken;

	if (look_name(s->dir, s->temp, &taken) == 0 && is_inode(&taken, expect))
		return 0;
	(void)exchange(s->dir, s->temp, s->dir, s->name, put);
	return ab_errno(ESTALE);
}

static int swap_existing(struct spot *s, const struct ab_identity *expect, bool put)
{
	int rc = exchange(s->dir, s->name, s->dir, s->temp, put);

	if (rc < 0 && put && (errno == EINVAL || errno == ENOSYS))
		return exchange_slowly(s, expect);
	return rc < 0 ? -1 : check_taken(s, expect, put);
}

/*
 * The name gets what is under the temporary one (`put`), or nothing; the temporary name gets what
 * was there, which must be `expect` (ino 0: nothing).
 */
static int swap(struct spot *s, const struct ab_identity *expect, bool put)
{
	if (!expect->ino)
		return s->at_name.id.ino ? ab_errno(ESTALE)
					 : ab_rename_new(s->dir, s->temp, s->dir, s->name);
	if (is_inode(&s->at_name, expect))
		return swap_existing(s, expect, put);
	/* Killed in exchange_slowly(). */
	if (!s->at_name.id.ino && is_inode(&s->at_aside, expect) && put) {
		if (ab_rename_new(s->dir, s->temp, s->dir, s->name) < 0)
			return -1;
		return ab_rename_new(s->dir, s->aside, s->dir, s->temp);
	}
	return ab_errno(ESTALE);
}

/* ---- forwards ---- */

int ab_step_copy_original(struct ab_site *site, size_t i)
{
	struct spot s;

	return find_spot(site, i, &s) < 0 ? -1
					  : ab_copy_original(s.dir, s.name, site->old, s.kept.name);
}

/* It stays under the temporary name until the apply is done. */
static int copy_aside(struct ab_site *site, const struct spot *s)
{
	site->copied = true;
	if (ab_remove_object(site->old, s->kept.name) < 0)
		return -1;
	return ab_copy_original(s->dir, s->temp, site->old, s->kept.name);
}

/* The original is under the temporary name. It goes to the undo folder, which has a
 * copy of it already if that is on another file system. */
static int keep_original(struct ab_site *site, size_t i, struct spot *s)
{
	const struct ab_identity *old = &site->steps.v[i].old;

	if (!old->ino || look_spot(s) < 0)
		return old->ino ? -1 : 0;
	if (!s->at_temp.id.ino && is_inode(&s->at_aside, old)) {
		if (ab_rename_new(s->dir, s->aside, s->dir, s->temp) < 0)
			return -1;
		s->at_temp = s->at_aside;
	}
	if (!is_inode(&s->at_temp, old) || site->steps.far)
		return faccessat(site->old, s->kept.name, F_OK, AT_SYMLINK_NOFOLLOW);
	if (renameat(s->dir, s->temp, site->old, s->kept.name) == 0)
		return 0;
	/* EXDEV: a subvolume below the root. */
	return errno == EXDEV ? copy_aside(site, s) : -1;
}

/* What was applied leaves the layer. */
static int move_out(struct ab_site *site, size_t i)
{
	struct kept kept = kept_name(i);
	const char *name;
	int dir = ab_parent_open(&site->layer, site->upper, site->steps.v[i].path, &name);

	if (dir >= 0 && renameat(dir, name, site->made, kept.name) == 0)
		return 0;
	return errno == ENOENT ? faccessat(site->made, kept.name, F_OK, AT_SYMLINK_NOFOLLOW) : -1;
}

static int set_mode(struct ab_site *site, size_t i, mode_t mode)
{
	const struct ab_step *step = &site->steps.v[i];
	ab_autoclose int fd =
		ab_open_same_mount(site->root, step->path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (st.st_ino != step->old.ino || st.st_dev != step->old.dev)
		return ab_errno(ESTALE);
	return ab_fd_chmod(fd, mode);
}

static bool is_unchanged(const struct ab_look *now, const struct ab_identity *old)
{
	return ab_identity_same(&now->id, old) &&
	       (S_ISDIR(old->mode) || ab_time_same(now->id.ctime, old->ctime));
}

/* The same with as few calls as possible: an apply may have 100,000 steps. */
static int place_fresh(struct ab_site *site, size_t i, struct spot *s)
{
	const struct ab_step *step = &site->steps.v[i];

	if (find_spot(site, i, s) < 0)
		return -1;
	if (!step->old.ino)
		return ab_rename_new(s->dir, s->temp, s->dir, s->name);
	if (look_name(s->dir, s->name, &s->at_name) < 0)
		return -1;
	if (!is_unchanged(&s->at_name, &step->old))
		return ab_errno(ESTALE);
	if (swap_existing(s, &step->old, step->kind == AB_STEP_PUT) < 0)
		return -1;
	if (!site->steps.far && renameat(s->dir, s->temp, site->old, s->kept.name) == 0)
		return 0;
	return keep_original(site, i, s);
}

static bool is_as_staged(const struct ab_look *now, const struct ab_identity *staged)
{
	return staged->ino && !S_ISDIR(staged->mode) && is_unchanged(now, staged);
}

bool ab_step_intact(struct ab_site *site, size_t i)
{
	const struct ab_step *step = &site->steps.v[i];
	struct spot s;

	if (step->kind != AB_STEP_PUT)
		return true;
	return open_spot(site, i, &s) == 0 &&
	       (is_inode(&s.at_name, &step->staged) || is_as_staged(&s.at_temp, &step->staged));
}

int ab_step_do(struct ab_site *site, size_t i, bool fresh)
{
	const struct ab_step *step = &site->steps.v[i];
	bool put = step->kind == AB_STEP_PUT;
	struct spot s;
	bool placed;

	if (step->kind == AB_STEP_MOVE)
		return move_out(site, i);
	if (step->kind == AB_STEP_MODE)
		return set_mode(site, i, step->mode);
	if (fresh)
		return place_fresh(site, i, &s);
	if (open_spot(site, i, &s) < 0)
		return -1;
	placed = put ? is_inode(&s.at_name, &step->staged) : !s.at_name.id.ino;
	if (!placed) {
		if (put && !is_as_staged(&s.at_temp, &step->staged))
			return ab_errno(ESTALE);
		if (step->old.ino && s.at_name.id.ino && !is_unchanged(&s.at_name, &step->old))
			return ab_errno(ESTALE);
		if (swap(&s, &step->old, put) < 0)
			return -1;
	}
	return keep_original(site, i, &s);
}

/* ---- backwards ---- */

static bool has_kept(const struct ab_site *site, const struct spot *s)
{
	return faccessat(site->old, s->kept.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int remove_leftover(struct ab_site *site, size_t i, const struct spot *s)
{
	const struct ab_identity *old = &site->steps.v[i].old;

	if (is_inode(&s->at_temp, old) && ab_remove_object(s->dir, s->temp) < 0)
		return -1;
	return is_inode(&s->at_aside, old) ? ab_remove_object(s->dir, s->aside) : 0;
}

/* After `done`, an original beside its copy is what could not be removed, and maybe only a part. */
static int drop_leftover(struct ab_site *site, size_t i, struct spot *s)
{
	if (!site->steps.v[i].old.ino || !site->done || !has_kept(site, s))
		return 0;
	return remove_leftover(site, i, s) < 0 ? -1 : look_spot(s);
}

/* The original itself, or a copy of it. */
static bool is_original(const struct ab_look *look, const struct ab_identity *old)
{
	return is_inode(look, old) ||
	       (look->id.mode == old->mode && ab_time_same(look->id.mtime, old->mtime) &&
		(S_ISDIR(old->mode) || look->id.size == old->size));
}

static void tell_beside(struct ab_site *site, size_t i, const char *beside)
{
	const char *path = site->steps.v[i].path;

	ab_strv_addf(&site->kept, "%.*s%s", (int)(ab_path_name(path) - path), path, beside);
}

/* Somebody changed the files after we were killed: what is under `name` stays, under one that no recovery
 * removes. There are two: one for what was applied, one for the original. */
static int keep_beside(struct spot *s, const char *name)
{
	if (ab_rename_new(s->dir, name, s->dir, s->at_beside.id.ino ? s->second : s->beside) < 0)
		return -1;
	return look_spot(s);
}

/* The original comes under the temporary name. */
static int fetch_original(struct ab_site *site, size_t i, struct spot *s)
{
	/* It may be there. */
	if (s->at_temp.id.ino)
		return is_inode(&s->at_temp, &site->steps.v[i].staged) ? ab_errno(ESTALE) : 0;
	if (!site->steps.far) {
		if (renameat(site->old, s->kept.name, s->dir, s->temp) == 0)
			return 0;
		if (errno != EXDEV)
			return -1;
	}
	site->copied = true;
	if (ab_remove_object(s->dir, s->aside) < 0 ||
	    ab_copy_original(site->old, s->kept.name, s->dir, s->aside) < 0)
		return -1;
	return ab_rename_new(s->dir, s->aside, s->dir, s->temp);
}

/* Complete what a killed process began with the aside name. */
static int settle_aside(struct ab_site *site, size_t i, struct spot *s)
{
	const struct ab_identity *old = &site->steps.v[i].old;

	if (!is_inode(&s->at_aside, old))
		return 0;
	if (ab_rename_new(s->dir, s->aside, s->dir, s->at_name.id.ino ? s->temp : s->name) < 0)
		return -1;
	return look_spot(s);
}

/* Is nothing in the place of an original that is at hand? So it is between two names, or somebody
 * removed what was applied. After `done` that may also be what came back; its copy is the last one. */
static bool is_place_free(const struct ab_site *site, size_t i, const struct spot *s)
{
	const struct ab_step *step = &site->steps.v[i];

	if (!step->old.ino || s->at_name.id.ino)
		return false;
	return s->at_temp.id.ino ? !is_inode(&s->at_temp, &step->staged)
				 : has_kept(site, s) &&
					   (!site->steps.far || site->done || s->at_beside.id.ino);
}

/* Has somebody put something else in the place, so that the original must stay beside it? */
static bool is_place_taken(const struct ab_site *site, size_t i, const struct spot *s)
{
	const struct ab_identity *old = &site->steps.v[i].old;

	return s->at_name.id.ino && !s->at_temp.id.ino && has_kept(site, s) &&
	       (!site->steps.far || (site->done && !is_original(&s->at_beside, old) &&
				     !is_original(&s->at_second, old))) &&
	       !is_original(&s->at_name, old);
}

static int restore_host(struct ab_site *site, size_t i, struct spot *s,
			const struct ab_identity *now)
{
	static const struct ab_identity nothing;
	bool had = site->steps.v[i].old.ino != 0;

	if (is_place_free(site, i, s))
		now = &nothing;
	else if (now->ino ? !is_inode(&s->at_name, now) : s->at_name.id.ino != 0)
		return had && is_place_taken(site, i, s) ? fetch_original(site, i, s)
							 : 0; /* it is restored */
	if (!had && !now->ino)
		return 0;
	if (had && (fetch_original(site, i, s) < 0 || look_spot(s) < 0))
		return -1;
	return swap(s, now, had);
}

/*
 * The same with as few calls as possible, if nothing of it can be done already: the host's name and
 * the undo folder change places, and what was applied goes away with the journal. 0: it takes the
 * long way.
 */
static int restore_fresh(struct ab_site *site, size_t i, struct spot *s,
			 const struct ab_identity *now)
{
	bool had = site->steps.v[i].old.ino != 0;
	struct ab_look taken;

	if (site->steps.far || (!had && !now->ino))
		return 0;
	if (!now->ino)
		return ab_rename_new(site->old, s->kept.name, s->dir, s->name) == 0;
	if (exchange(s->dir, s->name, site->old, s->kept.name, had) < 0)
		return 0;
	if (look_name(site->old, s->kept.name, &taken) == 0 && is_inode(&taken, now))
		return 1;
	/* The wrong file got in between. */
	if (exchange(site->old, s->kept.name, s->dir, s->name, had) < 0)
		return -1;
	return ab_errno(ESTALE);
}

/* Killed in restore_fresh(), when the wrong file had got in between: the host gets it back. */
static int settle_fresh(struct ab_site *site, size_t i, struct spot *s,
			const struct ab_identity *now)
{
	const struct ab_identity *old = &site->steps.v[i].old;
	struct ab_look held;

	if (site->steps.far || !now->ino || look_name(site->old, s->kept.name, &held) < 0 ||
	    !held.id.ino || is_inode(&held, now) || is_inode(&held, old))
		return 0;
	if (old->ino ? !is_inode(&s->at_name, old) : s->at_name.id.ino != 0)
		return 0;
	if (exchange(site->old, s->kept.name, s->dir, s->name, old->ino != 0) < 0)
		return -1;
	return look_spot(s);
}

/* Is what is under `name` what was applied, and has it been changed since? After a kill (`again`) an edit
 * may have come in the same tick of the file system's clock as the mark: better too much is kept. */
static bool is_edited(const struct ab_site *site, const struct spot *s, const char *name,
		      const struct ab_look *look, const struct ab_identity *now, bool again)
{
	struct ab_look begun;
	struct timespec *than = &begun.id.mtime;

	if (!is_inode(look, now) || !S_ISDIR(now->mode))
		return is_inode(look, now) && !ab_identity_same(&look->id, now);
	if (ab_look_at(site->dir, site->done ? "undo" : "ready", &begun) < 0)
		return true;
	if (again && site->done && than->tv_nsec-- == 0)
		*than = (struct timespec){ than->tv_sec - 1, 999999999 };
	return !ab_site_tree_older(site, s->dir, name, *than, 512);
}

/* What was applied is under a temporary name, or was never put in place. */
static int drop_displaced(struct ab_site *site, size_t i, struct spot *s,
			  const struct ab_identity *now, bool placed, bool again)
{
	bool ours, edited;

	if (look_spot(s) < 0)
		return -1;
	ours = !s->at_temp.id.ino || is_inode(&s->at_temp, now) ||
	       is_inode(&s->at_temp, &site->steps.v[i].staged);
	errno = 0;
	edited = placed && is_edited(site, s, s->temp, &s->at_temp, now, again);
	/* A look that failed is no edit: the undo says so, and the next command completes it. */
	if (edited && !again && errno)
		return -1;
	if ((!ours || edited) && keep_beside(s, s->temp) < 0)
		return -1;
	if (ab_remove_object(s->dir, s->temp) < 0)
		return -1;
	return ab_remove_object(s->dir, s->aside);
}

/* With the mode of the host's folder, so that it is no change itself. */
static int make_folder(const struct ab_site *site, int parent, const char *name, const char *path)
{
	ab_autoclose int host =
		ab_open_same_mount(site->root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	ab_autoclose int made = -1;
	struct stat st = { .st_mode = 0755 };

	if (host >= 0 && fstat(host, &st) < 0)
		return -1;
	if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
		return -1;
	made = ab_open_same_mount(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	return made < 0 || ab_fd_chmod(made, st.st_mode & 07777) < 0 ? -1 : ab_take_fd(&made);
}

/* The folders above `path` in the layer, some of which may be gone with a discard. */
static int open_layer_folder(struct ab_site *site, const char *path, const char **ret_name)
{
	ab_autofree char *copy = ab_strdup(path);
	ab_autoclose int at = fcntl(site->upper, F_DUPFD_CLOEXEC, 3);
	char *slash, *name = copy;

	for (; at >= 0 && (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		int next;

		*slash = '\0';
		next = ab_open_same_mount(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		if (next < 0 && errno == ENOENT)
			next = make_folder(site, at, name, copy);
		*slash = '/';
		ab_closep(&at);
		at = next;
	}
	*ret_name = path + (name - copy);
	return ab_take_fd(&at);
}

static const char opaque[] = "user.overlay.opaque";

static bool is_opaque(int dir)
{
	char value;

	return fgetxattr(dir, opaque, &value, 1) == 1 && value == 'y';
}

static int open_list(int dir, const char *name)
{
	return ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static int merge_folder(int from, int to, unsigned depth);

/* One name that came back, where the layer has a newer one: that one wins, but a newer folder also gets
 * what it does not have. */
static int merge_name(int from, const char *name, int to, const char *as, unsigned depth)
{
	ab_autoclose int newer = -1, older = -1;
	struct ab_look was, is;

	if (ab_rename_new(from, name, to, as) == 0 || errno == ENOENT)
		return 0;
	if (errno != EEXIST || ab_look_at(from, name, &was) < 0 || ab_look_at(to, as, &is) < 0)
		return -1;
	if (is.type != AB_TYPE_DIR || depth == 0)
		return 0;
	newer = open_list(to, as);
	if (newer < 0)
		return -1;
	if (was.type != AB_TYPE_DIR) /* what the host has again must not shine through */
		return fsetxattr(newer, opaque, "y", 1, 0);
	older = open_list(from, name);
	return older < 0 ? -1 : merge_folder(older, newer, depth);
}

/* Can be repeated: what was moved already is not found again. */
static int merge_folder(int from, int to, unsigned depth)
{
	ab_autolisting struct ab_listing names = { 0 };

	if (is_opaque(to))
		return 0;
	if (ab_listing_read(&names, from, SIZE_MAX) < 0)
		return -1;
	for (size_t i = 0; i < names.len; i++)
		if (merge_name(from, names.v[i].name, to, names.v[i].name, depth - 1) < 0)
			return -1;
	return is_opaque(from) ? fsetxattr(to, opaque, "y", 1, 0) : 0;
}

/* What was applied comes back to the layer. */
static int move_back(struct ab_site *site, size_t i)
{
	struct kept kept = kept_name(i);
	ab_autoclose int dir = -1;
	const char *name;

	if (faccessat(site->made, kept.name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	dir = open_layer_folder(site, site->steps.v[i].path, &name);
	/* The layer has something newer than its folder. */
	if (dir < 0)
		return errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	return merge_name(site->made, kept.name, dir, name, 128);
}

static bool is_gone(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == ESTALE;
}

static int undo_step(struct ab_site *site, size_t i, const struct ab_step_now *now, bool fresh,
		     struct spot *s)
{
	const struct ab_step *step = &site->steps.v[i];
	bool placed;

	if (step->kind == AB_STEP_MOVE)
		return move_back(site, i);
	/* A folder that is gone or another one by now has no mode to take back, and no new file. */
	if (step->kind == AB_STEP_MODE)
		return set_mode(site, i, step->old.mode & 07777) == 0 || is_gone(errno) ? 0 : -1;
	if (find_spot(site, i, s) < 0)
		return is_gone(errno) && !step->old.ino ? 0 : -1;
	if (fresh) {
		int done = restore_fresh(site, i, s, &now->host);

		if (done != 0)
			return done > 0 ? 0 : -1;
	}
	if (look_spot(s) < 0 || drop_leftover(site, i, s) < 0 || settle_aside(site, i, s) < 0 ||
	    settle_fresh(site, i, s, &now->host) < 0)
		return -1;
	/* Before anything else, so that it is found if we are killed again. */
	if (!fresh && !s->at_beside.id.ino &&
	    is_edited(site, s, s->name, &s->at_name, &now->host, true) &&
	    keep_beside(s, s->name) < 0)
		return -1;
	placed = is_inode(&s->at_name, &now->host);
	return restore_host(site, i, s, &now->host) < 0
		       ? -1
		       : drop_displaced(site, i, s, &now->host, placed, !fresh);
}

int ab_step_undo(struct ab_site *site, size_t i, const struct ab_step_now *now, bool fresh)
{
	struct spot s = { 0 };
	int rc = now->skip ? 0 : undo_step(site, i, now, fresh, &s), saved = errno;

	/* Also if the step fails after that. */
	if (s.at_beside.id.ino)
		tell_beside(site, i, s.beside);
	if (s.at_second.id.ino)
		tell_beside(site, i, s.second);
	errno = saved;
	return rc;
}

int ab_step_unstage(struct ab_site *site, size_t i)
{
	struct spot s;

	if (site->steps.v[i].kind != AB_STEP_PUT)
		return 0;
	if (find_spot(site, i, &s) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	return ab_remove_object(s.dir, s.temp);
}

/* ---- after `done` ---- */

static int find_leftover(struct ab_site *site, size_t i, struct spot *s)
{
	const struct ab_step *step = &site->steps.v[i];

	if ((step->kind != AB_STEP_PUT && step->kind != AB_STEP_REMOVE) || !step->old.ino)
		return 0;
	if (open_spot(site, i, s) < 0)
		return is_gone(errno) ? 0 : -1;
	return is_inode(&s->at_temp, &step->old) || is_inode(&s->at_aside, &step->old);
}

int ab_step_left(struct ab_site *site, size_t i)
{
	struct spot s;

	return find_leftover(site, i, &s);
}

int ab_step_clear(struct ab_site *site, size_t i)
{
	struct spot s;
	int left = find_leftover(site, i, &s);

	return left > 0 ? remove_leftover(site, i, &s) : left;
}
