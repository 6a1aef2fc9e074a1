#include "guard/writes/held_renames.h"

#include <linux/seccomp.h>

#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "guard/walls/rename_wire.h"
#include "guard/writes/place.h"

enum { WAITING_MAX = 64 };

/* A call that the broker works on. */
struct waiting {
	uint64_t id; /* 0: free; the kernel's numbers are random */
	pid_t pid;
	struct seccomp_data data;
};

struct ab_held_renames {
	struct ab_guard *guard;
	int fd; /* -1: the broker is gone */
	struct waiting v[WAITING_MAX];
	size_t nwaiting;
	struct ab_arena arena;
};

const char *ab_call_find_folder(const struct ab_held *call, const struct ab_call_name *name,
				struct stat *ret_st, int *ret_fd)
{
	const char *above = ab_place_above(call->arena, name->text), *path = NULL;
	struct ab_found found;

	if (ab_exec_walk(call->arena, call->pid, name->dir, above, false, &found) < 0)
		return NULL;
	if (!found.errnum && S_ISDIR(found.st.st_mode))
		path = ab_found_path(call->arena, &found);
	if (path && ret_st)
		*ret_st = found.st;
	if (path && ret_fd)
		*ret_fd = ab_take_fd(&found.fd);
	ab_found_close(&found);
	return path;
}

static struct waiting *find_waiting(struct ab_held_renames *r, uint64_t id)
{
	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->v[i].id == id)
			return &r->v[i];
	return NULL;
}

bool ab_held_renames_ask(struct ab_held_renames *r, const struct ab_held *call, const void *ask,
			 size_t len, const int *fds, size_t nfds)
{
	struct waiting *w = find_waiting(r, 0);

	if (r->fd < 0 || !w || ab_poll(r->fd, POLLOUT, 0) <= 0 ||
	    !ab_guard_waits(r->guard, call->id) || ab_send_fds(r->fd, ask, len, fds, nfds) < 0)
		return false;
	r->nwaiting++;
	*w = (struct waiting){ .id = call->id, .pid = call->pid, .data = *call->data };
	ab_guard_resume(r->guard, r->fd);
	return true;
}

static void report_refusal(struct ab_held_renames *r, const struct waiting *w,
			   const struct ab_rename_answer *a)
{
	struct ab_held call = { .id = w->id, .pid = w->pid, .data = &w->data, .arena = &r->arena };
	struct ab_denied denied;

	ab_arena_reset(&r->arena);
	ab_trace_protected(&r->arena, ab_guard_terms(r->guard), a->path, &denied);
	denied.reason = a->reason;
	ab_guard_report(r->guard, &call, &denied);
}

static void answer_call(struct ab_held_renames *r, const struct ab_rename_answer *a)
{
	struct waiting *w = a->id ? find_waiting(r, a->id) : NULL;
	struct ab_reply reply = a->errnum < 0 ? ab_reply_pass() : ab_reply_errno(a->errnum);

	if (!w)
		return;
	if (a->errnum > 0 && a->path[0])
		report_refusal(r, w, a);
	w->id = 0;
	r->nwaiting--;
	ab_guard_reply(r->guard, a->id, &reply);
}

/* The broker is gone, and the run ends with it; until then the mounts decide. */
static void give_up(struct ab_held_renames *r)
{
	const struct ab_reply proceed = ab_reply_pass();

	for (size_t i = 0; i < WAITING_MAX; i++)
		if (r->v[i].id)
			ab_guard_reply(r->guard, r->v[i].id, &proceed);
	memset(r->v, 0, sizeof(r->v));
	r->nwaiting = 0;
	ab_guard_unwatch(r->guard, r->fd);
	r->fd = -1;
}

/* Behind the guard's filter, and called through a pointer: scripts/check-calls looks for it. */
static void git_answer_ready(struct ab_guard *guard, void *arg, short events)
{
	struct ab_held_renames *r = arg;
	struct ab_rename_answer a;
	ssize_t n = recv(r->fd, &a, sizeof(a), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != (ssize_t)sizeof(a)) {
		give_up(r);
		return;
	}
	a.path[sizeof(a.path) - 1] = a.reason[sizeof(a.reason) - 1] = '\0';
	answer_call(r, &a);
	if (!r->nwaiting)
		ab_guard_pause(guard, r->fd);
}

struct ab_held_renames *ab_held_renames_open(struct ab_guard *guard)
{
	struct ab_held_renames *r;
	int fd = ab_guard_broker(guard);

	if (fd < 0)
		return NULL;
	r = ab_alloc(sizeof(*r));
	r->guard = guard;
	r->fd = fd;
	if (ab_guard_watch(guard, fd, POLLIN, git_answer_ready, r) < 0)
		r->fd = -1;
	ab_guard_pause(guard, fd); /* the broker sends answers only */
	return r;
}
