#pragma once
/*
 * The processes of a box without a pid namespace: those that descend from its init.
 *
 * Init is a subreaper, so a process whose parent ends becomes its child and stays a descendant.
 *
 * Init ends them with one signal to everyone, which a Landlock domain of its own confines to them:
 * the kernel lets no fork slip by. The box is in a domain below that one, so it cannot signal init.
 * Where Landlock has no scopes, init kills in rounds: each kills all that it sees, a killed process
 * forks no more, and what was forked meanwhile is seen by the next round. A large fork bomb can
 * make that take long.
 */
#include "base/base.h"

struct ab_process {
	pid_t pid, parent;
	uint32_t threads;
	int ours; /* set by ab_descendants_mark() */
};

/* Pure: "12 (name) S 11 ...", a line of /proc/PID/stat. False: it is none. */
int ab_descendants_parse(const char *stat, struct ab_process *ret);
/* Pure: which of these, in order of their numbers, descend from `root`? Returns how many. */
size_t ab_descendants_mark(struct ab_process *v, size_t len, pid_t root);

/* The processes of a /proc. */
struct ab_processes {
	struct ab_process *v;
	size_t len, room;
};

/* One of them, by its name in the open /proc, also "self". False: it has ended. */
bool ab_process_read(int proc, const char *name, struct ab_process *ret);
/* List them, sorted, as long as they have less than `enough` threads. Returns how many these are. */
uint64_t ab_processes_list(int proc, uint64_t enough, struct ab_processes *ret);

/* How many threads the descendants have; stops counting above `enough`. */
uint64_t ab_descendants_count(uint64_t enough);
/* Wait for all children that have ended. True: there are others. Without any child there is no
 * descendant. */
bool ab_descendants_reap(void);
/* Kill them all, and return when none is left. `fenced`: signals of this process reach nothing else. */
void ab_descendants_end(bool fenced);
