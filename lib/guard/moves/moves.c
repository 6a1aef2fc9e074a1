/*
 * Theory of operation.
 *
 * A call is either answered at once, or has a worker, whose exit status is the answer. A request that
 * finds no free worker is left to the kernel.
 *
 * The worker enters the box's namespaces first. The kernel refuses to rename or remove a mount point
 * only in the caller's own mount namespace (is_local_mountpoint()); from any other one it detaches
 * what is mounted there, and the box would be rid of a mask.
 *
 * Mustn't: wait; send more than one answer; leave a process; rename or remove in our own namespace.
 */
#include "guard/moves/moves.h"

#include <sched.h>
#include <sys/wait.h>

#include "base/process/helper.h"
#include "guard/walls/rename_wire.h"
#include "guard/walls/inside.h"
#include "sandbox/mount/tree.h"
#include "sandbox/plan/plan.h"

enum {
	END_MS = 5000, /* to remove a copy that is not complete */
	PAUSE_NS = 2000000,
};

struct move {
	pid_t pid; /* 0: free */
	int pidfd, sock;
	uint64_t id;
	char path[1024];
};

struct ab_moves {
	const struct ab_plan *plan;
	pid_t init_pid;
	int init;
	struct move v[AB_MOVES_MAX];
	struct {
		uint64_t times;
		char first[1024];
	} failed[AB_MOVE_OTHERS + 1 - AB_MOVE_NOT];
};

struct ab_moves *ab_moves_new(const struct ab_plan *plan, pid_t pid, int init)
{
	struct ab_moves *m = ab_alloc(sizeof(*m));

	m->plan = plan;
	m->init_pid = pid;
	m->init = init;
	return m;
}

void ab_rename_answer(int sock, const struct ab_rename_answer *answer)
{
	if (ab_send_fds(sock, answer, sizeof(*answer), NULL, 0) < 0)
		shutdown(sock, SHUT_RDWR);
}

static bool is_name(const char *name, size_t room)
{
	return memchr(name, '\0', room) && name[0] && !strchr(name, '/') &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Are both folders in the same layer of the box? The guard reads what the box writes, so its word is
 * not enough. */
static bool are_in_layer(const struct ab_moves *m, const int *dirs)
{
	struct ab_inside in;
	struct stat a, b, root;
	bool found = false;

	if (fstat(dirs[0], &a) < 0 || fstat(dirs[1], &b) < 0 || !S_ISDIR(a.st_mode) ||
	    !S_ISDIR(b.st_mode) || a.st_dev != b.st_dev ||
	    ab_inside_open(&in, m->init_pid, m->init) < 0)
		return false;
	for (size_t i = 0; i < m->plan->len && !found; i++) {
		ab_autoclose int fd = -1;

		if (m->plan->v[i].op != AB_MOUNT_LAYER)
			continue;
		fd = ab_tree_lookup(in.root, m->plan->v[i].path);
		found = fd >= 0 && fstat(fd, &root) == 0 && root.st_dev == a.st_dev;
	}
	close(in.root);
	return found;
}

struct work {
	const struct ab_moves *moves;
	const struct ab_move_ask *ask;
	const int *dirs;
	pid_t parent;
};

static int serve_move(int sock, void *arg)
{
	const struct work *w = arg;

	(void)sock;
	umask(0);
	/* The new credentials forget the parent. Then it has the rights of the box's user, as the
	 * guard has them. */
	if (setns(w->moves->init, CLONE_NEWUSER | CLONE_NEWNS) < 0 || ab_drop_capabilities() < 0 ||
	    ab_end_with(w->parent, SIGTERM) < 0)
		return AB_MOVE_NOT;
	close(w->moves->init);
	return ab_move_folder(w->ask, w->dirs[0], w->dirs[1]);
}

static struct move *find_free(struct ab_moves *m)
{
	for (size_t i = 0; i < AB_MOVES_MAX; i++)
		if (!m->v[i].pid)
			return &m->v[i];
	return NULL;
}

static bool start_worker(struct ab_moves *m, const struct ab_move_ask *ask, const int *dirs,
			 int sock)
{
	struct move *move = find_free(m);
	struct work work = { .moves = m, .ask = ask, .dirs = dirs, .parent = getpid() };
	const int keep[] = { m->init, dirs[0], dirs[1] };
	const struct ab_helper_setup setup = {
		.name = "agentbox-move",
		.what = "the process that moves a folder",
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.signals = AB_HELPER_TERM,
		.end_signal = SIGTERM,
		.watch = true,
		.serve = serve_move,
		.arg = &work,
	};
	struct ab_helper helper;
	struct ab_error err;

	if (!move || ab_helper_start(&setup, &helper, &err) < 0)
		return false;
	*move = (struct move){
		.pid = helper.pid, .pidfd = helper.pidfd, .sock = sock, .id = ask->id
	};
	memcpy(move->path, ask->path, sizeof(move->path));
	return true;
}

void ab_moves_take(struct ab_moves *m, struct ab_move_ask *ask, const int *dirs, size_t ndirs,
		   int sock)
{
	ask->path[sizeof(ask->path) - 1] = '\0';
	if (ndirs != 2 || !is_name(ask->from, sizeof(ask->from)) ||
	    !is_name(ask->to, sizeof(ask->to)) || !are_in_layer(m, dirs) ||
	    !start_worker(m, ask, dirs, sock))
		ab_rename_answer(sock, &(struct ab_rename_answer){ ask->id, -1, "", "" });
}

size_t ab_moves_poll(const struct ab_moves *m, struct pollfd *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < AB_MOVES_MAX; i++)
		if (m->v[i].pid)
			ret[n++] = (struct pollfd){ .fd = m->v[i].pidfd, .events = POLLIN };
	return n;
}

static void conclude_move(struct ab_moves *m, struct move *move, int status)
{
	int result = WIFEXITED(status) ? WEXITSTATUS(status) : AB_MOVE_NOT;
	int errnum = result >= AB_MOVE_NOT ? -1 : result;

	if (result > AB_MOVE_NOT && result <= AB_MOVE_OTHERS &&
	    m->failed[result - AB_MOVE_NOT].times++ == 0)
		memcpy(m->failed[result - AB_MOVE_NOT].first, move->path, sizeof(move->path));
	ab_rename_answer(move->sock, &(struct ab_rename_answer){ move->id, errnum, "", "" });
	ab_closep(&move->pidfd);
	move->pid = 0;
}

void ab_moves_update(struct ab_moves *m)
{
	for (size_t i = 0; i < AB_MOVES_MAX; i++) {
		int status;

		if (m->v[i].pid && waitpid(m->v[i].pid, &status, WNOHANG) == m->v[i].pid)
			conclude_move(m, &m->v[i], status);
	}
}

static void signal_all(const struct ab_moves *m, int sig)
{
	for (size_t i = 0; i < AB_MOVES_MAX; i++)
		if (m->v[i].pid)
			kill(m->v[i].pid, sig);
}

void ab_moves_end(struct ab_moves *m)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int64_t until = ab_now_ms() + END_MS;
	struct pollfd fds[AB_MOVES_MAX];
	bool killed = false;

	signal_all(m, SIGTERM);
	while (ab_moves_poll(m, fds) > 0) {
		if (!killed && ab_now_ms() >= until) {
			signal_all(m, SIGKILL);
			killed = true;
		}
		nanosleep(&pause, NULL);
		ab_moves_update(m);
	}
}

void ab_moves_lines(const struct ab_moves *m, struct ab_strv *ret)
{
	static const char *const why[] = {
		[AB_MOVE_TOO_LARGE - AB_MOVE_NOT] =
			"is too large to be renamed in a layer, so rename() failed with EXDEV; use "
			"mv or cp, or run without a layer there",
		[AB_MOVE_NO_SPACE - AB_MOVE_NOT] =
			"could not be renamed in a layer, which needs room for a copy, so rename() "
			"failed with EXDEV; free some space, or run without a layer there",
		[AB_MOVE_OTHERS - AB_MOVE_NOT] =
			"could not be renamed in a layer, because a file or folder of it belongs to "
			"another user or group; change its owner, or run without a layer there",
	};

	for (size_t i = 0; i < AB_COUNT(why); i++) {
		ab_autofree char *path = ab_escape(m->failed[i].first);

		if (!why[i] || !m->failed[i].times)
			continue;
		if (m->failed[i].times == 1)
			ab_strv_addf(ret, "%s %s", path, why[i]);
		else
			ab_strv_addf(ret, "%s %s (and %llu more times)", path, why[i],
				     (unsigned long long)m->failed[i].times - 1);
	}
}
