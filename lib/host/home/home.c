#include "host/home/home.h"

#include <dirent.h>

#include "base/system/linkwalk.h"
#include "host/facts.h"
#include "host/home/home_folders.h"
#include "host/home/home_mounts.h"
#include "host/home/home_pieces.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "sandbox/mount/overlays.h"
#include "sandbox/plan/spec.h"
#include "sandbox/start/box_wire.h"
#include "workspace/tree/dir.h"

/* Listing a home of this many entries is cheaper than looking up each folder of a tool. */
enum { SMALL_HOME = 400 };

static bool is_layered(const struct ab_policy *policy)
{
	return policy->fs.home == AB_HOME_LAYERED || policy->fs.home == AB_HOME_KEPT;
}

/* The real path of a folder, or NULL with errno. */
static char *find_folder(const char *path)
{
	ab_autofree char *real = realpath(path, NULL);
	struct stat st;

	if (real && stat(real, &st) == 0 && (S_ISDIR(st.st_mode) || ab_errno(ENOTDIR) == 0))
		return ab_take(real);
	return NULL;
}

/* The writable root that contains the path, or NULL. */
static const char *find_root(const struct ab_host_facts *host, const char *path)
{
	const struct ab_object *root = ab_objects_around(&host->facts.write, path);

	return root ? root->path : NULL;
}

/* The private folder that covers the path, or NULL. The path may be that folder only if `itself`. */
static const char *find_private(const struct ab_host_facts *host, const char *path, bool itself)
{
	const struct ab_strv *privates = &host->facts.privates;

	for (size_t i = 0; i < privates->len; i++)
		if (privates->v[i][1] && ab_path_within(path, privates->v[i]) &&
		    (itself || strcmp(path, privates->v[i]) != 0))
			return privates->v[i];
	return NULL;
}

/* Is it, or a folder above it, shown? `below`: but not this folder, or one above that; or NULL. */
static bool is_shown(const struct ab_host_facts *host, const char *path, const char *below)
{
	for (size_t i = 0; i < host->facts.show.len; i++)
		if (host->facts.show.v[i].as == AB_AS_DIR &&
		    ab_path_within(path, host->facts.show.v[i].path) &&
		    !(below && ab_path_within(below, host->facts.show.v[i].path)))
			return true;
	return false;
}

static void add_variables(struct ab_strv *list, const struct ab_home_folder *f)
{
	for (size_t i = 0; i < AB_COUNT(f->instead) && f->instead[i]; i++)
		ab_strv_add(list, f->instead[i]);
}

static void add_layer(struct ab_host_facts *host, const char *path, const struct ab_home_folder *f)
{
	struct ab_layer_mount *l;

	if (find_root(host, path) || ab_layer_mounts_find(&host->facts.layers, path))
		return;
	l = ab_layer_mounts_add(&host->facts.layers, path);
	l->optional = true;
	add_variables(&l->instead, f);
	ab_home_hide_missing(l, host);
}

/* The mount that the path is in, if it must not be looked at. */
static const char *find_served(const struct ab_host_facts *host, const char *home, const char *path)
{
	return ab_home_mounts_served(&host->mounts, home, path);
}

/* Where a name in the home leads, as far as it may be looked at; NULL: nowhere. */
static char *follow_links(const struct ab_host_facts *host, const char *home, const char *name)
{
	ab_autolinkwalk struct ab_linkwalk w;
	ab_autofree char *at = ab_strdup(home);

	ab_linkwalk_init(&w, NULL, name);
	while (!find_served(host, home, at) && ab_linkwalk_next(&w)) {
		ab_autofree char *path = strcmp(w.name, "..") == 0  ? ab_path_parent(at)
					 : strcmp(w.name, ".") == 0 ? ab_strdup(at)
								    : ab_path_join(at, w.name);
		ab_autofree char *target =
			find_served(host, home, path) ? NULL : ab_read_link(AT_FDCWD, path);

		if (target && ab_linkwalk_follow(&w, target) < 0)
			return NULL;
		if (target && target[0] != '/')
			continue;
		free(at);
		at = target ? ab_strdup("/") : ab_take(path);
	}
	return ab_take(at);
}

/* The real path of a folder below the home, or a folder on the way that must not be looked at; NULL: it does not
 * exist, or is not ours. What the list of the home says to be a folder, and not a link, is not looked up. */
static char *find_below(const struct ab_host_facts *host, const struct ab_listing *l, int dir,
			const char *home, const char *name)
{
	ab_autofree char *first = ab_strndup(name, strcspn(name, "/"));
	ab_autofree char *path = ab_path_join(home, name), *real = NULL;
	const struct ab_entry *e = l->cut ? NULL : ab_listing_find(l, first);
	struct stat st;
	char c;

	if (!l->cut && !e)
		return NULL;
	if (e && e->type == DT_DIR && (!name[strlen(first)] || find_served(host, home, path)))
		return ab_take(path);
	if (e && e->type == DT_DIR && readlinkat(dir, name, &c, 1) < 0)
		return errno == EINVAL ? ab_take(path) : NULL;
	real = follow_links(host, home, name);
	if (!real || find_served(host, home, real))
		return ab_take(real);
	return stat(real, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? ab_take(real)
										     : NULL;
}

/* The folder of a tool is a piece, or in one; or it is read-only. */
static void add_to_piece(struct ab_host_facts *host, const char *home, const char *real,
			 const struct ab_home_folder *f)
{
	struct ab_layer_mount *l = ab_layer_mounts_find(&host->facts.layers, real);

	if (l)
		add_variables(&l->instead, f);
	else if (is_shown(host, real, home))
		add_variables(&host->variables, f);
	else if (find_private(host, real, false))
		add_layer(host, real, f);
}

/* Folders of tools: variables instead of those that get no layer. One that a link moves out of the home
 * needs its own. */
static void add_folders(struct ab_host_facts *host, struct ab_layer_mount *whole)
{
	const char *home = whole->path;
	ab_autoclose int dir = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (dir < 0 || ab_listing_read(&l, dir, SMALL_HOME) < 0)
		l.cut = true;
	for (size_t i = 0; i < ab_home_folders_len; i++) {
		const struct ab_home_folder *f = &ab_home_folders[i];
		ab_autofree char *real = find_below(host, &l, dir, home, f->path);

		if (real && find_served(host, home, real))
			add_variables(&host->variables, f);
		else if (real && !ab_path_within(real, home))
			add_layer(host, real, f);
		else if (real && whole->pieces)
			add_to_piece(host, home, real, f);
		else
			add_variables(&whole->instead, f);
	}
}

/*
 * Nothing is mounted in a nested run, and Landlock cannot tell the outer run's layer from a workspace
 * in it: the home stays read-only, and tools get other folders.
 */
static void replace_folders(struct ab_host_facts *host, struct ab_strv *details)
{
	for (size_t i = 0; i < ab_home_folders_len; i++)
		add_variables(&host->variables, &ab_home_folders[i]);
	if (details)
		ab_strv_add(details,
			    "inside a box the home folder is read-only; tools that write to it are "
			    "pointed to " AB_HOME_REPLACEMENT);
}

/*
 * Only listed paths are visible: the layer must not show more. A temporary one is an empty private
 * folder, in which the list is shown; a kept one is a layer with nothing below it.
 */
static void add_bare_home(const struct ab_home_setup *setup, struct ab_host_facts *host,
			  const char *home)
{
	struct ab_layer_mount *l;

	if (!setup->upper) {
		if (!ab_strv_has(&host->facts.privates, home))
			ab_strv_add(&host->facts.privates, home);
		return;
	}
	l = ab_layer_mounts_add(&host->facts.layers, home);
	l->bare = true;
	l->upper = ab_strdup(setup->upper);
	l->work = ab_strdup(setup->work);
}

static void note_direct(const char *home, const char *root, struct ab_strv *notes)
{
	if (strcmp(home, root) == 0)
		ab_strv_addf(notes, "your home folder is writable itself: there is no layer, and "
				    "every change in it is real");
	else
		ab_strv_addf(notes,
			     "your home folder is in %s, which is writable: there is no layer, and "
			     "every change in it is real",
			     root);
}

/* Folders of PATH that the box's own /tmp and the like hide. */
static void note_hidden_path(const struct ab_home_setup *setup, const struct ab_host_facts *host,
			     struct ab_strv *notes)
{
	const char *path = ab_environ_get(setup->env, "PATH");
	ab_autobuf struct ab_buf b = { 0 };
	const char *cover = NULL;

	for (size_t n; path && *path && !host->hidden_root; path += n + (path[n] == ':')) {
		ab_autofree char *dir = NULL, *real = NULL;
		const char *in;

		n = strcspn(path, ":");
		dir = ab_strndup(path, n);
		if (dir[0] != '/' || !find_private(host, dir, true))
			continue;
		real = find_folder(dir);
		in = real ? find_private(host, real, true) : NULL;
		if (!in || find_root(host, real) || is_shown(host, real, NULL) ||
		    (host->home && ab_path_within(real, host->home)))
			continue;
		cover = cover ? cover : in;
		ab_buf_printf(&b, "%s%s", b.len ? ", " : "", dir);
	}
	if (b.len)
		ab_strv_addf(notes,
			     "programs in %s (PATH) are not visible: the box has its own %s; to "
			     "run one, give its full path or move it",
			     b.data, cover);
}

/*
 * A folder in the home that was to be writable and is not, although it exists: its changes would go to
 * the layer and be lost, where the command believes that they are real.
 */
static const char *find_lost_root(const struct ab_policy *policy, const struct ab_host_facts *host,
				  const char *home)
{
	/* Usually each has become one. */
	if (host->facts.write.len >= policy->fs.write.len)
		return NULL;
	for (size_t i = 0; i < policy->fs.write.len; i++) {
		ab_autofree char *real = realpath(policy->fs.write.v[i], NULL);

		/* A reviewed one has a layer of its own. */
		if (real && host->survey.reviewed && strcmp(real, host->survey.reviewed) == 0)
			continue;
		if (real && ab_path_within(real, home) && !find_root(host, real))
			return policy->fs.write.v[i];
	}
	return NULL;
}

/*
 * Files in the home folder that belong to another user or group. In a layer they can be read, but
 * every change fails with EOVERFLOW: only one user and one group exist in the box.
 */
enum { ENTRIES_MAX = 4096 };

struct search {
	const struct ab_strv *bare; /* not these (home_mounts.h) */
	size_t left;		    /* entries that may be looked at */
	size_t found;
	char *first;
};

static void search_folder(struct search *s, int at, const char *name, const char *path, int levels)
{
	ab_autoclose int dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (dir < 0 || ab_listing_read(&l, dir, s->left) < 0 || l.cut)
		return;
	s->left -= l.len;
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *below = ab_path_join(path, l.v[i].name);
		struct stat st;

		if (ab_strv_has(s->bare, below) ||
		    fstatat(dir, l.v[i].name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
			continue;
		if (st.st_uid != geteuid() || st.st_gid != getegid()) {
			if (!s->found++)
				s->first = ab_strdup(below);
		} else if (S_ISDIR(st.st_mode) && levels > 1) {
			search_folder(s, dir, l.v[i].name, below, levels - 1);
		}
	}
}

/* A sentence about those in the first two levels, if there are any. */
static void note_foreign_files(const char *home, const struct ab_strv *bare, struct ab_strv *ret)
{
	struct search s = { .bare = bare, .left = ENTRIES_MAX };

	search_folder(&s, AT_FDCWD, home, home, 2);
	if (!s.found)
		return;
	ab_strv_add_safe(
		ret,
		"%zu file%s in your home folder belong%s to another user or group, such as %s: "
		"the command can read but not change %s (EOVERFLOW)",
		s.found, s.found == 1 ? "" : "s", s.found == 1 ? "s" : "", s.first,
		s.found == 1 ? "it" : "them");
	free(s.first);
}

/* False: there is too much in it for one. */
static bool add_home_layer(const struct ab_home_setup *setup, struct ab_host_facts *host,
			   const char *home, struct ab_strv *notes, struct ab_strv *details)
{
	ab_auto(ab_home_mounts_fini) struct ab_home_mounts mounts = { 0 };
	ab_autofree char *path = ab_strdup(home), *line = NULL;
	struct ab_layer_mount whole = { .path = path }, *l;

	ab_home_mounts_find(&host->mounts, home, &mounts);
	line = ab_home_mounts_line(&mounts, home);
	if (line && !ab_home_add_pieces(setup, &mounts, host, &whole, notes)) {
		ab_strv_fini(&whole.parents);
		ab_layer_mounts_drop(&host->facts.layers, home);
		replace_folders(host, NULL);
		return false;
	}
	if (line)
		ab_strv_add(details, line);
	ab_home_hide_missing(&whole, host);
	add_folders(host, &whole);
	l = ab_layer_mounts_add(&host->facts.layers, home);
	l->optional = true;
	l->pieces = whole.pieces;
	l->parents = whole.parents;
	l->hidden = whole.hidden;
	l->instead = whole.instead;
	if (setup->upper) {
		l->upper = ab_strdup(setup->upper);
		l->work = ab_strdup(setup->work);
	}
	l->below = ab_strdup(setup->below);
	if (setup->verbose)
		note_foreign_files(home, &mounts.bare, details);
	return true;
}

/* False: it is read-only. */
static bool look_at_layered(const struct ab_home_setup *setup, struct ab_host_facts *host,
			    const char *home, struct ab_strv *notes, struct ab_strv *details)
{
	const char *root = find_root(host, home);
	const char *lost = find_lost_root(setup->policy, host, home);

	if (lost) {
		ab_strv_addf(notes, "the home folder is read-only, because %s cannot be writable",
			     lost);
		return false;
	}
	if (root) {
		/* In a box the outer run knows what is real. */
		if (!setup->nested)
			note_direct(home, root, notes);
	} else if (!home[1]) {
		ab_strv_add(details, "HOME is /: there is no layer");
	} else if (setup->nested) {
		replace_folders(host, details);
	} else if (host->hidden_root && !is_shown(host, home, NULL)) {
		add_bare_home(setup, host, home);
	} else {
		return add_home_layer(setup, host, home, notes, details);
	}
	return true;
}

void ab_home_look(const struct ab_home_setup *setup, struct ab_host_facts *host,
		  struct ab_strv *notes, struct ab_strv *details)
{
	const struct ab_policy *policy = setup->policy;
	ab_autofree char *home = policy->home ? find_folder(policy->home) : NULL;

	if (policy->home && !home && is_layered(policy) && errno != ENOENT && errno != ENOTDIR)
		ab_strv_addf(notes, "the home folder is read-only: it cannot be opened: %s",
			     strerror(errno));
	if (setup->no_mounts)
		replace_folders(host, NULL);
	if (home && policy->fs.home != AB_HOME_PRIVATE) {
		host->home = ab_strdup(home);
		if (!(is_layered(policy) && look_at_layered(setup, host, home, notes, details)) &&
		    find_private(host, home, false) && !find_root(host, home) && !host->hidden_root)
			ab_objects_add(&host->facts.show, home, AB_AS_DIR);
	}
	if (!setup->nested)
		note_hidden_path(setup, host, notes);
}

static bool is_made(const struct ab_holds *holds, size_t i)
{
	return holds->layers[i] == 0 || holds->layers[i] == AB_LAYER_TEMPORARY;
}

/* The index of the layer, or -1. */
static int find_layer(const struct ab_spec *spec, const char *path)
{
	const struct ab_layer_mount *l = ab_layer_mounts_find(&spec->layers, path);

	return l ? (int)(l - spec->layers.v) : -1;
}

const char *ab_home_describe(const struct ab_policy *policy, const char *home,
			     const struct ab_spec *spec, const struct ab_holds *holds)
{
	const struct ab_mount *m = home ? ab_plan_find(&spec->plan, home) : NULL;
	int i = home ? find_layer(spec, home) : -1;

	if (policy->fs.home == AB_HOME_PRIVATE || (m && m->op == AB_MOUNT_PRIVATE))
		return "private";
	if (m && (m->op == AB_MOUNT_WRITE || m->op == AB_MOUNT_PIN))
		return "direct";
	if (i < 0)
		return "readonly";
	if (is_made(holds, (size_t)i))
		return spec->layers.v[i].upper && !holds->layers[i] ? "kept" : "layered";
	return "variables";
}

/* Can no overlay be above such a file system? Else there was too little of something. */
static bool is_unfit(int errnum)
{
	return errnum == EINVAL || errnum == EREMOTE || errnum == ELOOP;
}

/* What is different in folders of the home, each of the first `n` kinds with their list. */
static void add_different(const struct ab_spec *spec, const struct ab_holds *holds,
			  const char *home, size_t n, struct ab_strv *ret)
{
	static const char *const kinds[] = {
		"read-only, because its file system cannot be below an overlay",
		"read-only, because no layer could be made",
		"temporary, because the state folder cannot hold an overlay's upper folder",
	};

	for (size_t kind = 0; kind < n; kind++) {
		ab_autobuf struct ab_buf b = { 0 };

		for (size_t i = 0; i < spec->layers.len; i++) {
			const char *path = spec->layers.v[i].path;
			int errnum = holds->layers[i];

			if (!errnum || !ab_path_within(path, home) ||
			    kind != (errnum < 0 ? 2 : 0u + !is_unfit(errnum)))
				continue;
			ab_buf_puts(&b, b.len ? ", " : "");
			ab_buf_escape(&b, path);
			if (kind == 1)
				ab_buf_printf(&b, " (%s)", strerror(errnum));
		}
		if (b.len)
			ab_strv_addf(ret, "%s: %s", kinds[kind], b.data);
	}
}

/* The variables that replace folders. */
static void list_variables(const struct ab_spec *spec, const struct ab_holds *holds,
			   struct ab_buf *ret)
{
	for (size_t i = 0; i < spec->layers.len; i++) {
		const struct ab_layer_mount *l = &spec->layers.v[i];

		for (size_t k = 0; holds->layers[i] > 0 && k < l->instead.len; k++)
			ab_buf_printf(ret, "%s%.*s", ret->len ? ", " : "",
				      (int)strcspn(l->instead.v[k], "="), l->instead.v[k]);
	}
}

void ab_home_report(const struct ab_policy *policy, const char *home, const struct ab_spec *spec,
		    const struct ab_holds *holds, struct ab_strv *ret_details,
		    struct ab_strv *ret_warnings)
{
	ab_autobuf struct ab_buf variables = { 0 };
	int i = home ? find_layer(spec, home) : -1;

	if (holds->blocked[0]) {
		ab_autofree char *shown = ab_escape(holds->blocked);

		ab_strv_addf(
			ret_warnings,
			"a link or a file in the kept layer is in the way, so nothing is mounted "
			"on: %s",
			shown);
	}
	if (i < 0)
		return;
	if (holds->layers[i] == AB_LAYER_TEMPORARY)
		ab_strv_add(ret_warnings,
			    "the home layer cannot be kept here (the state folder cannot hold an "
			    "overlay's upper folder): it is temporary");
	if (holds->layers[i] <= 0) {
		add_different(spec, holds, home, holds->layers[i] ? 2 : 3, ret_warnings);
		return;
	}
	list_variables(spec, holds, &variables);
	ab_strv_addf(ret_warnings,
		     "the home folder cannot be layered as a whole (%s)%s: it is read-only",
		     strerror(holds->layers[i]),
		     is_unfit(holds->layers[i])
			     ? ", because its file system cannot be below an overlay"
			     : "");
	/* An agent expects that its files are there the next time. */
	if (policy->fs.home == AB_HOME_KEPT)
		ab_strv_add(ret_warnings,
			    "the agent forgets what it wrote there when the run ends");
	if (variables.len)
		ab_strv_addf(ret_details, "set for tools that would write to others: %s",
			     variables.data);
}

void ab_home_try(const struct ab_policy *policy, const struct ab_host_facts *host,
		 struct ab_strv *ret)
{
	const struct ab_layer_mounts *layers = &host->facts.layers;
	struct ab_spec spec = { .layers = *layers }; /* borrowed */
	ab_autostrv struct ab_strv details = { 0 };
	struct ab_holds holds = { 0 };
	int errnum = -1;
	dev_t dev = 0;

	for (size_t i = 0; i < layers->len; i++) {
		const char *path = layers->v[i].path;
		struct stat st;

		if (layers->v[i].pieces || stat(path, &st) < 0)
			continue;
		/* Most of them are on one file system. */
		if (errnum < 0 || st.st_dev != dev)
			errnum = ab_overlay_probe(path, NULL, NULL);
		dev = st.st_dev;
		holds.layers[i] = (int16_t)errnum;
	}
	ab_home_report(policy, host->home, &spec, &holds, &details, ret);
}

static void find_real(const struct ab_strv *paths, struct ab_objects *ret)
{
	for (size_t i = 0; i < paths->len; i++) {
		ab_autofree char *real = realpath(paths->v[i], NULL);

		if (real)
			ab_objects_add(ret, real, AB_AS_DIR);
	}
}

bool ab_home_lines(const struct ab_policy *policy, struct ab_strv *ret)
{
	ab_auto(ab_host_facts_fini) struct ab_host_facts host = { 0 };
	struct ab_home_setup setup = { .policy = policy, .nested = ab_furniture_boxed() };

	host.home = policy->home ? find_folder(policy->home) : NULL;
	host.hidden_root = !policy->fs.read_all;
	if (!host.home || !is_layered(policy) ||
	    policy->assurance.engine == AB_ENGINE_NO_NAMESPACES ||
	    ab_mount_table_read(&host.mounts) < 0)
		return false;
	find_real(&policy->fs.write, &host.facts.write);
	if (host.hidden_root)
		find_real(&policy->fs.read, &host.facts.show);
	if (look_at_layered(&setup, &host, host.home, ret, ret))
		ab_home_try(policy, &host, ret);
	return true;
}
