#include "policy/edit/edit_file.h"

#include <sys/file.h>

#include "base/system/folder.h"
#include "base/system/new_file.h"
#include "base/text/text_diff.h"
#include "policy/edit/json_edit.h"
#include "policy/layers/layers.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"

enum { LOCK_MS = 5000, TRIES = 5 };

struct edit {
	const struct ab_policy_input *in;
	const struct ab_list_change *change; /* NULL: the whole text is replaced */
	const char *seen, *text;	     /* the old and the new one */
	char *name;			     /* what messages call the file */
	char *real;			     /* where it is, without links */
	int dir;			     /* its folder, locked */
	struct stat st;
	bool exists;
};

/* A project can come from anybody: its file is read and replaced where it is named. */
static int find_project_file(struct edit *e, const char *path, struct ab_error *err)
{
	ab_autofree char *parent = ab_path_parent(path);
	ab_autofree char *folder = realpath(parent, NULL);

	if (!folder)
		return ab_fail(err, AB_ECONFIG, errno, "%s", e->name);
	e->real = ab_path_join(folder, AB_PROJECT_CONFIG);
	return 0;
}

/* Where the file is or will be. */
static int find_file(struct edit *e, const char *path, struct ab_error *err)
{
	struct stat st;

	if (strcmp(ab_path_name(path), AB_PROJECT_CONFIG) == 0)
		return find_project_file(e, path, err);
	e->real = realpath(path, NULL);
	if (e->real)
		return 0;
	if (errno != ENOENT)
		return ab_fail(err, AB_ECONFIG, errno, "%s", e->name);
	if (lstat(path, &st) == 0)
		return ab_fail(err, AB_ECONFIG, 0, "%s is a dangling symbolic link", e->name);
	e->real = ab_strdup(path);
	return 0;
}

/* Other agentbox processes wait. A change by an editor is noticed before the
 * rename. */
static int lock_folder(struct edit *e, struct ab_error *err)
{
	ab_autofree char *folder = ab_path_parent(e->real);
	ab_autofree char *failed = ab_folder_make_all(folder, 0700);

	if (failed)
		return ab_fail(err, AB_ECONFIG, errno, "create folder %s", failed);
	e->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->dir < 0)
		return ab_fail(err, AB_ECONFIG, errno, "%s", folder);
	switch (ab_lock_wait(e->dir, LOCK_EX, LOCK_MS)) {
	case 0:
		return 0;
	case 1:
		return ab_fail(err, AB_ECONFIG, 0, "%s is locked by another program", folder);
	default:
		return ab_fail(err, AB_ECONFIG, errno, "lock %s", folder);
	}
}

static int check_owner(struct edit *e, struct ab_error *err)
{
	e->exists = fstatat(e->dir, ab_path_name(e->real), &e->st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!e->exists)
		return 0;
	if (e->st.st_uid != geteuid())
		return ab_fail(err, AB_ECONFIG, 0, "%s belongs to another user", e->name);
	if (e->st.st_mode & 022) {
		ab_fail(err, AB_ECONFIG, 0, "%s is writable by others", e->name);
		return ab_hint(err, "chmod go-w %s", e->real);
	}
	return 0;
}

/* A file that the program would refuse is never written. */
static int check_text(const struct edit *e, const char *text, struct ab_error *err)
{
	size_t len = strlen(text);

	if (len > AB_FILE_MAX)
		return ab_fail(err, AB_ECONFIG, 0, "%s would be larger than 1 MiB", e->name);
	return ab_policy_check_text(e->in, e->name, text, len, err);
}

/* Is the file still what we read? */
static bool is_unchanged(const struct edit *e, const char *text, size_t len)
{
	ab_autofree char *now = NULL;
	struct ab_error unread;
	size_t n;

	if (ab_settings_file_read(e->real, e->name, true, &now, &n, &unread) < 0)
		return false;
	return (now != NULL) == e->exists && n == len && memcmp(now ? now : "", text, len) == 0;
}

/* If the group cannot be kept, the new group gets no rights. */
static int keep_mode(const struct edit *e, int fd)
{
	mode_t mode = e->st.st_mode & 07777;

	if (fchown(fd, (uid_t)-1, e->st.st_gid) < 0)
		mode &= ~(mode_t)(S_ISGID | S_IRWXG);
	return fchmod(fd, mode);
}

/* 1: done; 0: another program changed the file first. */
static int replace_file(const struct edit *e, const char *old, size_t old_len, const char *text,
			struct ab_error *err)
{
	ab_autonewfile struct ab_new_file fresh = AB_NEW_FILE_NONE;

	if (ab_new_file_open(e->dir, ab_path_name(e->real), NULL, 0600, &fresh) < 0 ||
	    ab_write_all(fresh.fd, text, strlen(text)) < 0 ||
	    (e->exists && keep_mode(e, fresh.fd) < 0))
		return ab_fail(err, AB_ECONFIG, errno, "write %s", e->name);
	if (!is_unchanged(e, old, old_len))
		return 0;
	if (ab_new_file_place(&fresh, AB_NEW_FILE_SYNC_NAME) < 0)
		return ab_fail(err, AB_ECONFIG, errno, "replace %s", e->name);
	return 1;
}

/* 1: there is a new text; 0: nothing to change. */
static int change_text(const struct edit *e, const char *old, size_t len, char **ret,
		       struct ab_error *err)
{
	const struct ab_list_change *c = e->change;

	if (c)
		return (c->remove ? ab_json_edit_remove : ab_json_edit_add)(old, len, c->key,
									    c->value, ret, err);
	if (strlen(e->seen) != len || memcmp(e->seen, old, len) != 0)
		return ab_fail(err, AB_ECONFIG, 0, "another program has changed it meanwhile");
	if (strcmp(e->text, e->seen) == 0)
		return 0;
	*ret = ab_strdup(e->text);
	return 1;
}

static int try_once(struct edit *e, struct ab_strv *ret_diff, struct ab_error *err)
{
	ab_autofree char *old = NULL, *text = NULL;
	size_t len;
	int r;

	if (check_owner(e, err) < 0 ||
	    ab_settings_file_read(e->real, e->name, true, &old, &len, err) < 0)
		return -1;
	e->exists = old != NULL;
	r = change_text(e, old ? old : "", len, &text, err);
	if (r < 0)
		return ab_wrap(err, "%s", e->name);
	if (r == 0)
		return 1;
	if (check_text(e, text, err) < 0)
		return -1;
	r = replace_file(e, old ? old : "", len, text, err);
	if (r > 0)
		ab_text_diff(old ? old : "", len, text, strlen(text), ret_diff);
	return r;
}

static int edit_file(struct edit *e, const char *path, struct ab_strv *ret_diff,
		     struct ab_error *err)
{
	int r;

	e->name = ab_escape(path);
	e->dir = -1;
	r = find_file(e, path, err);
	if (r == 0)
		r = lock_folder(e, err);
	for (int i = 0; r == 0 && i < TRIES; i++)
		r = try_once(e, ret_diff, err);
	if (r == 0)
		r = ab_fail(err, AB_ECONFIG, 0, "%s is being written by another program", e->name);
	ab_closep(&e->dir);
	ab_free_all(e->name, e->real);
	return r < 0 ? -1 : 0;
}

int ab_edit_file_change(const struct ab_policy_input *in, const char *path,
			const struct ab_list_change *change, struct ab_strv *ret_diff,
			struct ab_error *err)
{
	struct edit e = { .in = in, .change = change };

	return edit_file(&e, path, ret_diff, err);
}

int ab_edit_file_replace(const struct ab_policy_input *in, const char *path, const char *seen,
			 const char *text, struct ab_strv *ret_diff, struct ab_error *err)
{
	struct edit e = { .in = in, .text = text, .seen = seen };

	return edit_file(&e, path, ret_diff, err);
}
