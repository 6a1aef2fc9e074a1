#include "base/process/own_program.h"

#include "base/base.h"

char *ab_own_program(void)
{
	static const char gone[] = " (deleted)"; /* the kernel's words */
	ab_autofree char *path = ab_read_link(AT_FDCWD, "/proc/self/exe");
	size_t len, tail = strlen(gone);

	if (!path || path[0] != '/')
		return NULL;
	len = strlen(path);
	if (len > tail && strcmp(path + len - tail, gone) == 0 && access(path, F_OK) < 0)
		path[len - tail] = '\0';
	return ab_take(path);
}
