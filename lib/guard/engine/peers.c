#include "guard/engine/peers.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

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

static bool takes_peer(int nr)
{
	return find_arg(nr) >= 0;
}

static void *open_peers(struct ab_guard *guard, const void *setup)
{
	pid_t *init = ab_alloc(sizeof(*init));

	(void)guard;
	*init = *(const pid_t *)setup;
	return init;
}

/* The parent of a process or thread; 0: it is gone. */
static pid_t find_parent(pid_t pid)
{
	char path[32], text[1024];
	ab_autoclose int fd = -1;
	struct ab_process p;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return ab_descendants_parse(text, &p) ? p.parent : 0;
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
	pid_t pid = (pid_t)call->data->args[find_arg(call->data->nr)];
	struct ab_reply reply = { .kind = AB_REPLY_ERROR, .errnum = EPERM };

	(void)guard;
	if (find_parent(pid) == 0)
		reply.errnum = ESRCH;
	else if (is_of_box(pid, *(const pid_t *)state))
		reply = (struct ab_reply){ .kind = AB_REPLY_CONTINUE };
	return reply;
}

struct ab_call_handler ab_peers_handler(const pid_t *init)
{
	return (struct ab_call_handler){
		.open = open_peers, .setup = init, .takes = takes_peer, .handle = handle_peer
	};
}
