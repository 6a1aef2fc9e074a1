#include "host/home/home_pieces.h"

#include <dirent.h>
#include <sys/xattr.h>

#include "host/facts.h"
#include "host/home/home.h"
#include "host/home/home_mounts.h"
#include "layer/walk/points.h"
#include "policy/model/policy.h"
#include "workspace/tree/dir.h"

/*
 * ENTRIES_MAX: of one folder. What is shown is a mount of its own, and init has them all open, as it has two
 * folders of each layer; some descriptors are for the rest. A layer has folders of its own in the tmpfs.
 */
enum { ENTRIES_MAX = 20000, SHOWN_MAX = 4096, REST_FDS = 256, FOLDERS = 6 };

struct pieces {
	const struct ab_home_setup *setup;
	const struct ab_home_mounts *mounts;
	struct ab_host_facts *host;
	struct ab_layer_mount *whole;
	/* What may still be taken of the tmpfs, and be shown. */
	uint64_t bytes, files, shown;
	bool full;	       /* there is more than that */
	struct ab_strv over;   /* folders for which there are not enough layers */
	struct ab_strv failed; /* whose part of the kept layer cannot be used */
	int errnum;	       /* why not the last one */
};

void ab_home_hide_missing(struct ab_layer_mount *layer, const struct ab_host_facts *host)
{
	size_t n = strlen(layer->path);

	for (size_t i = 0; i < host->missing.len; i++) {
		const char *path = host->missing.v[i];
		ab_autofree char *dir = NULL;

		if (!ab_path_within(path, layer->path) || !path[n] ||
		    ab_objects_around(&host->facts.write, path))
			continue;
		/* Beside the pieces they must not be copied if they are there by then. */
		dir = layer->pieces ? ab_path_parent(path) : NULL;
		if (!layer->pieces || !dir[n] || ab_strv_has(&layer->parents, dir + n + 1))
			ab_strv_add(&layer->hidden, path + n + 1);
	}
}

/* Take `n` of what is left. False: there is not so much. */
static bool spend(uint64_t *left, uint64_t n)
{
	if (*left < n)
		return false;
	*left -= n;
	return true;
}

static void show(struct pieces *p, const char *path, enum ab_as as)
{
	p->full |= !spend(&p->shown, 1);
	ab_objects_add(&p->host->facts.show, path, as);
}

static int make_folder(int dir, const char *name, const char *rel, mode_t mode,
		       struct ab_strv *points)
{
	ab_autoclose int fd = -1;
	struct stat st;

	if (mkdirat(dir, name, 0700) < 0)
		return -1;
	fd = ab_open_real(dir, name, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0 || fchmod(fd, mode & 07777) < 0 || fstat(fd, &st) < 0)
		return -1;
	ab_points_add(points, rel, st.st_mode);
	return ab_take_fd(&fd);
}

/*
 * The part of a kept layer that belongs to this folder; with `points`, it is made if it is missing. 0: a box
 * has removed the folder, or put something in its place, and the layer of the home shows that; -1 with
 * errno: it cannot be used. A part of another box's layer may be missing.
 */
static int find_kept(const char *upper, const char *rel, mode_t mode, struct ab_strv *points,
		     char **ret)
{
	ab_autofree char *path = ab_path_join(upper, rel), *parent = ab_path_parent(path);
	ab_autoclose int dir = ab_open_real(AT_FDCWD, parent, O_PATH | O_DIRECTORY, 0), fd = -1;
	const char *name = ab_path_name(path);
	char opaque;
	ssize_t n;

	fd = dir < 0 ? -1 : ab_open_real(dir, name, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0 && errno == ENOENT && !points)
		return 1;
	if (fd < 0 && errno == ENOENT && dir >= 0)
		fd = make_folder(dir, name, rel, mode, points);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	n = fgetxattr(fd, "user.overlay.opaque", &opaque, 1);
	if (n < 0 && errno != ENODATA && errno != EOPNOTSUPP)
		return -1;
	if (n == 1 && opaque == 'y')
		return 0;
	*ret = ab_take(path);
	return 1;
}

/* It has a temporary layer then, which shows what the host has. */
static void note_failure(struct pieces *p, const char *path)
{
	p->errnum = errno;
	ab_strv_add(&p->failed, path);
}

/* A folder without a mount below it. */
static void add_piece(struct pieces *p, const char *path, char *upper, char *below)
{
	struct ab_layer_mount *l = ab_layer_mounts_add(&p->host->facts.layers, path);

	p->full |= !spend(&p->files, FOLDERS);
	l->optional = true;
	l->upper = upper;
	if (upper)
		l->work = ab_printf("%s/p%zu", p->setup->work, p->host->facts.layers.len);
	l->below = below;
	if (upper && mkdir(l->work, 0700) < 0 && errno != EEXIST) {
		note_failure(p, path);
		ab_free_all(ab_take(l->upper), ab_take(l->work));
	}
	ab_home_hide_missing(l, p->host);
}

static void add_folder(struct pieces *p, const char *path, const char *rel, mode_t mode);

/* Do not look at it: the server may be gone. It is of the kind of the name below it; where that is not told, of
 * the kind that the kernel knows without asking. */
static enum ab_as find_kind(const char *path, unsigned char type)
{
	struct statx st = { .stx_mode = type == DT_REG ? S_IFREG : S_IFDIR };

	if (type == DT_UNKNOWN)
		(void)statx(AT_FDCWD, path,
			    AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW, STATX_TYPE,
			    &st);
	return S_ISREG(st.stx_mode) ? AB_AS_FILE : AB_AS_DIR;
}

/* Files are copied while there is room. What has a place of its own in the plan is left out. */
static void add_entry(struct pieces *p, int dir, const struct ab_entry *e, const char *rel)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	ab_autofree char *path = ab_path_join(p->whole->path, rel);
	struct ab_facts *facts = &p->host->facts;
	struct stat st;

	/* The home itself may be below /tmp. */
	if (ab_objects_around(&facts->write, path) || ab_strv_has(&facts->privates, path))
		return;
	p->full |= !spend(&p->files, 1);
	if (ab_strv_has(&p->mounts->bare, path))
		show(p, path, find_kind(path, e->type));
	else if (fstatat(dir, e->name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return;
	else if (S_ISDIR(st.st_mode))
		add_folder(p, path, rel, st.st_mode);
	else if (S_ISREG(st.st_mode) &&
		 !spend(&p->bytes, ((uint64_t)st.st_size + page - 1) / page * page))
		show(p, path, AB_AS_FILE);
	else
		ab_strv_addf(&p->host->copied, "%s %lld.%ld", path, (long long)st.st_ctim.tv_sec,
			     st.st_ctim.tv_nsec);
}

/* False: it cannot be listed. */
static bool add_entries(struct pieces *p, const char *path, const char *rel)
{
	ab_autoclose int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (dir < 0 || ab_listing_read(&l, dir, ENTRIES_MAX) < 0)
		return false;
	if (*rel)
		ab_strv_add(&p->whole->parents, rel);
	p->full |= l.cut;
	for (size_t i = 0; i < l.len && !p->full; i++) {
		ab_autofree char *below =
			*rel ? ab_path_join(rel, l.v[i].name) : ab_strdup(l.v[i].name);

		add_entry(p, dir, &l.v[i], below);
	}
	return true;
}

static void add_folder(struct pieces *p, const char *path, const char *rel, mode_t mode)
{
	const struct ab_home_setup *setup = p->setup;
	ab_autofree char *upper = NULL, *below = NULL;
	int kept = setup->upper ? find_kept(setup->upper, rel, mode, setup->points, &upper) : 1;

	if (kept > 0 && setup->below)
		kept = find_kept(setup->below, rel, mode, NULL, &below);
	if (kept == 0)
		return;
	if (kept < 0)
		note_failure(p, path);
	if (ab_mount_table_has_below(&p->host->mounts, path)) {
		if (!add_entries(p, path, rel))
			show(p, path, AB_AS_DIR);
	} else if (p->host->facts.layers.len < AB_LAYERS_MAX - AB_HOME_OTHER_LAYERS) {
		add_piece(p, path, ab_take(upper), ab_take(below));
	} else {
		show(p, path, AB_AS_DIR);
		ab_strv_add(&p->over, path);
	}
}

/* "WHAT: /a and 2 more" */
static void note_paths(struct ab_strv *notes, const char *what, const struct ab_strv *paths)
{
	ab_autofree char *more = paths->len > 1 ? ab_printf(" and %zu more", paths->len - 1) : NULL;

	if (paths->len)
		ab_strv_add_safe(notes, "%s: %s%s", what, paths->v[0], more ? more : "");
}

static uint64_t count_shown(void)
{
	const rlim_t least = 2 * AB_LAYERS_MAX + REST_FDS;
	struct rlimit limit = { 0 };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max < least		    ? 0
	       : limit.rlim_max - least < SHOWN_MAX ? limit.rlim_max - least
						    : SHOWN_MAX;
}

bool ab_home_add_pieces(const struct ab_home_setup *setup, const struct ab_home_mounts *mounts,
			struct ab_host_facts *host, struct ab_layer_mount *whole,
			struct ab_strv *notes)
{
	const uint64_t tmp = setup->policy->fs.tmp_size;
	/* Of the tmpfs of the box. */
	struct pieces p = { .setup = setup,
			    .mounts = mounts,
			    .host = host,
			    .whole = whole,
			    .bytes = tmp / 4 < AB_PIECES_BYTES ? tmp / 4 : AB_PIECES_BYTES,
			    .files = ab_plan_tmp_files(tmp) / 2,
			    .shown = count_shown() };
	ab_autofree char *failed = NULL;

	whole->pieces = add_entries(&p, whole->path, "") && !p.full;
	if (!whole->pieces)
		ab_strv_add(notes,
			    "your home folder is read-only: something is mounted below it, and "
			    "there are too many files and folders for layers of their own, which "
			    "need open files and a part of filesystem.tmpSize");
	note_paths(notes, "read-only, because there are too many folders for layers of their own",
		   &p.over);
	failed = ab_printf("without what is kept of it, which cannot be used (%s)",
			   strerror(p.errnum));
	note_paths(notes, failed, &p.failed);
	ab_strv_fini_all(&p.over, &p.failed);
	return whole->pieces;
}
