#include "guard/writes/folder_rename.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "base/system/folder.h"
#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "guard/walls/rename_wire.h"
#include "guard/writes/held_renames.h"
#include "guard/writes/place.h"
#include "sandbox/plan/plan.h"

struct ab_folder_renames {
	struct ab_held_renames *held;
	long filters; /* of a process that has not restricted itself */
};

/* How many filters the process has; -1: unknown. */
static long count_filters(pid_t pid)
{
	return ab_exec_number(pid, "\nSeccomp_filters:", AB_NUMBER_OURS);
}

static bool has_layer(const struct ab_plan *plan)
{
	for (size_t i = 0; i < plan->len; i++)
		if (plan->v[i].op == AB_MOUNT_LAYER)
			return true;
	return false;
}

struct ab_folder_renames *ab_folder_renames_open(struct ab_guard *guard,
						 struct ab_held_renames *held)
{
	const struct ab_trace_terms *terms = ab_guard_terms(guard);
	struct ab_folder_renames *r;
	long ours = count_filters(getpid());

	if (!held || ours < 0 || !has_layer(terms->plan))
		return NULL;
	r = ab_alloc(sizeof(*r));
	r->held = held;
	r->filters = ours + terms->filters;
	return r;
}

static bool is_in_layer(const struct ab_plan *plan, const char *path)
{
	const struct ab_mount *m = ab_plan_find(plan, path);

	return m && m->op == AB_MOUNT_LAYER;
}

/* The folder that contains the name, as the caller sees it: in a layer; and its last name. -1: not
 * so. */
static int find_parent(const struct ab_held *call, const struct ab_plan *plan,
		       const struct ab_call_name *name, const char **ret_path,
		       const char **ret_name)
{
	size_t len;
	const char *last = ab_place_last(name->text, &len);
	ab_autoclose int fd = -1;

	if (!len || len > NAME_MAX)
		return -1;
	*ret_name = ab_arena_ndup(call->arena, last, len);
	if (strcmp(*ret_name, ".") == 0 || strcmp(*ret_name, "..") == 0)
		return -1;
	*ret_path = ab_call_find_folder(call, name, NULL, &fd);
	return *ret_path && is_in_layer(plan, *ret_path) ? ab_take_fd(&fd) : -1;
}

static bool send_ask(struct ab_folder_renames *r, const struct ab_held *call, const char *from,
		     const char *to, const char *folder, const int dirs[2])
{
	struct ab_move_ask ask = { .id = call->id };

	ask.noreplace = call->data->nr == __NR_renameat2 && (uint32_t)call->data->args[4] != 0;
	memcpy(ask.from, from, strlen(from));
	memcpy(ask.to, to, strlen(to));
	snprintf(ask.path, sizeof(ask.path), "%s/%s", folder, from);
	return ab_held_renames_ask(r->held, call, &ask, sizeof(ask), dirs, 2);
}

bool ab_folder_renames_ask(struct ab_folder_renames *r, struct ab_guard *guard,
			   const struct ab_held *call, const struct ab_call_name *from,
			   const struct ab_call_name *to)
{
	const struct ab_plan *plan = ab_guard_terms(guard)->plan;
	const char *from_path, *from_name, *to_path, *to_name;
	ab_autoclose int parent = -1, target = -1;

	if (!r || (from->place && !is_in_layer(plan, from->place)))
		return false;
	if (call->data->nr == __NR_renameat2 &&
	    ((uint32_t)call->data->args[4] & ~(uint32_t)RENAME_NOREPLACE))
		return false;
	parent = find_parent(call, plan, from, &from_path, &from_name);
	if (parent < 0 || !ab_folder_is(parent, from_name) ||
	    count_filters(call->pid) != r->filters)
		return false;
	target = find_parent(call, plan, to, &to_path, &to_name);
	return target >= 0 &&
	       send_ask(r, call, from_name, to_name, from_path, (const int[]){ parent, target });
}
