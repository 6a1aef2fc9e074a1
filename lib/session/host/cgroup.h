#ifndef AB_SESSION_HOST_CGROUP_H
#define AB_SESSION_HOST_CGROUP_H
/*
 * Memory and process limits for the box as a whole, by a cgroup of its own,
 * where the machine has delegated some of the (version 2) tree to us: below a
 * systemd user manager, or for root. Where it has not, rlimits must do.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_error;

struct ab_cgroup {
	char *path;	     /* NULL: there is none */
	bool memory;	     /* it holds the memory limit */
	bool processes;	     /* it holds the process limit */
	int procs, pids_max; /* files that stay open, or -1 */
	uint64_t pids;
};

/*
 * Make one for these limits (0: none). Finding no place for it is not an
 * error: path is NULL then. Until ab_cgroup_release() it has room for init
 * and the command's first process only, so that the proof can try.
 */
int ab_cgroup_make(const char *id, uint64_t memory, uint64_t processes, struct ab_cgroup *ret,
		   struct ab_error *err);
/* Put the box's init into it; it must not have started anything yet. */
int ab_cgroup_enter(struct ab_cgroup *cg, pid_t init, struct ab_error *err);
/* The proof is over: the limit that was asked for. */
int ab_cgroup_release(struct ab_cgroup *cg, struct ab_error *err);
void ab_cgroup_fini(struct ab_cgroup *cg);

/* Remove the empty cgroup of a run that has ended. Refuses any path that is
 * not one of ours. */
void ab_cgroup_remove(const char *path, const char *id);

#endif
