#include "sandbox/mount/pieces.h"

#include "base/base.h"
#include "base/system/folder.h"
#include "sandbox/plan/spec.h"

static int copy_link(int from, int to, const char *name)
{
	ab_autofree char *target = ab_read_link(from, name);

	return target ? symlinkat(target, to, name) : 0;
}

/* The plan has an entry for a file that is too large. One that cannot be read is not there. */
static int copy_file(int from, int to, const char *name)
{
	ab_autoclose int in =
		openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ab_autoclose int out = -1;
	ab_autofree char *data = NULL;
	struct stat st;
	size_t len;

	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode) ||
	    ab_read_all(in, AB_PIECES_BYTES, &data, &len) < 0)
		return 0;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	if (out < 0 || ab_write_all(out, data, len) < 0)
		return -1;
	return futimens(out, (const struct timespec[]){ st.st_atim, st.st_mtim });
}

static int copy_entry(const struct ab_spec *spec, const char *path, int from, int to,
		      const char *name)
{
	const struct ab_mount *m = ab_plan_at(&spec->plan, path);
	struct stat st = { .st_mode = S_IFDIR | 0700 };
	bool planned = m || ab_spec_has_file(spec, path);

	if (m && m->op == AB_MOUNT_SHOW && m->may_vanish)
		return 0;
	/* The entry of the plan tells the kind: looking at what is mounted could wait for a dead server. */
	if (m && m->op == AB_MOUNT_SHOW && m->as == AB_AS_FILE)
		st.st_mode = S_IFREG;
	else if ((!m || m->as != AB_AS_DIR) && fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return mkdirat(to, name, st.st_mode & 0777);
	if (planned && !S_ISLNK(st.st_mode))
		return mknodat(to, name, S_IFREG | 0444, 0);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, name);
	return S_ISREG(st.st_mode) ? copy_file(from, to, name) : 0;
}

static int copy_folder(const struct ab_spec *spec, const struct ab_layer_mount *l, const char *path,
		       int from, int to)
{
	ab_autodir DIR *list = from < 0 || to < 0 ? NULL : ab_folder_list(from, ".");
	const char *name;

	while ((name = ab_folder_next(list))) {
		ab_autofree char *entry = ab_path_join(path, name);

		/* `parents` are there, and a folder that changes may list a name twice. */
		if (!ab_strv_has(&l->hidden, entry + strlen(l->path) + 1) &&
		    copy_entry(spec, entry, from, to, name) < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

int ab_pieces_copy(const struct ab_spec *spec, const struct ab_layer_mount *layer, int from, int to)
{
	int r = copy_folder(spec, layer, layer->path, from, to);

	for (size_t i = 0; r == 0 && i < layer->parents.len; i++) {
		const char *name = layer->parents.v[i];
		ab_autofree char *path = ab_path_join(layer->path, name);
		ab_autoclose int below = ab_open_real(from, name, O_PATH | O_DIRECTORY, 0);
		ab_autoclose int copy = ab_open_real(to, name, O_PATH | O_DIRECTORY, 0);

		/* A mask can be above a mount, too. */
		if (ab_plan_shows(&spec->plan, spec->hidden_root, path))
			r = copy_folder(spec, layer, path, below, copy);
	}
	return r;
}
