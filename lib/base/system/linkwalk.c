#include "base/system/linkwalk.h"

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"

enum { LINKS_MAX = 40 }; /* MAXSYMLINKS of the kernel */

static void set_text(struct ab_linkwalk *w, char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == '/')
		text[--len] = '\0';
	free(w->text);
	w->text = text;
	w->name = NULL;
	w->left = text + strspn(text, "/");
}

static void move_to(struct ab_linkwalk *w, char *folder)
{
	free(w->at);
	w->at = folder;
}

void ab_linkwalk_init(struct ab_linkwalk *w, const char *at, const char *path)
{
	*w = (struct ab_linkwalk){ .at = ab_strdup(at) };
	set_text(w, ab_strdup(path));
}

void ab_linkwalk_fini(struct ab_linkwalk *w)
{
	ab_free_all(w->text, w->at, w->path);
}

bool ab_linkwalk_next(struct ab_linkwalk *w)
{
	if (!*w->left)
		return false;
	w->name = w->left;
	w->left += strcspn(w->left, "/");
	if (*w->left)
		*w->left++ = '\0';
	w->left += strspn(w->left, "/");
	return true;
}

int ab_linkwalk_follow(struct ab_linkwalk *w, const char *target)
{
	errno = ELOOP;
	if (++w->links > LINKS_MAX)
		return -1;
	errno = ENOENT;
	if (target && !*target)
		return -1;
	if (target)
		set_text(w, ab_printf("%s/%s", target, w->left));
	return 0;
}

static int follow_path(struct ab_linkwalk *w)
{
	ab_autofree char *target = ab_read_link(AT_FDCWD, w->path);

	if (!target || ab_linkwalk_follow(w, target) < 0)
		return -1;
	if (target[0] == '/')
		move_to(w, ab_strdup("/"));
	return 0;
}

/* Beyond the name that the last step found. */
static int pass_name(struct ab_linkwalk *w)
{
	if (!w->path)
		return 0;
	if (S_ISLNK(w->st.st_mode)) {
		if (follow_path(w) < 0)
			return -1;
		free(ab_take(w->path));
		return 0;
	}
	errno = ENOTDIR;
	if (*w->left && !S_ISDIR(w->st.st_mode))
		return -1;
	move_to(w, ab_take(w->path));
	return 0;
}

enum ab_linkwalk_step ab_linkwalk_step(struct ab_linkwalk *w)
{
	if (pass_name(w) < 0)
		return AB_LINKWALK_FAILED;
	while (ab_linkwalk_next(w)) {
		if (strcmp(w->name, ".") == 0)
			continue;
		if (strcmp(w->name, "..") == 0) {
			move_to(w, ab_path_parent(w->at));
			continue;
		}
		w->path = ab_path_join(w->at, w->name);
		w->st = (struct stat){ 0 };
		errno = ENAMETOOLONG;
		if (strlen(w->path) + strlen(w->left) >= PATH_MAX || lstat(w->path, &w->st) < 0)
			return AB_LINKWALK_FAILED;
		return S_ISLNK(w->st.st_mode) ? AB_LINKWALK_LINK : AB_LINKWALK_NAME;
	}
	return AB_LINKWALK_END;
}
