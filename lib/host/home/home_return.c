#include "host/home/home_return.h"

#include "layer/giveback/giveback.h"
#include "layer/giveback/share.h"
#include "layer/store/store.h"
#include "policy/model/policy.h"
#include "sandbox/mount/overlays.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/dir.h"

static const char *below(const char *top, const char *path)
{
	return path + (top[1] ? strlen(top) + 1 : 1);
}

static bool is_below(const char *top, const char *path)
{
	return ab_path_within(path, top) && strcmp(path, top) != 0;
}

static struct ab_layer_meta *find_meta(struct ab_home_return *files)
{
	return files->set ? &files->set->meta : &files->seen;
}

/* -1 with errno; ENOENT: there is none. */
static int open_kept(const struct ab_home_return *files)
{
	return files->set ? ab_layer_set_open(files->set, "home/upper", O_PATH | O_DIRECTORY)
			  : ab_errno(ENOENT);
}

static void note_file(struct ab_home_return *files, int upper, int home, const char *path,
		      struct ab_strv *notes)
{
	struct ab_layer_meta *meta = find_meta(files);
	const char *rel = below(files->home, path);
	struct stat now;

	/* A new layer has no copy. */
	if (upper < 0) {
		ab_autofree char *parent = ab_path_parent(path);
		ab_autoclose int dir = ab_open_beneath(AT_FDCWD, parent, O_PATH | O_DIRECTORY);

		if (dir < 0 || fstatat(dir, ab_path_name(path), &now, AT_SYMLINK_NOFOLLOW) < 0)
			now.st_nlink = 0;
	} else if (ab_giveback_refresh(upper, home, rel, ab_layer_meta_return(meta, rel), &now) <
		   0) {
		ab_strv_add_safe(notes,
				 "the layer's copy of %s may be older than the file and cannot be "
				 "replaced: %s",
				 path, strerror(errno));
		/* Nor does it replace the file: that is not as the layer knows it. */
		return;
	}
	ab_layer_meta_set_return(meta, rel, now.st_nlink ? &now : NULL);
}

void ab_home_return_begin(const struct ab_policy *policy, const char *home,
			  struct ab_layer_set *set, struct ab_home_return *ret,
			  struct ab_strv *notes)
{
	ab_autostrv struct ab_strv all = { 0 }, entries = { 0 };
	ab_autoclose int top = -1, upper = -1;

	if (!home || !policy->fs.returns.len)
		return;
	ret->home = ab_strdup(home);
	ret->set = set;
	top = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	upper = open_kept(ret);
	if (top < 0 || (upper < 0 && errno != ENOENT)) {
		ab_strv_addf(notes, "no login is returned from this run: %s", strerror(errno));
		return;
	}
	ab_share_returns(policy, home, &all, &entries, notes);
	for (size_t i = 0; i < all.len; i++) {
		if (is_below(home, all.v[i])) {
			ab_strv_add(&ret->paths, all.v[i]);
			ab_strv_add(&ret->entries, entries.v[i]);
			note_file(ret, upper, top, all.v[i], notes);
		} else {
			ab_strv_add_safe(notes, "cannot return %s: it is not below the home folder",
					 all.v[i]);
		}
	}
}

/*
 * The upper folder of the layer that this path is in, and the folder below it. A temporary layer is
 * on the staging tmpfs; init may have made one in place of a kept one, and some for folders of the
 * home. -1 with errno; ENOENT: there is none.
 */
static int open_upper(const struct ab_home_return *files, const struct ab_spec *spec, int stage,
		      const char *path, const char **ret_top)
{
	int found = -1;

	*ret_top = files->home;
	for (size_t i = 0; stage >= 0 && i < spec->layers.len; i++) {
		const char *top = spec->layers.v[i].path;
		char name[AB_OVERLAY_NAME];
		int upper;

		ab_overlays_upper(i, name);
		if (!is_below(top, path) || (found >= 0 && strlen(top) < strlen(*ret_top)))
			continue;
		upper = ab_open_beneath(stage, name, O_PATH | O_DIRECTORY);
		if (upper < 0 && errno == ENOENT)
			continue;
		ab_closep(&found);
		if (upper < 0)
			return -1;
		found = upper;
		*ret_top = top;
	}
	return found >= 0 ? found : open_kept(files);
}

int ab_home_return_fd(const struct ab_home_return *files)
{
	return files->set ? files->set->dir : -1;
}

/* True: meta.json has to be saved. */
static bool return_file(struct ab_home_return *files, const struct ab_spec *spec, int stage,
			const char *path, const char *entry, struct ab_strv *ret_lines)
{
	const char *rel = below(files->home, path), *why = "its folder cannot be opened", *folder;
	ab_autoclose int upper = open_upper(files, spec, stage, path, &folder), top = -1;
	const struct ab_layer_meta *meta = find_meta(files);
	enum ab_giveback result = AB_GIVEBACK_REFUSED;
	struct stat now;

	if (upper < 0 && errno == ENOENT)
		return false;
	top = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (upper >= 0 && top >= 0)
		result = ab_giveback_file(upper, top, below(folder, path), entry,
					  ab_layer_meta_return(meta, rel), &meta->placeholders,
					  &now, &why);
	if (result == AB_GIVEBACK_REFUSED)
		ab_strv_add_safe(ret_lines, "%s was not written back: %s", path, why);
	if (result != AB_GIVEBACK_DONE)
		return false;
	ab_layer_meta_set_return(find_meta(files), rel, &now);
	ab_strv_add_safe(ret_lines, "%s was changed in the box and written back to the host", path);
	return true;
}

void ab_home_return_end(struct ab_home_return *files, const struct ab_spec *spec, int stage,
			struct ab_strv *ret_lines)
{
	bool changed = false;

	for (size_t i = 0; i < files->paths.len; i++)
		changed |= return_file(files, spec, stage, files->paths.v[i], files->entries.v[i],
				       ret_lines);
	/* Without it the next start takes the host's file for a newer one, which it is. */
	if (changed && files->set)
		(void)ab_layer_set_save(files->set, &(struct ab_error){ 0 });
}

void ab_home_return_fini(struct ab_home_return *files)
{
	free(files->home);
	ab_strv_fini_all(&files->paths, &files->entries);
	ab_layer_meta_fini(&files->seen);
	*files = (struct ab_home_return){ 0 };
}
