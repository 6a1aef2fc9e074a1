#include "layer/diff/contents.h"

#include <dirent.h>

#include "layer/diff/host_names.h"
#include "layer/diff/label_state.h"
#include "base/text/text_diff.h"
#include "layer/walk/look.h"

/* Git's packed files are not text, even without a NUL byte. */
static bool is_packed(const char *path)
{
	const char *git = strstr(path, ".git/");

	return git && (git == path || git[-1] == '/') && strncmp(git + 5, "objects/", 8) == 0;
}

static void read_file(int root, const char *path, const struct ab_identity *id,
		      struct ab_content *ret)
{
	struct stat st;
	ab_autoclose int fd = ab_look_open_known(root, path, id, &st);
	size_t room;
	ssize_t n;

	if (fd < 0) {
		ret->errnum = errno;
		return;
	}
	/* One byte more, to see that the file has grown. */
	room = st.st_size < AB_TEXT_MAX ? (size_t)st.st_size + 1 : AB_TEXT_MAX + 1;
	ret->data = ab_alloc(room + 1);
	n = ab_read_full(fd, ret->data, room);
	if (n < 0) {
		ret->errnum = errno;
		free(ab_take(ret->data));
		return;
	}
	ret->len = (size_t)n;
	if (ret->len == room) {
		ret->cut = true;
		ret->len--;
	}
	ret->data[ret->len] = '\0';
}

static void read_link(int root, const char *path, struct ab_content *ret)
{
	ab_autoclose int fd = ab_open_same_mount(root, path, O_PATH | O_NOFOLLOW);

	ret->data = fd < 0 ? NULL : ab_read_link(fd, "");
	ret->errnum = ret->data ? 0 : errno;
	ret->len = ret->data ? strlen(ret->data) : 0;
}

/* What is there on one side, if it is still what was looked at. */
static void read_side(int root, const char *path, enum ab_change_type type,
		      const struct ab_identity *id, struct ab_content *ret)
{
	if (type == AB_TYPE_FILE)
		read_file(root, path, id, ret);
	else if (type == AB_TYPE_LINK)
		read_link(root, path, ret);
}

void ab_contents_read(const struct ab_layer_view *view, const struct ab_change *change,
		      struct ab_contents *ret)
{
	*ret = (struct ab_contents){ 0 };
	if (change->kind == AB_CHANGE_MODE)
		return;
	read_side(view->lower, change->path, change->was, &change->host, &ret->old);
	read_side(view->upper, change->path, change->is, &change->layer, &ret->fresh);
	ret->binary = is_packed(change->path) ||
		      (ret->old.data && ab_is_binary(ret->old.data, ret->old.len)) ||
		      (ret->fresh.data && ab_is_binary(ret->fresh.data, ret->fresh.len));
}

void ab_contents_fini(struct ab_contents *contents)
{
	ab_free_all(contents->old.data, contents->fresh.data);
	*contents = (struct ab_contents){ 0 };
}

bool ab_contents_are_text(const struct ab_contents *contents)
{
	return !contents->binary && !contents->old.cut && !contents->fresh.cut &&
	       !contents->old.errnum && !contents->fresh.errnum;
}

enum {
	SEARCH_ENTRIES = 4096, /* of the host's, when a folder is searched */
	SEARCH_DEPTH = 32,
};

/* Count the entries below the folder up to *left, which is reduced. The descriptor is taken. With
 * `git`: stop at the first .git. */
static bool search_folder(int folder, unsigned int depth, bool git, size_t *left)
{
	ab_autoclose int fd = folder;
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0 || ab_listing_read(&l, fd, *left) < 0)
		return false;
	if (git && ab_listing_find(&l, ".git"))
		return true;
	*left -= l.len;
	for (size_t i = 0; i < l.len && *left && depth < SEARCH_DEPTH; i++)
		if ((l.v[i].type == DT_DIR || l.v[i].type == DT_UNKNOWN) &&
		    search_folder(ab_open_same_mount(fd, l.v[i].name,
						     O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
				  depth + 1, git, left))
			return true;
	return false;
}

static bool deletes_repository(const struct ab_layer_view *view, const struct ab_change *change)
{
	size_t left = SEARCH_ENTRIES;

	return ab_change_deletes(change) && change->was == AB_TYPE_DIR &&
	       search_folder(ab_open_beneath(view->lower, change->path,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
			     0, true, &left);
}

/* Looks at most at twice as many entries of the host as are deleted. The many files of the root's .git would
 * hide how small a project is. */
static bool deletes_most(const struct ab_layer_view *view, const struct ab_changes *changes)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = ab_open_beneath(view->lower, ".", O_RDONLY | O_DIRECTORY);
	uint64_t files = 0, entries = 0;
	size_t left;

	for (size_t i = 0; i < changes->len; i++) {
		const struct ab_change *c = &changes->v[i];

		if (!ab_change_deletes(c) || ab_label_within(c->path, ".git"))
			continue;
		files += c->was == AB_TYPE_DIR ? c->count : 1;
		entries += c->was == AB_TYPE_DIR ? c->count + 1 : 1;
	}
	if (files < AB_LABEL_MASS_LEAST || entries > SEARCH_ENTRIES)
		return false;
	left = 2 * entries;
	if (fd < 0 || ab_listing_read(&l, fd, left + 1) < 0)
		return false;
	for (size_t i = 0; i < l.len && left; i++) {
		if (ab_label_within(l.v[i].name, ".git"))
			continue;
		left--;
		if (left && (l.v[i].type == DT_DIR || l.v[i].type == DT_UNKNOWN))
			(void)search_folder(ab_open_same_mount(fd, l.v[i].name,
							       O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
					    1, false, &left);
	}
	return left > 0;
}

static struct ab_label_side get_side(const struct ab_content *content)
{
	return (struct ab_label_side){ content->data, content->len, content->cut };
}

void ab_label_scene_init(struct ab_label_scene *scene, const struct ab_layer_view *view,
			 const struct ab_changes *changes)
{
	scene->mass = ab_changes_mass(changes) || deletes_most(view, changes);
	ab_gitdirs_init(&scene->gitdirs, view, changes);
	/* In the home folder all but caches have a label. */
	scene->host = changes->len && !view->home ? ab_host_names_find(view->lower) : NULL;
}

void ab_label_scene_fini(struct ab_label_scene *scene)
{
	ab_host_names_free(scene->host);
	ab_gitdirs_fini(&scene->gitdirs);
	*scene = (struct ab_label_scene){ 0 };
}

void ab_contents_label(const struct ab_layer_view *view, const struct ab_label_scene *scene,
		       struct ab_change *change, const struct ab_contents *contents,
		       struct ab_label_hits *ret)
{
	ab_autobuf struct ab_buf folded = { 0 };
	ab_autofree char *completes = NULL;
	struct ab_label_input in = {
		.change = change,
		.old = get_side(&contents->old),
		.fresh = get_side(&contents->fresh),
		.repository = deletes_repository(view, change),
		.mass = scene->mass,
		.home = view->home,
	};

	ab_label_fold(change->path, &folded);
	in.gitdir = ab_gitdirs_contain(&scene->gitdirs, change->path, folded.data);
	in.completes = completes = ab_gitdirs_completed(&scene->gitdirs, change, folded.data);
	ab_labels_find(&in, ret);
	if (scene->host)
		ab_host_names_label(scene->host, change, ret);
	change->labels = ret->bits;
}

/* May it have labels now because of the host's files? Without its content. */
static bool depends_on_host(const struct ab_label_scene *scene, struct ab_change *change)
{
	ab_autobuf struct ab_buf folded = { 0 };
	ab_autofree char *completes = NULL;
	struct ab_label_hits hits = { 0 };

	ab_label_fold(change->path, &folded);
	completes = ab_gitdirs_completed(&scene->gitdirs, change, folded.data);
	if (scene->host)
		ab_host_names_label(scene->host, change, &hits);
	return ab_change_deletes(change) || completes || hits.bits ||
	       ab_gitdirs_contain(&scene->gitdirs, change->path, folded.data);
}

bool ab_changes_label(const struct ab_layer_view *view, struct ab_changes *changes, bool again)
{
	ab_autoscene struct ab_label_scene scene;
	bool found = false;

	ab_label_scene_init(&scene, view, changes);
	for (size_t i = 0; i < changes->len; i++) {
		struct ab_change *c = &changes->v[i];
		ab_autocontents struct ab_contents contents = { 0 };
		struct ab_label_hits hits;

		if (again && (c->labels || !depends_on_host(&scene, c)))
			continue;
		ab_contents_read(view, c, &contents);
		ab_contents_label(view, &scene, c, &contents, &hits);
		found |= c->labels != 0;
	}
	return found;
}
