#pragma once
/*
 * The processes of a box, seen from outside, and their memory.
 *
 * A box can create and end processes while we look, so a list is a sample and never complete by
 * guarantee. Reads are bounded in size and time.
 */
#include "base/base.h"

enum { AB_BOX_PROCESSES = 4096 };

struct ab_box_processes {
	int proc;   /* /proc */
	pid_t init; /* the box's, by its pid on the host */
	int64_t until;
	pid_t *v; /* those seen so far; the ones before `at` were returned */
	size_t len, at;
	bool begun;
	bool has_children_files; /* the kernel has /proc/PID/task/TID/children */
};

void ab_box_processes_open(pid_t init, int ms, struct ab_box_processes *ret);
void ab_box_processes_fini(struct ab_box_processes *processes);
/* The next one, without init; 0: no more, or the time is up. Parents come before their children. */
pid_t ab_box_processes_next(struct ab_box_processes *processes);
bool ab_box_processes_late(const struct ab_box_processes *processes);
/* /proc/PID, held open: everything read through it is about the same process. -1: it is gone. */
int ab_box_processes_hold(const struct ab_box_processes *processes, pid_t pid);

/*
 * Do the processes of the box together use more memory than this? Pages that several of them share
 * count once. Counts what they have mapped or swapped out and could not be read again from a file;
 * not what only an open file holds (a memfd that nobody maps, the private folders).
 */
bool ab_box_memory_exceeds(pid_t init, uint64_t limit, uint64_t *ret_used);

/* Pure: the sum in bytes of these lines ("RssAnon:  12 kB") of a file of /proc. `keys` ends with
 * NULL. *ret_found: how many lines there were. */
uint64_t ab_box_memory_sum(const char *text, size_t len, const char *const *keys,
			   size_t *ret_found);
