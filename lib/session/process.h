#ifndef AB_SESSION_PROCESS_H
#define AB_SESSION_PROCESS_H
/*
 * The processes of a run, found again by another process of the same user.
 *
 * That a run goes on is told by its lock (session/state.h), which the kernel
 * gives up with its last process: no pid is asked about for that. Where a
 * process itself is meant, the start record has its pid and the time when it
 * started, and both must be right.
 */
#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_buf;

/* When it was started, in ticks since the machine was: with that a pid means
 * one process for ever. 0: it is not there. */
int64_t ab_process_started(pid_t pid);
/* For the start record: which process is the box's init. */
void ab_process_note(struct ab_buf *line, pid_t init);

/* Its folder in /proc, as the start record says; -1: it is not there. */
int ab_process_init(const json_t *start);
/* A text file in it; NULL: it is gone. Free it. */
char *ab_process_read(int process, const char *name);

/*
 * Both ends of a run, held so that whatever becomes of their pids nobody else
 * is meant: the init, and its parent, the supervisor. 0, or -1: they are not
 * (any more) who the record says.
 */
struct ab_ends {
	int init, supervisor;	/* pidfds */
};
int ab_ends_open(const json_t *start, struct ab_ends *ret);
void ab_ends_fini(struct ab_ends *ends);

#endif
