#include "host/home/home_pieces.h"

#include <dirent.h>
#include <sys/xattr.h>

#include "host/facts.h"
#include "host/home/home.h"
#include "host/home/home_mounts.h"
#include "policy/model/policy.h"
#include "workspace/tree/dir.h"

/* Of one folder. What is shown is a mount of its own, and init has them all open: with the layers they must
 * fit into the usual 1024 descriptors. */
enum { ENTRIES_MAX = 20000, SHOWN_MAX = 256 };

struct pieces {
	const struct ab_home_setup *setup;
	const struct ab_home_mounts *mounts;
	struct ab_host_facts *host;
	struct ab_layer_mount *whole;
	int64_t left; /* bytes of files that may still be copied */
	size_t over;  /* folders for which there are not enough layers; ENTRIES_MAX: far more */
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

/*
 * The part of a kept layer that belongs to this folder; made there if `mode` is not 0. False: a box has
 * removed the folder, or put something in its place, and the layer of the home shows that.
 */
static bool find_kept(const char *upper, const char *rel, mode_t mode, char **ret)
{
	ab_autofree char *path = ab_path_join(upper, rel), *parent = ab_path_parent(path);
	ab_autoclose int dir = ab_open_real(AT_FDCWD, parent, O_PATH | O_DIRECTORY, 0), fd = -1;
	bool made = dir >= 0 && mode && mkdirat(dir, ab_path_name(path), 0700) == 0;
	char opaque = 0;

	fd = dir < 0 ? -1 : ab_open_real(dir, ab_path_name(path), O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return !mode && (dir < 0 || errno == ENOENT);
	if (made)
		fchmod(fd, mode & 07777);
	if (fgetxattr(fd, "user.overlay.opaque", &opaque, 1) == 1 && opaque == 'y')
		return false;
	*ret = ab_take(path);
	return true;
}

/* A folder without a mount below it. */
static void add_piece(struct pieces *p, const char *path, char *upper, char *below)
{
	struct ab_layer_mount *l = ab_layer_mounts_add(&p->host->facts.layers, path);

	l->optional = true;
	l->upper = upper;
	if (upper)
		l->work = ab_printf("%s/p%zu", p->setup->work, p->host->facts.layers.len);
	l->below = below;
	if (upper && mkdir(l->work, 0700) < 0 && errno != EEXIST)
		ab_free_all(ab_take(l->upper), ab_take(l->work));
	ab_home_hide_missing(l, p->host);
}

static void add_folder(struct pieces *p, const char *path, const char *rel, mode_t mode);

/* Files are copied while there is room. What has a place of its own in the plan is left out. */
static void add_entry(struct pieces *p, int dir, const struct ab_entry *e, const char *rel)
{
	ab_autofree char *path = ab_path_join(p->whole->path, rel);
	struct ab_facts *facts = &p->host->facts;
	struct stat st;

	/* The home itself may be below /tmp. */
	if (ab_objects_around(&facts->write, path) || ab_strv_has(&facts->privates, path))
		return;
	/* Do not look at it: the server may be gone. It is of the kind of the name below it. */
	if (ab_strv_has(&p->mounts->bare, path))
		ab_objects_add(&facts->show, path, e->type == DT_REG ? AB_AS_FILE : AB_AS_DIR);
	else if (fstatat(dir, e->name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return;
	else if (S_ISDIR(st.st_mode))
		add_folder(p, path, rel, st.st_mode);
	else if (S_ISREG(st.st_mode) && st.st_size > p->left)
		ab_objects_add(&facts->show, path, AB_AS_FILE);
	else {
		p->left -= S_ISREG(st.st_mode) ? st.st_size : 0;
		ab_strv_addf(&p->host->copied, "%s %lld.%ld", path, (long long)st.st_ctim.tv_sec,
			     st.st_ctim.tv_nsec);
	}
}

static void add_entries(struct pieces *p, const char *path, const char *rel)
{
	ab_autoclose int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (dir < 0 || ab_listing_read(&l, dir, ENTRIES_MAX) < 0)
		return;
	for (size_t i = 0; i < l.len && p->over < ENTRIES_MAX; i++) {
		ab_autofree char *below =
			*rel ? ab_path_join(rel, l.v[i].name) : ab_strdup(l.v[i].name);

		add_entry(p, dir, &l.v[i], below);
		if (l.cut || p->host->facts.show.len > SHOWN_MAX)
			p->over = ENTRIES_MAX;
	}
}

static void add_folder(struct pieces *p, const char *path, const char *rel, mode_t mode)
{
	ab_autofree char *upper = NULL, *below = NULL;

	if ((p->setup->upper && !find_kept(p->setup->upper, rel, mode, &upper)) ||
	    (p->setup->below && !find_kept(p->setup->below, rel, 0, &below)))
		return;
	if (ab_home_mounts_below(p->mounts, path)) {
		ab_strv_add(&p->whole->parents, rel);
		add_entries(p, path, rel);
	} else if (p->host->facts.layers.len < AB_LAYERS_MAX - AB_HOME_OTHER_LAYERS) {
		add_piece(p, path, ab_take(upper), ab_take(below));
	} else {
		ab_objects_add(&p->host->facts.show, path, AB_AS_DIR);
		p->over++;
	}
}

void ab_home_add_pieces(const struct ab_home_setup *setup, const struct ab_home_mounts *mounts,
			struct ab_host_facts *host, struct ab_layer_mount *whole,
			struct ab_strv *notes)
{
	struct pieces p = { .setup = setup,
			    .mounts = mounts,
			    .host = host,
			    .whole = whole,
			    .left = AB_PIECES_BYTES };

	/* The copies are on the tmpfs of the box. */
	if ((uint64_t)p.left > setup->policy->fs.tmp_size / 4)
		p.left = (int64_t)(setup->policy->fs.tmp_size / 4);
	add_entries(&p, whole->path, "");
	/* Else the kernel refuses the layer of the whole, and what is no piece is read-only. */
	whole->pieces = p.over < ENTRIES_MAX;
	if (p.over)
		ab_strv_add(notes,
			    "folders in your home folder are read-only: something is mounted below "
			    "it, and there are too many files and folders for layers of their own");
}
