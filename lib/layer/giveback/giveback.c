#include "layer/giveback/giveback.h"

#include <sys/file.h>

#include "base/system/new_file.h"
#include "layer/giveback/credentials.h"
#include "layer/store/meta.h"
#include "workspace/tree/dir.h"

static const char own_name[] = ".agentbox-return";
static const char host_changed[] = "the host's file changed during the run and stays as it is";

/* A file that was read completely, or the reason why not. */
struct content {
	bool exists;
	bool deleted; /* in the layer */
	struct stat st;
	char *data; /* NULL: it does not exist, or `why` is set */
	size_t len;
	const char *why;
	int error; /* it could not be looked at */
};

static void content_fini(struct content *c)
{
	if (c->data)
		explicit_bzero(c->data, c->len);
	free(c->data);
}
#define autocontent __attribute__((cleanup(content_fini)))

/* What is wrong with it; NULL: nothing. */
static const char *find_fault(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "the box's copy is not a regular file";
	if (st->st_uid != geteuid())
		return "the box's copy belongs to another user";
	if (st->st_nlink != 1)
		return "the box's copy has more than one name";
	return st->st_size > AB_GIVEBACK_MAX ? "the box's copy is too large" : NULL;
}

/* Look before opening: a FIFO or a device must not be opened at all. */
static struct content read_content(int top, const char *path)
{
	ab_autoclose int node = ab_open_same_mount(top, path, O_PATH | O_NOFOLLOW), fd = -1;
	struct content c = { 0 };
	struct stat st;

	if (node < 0 && errno == ENOENT)
		return c;
	if (node < 0 && (errno == ELOOP || errno == ENOTDIR || errno == EXDEV)) {
		c.why = "the box's copy is not below plain folders";
		return c;
	}
	if (node < 0 || fstat(node, &c.st) < 0) {
		c.error = errno;
		c.why = "the box's copy cannot be opened";
		return c;
	}
	/* In an overlay's upper, a device without a number is a deletion. */
	c.deleted = S_ISCHR(c.st.st_mode) && c.st.st_rdev == 0;
	c.exists = !c.deleted;
	c.why = c.exists ? find_fault(&c.st) : NULL;
	if (c.deleted || c.why)
		return c;
	fd = ab_open_same_mount(top, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		c.why = "the box's copy cannot be read";
	else if (fstat(fd, &st) < 0 || !ab_stat_same(&st, &c.st) || find_fault(&st))
		c.why = "the box's copy changes while it is read";
	else if (ab_read_all(fd, AB_GIVEBACK_MAX, &c.data, &c.len) < 0)
		c.why = errno == EFBIG ? "the box's copy is too large"
				       : "the box's copy cannot be read";
	return c;
}

/* The folder of the file, O_PATH. With `create`, missing folders are created for the owner only.
 * -1 with errno. */
static int open_folder(int top, const char *path, bool create)
{
	ab_autofree char *copy = ab_strdup(path);
	ab_autoclose int at = fcntl(top, F_DUPFD_CLOEXEC, 3);
	char *slash, *name = copy;

	while (at >= 0 && (slash = strchr(name, '/')) != NULL) {
		int next;

		*slash = '\0';
		if (create && mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return -1;
		next = ab_open_same_mount(at, name, O_PATH | O_DIRECTORY);
		ab_closep(&at);
		at = next;
		name = slash + 1;
	}
	return ab_take_fd(&at);
}

static bool is_host_unchanged(int folder, const char *name, const struct content *host)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && !host->exists;
	return host->exists && ab_stat_same(&st, &host->st) && st.st_size == host->st.st_size &&
	       ab_time_same(st.st_ctim, host->st.st_ctim);
}

/* Replace the file `path` below `top` at once. `old` is what is there now. -1 with errno: ESTALE if
 * that has changed meanwhile. */
static int replace_file(int top, const char *path, const struct content *old, const void *data,
			size_t len, struct stat *ret_st)
{
	ab_autoclose int folder = open_folder(top, path, true), lock = -1;
	ab_autonewfile struct ab_new_file fresh = AB_NEW_FILE_NONE;
	const char *name = ab_path_name(path), *temporary = NULL;
	mode_t mode = old->exists ? old->st.st_mode & 0777 : 0600;

	/* With it, what a killed run left is removed. Not every file system can lock a folder. */
	lock = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 &&
	    (unlinkat(folder, own_name, 0) == 0 || errno == ENOENT))
		temporary = own_name;
	if (folder < 0 || ab_new_file_open(folder, name, temporary, 0600, &fresh) < 0 ||
	    ab_write_all(fresh.fd, data, len) < 0 || fchmod(fresh.fd, mode) < 0)
		return -1;
	if (!is_host_unchanged(folder, name, old))
		return ab_errno(ESTALE);
	if (ab_new_file_place(&fresh,
			      AB_NEW_FILE_SYNC_NAME | (old->exists ? 0 : AB_NEW_FILE_ONLY)) < 0)
		return -1;
	return fstat(fresh.fd, ret_st);
}

static bool is_as_before(const struct ab_layer_file *was, const struct content *host)
{
	return was ? ab_layer_file_same(was, host->exists ? &host->st : NULL) : !host->exists;
}

enum ab_giveback ab_giveback_file(int upper, int home, const char *path, const char *entry,
				  const struct ab_layer_file *was,
				  const struct ab_strv *placeholders, struct stat *ret_st,
				  const char **ret_why)
{
	autocontent struct content box = read_content(upper, path);
	autocontent struct content host = { 0 };
	ab_autobuf struct ab_buf text = { 0 };

	if (!box.exists && !box.why)
		return AB_GIVEBACK_SAME;
	host = read_content(home, path);
	*ret_why = box.why;
	if (!*ret_why && host.why)
		*ret_why = "the host's is not a plain file of yours";
	if (!*ret_why && host.exists && host.len == box.len &&
	    memcmp(host.data, box.data, host.len) == 0)
		return AB_GIVEBACK_SAME;
	if (!*ret_why && !is_as_before(was, &host))
		*ret_why = host_changed;
	if (*ret_why || ab_credentials_merge(entry, host.data, host.len, box.data, box.len,
					     placeholders, &text, ret_why) < 0)
		return AB_GIVEBACK_REFUSED;
	if (host.exists && text.len == host.len && memcmp(text.data, host.data, host.len) == 0)
		return AB_GIVEBACK_SAME;
	if (replace_file(home, path, &host, text.data ? text.data : "", text.len, ret_st) == 0)
		return AB_GIVEBACK_DONE;
	*ret_why = errno == ESTALE || errno == EEXIST ? host_changed
						      : "the host's file cannot be replaced";
	return AB_GIVEBACK_REFUSED;
}

static int drop_copy(int upper, const char *path)
{
	ab_autoclose int folder = open_folder(upper, path, false);

	return folder < 0 ? -1 : unlinkat(folder, ab_path_name(path), 0);
}

int ab_giveback_refresh(int upper, int home, const char *path, const struct ab_layer_file *was,
			struct stat *ret_now)
{
	autocontent struct content host = read_content(home, path);
	autocontent struct content box = { 0 };
	struct stat st;

	/* It is not known whether it is there. */
	if (host.error)
		return ab_errno(host.error);
	*ret_now = host.exists ? host.st : (struct stat){ .st_nlink = 0 };
	/* A login in the box that has not been returned yet. */
	if (is_as_before(was, &host))
		return 0;
	box = read_content(upper, path);
	if (!box.exists && !box.deleted && !box.why)
		return 0;
	if (host.why || !host.exists || box.why || box.deleted)
		return drop_copy(upper, path);
	return replace_file(upper, path, &box, host.data, host.len, &st);
}
