#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/layers.h"
#include "policy/paths.h"
#include "session/approvals_store.h"
#include "session/state.h"

#define FILE_NAME "approvals.json"

enum {
	FILE_MAX = 8 << 20,
	ENTRIES_MAX = 1000,
};

int ab_kept_open(const struct ab_policy_input *in, bool make, int *ret_dir,
		 struct ab_error *err)
{
	ab_autofree char *path = ab_state_dir(in->environ, in->home, in->cwd);
	struct ab_state state;

	if (!path) {
		ab_fail(err, AB_EUSAGE, 0, "there is no place for our state");
		return ab_hint(err, "set HOME or AGENTBOX_STATE");
	}
	*ret_dir = -1;
	if (!make && access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (ab_state_open(path, &state, err) < 0)
		return -1;
	*ret_dir = ab_take_fd(&state.root);
	ab_state_fini(&state);
	return 0;
}

static int broken(struct ab_error *err, const char *why)
{
	ab_fail(err, AB_ECONFIG, 0, "%s in the state folder is broken: %s",
		FILE_NAME, why);
	return ab_hint(err, "it counts as empty and is left as it is; to begin "
			    "anew: agentbox approvals revoke --all");
}

static int take_entries(json_t *file, int64_t now,
			struct ab_approval_list *list, struct ab_error *err)
{
	json_error_t wrong;
	json_t *entries, *entry;
	json_int_t version;
	int result = 0;
	size_t i;

	if (json_unpack_ex(file, &wrong, JSON_STRICT, "{s:I,s:o}", "version",
			   &version, "approvals", &entries) < 0)
		return broken(err, wrong.text);
	if (version != 1 || !json_is_array(entries))
		return broken(err, "its version is not known");
	json_array_foreach(entries, i, entry)
	{
		struct ab_approval a;

		if (ab_approval_read(entry, &a, wrong.text,
				     sizeof(wrong.text)) < 0)
			return broken(err, wrong.text);
		if (a.session || a.deny)
			result = broken(err, "it holds what never ends");
		if (result == 0 && a.expires > now)
			ab_approval_list_give(list, &a);
		ab_approval_fini(&a);
	}
	return result;
}

/* Appends to the list; on failure nothing of it is left in there. */
int ab_kept_read(int state, int64_t now, struct ab_approval_list *list,
		 struct ab_error *err)
{
	ab_autoclose int fd = ab_approval_open(state, FILE_NAME);
	struct ab_approval_list kept = { 0 };
	ab_autofree char *text = NULL;
	json_error_t wrong;
	json_t *file;
	size_t len;
	int result;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || ab_read_all(fd, FILE_MAX, &text, &len) < 0)
		return broken(err, errno == EPERM ? "others can write it"
						  : strerror(errno));
	file = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);
	result = file ? take_entries(file, now, &kept, err)
		      : broken(err, wrong.text);
	json_decref(file);
	for (size_t i = 0; result == 0 && i < kept.len; i++)
		ab_approval_list_give(list, &kept.v[i]);
	ab_approval_list_fini(&kept);
	return result;
}

static int write_file(int state, const struct ab_approval_list *list,
		      struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autoclose int fd = -1;

	ab_buf_puts(&b, "{\"version\":1,\"approvals\":[");
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_puts(&b, i ? ",\n" : "\n");
		ab_approval_write(&b, &list->v[i]);
	}
	ab_buf_puts(&b, "\n]}\n");
	/* We have the lock: what is there was left by one that was killed. */
	unlinkat(state, "." FILE_NAME, 0);
	fd = openat(state, "." FILE_NAME,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && ab_write_all(fd, b.data, b.len) == 0 && fsync(fd) == 0 &&
	    renameat(state, "." FILE_NAME, state, FILE_NAME) == 0)
		return 0;
	ab_fail(err, AB_ESYSTEM, errno, "write %s", FILE_NAME);
	unlinkat(state, "." FILE_NAME, 0);
	return -1;
}

/* The lock is on a description of its own, so that it ends with it. */
static int lock(int state, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "lock %s", FILE_NAME);
	return ab_take_fd(&fd);
}

static void drop(struct ab_approval_list *list, size_t i)
{
	ab_approval_fini(&list->v[i]);
	memmove(&list->v[i], &list->v[i + 1],
		(list->len - i - 1) * sizeof(list->v[0]));
	list->len--;
}

static int add(int state, int64_t now, const struct ab_approval *a,
	       struct ab_approval_list *list, struct ab_error *err)
{
	struct ab_approval copy = *a;

	if (ab_kept_read(state, now, list, err) < 0)
		return -1;
	for (size_t i = list->len; i-- > 0;)
		if (strcmp(list->v[i].key, a->key) == 0)
			drop(list, i);
	if (list->len >= ENTRIES_MAX)
		return ab_fail(err, AB_EUSAGE, 0,
			       "%d approvals are kept already: agentbox "
			       "approvals revoke",
			       ENTRIES_MAX);
	copy.command = ab_strdup(a->command);
	copy.cwd = ab_strdup(a->cwd);
	copy.rule = ab_strdup(a->rule);
	ab_approval_list_give(list, &copy);
	return write_file(state, list, err);
}

int ab_kept_add(int state, int64_t now, const struct ab_approval *a,
		struct ab_error *err)
{
	ab_autoclose int locked = lock(state, err);
	struct ab_approval_list list = { 0 };
	int result = locked < 0 ? -1 : add(state, now, a, &list, err);

	ab_approval_list_fini(&list);
	return result;
}

static int remove_some(int state, int64_t now, const char *id, size_t *n,
		       struct ab_approval_list *list, struct ab_error *err)
{
	size_t before;

	if (ab_kept_read(state, now, list, err) < 0)
		return -1;
	before = list->len;
	for (size_t i = list->len; i-- > 0;)
		if (strcmp(list->v[i].id, id) == 0)
			drop(list, i);
	*n += before - list->len;
	return before == list->len ? 0 : write_file(state, list, err);
}

/* All of them, also where the file is broken. */
static int remove_all(int state, int64_t now, size_t *n, struct ab_error *err)
{
	struct ab_approval_list list = { 0 };
	struct ab_error unread;

	if (ab_kept_read(state, now, &list, &unread) == 0)
		*n += list.len;
	ab_approval_list_fini(&list);
	if (unlinkat(state, FILE_NAME, 0) < 0 && errno != ENOENT)
		return ab_fail(err, AB_ESYSTEM, errno, "remove %s", FILE_NAME);
	return 0;
}

int ab_kept_revoke(int state, int64_t now, const char *id, size_t *n,
		   struct ab_error *err)
{
	ab_autoclose int locked = lock(state, err);
	struct ab_approval_list list = { 0 };
	int result;

	if (locked < 0)
		return -1;
	result = id ? remove_some(state, now, id, n, &list, err)
		    : remove_all(state, now, n, err);
	ab_approval_list_fini(&list);
	return result;
}
