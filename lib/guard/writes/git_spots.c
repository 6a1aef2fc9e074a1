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

static bool is_part(const char *name, size_t len)
{
	/* Most names differ in the first byte. */
	for (size_t i = 0; i < AB_COUNT(parts); i++)
		if (ab_lower((unsigned char)parts[i][0]) == ab_lower((unsigned char)name[0]) &&
		    strncasecmp(parts[i], name, len) == 0 && !parts[i][len])
			return true;
	return false;
}

/* A file in "hooks"; `name` is the last one of `path`. */
static bool is_hook(const char *path, const char *name)
{
	return name - path > 7 && strncasecmp(name - 7, "/hooks/", 7) == 0;
}

/* *ret_above: the real path of the folder that contains it, if that is known. */
static bool is_folder(const struct ab_held *call, const struct ab_call_name *name,
		      const char **ret_above)
{
	struct ab_found found;
	bool folder;

	if (ab_exec_walk(call->arena, call->pid, name->dir, name->text, true, &found) < 0)
		return false;
	folder = !found.errnum && S_ISDIR(found.st.st_mode);
	if (ret_above && !found.errnum && found.parent >= 0)
		*ret_above = ab_exec_link(call->arena, "/proc/self/fd/%d", found.parent);
	ab_found_close(&found);
	return folder;
}

static void add_spot(const struct ab_git_spots *s, enum ab_spot kind, const char *path)
{
	if (ab_path_within_any(path, &s->survey->write))
		ab_spots_add(s->spots, kind, path);
}

/* The folder `path` that contains the name, or that one's, for a hook. */
static void note_folder(const struct ab_git_spots *s, const struct ab_held *call, const char *path,
			bool hook)
{
	if (path && hook)
		path = ab_arena_ndup(call->arena, path, (size_t)(ab_path_name(path) - path - 1));
	if (path)
		add_spot(s, AB_SPOT_FOLDER, path);
}

/* The folder will have this name. */
static void note_tree(const struct ab_git_spots *s, const struct ab_held *call,
		      const struct ab_call_name *name)
{
	size_t len;
	const char *last = ab_place_last(name->text, &len);
	const char *path = ab_call_find_folder(call, name, NULL, NULL);

	if (!path)
		return;
	path = ab_arena_cat(call->arena, path, "/");
	path = ab_arena_cat(call->arena, path, ab_arena_ndup(call->arena, last, len));
	add_spot(s, AB_SPOT_TREE, path);
}

static bool are_together(const struct ab_held *call, const struct ab_call_name *names)
{
	return names[0].dir == names[1].dir &&
	       strcmp(ab_place_above(call->arena, names[0].text),
		      ab_place_above(call->arena, names[1].text)) == 0;
}

void ab_git_spots_note(const struct ab_git_spots *s, const struct ab_held *call,
		       const struct ab_touch *touch, const struct ab_call_name *names)
{
	const char *path = names[0].place ? names[0].place : names[0].text, *above = NULL;
	size_t len;
	const char *name = ab_place_last(path, &len);
	bool part = is_part(name, len), hook = !part && is_hook(path, name);
	bool moves = touch->kind == AB_TOUCH_RENAME, folder;

	/* git replaces a file by one beside it: one look does for both. */
	folder = moves && is_folder(call, &names[1],
				    (part || hook) && are_together(call, names) ? &above : NULL);
	if (part || hook)
		note_folder(s, call,
			    above ? above : ab_call_find_folder(call, &names[0], NULL, NULL), hook);
	if (folder)
		note_tree(s, call, &names[0]);
	/* An exchange puts what was there in the other place. */
	if (moves && call->data->nr == __NR_renameat2 && (call->data->args[4] & RENAME_EXCHANGE) &&
	    is_folder(call, &names[0], NULL))
		note_tree(s, call, &names[1]);
}
