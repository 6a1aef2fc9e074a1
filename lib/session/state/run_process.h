#ifndef AB_SESSION_STATE_RUN_PROCESS_H
#define AB_SESSION_STATE_RUN_PROCESS_H
/*
 * Finding the processes of a run from another process of the same user.
 *
 * Whether a run is live is decided by its lock (session/state/state.h), which the
 * kernel releases with its last process, and never by a pid. Where a process
 * itself is needed, the start record has its pid and start time, and both must
 * match.
 */
#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_buf;

/* Its start time, in clock ticks since boot: together with the pid it means
 * one process for ever. 0: there is no such process. */
int64_t ab_run_process_started(pid_t pid);
/* For the start record: which process is the box's init. */
void ab_run_process_note(struct ab_buf *line, pid_t init);

/* Its folder in /proc, as the start record says; -1: it is not there. */
int ab_run_process_init(const json_t *start);
/* A text file in it; NULL: it is gone. Free it. */
char *ab_run_process_read(int process, const char *name);

/*
 * Handles to both ends of a run, the init and its parent, the supervisor: they
 * stay right even when the pids are used again. -1: the processes are not (or
 * no longer) those of the record.
 */
struct ab_ends {
	int init, supervisor; /* pidfds */
};
int ab_ends_open(const json_t *start, struct ab_ends *ret);
void ab_ends_fini(struct ab_ends *ends);

#endif
