#ifndef AB_SESSION_NOTIFY_EXEC_RESOLVE_H
#define AB_SESSION_NOTIFY_EXEC_RESOLVE_H
/*
 * Which file a name leads to, as a process of the box sees it. Names that the
 * box hides are not looked at, wherever its links point.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct ab_arena;

/* How far a name leads. */
struct ab_found {
	int fd;		  /* what was reached, O_PATH */
	int parent;	  /* the folder that it was found in, or -1 */
	struct stat st;	  /* of fd */
	const char *rest; /* what is not there below it; "" */
	int errnum;	  /* why not; 0: it is there */
};

/* Never waits, and opens nothing for more than its name. The last name of all
 * is not followed where it is a link, if so wished. -1: not even the beginning
 * is known; else ab_found_close(). */
int ab_exec_walk(struct ab_arena *arena, pid_t pid, int dir, const char *path, bool nofollow,
		 struct ab_found *ret);
void ab_found_close(struct ab_found *found);
/* Where that is, with the rest; NULL. */
const char *ab_found_path(struct ab_arena *arena, const struct ab_found *found);

/* From a descriptor of its own, or AT_FDCWD. 0, or an errno: ENOENT and
 * ENOTDIR mean that there is no such file, others that it is not known. */
int ab_exec_find(struct ab_arena *arena, pid_t pid, int dir, const char *path,
		 const char **ret_real);

/* The number that the process has in the box; 0: it is gone. */
int ab_exec_own_pid(pid_t pid);

/* What a link below /proc leads to, in the box's own view; NULL. */
const char *ab_exec_link(struct ab_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
