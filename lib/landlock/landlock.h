#ifndef AB_LANDLOCK_LANDLOCK_H
#define AB_LANDLOCK_LANDLOCK_H
/*
 * Landlock: the second lock on the same plan as the mounts.
 *
 * A rule names a path and a set of rights in our own words; the table in
 * landlock.c turns them into what the running kernel understands (ABI 1 to
 * the newest that we know), and leaves out what a plain file cannot carry.
 */
#include <stdint.h>

struct ab_error;

enum ab_landlock_right {
	AB_LL_READ = 1,	   /* open for reading, list */
	AB_LL_EXEC = 2,	   /* execute */
	AB_LL_WRITE = 4,   /* open for writing, truncate */
	AB_LL_MAKE = 8,	   /* create, remove, rename, link */
	AB_LL_DEVICE = 16, /* ioctl of a device */
	AB_LL_SOCKET = 32, /* connect to a socket by its path */
	AB_LL_ALL = 63,
};

enum ab_landlock_scope {
	AB_LL_SCOPE_SIGNAL = 1,
	AB_LL_SCOPE_ABSTRACT = 2,
};

/* The kernel's ABI, 0 when it has no Landlock (errno says why). */
int ab_landlock_abi(void);

/* The newest ABI in our table, and what each step brought, for people. */
#define AB_LL_NEWEST 9
const char *ab_landlock_brings(int abi);

/*
 * A ruleset that handles every right and these scopes (as far as `abi` has
 * them). Returns the fd, or -1.
 */
int ab_landlock_open(int abi, unsigned int scopes, struct ab_error *err);

/* Allow `rights` on the object behind fd (O_PATH will do) and below it. */
int ab_landlock_allow_fd(int ruleset, int abi, int fd, unsigned int rights, struct ab_error *err);

/* Enter it, for this thread and its children. Raw: 0 or -errno. */
int ab_landlock_enter(int ruleset);

#endif
