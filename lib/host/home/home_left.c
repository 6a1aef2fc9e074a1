#include "host/home/home_left.h"

#include <sys/statvfs.h>

#include "base/text/units.h"
#include "host/home/home_folders.h"
#include "sandbox/mount/overlays.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/dir.h"

enum { ROOM_MIN = 64 << 10 }; /* less than this free: the tmpfs is full */

static void add_file(struct ab_home_left *left, const char *path, bool removed)
{
	ab_autofree char *shown = NULL;

	left->files++;
	if (left->names.len >= AB_HOME_LEFT_NAMES)
		return;
	shown = ab_escape(path);
	ab_strv_addf(&left->names, "~/%s%s", shown, removed ? " (removed)" : "");
}

static void search(int dir, const char *prefix, int depth, struct ab_home_left *left);

static void look_at(int dir, const char *name, const char *path, int depth,
		    struct ab_home_left *left)
{
	ab_autoclose int below = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		/* A whiteout of overlay. */
		add_file(left, path, S_ISCHR(st.st_mode) && st.st_rdev == 0);
		return;
	}
	below = depth < AB_HOME_LEFT_DEPTH
			? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			: -1;
	if (below >= 0) {
		search(below, path, depth + 1, left);
		return;
	}
	add_file(left, path, false);
	left->cut = true;
}

static void search(int dir, const char *prefix, int depth, struct ab_home_left *left)
{
	ab_autolisting struct ab_listing l = { 0 };
	size_t room = AB_HOME_LEFT_MAX - left->seen;

	left->cut |= ab_listing_read(&l, dir, room) < 0 || l.cut;
	left->seen += l.len;
	for (size_t i = 0; i < l.len; i++) {
		const char *name = l.v[i].name;
		ab_autofree char *path = *prefix ? ab_path_join(prefix, name) : ab_strdup(name);

		if (!ab_home_is_noise(path))
			look_at(dir, name, path, depth, left);
	}
}

void ab_home_left_search(int upper, const char *prefix, struct ab_home_left *ret)
{
	search(upper, prefix, 0, ret);
}

void ab_home_left_fini(struct ab_home_left *left)
{
	ab_strv_fini(&left->names);
	*left = (struct ab_home_left){ 0 };
}

static void add_line(const struct ab_home_left *left, struct ab_strv *ret)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (!left->files)
		return;
	ab_buf_printf(&b, "%s%zu change%s in your home folder %s temporary and %s gone now: ",
		      left->cut ? "at least " : "", left->files, left->files == 1 ? "" : "s",
		      left->files == 1 ? "was" : "were", left->files == 1 ? "is" : "are");
	for (size_t i = 0; i < left->names.len; i++)
		ab_buf_printf(&b, "%s%s", i ? ", " : "", left->names.v[i]);
	ab_buf_printf(&b, "%s; to keep such files: agentbox run --name NAME",
		      left->files > left->names.len || left->cut ? ", ..." : "");
	ab_strv_add(ret, b.data);
}

static void add_full(int stage, struct ab_strv *ret)
{
	struct statvfs fs;
	char size[24];

	if (fstatvfs(stage, &fs) < 0 ||
	    ((uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_MIN && fs.f_favail > 0))
		return;
	ab_strv_addf(ret,
		     "the box's private folders, which also hold what is written in the home "
		     "folder, are full (%s); increase filesystem.tmpSize",
		     ab_format_size((uint64_t)fs.f_blocks * fs.f_frsize, size));
}

/* Unless it is kept, or was not made. */
static void search_layer(const struct ab_spec *spec, size_t i, int stage, const char *home,
			 struct ab_home_left *left)
{
	const char *rest = spec->layers.v[i].path + strlen(home);
	ab_autoclose int upper = -1;
	char name[AB_OVERLAY_NAME];

	ab_overlays_upper(i, name);
	upper = openat(stage, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper >= 0)
		ab_home_left_search(upper, *rest ? rest + 1 : "", left);
}

void ab_home_left_lines(const struct ab_spec *spec, int stage, const char *home,
			struct ab_strv *ret)
{
	struct ab_home_left left = { 0 };

	for (size_t i = 0; home && i < spec->layers.len; i++)
		if (ab_path_within(spec->layers.v[i].path, home))
			search_layer(spec, i, stage, home, &left);
	add_line(&left, ret);
	add_full(stage, ret);
	ab_home_left_fini(&left);
}
