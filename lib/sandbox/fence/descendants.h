#ifndef AB_SANDBOX_FENCE_DESCENDANTS_H
#define AB_SANDBOX_FENCE_DESCENDANTS_H
/*
 * The processes of a box without a pid namespace: those that descend from its init.
 *
 * Init is a subreaper, so a process whose parent ends becomes its child and stays a descendant.
 * Nothing but the number of processes limits how long the end takes: each round kills all that it
 * sees, a killed process forks no more, and what was forked meanwhile is seen by the next round.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_process {
	pid_t pid, parent;
	uint32_t threads;
	int ours; /* set by ab_descendants_mark() */
};

/* Pure: "12 (name) S 11 ...", a line of /proc/PID/stat. False: it is none. */
int ab_descendants_parse(const char *stat, struct ab_process *ret);
/* Pure: which of these, in order of their numbers, descend from `root`? Returns how many. */
size_t ab_descendants_mark(struct ab_process *v, size_t len, pid_t root);

/* From now on orphans among the descendants become children of this process. 0 or -errno. */
int ab_descendants_adopt(void);
/* How many threads the descendants have; stops counting above `enough`. */
uint64_t ab_descendants_count(uint64_t enough);
/* Kill them all, and return when none is left. */
void ab_descendants_end(void);

#endif
