#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/layers.h"
#include "policy/paths.h"
#include "session/approvals_store.h"
#include "session/state.h"
#include "session/store.h"

#define FILE_NAME "approvals.json"

enum { ENTRIES_MAX = 1000 };

static const struct ab_store store = {
	.file = FILE_NAME,
	.list = "approvals",
	.max = 8 << 20,
	.hint = "it counts as empty and is left as it is; to begin anew: "
		"agentbox approvals revoke --all",
};

int ab_kept_open(const struct ab_policy_input *in, bool make, int *ret_dir, struct ab_error *err)
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

static int take_entries(const json_t *entries, int64_t now, struct ab_approval_list *list,
			struct ab_error *err)
{
	char wrong[JSON_ERROR_TEXT_LENGTH];
	json_t *entry;
	int result = 0;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		struct ab_approval a;

		if (ab_approval_read(entry, &a, wrong, sizeof(wrong)) < 0)
			return ab_store_broken(&store, wrong, err);
		if (a.session || a.deny)
			result = ab_store_broken(&store, "it holds what never ends", err);
		if (result == 0 && a.expires > now)
			ab_approval_list_give(list, &a);
		ab_approval_fini(&a);
	}
	return result;
}

/* Appends to the list; on failure nothing of it is left in there. */
int ab_kept_read(int state, int64_t now, struct ab_approval_list *list, struct ab_error *err)
{
	struct ab_approval_list kept = { 0 };
	json_t *entries;
	int result;

	if (ab_store_read(&store, state, &entries, err) < 0)
		return -1;
	result = take_entries(entries, now, &kept, err);
	json_decref(entries);
	for (size_t i = 0; result == 0 && i < kept.len; i++)
		ab_approval_list_give(list, &kept.v[i]);
	ab_approval_list_fini(&kept);
	return result;
}

static int write_file(int state, const struct ab_approval_list *list, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_store_begin(&store, &b);
	for (size_t i = 0; i < list->len; i++) {
		ab_store_entry(&b);
		ab_approval_write(&b, &list->v[i]);
	}
	return ab_store_replace(&store, state, &b, err);
}

static void drop(struct ab_approval_list *list, size_t i)
{
	ab_approval_fini(&list->v[i]);
	memmove(&list->v[i], &list->v[i + 1], (list->len - i - 1) * sizeof(list->v[0]));
	list->len--;
}

static int add(int state, int64_t now, const struct ab_approval *a, struct ab_approval_list *list,
	       struct ab_error *err)
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

int ab_kept_add(int state, int64_t now, const struct ab_approval *a, struct ab_error *err)
{
	ab_autoclose int locked = ab_store_lock(&store, state, err);
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

int ab_kept_revoke(int state, int64_t now, const char *id, size_t *n, struct ab_error *err)
{
	ab_autoclose int locked = ab_store_lock(&store, state, err);
	struct ab_approval_list list = { 0 };
	int result;

	if (locked < 0)
		return -1;
	result = id ? remove_some(state, now, id, n, &list, err) : remove_all(state, now, n, err);
	ab_approval_list_fini(&list);
	return result;
}
