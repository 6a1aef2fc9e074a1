#pragma once
/*
 * Landlock: a second lock for the same plan as the mounts.
 *
 * A rule has a path and a set of our own rights. The table in landlock.c translates
 * them for the running kernel (ABI 1 to the newest in the table), and drops rights
 * that a plain file cannot have.
 */
#include "base/base.h"

enum ab_landlock_right {
	AB_LL_READ = 1,	   /* open for reading, list */
	AB_LL_EXEC = 2,	   /* execute */
	AB_LL_WRITE = 4,   /* open for writing, truncate */
	AB_LL_MAKE = 8,	   /* create, remove, rename, link */
	AB_LL_DEVICE = 16, /* ioctl on a device */
	AB_LL_SOCKET = 32, /* connect to a socket by its path */
	AB_LL_ALL = 63,
	AB_LL_LIST = 64, /* only list; part of AB_LL_READ */
};

enum ab_landlock_scope {
	AB_LL_SCOPE_SIGNAL = 1,
	AB_LL_SCOPE_ABSTRACT = 2,
	AB_LL_SCOPE_TCP = 4, /* neither bind nor connect (ABI 4) */
};

/* The kernel's ABI, 0 if it has no Landlock (errno says why). */
int ab_landlock_abi(void);

/* The newest ABI in the table, and what each ABI added, as text. */
#define AB_LL_NEWEST 9
const char *ab_landlock_brings(int abi);

/*
 * Create a ruleset that handles every right and these scopes, as far as `abi`
 * supports them. Returns the fd, or -1.
 */
int ab_landlock_open(int abi, unsigned int scopes, struct ab_error *err);

/* Allow `rights` on the object of fd (O_PATH is enough) and below it. */
int ab_landlock_allow_fd(int ruleset, int abi, int fd, unsigned int rights, struct ab_error *err);

/* Restrict only whom this process and its children may signal: each other. Files stay as they are,
 * below a ruleset of ab_landlock_open() too. Needs ABI 6. Raw: 0 or -errno. */
int ab_landlock_enter_scope(void);

/* Enforce it on this thread and its children. Raw: 0 or -errno. */
int ab_landlock_enter(int ruleset);
