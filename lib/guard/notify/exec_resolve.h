#pragma once
/* Finds the file that a name leads to, as a process of the box sees it. Never looks at names that
 * the box hides, wherever links point. */
#include "base/base.h"

/* How far a name can be resolved. */
struct ab_found {
	int fd;		  /* what was reached, O_PATH */
	int parent;	  /* the folder that contains it, or -1 */
	struct stat st;	  /* of fd */
	const char *rest; /* the missing rest below it, or "" */
	/* why; 0: it exists; ENOENT and ENOTDIR mean that it does not, others that it is unknown */
	int errnum;
};

/* Never waits, and opens with O_PATH only. `dir` is a descriptor of the process, or AT_FDCWD. `nofollow`:
 * do not follow the last name if it is a link. -1: not even the start is known, and only `errnum` is set;
 * else call ab_found_close(). */
int ab_exec_walk(struct ab_arena *arena, pid_t pid, int dir, const char *path, bool nofollow,
		 struct ab_found *ret);
void ab_found_close(struct ab_found *found);
/* Its path, with the rest; or NULL. */
const char *ab_found_path(struct ab_arena *arena, const struct ab_found *found);

/* The pid of the process in the box; 0: it is gone. */
int ab_exec_own_pid(pid_t pid);

/* A number of the line of /proc/PID/status that begins with `word`, "\nTgid:"; -1: there is none. Some
 * lines have one for each namespace: ours, the box's, and those that were made in the box. The box's
 * /proc shows its own. If there are fewer, it is the last. */
enum ab_exec_which { AB_NUMBER_OURS, AB_NUMBER_BOX };
int ab_exec_number(pid_t pid, const char *word, enum ab_exec_which which);

/* The beginning of /proc/PID/NAME, with a NUL; its length, or -1 with errno. */
ssize_t ab_exec_proc(pid_t pid, const char *name, char *to, size_t room);
/* The target of a link below /proc, in the box's own view; or NULL. */
const char *ab_exec_link(struct ab_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
