/*
 * Theory of operation.
 *
 * The common case is cheap: one read of the caller's memory, for a relative name one link of /proc,
 * then text comparisons. If the text says that the place is open and the name is not protected, the
 * call continues. Otherwise the names are looked up as the caller sees them: that decides.
 */
#include "session/writes/writes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/arena.h"
#include "session/notify/exec_read.h"
#include "session/notify/exec_resolve.h"
#include "session/notify/trace.h"
#include "session/writes/place.h"

/* A name in a call. */
struct name {
	int dir; /* of the caller, or AT_FDCWD */
	const char *text;
	const char *place; /* by its text, or NULL */
	bool created;	   /* if it does not exist */
};

static const struct ab_reply proceed = { .kind = AB_REPLY_CONTINUE };

static void *open_writes(struct ab_judge *judge, const void *setup)
{
	(void)judge;
	return (void *)(uintptr_t)setup;
}

static bool takes_name(int nr)
{
	return ab_touch_find(nr) != NULL;
}

/* False: the kernel will not be able to read it either, or the caller is gone. */
static bool read_name(const struct ab_held *call, int dir, int path, struct name *ret)
{
	const char *folder = NULL;

	ret->dir = dir < 0 ? AT_FDCWD : (int)call->data->args[dir];
	if (ab_exec_path(call->arena, call->pid, call->data->args[path], &ret->text))
		return false;
	if (ret->text[0] != '/')
		folder = ret->dir == AT_FDCWD
				 ? ab_exec_link(call->arena, "/proc/%d/cwd", call->pid)
				 : ab_exec_link(call->arena, "/proc/%d/fd/%d", call->pid, ret->dir);
	ret->place = ab_place_clean(call->arena, folder, ret->text);
	return true;
}

/* The flags of an open; false: they cannot be read. */
static bool read_open_flags(const struct ab_held *call, const struct ab_touch *t, int *ret)
{
	uint64_t flags; /* the first member of struct open_how */

	if (t->kind == AB_TOUCH_CREAT) {
		*ret = O_CREAT | O_WRONLY | O_TRUNC;
	} else if (t->kind == AB_TOUCH_OPEN) {
		*ret = (int)call->data->args[t->flags];
	} else {
		if (ab_exec_bytes(call->pid, call->data->args[t->flags], &flags, sizeof(flags)))
			return false;
		*ret = (int)flags;
	}
	return true;
}

/* How many names does the call take? 0: none that is written. */
static size_t read_names(const struct ab_held *call, const struct ab_touch *t, struct name ret[2])
{
	size_t n = 0;
	int flags;

	switch (t->kind) {
	case AB_TOUCH_OPEN:
	case AB_TOUCH_OPEN2:
	case AB_TOUCH_CREAT:
		if (!read_open_flags(call, t, &flags) ||
		    !(flags & (O_ACCMODE | O_CREAT | O_TRUNC)) || (flags & O_PATH))
			return 0;
		ret[0].created = flags & O_CREAT;
		break;
	case AB_TOUCH_MAKE:
		ret[0].created = true;
		break;
	case AB_TOUCH_RENAME:
		if (!read_name(call, t->to_dir, t->to_path, &ret[n]))
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
	return read_name(call, t->dir, t->path, &ret[n]) ? n + 1 : 0;
}

/* Resolve it: would the call create a protected name? What exists passes. */
static const char *find_created(const struct ab_held *call, const struct ab_survey *survey,
				const struct name *name)
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

static struct ab_reply refuse_name(struct ab_judge *judge, const struct ab_held *call,
				   const char *path)
{
	struct ab_denied denied;

	ab_trace_protected(call->arena, ab_judge_terms(judge), path, &denied);
	ab_judge_report(judge, call, &denied);
	return (struct ab_reply){ .kind = AB_REPLY_ERROR, .errnum = EACCES };
}

static struct ab_reply handle_name(struct ab_judge *judge, void *state, const struct ab_held *call)
{
	const struct ab_trace_terms *terms = ab_judge_terms(judge);
	const struct ab_survey *survey = state;
	struct name names[2] = { 0 };
	size_t n = read_names(call, ab_touch_find(call->data->nr), names);
	bool open = n > 0 && !terms->all;
	struct ab_denied denied;

	for (size_t i = 0; i < n; i++) {
		const char *place = names[i].place, *path;

		open = open && place && ab_place_is_open(terms->plan, place);
		if (!names[i].created || (place && open && !ab_place_is_protected(survey, place)))
			continue;
		path = find_created(call, survey, &names[i]);
		if (path)
			return refuse_name(judge, call, path);
	}
	if (!open && (n > 0 || terms->all) &&
	    ab_trace_look(call->arena, terms, call->pid, call->data, &denied))
		ab_judge_report(judge, call, &denied);
	return proceed;
}

struct ab_call_handler ab_writes_handler(const struct ab_survey *survey)
{
	return (struct ab_call_handler){
		.open = open_writes, .setup = survey, .takes = takes_name, .handle = handle_name
	};
}
