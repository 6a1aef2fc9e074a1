#include "session/writes/git_rename.h"

#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "sandbox/plan/plan.h"
#include "session/notify/exec_resolve.h"
#include "session/notify/judge_process.h"
#include "session/moves/move_wire.h"
#include "session/walls/git_wire.h"
#include "session/writes/folder_rename.h"
#include "session/writes/place.h"

enum { WAITING_MAX = 64 };

/* A call that the broker works on. */
struct waiting {
	uint64_t id; /* 0: free; the kernel's numbers are random */
	pid_t pid;
	struct seccomp_data data;
};

struct ab_git_renames {
	int fd;
	const struct ab_survey *survey;
	struct ab_folder_renames *folders; /* or NULL; they have the same socket */
	struct waiting v[WAITING_MAX];
	struct ab_arena arena;
	/* The last target that the mounts decide about, if it was an absolute path: a clone replaces
	 * its config ten times in a row, and each look takes 20 system calls. An outdated answer
	 * leaves it to the mounts, too. */
	char other[PATH_MAX];
};

static const char *get_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

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

/* The folder of the name, as the caller sees it. */
static bool find_folder(const struct ab_held *call, const struct ab_git_name *name,
			struct stat *ret, const char **ret_path)
{
	size_t n = (size_t)(get_last_name(name->text) - name->text);
	const char *folder = n ? ab_arena_ndup(call->arena, name->text, n) : ".";
	struct ab_found found;

	if (ab_exec_walk(call->arena, call->pid, name->dir, folder, false, &found) < 0)
		return false;
	*ret = found.st;
	*ret_path = found.errnum ? NULL : ab_found_path(call->arena, &found);
	ab_found_close(&found);
	return *ret_path && S_ISDIR(ret->st_mode);
}

/* Closed, or protected although it did not exist. */
static bool is_closed(const struct ab_git_renames *r, const struct ab_plan *plan,
		      struct ab_arena *arena, const char *dir, const char *name)
{
	const char *path = ab_arena_cat(arena, ab_arena_cat(arena, dir, "/"), name);
	const struct ab_mount *m = ab_plan_find(plan, path);

	return (m && m->op == AB_MOUNT_CLOSE && strcmp(m->path, path) == 0) ||
	       ab_place_is_protected(r->survey, path);
}

/* Does the broker have to replace it? Then also its folder. */
static bool is_ours(struct ab_git_renames *r, const struct ab_plan *plan,
		    const struct ab_held *call, const struct ab_git_name *to, struct stat *ret)
{
	const char *dir;

	if (to->text[0] == '/' && strcmp(r->other, to->text) == 0)
		return false;
	if (!find_folder(call, to, ret, &dir))
		return false;
	if (is_closed(r, plan, call->arena, dir, get_last_name(to->text)))
		return true;
	if (strlen(to->text) < sizeof(r->other))
		memcpy(r->other, to->text, strlen(to->text) + 1);
	return false;
}

static struct waiting *find_waiting(struct ab_git_renames *r, uint64_t id)
{
	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->v[i].id == id)
			return &r->v[i];
	return NULL;
}

bool ab_git_renames_ask(struct ab_git_renames *r, struct ab_judge *judge,
			const struct ab_held *call, const struct ab_git_name *from,
			const struct ab_git_name *to)
{
	const char *from_name = get_last_name(from->text), *to_name = get_last_name(to->text);
	const char *dir;
	struct ab_git_ask ask = { .id = call->id };
	struct stat st, to_st;
	struct waiting *w;

	/* The target first: most are in a repository that the run created. */
	if (!r || r->fd < 0 || !is_of_git(call, from_name, to_name) ||
	    !is_ours(r, ab_judge_terms(judge)->plan, call, to, &to_st) ||
	    !find_folder(call, from, &st, &dir) || st.st_dev != to_st.st_dev ||
	    st.st_ino != to_st.st_ino || !ab_judge_waits(judge, call->id))
		return false;
	w = find_waiting(r, 0);
	if (!w)
		return false;
	ask.dev = st.st_dev;
	ask.ino = st.st_ino;
	memcpy(ask.from, from_name, strlen(from_name));
	memcpy(ask.to, to_name, strlen(to_name));
	if (send(r->fd, &ask, sizeof(ask), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return false;
	*w = (struct waiting){ .id = call->id, .pid = call->pid, .data = *call->data };
	ab_judge_resume(judge, r->fd);
	return true;
}

static bool has_waiting(const struct ab_git_renames *r)
{
	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->v[i].id)
			return true;
	return ab_folder_renames_wait(r->folders);
}

static void report_refusal(struct ab_git_renames *r, struct ab_judge *judge,
			   const struct waiting *w, const struct ab_git_answer *a)
{
	struct ab_held call = { .id = w->id, .pid = w->pid, .data = &w->data, .arena = &r->arena };
	struct ab_denied denied;

	ab_arena_reset(&r->arena);
	ab_trace_protected(&r->arena, ab_judge_terms(judge), a->path, &denied);
	denied.reason = a->reason;
	ab_judge_report(judge, &call, &denied);
}

static void answer_call(struct ab_git_renames *r, struct ab_judge *judge,
			const struct ab_git_answer *a)
{
	struct waiting *w = a->id ? find_waiting(r, a->id) : NULL;
	struct ab_reply reply = { .kind = AB_REPLY_VALUE };

	if (!w)
		return;
	if (a->errnum > 0) {
		report_refusal(r, judge, w, a);
		reply = (struct ab_reply){ .kind = AB_REPLY_ERROR, .errnum = a->errnum };
	} else if (a->errnum < 0) {
		reply.kind = AB_REPLY_CONTINUE; /* the mount decides */
	}
	w->id = 0;
	ab_judge_reply(judge, a->id, &reply);
}

/* The broker is gone, and the run ends with it; until then the mounts decide. */
static void give_up(struct ab_git_renames *r, struct ab_judge *judge)
{
	const struct ab_reply proceed = { .kind = AB_REPLY_CONTINUE };

	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->v[i].id)
			ab_judge_reply(judge, r->v[i].id, &proceed);
	memset(r->v, 0, sizeof(r->v));
	ab_folder_renames_give_up(r->folders, judge);
	ab_judge_unwatch(judge, r->fd);
	r->fd = -1;
}

static void take_answer(struct ab_git_renames *r, struct ab_judge *judge)
{
	union {
		struct ab_git_answer git;
		struct ab_move_answer move;
	} a;
	ssize_t n = recv(r->fd, &a, sizeof(a), MSG_DONTWAIT);

	_Static_assert(sizeof(a.git) != sizeof(a.move), "the length tells them apart");

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(a.move)) {
		ab_folder_renames_answer(r->folders, judge, &a.move);
		return;
	}
	if (n != (ssize_t)sizeof(a.git)) {
		give_up(r, judge);
		return;
	}
	a.git.path[sizeof(a.git.path) - 1] = a.git.reason[sizeof(a.git.reason) - 1] = '\0';
	answer_call(r, judge, &a.git);
}

/* Behind the judge's filter, and called through a pointer: scripts/check-calls looks for it. */
static void git_answer_ready(struct ab_judge *judge, void *arg, short events)
{
	struct ab_git_renames *r = arg;

	(void)events;
	take_answer(r, judge);
	if (r->fd >= 0 && !has_waiting(r))
		ab_judge_pause(judge, r->fd);
}

struct ab_git_renames *ab_git_renames_open(struct ab_judge *judge, const struct ab_survey *survey,
					   struct ab_folder_renames *folders)
{
	struct ab_git_renames *r;
	int fd = ab_judge_broker(judge);

	if (fd < 0)
		return NULL;
	r = ab_alloc(sizeof(*r));
	r->fd = fd;
	r->survey = survey;
	r->folders = folders;
	if (ab_judge_watch(judge, fd, POLLIN, git_answer_ready, r) < 0)
		r->fd = -1;
	else
		ab_judge_pause(judge, fd); /* the broker sends answers only */
	return r;
}
