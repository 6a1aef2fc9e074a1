#pragma once
/*
 * Resource limits of the command, with rlimit. The kernel counts processes per user
 * namespace, so the process limit applies to the box alone; it does not apply to
 * the host's root.
 */
#include "base/base.h"

struct ab_spec;

/* For this process and its children. Raw: 0 or -errno. */
int ab_limits_apply(const struct ab_spec *spec);
/* ab_limits_unheld() may have lowered the limit of processes: set it again. Raw: 0 or -errno. */
int ab_limits_after_proof(const struct ab_spec *spec);

/*
 * Tables of the kernel that all processes of a user share, inside a box and outside: where the kernel
 * has a limit for each user namespace, the box gets a part, and the user's editors still find room.
 * Before /proc/sys is read-only. Raw: 0 or -errno: EROFS and the like where a container forbids it.
 */
int ab_limits_share(void);

/* Without a user namespace the kernel counts all processes of the user: how many, now? */
uint64_t ab_limits_others(void);

/* Is this the root of the first user namespace, whose processes the kernel does not count? For
 * spec->uncounted: the box cannot see it, and what is not held needs no proof. */
bool ab_limits_uncounted(void);

/* Try whether the kernel enforces the limits. Returns the names of those that it does
 * not enforce, as far as they were tried, or NULL. */
const char *ab_limits_unheld(const struct ab_spec *spec);
/* The options that give up what needs a cgroup of its own here, or NULL. */
const char *ab_limits_without(const struct ab_spec *spec);

/*
 * Were there this many processes in the box at one moment? Each counts only if it was seen before
 * and after it.
 *
 * The kernel refuses a fork above RLIMIT_NPROC and records it nowhere. So init counts what it sees
 * in /proc of its pid namespace: itself, every process and thread, and those that nobody has waited
 * for, as the kernel does. In a shared /proc these are its descendants. A short peak between two
 * looks is missed.
 */
bool ab_limits_reached(uint64_t processes);

/* Pure: the number behind "Threads:" in /proc/PID/status; 0 if there is none. */
uint64_t ab_limits_threads(const char *status);
/* Pure: the last number of /proc/loadavg: the newest pid of the namespace, so at least as many as
 * there ever were at once, unless the numbers began again. 0 if there is none. */
uint64_t ab_limits_newest(const char *loadavg);
