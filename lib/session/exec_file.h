#ifndef AB_SESSION_EXEC_FILE_H
#define AB_SESSION_EXEC_FILE_H
/*
 * Which file a name leads to, as a process of the box sees it. Names that the
 * box hides are not looked at, wherever its links point.
 */
#include <sys/types.h>

struct ab_arena;

/* From a descriptor of its own, or AT_FDCWD. 0, or an errno: ENOENT and
 * ENOTDIR mean that there is no such file, others that it is not known. */
int ab_exec_find(struct ab_arena *arena, pid_t pid, int dir, const char *path,
		 const char **ret_real);

/* What a link below /proc leads to, in the box's own view; NULL. */
const char *ab_exec_link(struct ab_arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
