#pragma once
/*
 * Memory and process limits for the whole box, with a cgroup of its own, if the machine has
 * delegated a part of the (version 2) tree to us: below a systemd user manager, or for root.
 * Otherwise rlimits apply.
 */
#include "base/base.h"

struct ab_cgroup {
	char *path;	     /* or NULL */
	bool memory;	     /* it enforces the memory limit */
	bool processes;	     /* it enforces the process limit */
	int lock;	     /* the folder, locked, or -1 */
	int procs, pids_max; /* open files, or -1 */
	int pids_events;     /* the same; some kernels do not have it */
	uint64_t pids;
	uint64_t refused; /* forks that the test of the limit had refused */
	bool was_full;
};

#define AB_CGROUP_NONE                                                     \
	{                                                                  \
		.lock = -1, .procs = -1, .pids_max = -1, .pids_events = -1 \
	}

/*
 * Create one for these limits (0: none). It is not an error if there is no place for it: then path
 * is NULL. Until ab_cgroup_release() it has room for init and the command's first process only, so
 * that the limit can be tested.
 */
int ab_cgroup_make(const char *id, uint64_t memory, uint64_t processes, struct ab_cgroup *ret,
		   struct ab_error *err);
/* Move the box's init into it; init must not have started anything yet. */
int ab_cgroup_enter(struct ab_cgroup *cg, pid_t init, struct ab_error *err);
/* The test is over: set the real limit. */
int ab_cgroup_release(struct ab_cgroup *cg, struct ab_error *err);
/* Look whether a process was refused since then: cg->was_full. Before the cgroup is removed. */
void ab_cgroup_look(struct ab_cgroup *cg);
/* Pure: how many were refused, by the text of pids.events; 0 if it does not say. */
uint64_t ab_cgroup_refused(const char *events);
void ab_cgroup_fini(struct ab_cgroup *cg);

/* Remove the empty cgroup of a run that has ended; -1 with errno: it is still there. Passes over any path
 * that agentbox does not use. */
int ab_cgroup_try_remove(const char *path, const char *id);
/* The same right after its last process has ended: waits a moment while the kernel still counts that. */
int ab_cgroup_remove(const char *path, const char *id);
/* Remove the empty ones next to it whose supervisors are dead: a supervisor that was killed before its
 * run had a record has left one that nothing names. */
void ab_cgroup_remove_left(const char *path);
