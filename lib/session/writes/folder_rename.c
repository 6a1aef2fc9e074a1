#include "session/writes/folder_rename.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/data/arena.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "sandbox/plan/plan.h"
#include "session/moves/move_wire.h"
#include "session/notify/exec_resolve.h"
#include "session/notify/judge_process.h"
#include "session/writes/git_rename.h"

enum { WAITING_MAX = 16 };

struct ab_folder_renames {
	int fd;
	long filters;		   /* of a process that has not restricted itself */
	uint64_t ids[WAITING_MAX]; /* of calls that the broker works on; 0: free */
};

/* How many filters the process has; -1: unknown. */
static long count_filters(const char *status_path)
{
	ab_autoclose int fd = open(status_path, O_RDONLY | O_CLOEXEC);
	static const char word[] = "\nSeccomp_filters:";
	char text[4096];
	const char *at;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	at = strstr(text, word);
	return at ? strtol(at + sizeof(word) - 1, NULL, 10) : -1;
}

static bool has_layer(const struct ab_plan *plan)
{
	for (size_t i = 0; i < plan->len; i++)
		if (plan->v[i].op == AB_MOUNT_LAYER)
			return true;
	return false;
}

struct ab_folder_renames *ab_folder_renames_open(struct ab_judge *judge)
{
	const struct ab_trace_terms *terms = ab_judge_terms(judge);
	struct ab_folder_renames *r;
	int fd = ab_judge_broker(judge);
	long ours = count_filters("/proc/self/status");

	if (fd < 0 || ours < 0 || !has_layer(terms->plan))
		return NULL;
	r = ab_alloc(sizeof(*r));
	r->fd = fd;
	r->filters = ours + terms->filters;
	return r;
}

static bool is_restricted(const struct ab_folder_renames *r, pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return count_filters(path) != r->filters;
}

static bool is_in_layer(const struct ab_plan *plan, const char *path)
{
	const struct ab_mount *m = path ? ab_plan_find(plan, path) : NULL;

	return m && m->op == AB_MOUNT_LAYER;
}

/* The folder and the last name of a path, without the slashes at its end. False: it has none. */
static bool split_name(struct ab_arena *arena, const char *text, const char **ret_folder,
		       const char **ret_name)
{
	size_t len = strlen(text), at;

	while (len && text[len - 1] == '/')
		len--;
	for (at = len; at && text[at - 1] != '/'; at--)
		;
	if (len - at > NAME_MAX || len == at)
		return false;
	*ret_folder = at ? ab_arena_ndup(arena, text, at) : ".";
	*ret_name = ab_arena_ndup(arena, text + at, len - at);
	return strcmp(*ret_name, ".") != 0 && strcmp(*ret_name, "..") != 0;
}

/* The folder that contains the name, as the caller sees it: in a layer. -1: not so. */
static int find_parent(const struct ab_held *call, const struct ab_plan *plan,
		       const struct ab_git_name *name, const char **ret_path, const char **ret_name)
{
	const char *folder;
	struct ab_found found;
	int fd = -1;

	if (!split_name(call->arena, name->text, &folder, ret_name) ||
	    ab_exec_walk(call->arena, call->pid, name->dir, folder, false, &found) < 0)
		return -1;
	*ret_path = found.errnum ? NULL : ab_found_path(call->arena, &found);
	if (is_in_layer(plan, *ret_path) && S_ISDIR(found.st.st_mode))
		fd = ab_take_fd(&found.fd);
	ab_found_close(&found);
	return fd;
}

static bool is_folder(int parent, const char *name)
{
	struct stat st;

	return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool has_room(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	return poll(&room, 1, 0) > 0;
}

static uint64_t *find_id(struct ab_folder_renames *r, uint64_t id)
{
	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->ids[i] == id)
			return &r->ids[i];
	return NULL;
}

static bool send_ask(struct ab_folder_renames *r, const struct ab_held *call, const char *from,
		     const char *to, const char *folder, const int dirs[2])
{
	uint64_t *free_id = find_id(r, 0);
	struct ab_move_ask ask = { .id = call->id };

	ask.noreplace = call->data->nr == __NR_renameat2 && (uint32_t)call->data->args[4] != 0;
	memcpy(ask.from, from, strlen(from));
	memcpy(ask.to, to, strlen(to));
	snprintf(ask.path, sizeof(ask.path), "%s/%s", folder, from);
	if (!free_id || !has_room(r->fd) || ab_send_fds(r->fd, &ask, sizeof(ask), dirs, 2) < 0)
		return false;
	*free_id = call->id;
	return true;
}

bool ab_folder_renames_ask(struct ab_folder_renames *r, struct ab_judge *judge,
			   const struct ab_held *call, const struct ab_git_name *from,
			   const char *place, const struct ab_git_name *to)
{
	const struct ab_plan *plan = ab_judge_terms(judge)->plan;
	const char *from_path, *from_name, *to_path, *to_name;
	ab_autoclose int parent = -1, target = -1;

	if (!r || r->fd < 0 || (place && !is_in_layer(plan, place)))
		return false;
	if (call->data->nr == __NR_renameat2 &&
	    ((uint32_t)call->data->args[4] & ~(uint32_t)RENAME_NOREPLACE))
		return false;
	parent = find_parent(call, plan, from, &from_path, &from_name);
	if (parent < 0 || !is_folder(parent, from_name) || is_restricted(r, call->pid))
		return false;
	target = find_parent(call, plan, to, &to_path, &to_name);
	if (target < 0 || !ab_judge_waits(judge, call->id) ||
	    !send_ask(r, call, from_name, to_name, from_path, (const int[]){ parent, target }))
		return false;
	ab_judge_resume(judge, r->fd);
	return true;
}

bool ab_folder_renames_wait(const struct ab_folder_renames *r)
{
	for (size_t i = 0; r && i < WAITING_MAX; i++)
		if (r->ids[i])
			return true;
	return false;
}

void ab_folder_renames_answer(struct ab_folder_renames *r, struct ab_judge *judge,
			      const struct ab_move_answer *a)
{
	uint64_t *id = r && a->id ? find_id(r, a->id) : NULL;
	struct ab_reply reply = { .kind = AB_REPLY_VALUE };

	if (!id)
		return;
	if (a->errnum > 0)
		reply = (struct ab_reply){ .kind = AB_REPLY_ERROR, .errnum = a->errnum };
	else if (a->errnum < 0)
		reply.kind = AB_REPLY_CONTINUE;
	*id = 0;
	ab_judge_reply(judge, a->id, &reply);
}

void ab_folder_renames_give_up(struct ab_folder_renames *r, struct ab_judge *judge)
{
	const struct ab_reply proceed = { .kind = AB_REPLY_CONTINUE };

	if (!r)
		return;
	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->ids[i])
			ab_judge_reply(judge, r->ids[i], &proceed);
	memset(r->ids, 0, sizeof(r->ids));
	r->fd = -1;
}
