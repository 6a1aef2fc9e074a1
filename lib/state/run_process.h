#pragma once
/*
 * Finds the processes of a run from another process of the same user.
 *
 * The lock of a run (state/state.h), which the kernel releases with its last process,
 * decides whether it is active, never a pid. If a process itself is needed, the start record has
 * its pid and start time, and both must match.
 */
#include <jansson.h>

#include "base/base.h"

/* Its start time, in clock ticks since boot: together with the pid it identifies one process for
 * ever. 0: there is no such process. */
int64_t ab_run_process_started(pid_t pid);
/* Add the box's init to the start record. */
void ab_run_process_note(struct ab_buf *line, pid_t init);

/* Open init's folder in /proc, from the start record; -1: it is gone. */
int ab_run_process_init(const json_t *start);
/* Read a text file in it; NULL: it is gone. Free it. */
char *ab_run_process_read(int process, const char *name);

/* Handles to the init of a run and its parent, the supervisor: they stay valid even if the pids are
 * reused. -1: the processes are not (or no longer) those of the record. */
struct ab_ends {
	int init, supervisor; /* pidfds */
};
int ab_ends_open(const json_t *start, struct ab_ends *ret);
void ab_ends_fini(struct ab_ends *ends);
