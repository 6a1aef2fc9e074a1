#include "state/json_store.h"

#include <sys/file.h>

#include "base/system/new_file.h"

enum { LOCK_MS = 2000 };

static bool is_private(int fd, mode_t type, mode_t others)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	errno = EPERM;
	return (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() && !(st.st_mode & others);
}

int ab_private_file(int dir, const char *name)
{
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd >= 0 && is_private(fd, S_IFREG, 022) ? ab_take_fd(&fd) : -1;
}

int ab_private_folder(int dir, const char *name, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	ab_autoclose int fd = openat(dir, name, flags);

	if (fd < 0 && errno == ENOENT && make && (mkdirat(dir, name, 0700) == 0 || errno == EEXIST))
		fd = openat(dir, name, flags);
	return fd >= 0 && is_private(fd, S_IFDIR, 077) ? ab_take_fd(&fd) : -1;
}

int ab_json_store_broken(const struct ab_json_store *store, const char *why, struct ab_error *err)
{
	ab_fail(err, AB_ECONFIG, 0, "%s in the state folder is broken: %s", store->file, why);
	return ab_hint(err, "%s", store->hint);
}

/* Any process that can open the folder can hold its lock. We hold it for a moment only, so waiting
 * longer is pointless. */
int ab_json_store_lock(const struct ab_json_store *store, int state, struct ab_error *err)
{
	ab_autoclose int fd = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int locked = fd < 0 ? -1 : ab_lock_wait(fd, LOCK_EX, LOCK_MS);

	if (locked < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "lock %s", store->file);
	if (locked == 0)
		return ab_take_fd(&fd);
	ab_fail(err, AB_ESYSTEM, 0, "another program holds the lock of the state folder");
	return ab_hint(err, "make the folder private to you: chmod 700");
}

static int read_list(const struct ab_json_store *store, json_t *file, json_t **ret,
		     struct ab_error *err)
{
	json_int_t version;
	json_error_t wrong;
	json_t *list;

	if (json_unpack_ex(file, &wrong, JSON_STRICT, "{s:I,s:o}", "version", &version, store->list,
			   &list) < 0)
		return ab_json_store_broken(store, wrong.text, err);
	if (version != 1 || !json_is_array(list))
		return ab_json_store_broken(store, "unknown version", err);
	*ret = json_incref(list);
	return 0;
}

int ab_json_store_read(const struct ab_json_store *store, int state, json_t **ret,
		       struct ab_error *err)
{
	ab_autoclose int fd = ab_private_file(state, store->file);
	ab_autofree char *text = NULL;
	json_error_t wrong;
	json_auto_t *file = NULL;
	size_t len;

	*ret = NULL;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || ab_read_all(fd, store->max, &text, &len) < 0)
		return ab_json_store_broken(
			store, errno == EPERM ? "others can write to it" : strerror(errno), err);
	file = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);
	if (!file)
		return ab_json_store_broken(store, wrong.text, err);
	return read_list(store, file, ret, err);
}

void ab_json_store_begin(const struct ab_json_store *store, struct ab_buf *text)
{
	ab_buf_printf(text, "{\"version\":1,\"%s\":[", store->list);
}

void ab_json_store_entry(struct ab_buf *text)
{
	ab_buf_puts(text, text->data[text->len - 1] == '[' ? "\n" : ",\n");
}

int ab_json_store_replace(const struct ab_json_store *store, int state, struct ab_buf *text,
			  struct ab_error *err)
{
	char tmp[32];

	ab_buf_puts(text, "\n]}\n");
	snprintf(tmp, sizeof(tmp), ".%s", store->file);
	if (ab_new_file_write(state, store->file, tmp, text->data, text->len, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", store->file);
	return 0;
}
