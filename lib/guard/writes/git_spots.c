#include "guard/writes/git_spots.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "guard/writes/held_renames.h"
#include "guard/writes/place.h"
#include "workspace/quarantine/spots.h"
#include "workspace/survey/survey.h"

/* A folder with one of these may have become a repository, or another one. git writes them to a file
 * beside them first. */
static const char *const parts[] = {
	".git",	  "HEAD",  "objects", "refs",	   "commondir", "config", "config.worktree",
	"gitdir", "hooks", "modules", "worktrees",
};

static bool is_part(const char *text)
{
	size_t len;
	const char *name = ab_place_last(text, &len);

	for (size_t i = 0; i < AB_COUNT(parts); i++)
		if (strncmp(parts[i], name, len) == 0 && !parts[i][len])
			return true;
	return false;
}

/* A file in "hooks"; without slashes at the end of the path. */
static bool is_hook(const char *path)
{
	size_t len;
	const char *name = ab_place_last(path, &len);

	return name - path > 7 && strncmp(name - 7, "/hooks/", 7) == 0;
}

/* The real path of a folder, as the caller sees it; NULL: there is none. */
static const char *find_folder(const struct ab_held *call, int dir, const char *text)
{
	const char *path = NULL;
	struct ab_found found;

	if (ab_exec_walk(call->arena, call->pid, dir, text, false, &found) < 0)
		return NULL;
	if (!found.errnum && S_ISDIR(found.st.st_mode))
		path = ab_found_path(call->arena, &found);
	ab_found_close(&found);
	return path;
}

static bool is_folder(const struct ab_held *call, const struct ab_rename_name *name)
{
	struct ab_found found;
	bool folder;

	if (ab_exec_walk(call->arena, call->pid, name->dir, name->text, true, &found) < 0)
		return false;
	folder = !found.errnum && S_ISDIR(found.st.st_mode);
	ab_found_close(&found);
	return folder;
}

static void add_spot(const struct ab_git_spots *s, enum ab_spot kind, const char *path)
{
	if (ab_path_within_any(path, &s->survey->write))
		ab_spots_add(s->spots, kind, path);
}

/* The folder that contains the name, or that one's, for a hook. */
static void note_folder(const struct ab_git_spots *s, const struct ab_held *call,
			const struct ab_rename_name *name, bool hook)
{
	const char *path = find_folder(call, name->dir, ab_place_above(call->arena, name->text));

	if (path && hook)
		path = ab_arena_ndup(call->arena, path, (size_t)(ab_path_name(path) - path - 1));
	if (path)
		add_spot(s, AB_SPOT_FOLDER, path);
}

/* The folder will have this name. */
static void note_tree(const struct ab_git_spots *s, const struct ab_held *call,
		      const struct ab_rename_name *name)
{
	size_t len;
	const char *last = ab_place_last(name->text, &len);
	const char *path = find_folder(call, name->dir, ab_place_above(call->arena, name->text));

	if (!path)
		return;
	path = ab_arena_cat(call->arena, path, "/");
	path = ab_arena_cat(call->arena, path, ab_arena_ndup(call->arena, last, len));
	add_spot(s, AB_SPOT_TREE, path);
}

void ab_git_spots_note(const struct ab_git_spots *s, const struct ab_held *call,
		       const struct ab_touch *touch, const struct ab_rename_name *names,
		       const char *place)
{
	const char *path = place ? place : names[0].text;
	bool part = is_part(path), hook = !part && is_hook(path);

	if (part || hook)
		note_folder(s, call, &names[0], hook);
	if (touch->kind != AB_TOUCH_RENAME)
		return;
	if (is_folder(call, &names[1]))
		note_tree(s, call, &names[0]);
	/* An exchange puts what was there in the other place. */
	if (call->data->nr == __NR_renameat2 && (call->data->args[4] & RENAME_EXCHANGE) &&
	    is_folder(call, &names[0]))
		note_tree(s, call, &names[1]);
}
