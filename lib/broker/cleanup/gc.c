#include "broker/cleanup/gc.h"

#include "audit/read/find.h"
#include "base/system/folder.h"
#include "policy/model/policy.h"
#include "workspace/quarantine/quarantine.h"
#include "workspace/tree/remove_tree.h"

struct ab_gc_rule ab_gc_rule_of(const struct ab_policy *policy)
{
	return (struct ab_gc_rule){
		.keep_ms = policy->records.keep_ms ? policy->records.keep_ms : AB_GC_ALL,
		.keep_runs = policy->records.keep_runs ? policy->records.keep_runs : AB_GC_ALL,
	};
}

#define GONE ".gone-"

struct ended {
	char id[8];
	int64_t at_ms;
	bool tool;
	size_t newer; /* others of its kind */
};

struct ended_list {
	struct ended *v;
	size_t len;
};

static bool is_of_tool(int runs, const char *id)
{
	char path[sizeof(((struct ended *)0)->id) + sizeof(AB_GC_TOOL_MARK)];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" AB_GC_TOOL_MARK, id);
	return fstatat(runs, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void add_ended(struct ended_list *list, int runs, const char *id)
{
	struct stat st;

	/* Leave everything alone that is not the folder of a run. */
	if (!ab_run_id_valid(id) || fstatat(runs, id, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return;
	ab_make_room(list->v, list->len);
	memcpy(list->v[list->len].id, id, strlen(id) + 1);
	list->v[list->len].tool = is_of_tool(runs, id);
	list->v[list->len++].at_ms =
		(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

static int newest_first(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? 1 : -1;
	return strcmp(x->id, y->id);
}

/* The ended runs, and what an earlier gc left. */
static void list_runs(int runs, struct ended_list *ret, struct ab_strv *ret_left)
{
	ab_autodir DIR *list = ab_folder_list(runs, ".");
	size_t count[2] = { 0 };
	const char *name;

	while ((name = ab_folder_next(list)) != NULL)
		if (strncmp(name, GONE, strlen(GONE)) == 0)
			ab_strv_add(ret_left, name);
		else
			add_ended(ret, runs, name);
	if (ret->len)
		qsort(ret->v, ret->len, sizeof(ret->v[0]), newest_first);
	for (size_t i = 0; i < ret->len; i++)
		ret->v[i].newer = count[ret->v[i].tool]++;
}

/* One that ended in the future counts as new. */
static bool is_due(const struct ended *run, const struct ab_gc_rule *rule, int64_t now)
{
	return run->newer >= rule->keep_runs || (rule->keep_ms != AB_GC_ALL && now > run->at_ms &&
						 (uint64_t)(now - run->at_ms) > rule->keep_ms);
}

/* The quarantine is the run's own folder (workspace/quarantine/quarantine.h). */
static bool has_quarantine(int runs, const char *id)
{
	ab_autodir DIR *list = ab_folder_list(runs, id);
	bool found = false;
	const char *name;

	while (!found && (name = ab_folder_next(list)) != NULL)
		found = ab_quarantine_is_name(name);
	return found;
}

static int remove_run(int runs, const char *id)
{
	char gone[sizeof(GONE) + 8];

	snprintf(gone, sizeof(gone), GONE "%s", id);
	if (renameat(runs, id, runs, gone) < 0)
		return errno == ENOENT ? 0 : -1;
	return ab_remove_tree(runs, gone);
}

void ab_gc(int runs, const struct ab_gc_rule *rule, struct ab_gc_report *ret)
{
	ab_autostrv struct ab_strv left = { 0 };
	int64_t now = ab_clock_ms(CLOCK_REALTIME);
	struct ended_list list = { 0 };

	*ret = (struct ab_gc_report){ 0 };
	list_runs(runs, &list, &left);
	for (size_t i = 0; !rule->dry && i < left.len; i++)
		ab_remove_tree(runs, left.v[i]);
	/* The oldest first: if we are stopped, the newer ones remain. */
	for (size_t i = list.len; i-- > 0;) {
		const struct ended *run = &list.v[i];

		if (!is_due(run, rule, now)) {
			ret->kept++;
		} else if (!rule->quarantine && has_quarantine(runs, run->id)) {
			ret->kept++;
			ret->quarantined++;
		} else if (rule->dry || remove_run(runs, run->id) == 0) {
			ab_strv_add(&ret->removed, run->id);
		} else {
			ret->failed++;
		}
	}
	free(list.v);
}

void ab_gc_due(int runs, const struct ab_gc_rule *rule, struct ab_strv *ret)
{
	int64_t now = ab_clock_ms(CLOCK_REALTIME);
	struct ended_list list = { 0 };

	list_runs(runs, &list, ret);
	for (size_t i = 0; i < list.len; i++)
		if (is_due(&list.v[i], rule, now))
			ab_strv_add(ret, list.v[i].id);
	free(list.v);
}

void ab_gc_remove_due(int runs, const char *name)
{
	bool left = strncmp(name, GONE, strlen(GONE)) == 0;

	if (left && ab_run_id_valid(name + strlen(GONE)))
		ab_remove_tree(runs, name);
	else if (ab_run_id_valid(name) && !has_quarantine(runs, name))
		remove_run(runs, name);
}

void ab_gc_report_fini(struct ab_gc_report *report)
{
	ab_strv_fini(&report->removed);
}
