#include "guard/engine/peers.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "guard/notify/exec_resolve.h"
#include "guard/notify/guard_process.h"
#include "sandbox/fence/descendants.h"

enum { GENERATIONS = 4096 };

/* The argument that has the number. */
static const struct {
	int nr, arg;
} calls[] = {
	{ __NR_prlimit64, 0 },		{ __NR_sched_setaffinity, 0 }, { __NR_sched_setparam, 0 },
	{ __NR_sched_setscheduler, 0 }, { __NR_sched_setattr, 0 },     { __NR_setpriority, 1 },
	{ __NR_ioprio_set, 1 },
};

static int find_arg(int nr)
{
	for (size_t i = 0; i < AB_COUNT(calls); i++)
		if (calls[i].nr == nr)
			return calls[i].arg;
	return -1;
}

/* The parent of a process or thread; 0: it is gone. */
static pid_t find_parent(pid_t pid)
{
	char text[1024];
	struct ab_process p;

	return ab_exec_proc(pid, "stat", text, sizeof(text)) > 0 && ab_descendants_parse(text, &p)
		       ? p.parent
		       : 0;
}

static bool is_of_box(pid_t pid, pid_t init)
{
	for (int i = 0; i < GENERATIONS && pid > 1; i++) {
		pid = find_parent(pid);
		if (pid == init)
			return true;
	}
	return false;
}

/* Behind the guard's filter, and called through a pointer: scripts/check-calls looks for it. */
static struct ab_reply handle_peer(struct ab_guard *guard, void *state, const struct ab_held *call)
{
	int arg = find_arg(call->data->nr);
	pid_t pid;

	(void)guard;
	if (arg < 0)
		return ab_reply_next();
	pid = (pid_t)call->data->args[arg];
	if (find_parent(pid) == 0)
		return ab_reply_errno(ESRCH);
	return is_of_box(pid, *(const pid_t *)state) ? ab_reply_pass() : ab_reply_errno(EPERM);
}

struct ab_call_handler ab_peers_handler(const pid_t *init)
{
	return (struct ab_call_handler){ .setup = init, .handle = handle_peer };
}
