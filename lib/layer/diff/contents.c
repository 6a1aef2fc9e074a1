#include "layer/diff/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "layer/diff/labels.h"
#include "layer/diff/text_diff.h"
#include "layer/walk/changes.h"
#include "workspace/tree/dir.h"

/* What git packs is no text, even if it has no NUL byte. */
static bool is_packed(const char *path)
{
	const char *git = strstr(path, ".git/");

	return git && (git == path || git[-1] == '/') && strncmp(git + 5, "objects/", 8) == 0;
}

/* Takes the descriptor. */
static void read_file(int file, struct ab_content *ret)
{
	ab_autoclose int fd = file;
	struct stat st;
	size_t room;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0) {
		ret->errnum = errno;
		return;
	}
	/* One byte more, to see that the file has grown. */
	room = st.st_size < AB_TEXT_MAX ? (size_t)st.st_size + 1 : AB_TEXT_MAX + 1;
	ret->data = ab_alloc(room + 1);
	n = ab_read_full(fd, ret->data, room);
	if (n < 0) {
		ret->errnum = errno;
		free(ret->data);
		ret->data = NULL;
		return;
	}
	ret->len = (size_t)n;
	if (ret->len == room) {
		ret->cut = true;
		ret->len--;
	}
	ret->data[ret->len] = '\0';
}

static void read_link(char *target, struct ab_content *ret)
{
	ret->errnum = target ? 0 : errno;
	ret->data = target;
	ret->len = target ? strlen(target) : 0;
}

void ab_contents_read(const struct ab_layer_view *view, const struct ab_change *change,
		      struct ab_contents *ret)
{
	*ret = (struct ab_contents){ 0 };
	if (change->kind == AB_CHANGE_MODE)
		return;
	if (change->was == AB_TYPE_FILE)
		read_file(ab_change_open_old(view, change), &ret->old);
	else if (change->was == AB_TYPE_LINK)
		read_link(ab_change_read_old_link(view, change), &ret->old);
	if (change->is == AB_TYPE_FILE)
		read_file(ab_change_open_new(view, change), &ret->new);
	else if (change->is == AB_TYPE_LINK)
		read_link(ab_change_read_new_link(view, change), &ret->new);
	ret->binary = is_packed(change->path) ||
		      (ret->old.data && ab_is_binary(ret->old.data, ret->old.len)) ||
		      (ret->new.data &&ab_is_binary(ret->new.data, ret->new.len));
}

void ab_contents_fini(struct ab_contents *contents)
{
	free(contents->old.data);
	free(contents->new.data);
	*contents = (struct ab_contents){ 0 };
}

bool ab_contents_are_text(const struct ab_contents *contents)
{
	return !contents->binary && !contents->old.cut && !contents->new.cut &&
	       !contents->old.errnum && !contents->new.errnum;
}

/* Does the folder of `len` bytes have this entry, before or after the changes? */
static bool has_entry(const struct ab_layer_view *view, const struct ab_changes *changes,
		      const char *path, size_t len, const char *name)
{
	ab_autofree char *entry = ab_printf("%.*s%s%s", (int)len, path, len ? "/" : "", name);
	const struct ab_change *change = ab_changes_find(changes, entry);
	ab_autoclose int fd = -1;

	if (change && change->is != AB_TYPE_NONE)
		return true;
	fd = ab_open_beneath(view->lower, entry, O_PATH | O_NOFOLLOW);
	return fd >= 0;
}

/* git recognizes a directory by its content, whatever its name is. */
static bool is_in_gitdir(const struct ab_layer_view *view, const struct ab_changes *changes,
			 const char *path)
{
	size_t len;

	return ab_label_maybe_gitdir(path, &len) && has_entry(view, changes, path, len, "HEAD") &&
	       has_entry(view, changes, path, len, "objects");
}

static struct ab_label_side get_side(const struct ab_content *content)
{
	return (struct ab_label_side){ content->data, content->len, content->cut };
}

void ab_contents_label(const struct ab_layer_view *view, const struct ab_changes *changes,
		       bool mass, struct ab_change *change, const struct ab_contents *contents,
		       struct ab_label_hits *ret)
{
	struct ab_label_input in = {
		.change = change,
		.old = get_side(&contents->old),
		.new = get_side(&contents->new),
		.gitdir = is_in_gitdir(view, changes, change->path),
		.mass = mass,
	};

	ab_labels_find(&in, ret);
	change->labels = ret->bits;
}

void ab_changes_label(const struct ab_layer_view *view, struct ab_changes *changes)
{
	bool mass = ab_changes_mass(changes);

	for (size_t i = 0; i < changes->len; i++) {
		ab_autocontents struct ab_contents contents = { 0 };
		struct ab_label_hits hits;

		ab_contents_read(view, &changes->v[i], &contents);
		ab_contents_label(view, changes, mass, &changes->v[i], &contents, &hits);
	}
}
