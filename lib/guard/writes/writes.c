/*
 * Theory of operation.
 *
 * The common case is cheap: one read of the caller's memory, for a relative name of another caller
 * one link of /proc, then text comparisons. If the text says that the place is open and the name is
 * not protected, the call continues. Otherwise the names are looked up as the caller sees them: that
 * decides.
 *
 * Between two calls the box's programs use the caches of the processor, so each text that is compared
 * costs more than the comparison. Programs that create many files create them side by side: folders
 * in which nothing is denied are remembered, and a name in one of them needs a single comparison.
 */
#include "guard/writes/writes.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "guard/notify/exec_resolve.h"
#include "guard/writes/folder_rename.h"
#include "guard/writes/git_rename.h"
#include "guard/writes/git_spots.h"
#include "guard/writes/held_renames.h"
#include "guard/writes/place.h"

enum { KNOWN_FOLDERS = 4 };

/* What the plan and the survey say about a folder; they do not change. */
struct known_folder {
	size_t len; /* 0: none */
	bool free;  /* everything in it is open, and nothing is protected */
	char path[PATH_MAX];
};

struct writes {
	const struct ab_survey *survey;
	bool chroots; /* a process may have another root */
	/* The current folder of the last caller, until it may change. It only tells which names need
	 * no look: whatever is refused or reported was looked up anew. */
	pid_t pid; /* 0: none */
	char cwd[PATH_MAX];
	struct known_folder known[KNOWN_FOLDERS];
	size_t oldest;
	struct ab_git_renames git;
	struct ab_folder_renames *folders;
	struct ab_git_spots spots;
};

static void *open_writes(struct ab_guard *guard, const void *setup)
{
	struct writes *w = ab_alloc(sizeof(*w));
	struct ab_held_renames *held = ab_held_renames_open(guard);

	w->survey = setup;
	w->spots = (struct ab_git_spots){ .spots = ab_guard_duty(guard)->spots, .survey = setup };
	w->chroots = ab_guard_terms(guard)->userns;
	w->folders = ab_folder_renames_open(guard, held);
	/* Without mounts nothing is in the way of a rename. */
	w->git.held = ab_guard_terms(guard)->no_mounts ? NULL : held;
	w->git.survey = setup;
	return w;
}

static const char *find_folder(struct writes *w, const struct ab_held *call, int dir)
{
	const char *path;

	if (dir != AT_FDCWD)
		return ab_exec_link(call->arena, "/proc/%d/fd/%d", call->pid, dir);
	if (w->pid == call->pid)
		return w->cwd;
	path = ab_exec_link(call->arena, "/proc/%d/cwd", call->pid);
	if (path && strlen(path) < sizeof(w->cwd)) {
		memcpy(w->cwd, path, strlen(path) + 1);
		w->pid = call->pid;
	}
	return path;
}

static bool has_other_root(const struct writes *w, const struct ab_held *call)
{
	const char *root = w->chroots ? ab_exec_link(call->arena, "/proc/%d/root", call->pid) : "/";

	return !root || strcmp(root, "/") != 0;
}

/* False: the kernel will not be able to read it either, or the caller is gone. */
static bool read_name(struct writes *w, const struct ab_held *call, int dir, int path,
		      struct ab_call_name *ret)
{
	const char *folder = NULL;

	ret->dir = dir < 0 ? AT_FDCWD : (int)call->data->args[dir];
	if (ab_exec_path(call->arena, call->pid, call->data->args[path], &ret->text))
		return false;
	if (ret->text[0] != '/')
		folder = find_folder(w, call, ret->dir);
	if (ret->text[0] != '/' || !has_other_root(w, call))
		ret->place = ab_place_clean(call->arena, folder, ret->text);
	return true;
}

/* Not a read, and not a file without a name: these vanish with their descriptor, and programs use
 * them to find out whether they may write. */
static bool opens_for_writing(int flags)
{
	return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) && !(flags & O_PATH) &&
	       (flags & O_TMPFILE) != O_TMPFILE;
}

/* How many names does the call take? 0: none that is written. */
static size_t read_names(struct writes *w, const struct ab_held *call, const struct ab_touch *t,
			 struct ab_call_name ret[2])
{
	size_t n = 0;
	bool plain;
	int flags;

	switch (t->kind) {
	case AB_TOUCH_OPEN:
		if (!ab_touch_flags(t, call->pid, call->data, &flags, &plain) ||
		    !opens_for_writing(flags))
			return 0;
		ret[0].created = flags & O_CREAT;
		break;
	case AB_TOUCH_MAKE:
		ret[0].created = true;
		break;
	case AB_TOUCH_RENAME:
		if (!read_name(w, call, t->to_dir, t->to_path, &ret[n]))
			return 0;
		ret[n++].created = true;
		break;
	case AB_TOUCH_REMOVE:
	case AB_TOUCH_CHANGE:
		break;
	case AB_TOUCH_CONNECT:
	case AB_TOUCH_BIND:
		return 0;
	}
	return read_name(w, call, t->dir, t->path, &ret[n]) ? n + 1 : 0;
}

/* Resolve it: would the call create a protected name? What exists passes. */
static const char *find_created(const struct ab_held *call, const struct ab_survey *survey,
				const struct ab_call_name *name)
{
	const char *path = NULL;
	struct ab_found found;

	if (!name->text[0] ||
	    ab_exec_walk(call->arena, call->pid, name->dir, name->text, true, &found) < 0)
		return NULL;
	if (found.errnum == ENOENT && S_ISDIR(found.st.st_mode) && !strchr(found.rest, '/'))
		path = ab_found_path(call->arena, &found);
	ab_found_close(&found);
	return path && ab_place_is_protected(survey, path) ? path : NULL;
}

static struct ab_reply refuse_name(struct ab_guard *guard, const struct ab_held *call,
				   const char *path)
{
	struct ab_denied denied;

	ab_trace_protected(call->arena, ab_guard_terms(guard), path, &denied);
	ab_guard_report(guard, call, &denied);
	return ab_reply_errno(EACCES);
}

static const struct known_folder *find_known(const struct writes *w, const char *place)
{
	for (size_t i = 0; i < KNOWN_FOLDERS; i++) {
		const struct known_folder *k = &w->known[i];

		if (k->len && strncmp(place, k->path, k->len) == 0 && place[k->len] == '/')
			return k;
	}
	return NULL;
}

/* The place is open and not protected: is everything around it? */
static void remember_folder(struct writes *w, const struct ab_plan *plan, const char *place)
{
	struct known_folder *k = &w->known[w->oldest];
	bool same;
	size_t len = ab_place_find_folder(plan, w->survey, place, &same);

	if (!len)
		return;
	k->len = len;
	k->free = same;
	memcpy(k->path, place, len);
	w->oldest = (w->oldest + 1) % KNOWN_FOLDERS;
}

/* By its text: can the name be written to, and created? */
static bool is_free(struct writes *w, const struct ab_plan *plan, const char *place)
{
	const struct known_folder *k = find_known(w, place);

	if (k && k->free)
		return true;
	if (!ab_place_is_open(plan, place) || ab_place_is_protected(w->survey, place))
		return false;
	if (!k)
		remember_folder(w, plan, place);
	return true;
}

static struct ab_reply handle_name(struct ab_guard *guard, struct writes *w,
				   const struct ab_touch *t, const struct ab_held *call)
{
	const struct ab_trace_terms *terms = ab_guard_terms(guard);
	struct ab_call_name names[2] = { 0 };
	size_t n = read_names(w, call, t, names);
	/* Where no mount closes anything, a link on the way must not be overlooked. */
	bool open = n > 0 && !terms->all && !terms->no_mounts;
	struct ab_denied denied;

	/* A rename that the kernel cannot do, of names[1] to names[0]. */
	if (t->kind == AB_TOUCH_RENAME && n == 2 &&
	    (ab_git_renames_ask(&w->git, guard, call, &names[1], &names[0]) ||
	     ab_folder_renames_ask(w->folders, guard, call, &names[1], &names[0])))
		return (struct ab_reply){ .kind = AB_REPLY_LATER };
	if (n > 0 && w->spots.spots)
		ab_git_spots_note(&w->spots, call, t, names);
	for (size_t i = 0; i < n; i++) {
		const char *place = names[i].place, *path;

		if (open && place && is_free(w, terms->plan, place))
			continue;
		open = open && place && ab_place_is_open(terms->plan, place);
		if (!names[i].created)
			continue;
		path = find_created(call, w->survey, &names[i]);
		if (path)
			return refuse_name(guard, call, path);
	}
	if (open || !(n > 0 || terms->all) ||
	    !ab_trace_look(call->arena, terms, call->pid, call->data, &denied))
		return ab_reply_pass();
	ab_guard_report(guard, call, &denied);
	/* Where no mount closes a protected file, the refusal is ours. A thread that exchanges the name
	 * after this look gets round it: the guarantee is not claimed. */
	return terms->no_mounts ? ab_reply_errno(EACCES) : ab_reply_pass();
}

/* Behind the guard's filter, and called through a pointer: scripts/check-calls looks for it. */
static struct ab_reply handle_call(struct ab_guard *guard, void *state, const struct ab_held *call)
{
	const struct ab_touch *t = ab_touch_find(call->data->nr);
	struct writes *w = state;

	if (!t && call->data->nr != __NR_chdir && call->data->nr != __NR_fchdir)
		return ab_reply_next();
	if (!t || t->kind == AB_TOUCH_RENAME || ab_guard_terms(guard)->all)
		w->pid = 0;
	return t ? handle_name(guard, w, t, call) : ab_reply_pass();
}

struct ab_call_handler ab_writes_handler(const struct ab_survey *survey)
{
	return (struct ab_call_handler){ .open = open_writes,
					 .setup = survey,
					 .handle = handle_call };
}
