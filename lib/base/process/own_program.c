#include "base/process/own_program.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/data/mem.h"

char *ab_own_program(void)
{
	static const char gone[] = " (deleted)"; /* the kernel's words */
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	size_t len = n > 0 ? (size_t)n : 0, tail = sizeof(gone) - 1;

	if (!len || path[0] != '/')
		return NULL;
	path[len] = '\0';
	if (len > tail && strcmp(path + len - tail, gone) == 0 && access(path, F_OK) < 0)
		path[len - tail] = '\0';
	return ab_strdup(path);
}
