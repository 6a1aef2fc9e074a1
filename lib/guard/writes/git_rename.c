#include "guard/writes/git_rename.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "sandbox/plan/plan.h"
#include "guard/notify/guard_process.h"
#include "guard/walls/rename_wire.h"
#include "guard/writes/held_renames.h"
#include "guard/writes/place.h"

/* Is it a rename that git makes? */
static bool is_of_git(const struct ab_held *call, const char *from, const char *to)
{
	size_t n = strlen(to);

	if (call->data->nr == __NR_renameat2 && (uint32_t)call->data->args[4] != 0)
		return false;
	return (strcmp(to, "config") == 0 || strcmp(to, "config.worktree") == 0 ||
		strcmp(to, ".gitmodules") == 0) &&
	       strncmp(from, to, n) == 0 && strcmp(from + n, ".lock") == 0;
}

/* Closed, or protected although it did not exist. */
static bool is_closed(const struct ab_git_renames *r, const struct ab_plan *plan,
		      struct ab_arena *arena, const char *dir, const char *name)
{
	const char *path = ab_arena_cat(arena, ab_arena_cat(arena, dir, "/"), name);
	const struct ab_mount *m = ab_plan_at(plan, path);

	return (m && m->op == AB_MOUNT_CLOSE) || ab_place_is_protected(r->survey, path);
}

/* Does the broker have to replace it? Then also its folder. */
static bool is_ours(struct ab_git_renames *r, const struct ab_plan *plan,
		    const struct ab_held *call, const struct ab_call_name *to, struct stat *ret)
{
	const char *dir;

	if (to->text[0] == '/' && strcmp(r->other, to->text) == 0)
		return false;
	dir = ab_call_find_folder(call, to, ret, NULL);
	if (!dir)
		return false;
	if (is_closed(r, plan, call->arena, dir, ab_path_name(to->text)))
		return true;
	if (strlen(to->text) < sizeof(r->other))
		memcpy(r->other, to->text, strlen(to->text) + 1);
	return false;
}

bool ab_git_renames_ask(struct ab_git_renames *r, struct ab_guard *guard,
			const struct ab_held *call, const struct ab_call_name *from,
			const struct ab_call_name *to)
{
	const char *from_name = ab_path_name(from->text), *to_name = ab_path_name(to->text);
	struct ab_git_ask ask = { .id = call->id };
	struct stat st, to_st;

	/* The target first: most are in a repository that the run created. */
	if (!r->held || !is_of_git(call, from_name, to_name) ||
	    !is_ours(r, ab_guard_terms(guard)->plan, call, to, &to_st) ||
	    !ab_call_find_folder(call, from, &st, NULL) || !ab_stat_same(&st, &to_st))
		return false;
	ask.dev = st.st_dev;
	ask.ino = st.st_ino;
	memcpy(ask.from, from_name, strlen(from_name));
	memcpy(ask.to, to_name, strlen(to_name));
	return ab_held_renames_ask(r->held, call, &ask, sizeof(ask), NULL, 0);
}
