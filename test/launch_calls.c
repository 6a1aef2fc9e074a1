/*
 * Linked into the program by scripts/launch-order, which has it compiled with -finstrument-functions:
 * notes the order in which functions are called for the first time, in all processes of a run.
 *
 * The file is mapped from a descriptor that init inherits, because init has no environment, and because
 * a file that it opened itself would keep its mounts from becoming read-only.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DESCRIPTOR = 200, SIZE = 32 << 20 };

extern const char __executable_start[] __attribute__((visibility("hidden")));

/* [0] counts; then one for each word of the code: its place in the order. */
static uint32_t *calls;

static void *map_calls(void)
{
	const char *path = getenv("AB_LAUNCH_CALLS");
	int fd;

	if (path) {
		fd = open(path, O_RDWR);
		if (fd < 0 || dup2(fd, DESCRIPTOR) < 0)
			abort();
		close(fd);
	}
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, DESCRIPTOR, 0);
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	uintptr_t at = ((uintptr_t)function - (uintptr_t)__executable_start) / 4 + 1;

	(void)caller;
	if (!calls)
		calls = map_calls();
	if (calls == MAP_FAILED)
		return;
	if (at < SIZE / sizeof(calls[0]) && !calls[at])
		calls[at] = __atomic_add_fetch(&calls[0], 1, __ATOMIC_RELAXED);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}
