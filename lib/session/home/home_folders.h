#ifndef AB_SESSION_HOME_HOME_FOLDERS_H
#define AB_SESSION_HOME_HOME_FOLDERS_H
/* What tools keep in a home folder. Tables. */
#include <stdbool.h>
#include <stddef.h>

/* Folders that tools write to. */
struct ab_home_folder {
	const char *path;      /* below the home folder */
	const char *variables; /* that move it, with a blank between them, or NULL */
	const char *before;    /* in front of the folder in their value, or NULL */
};

extern const struct ab_home_folder ab_home_folders[];
extern const size_t ab_home_folders_len;

/* Is this path below a home folder one that nobody misses: a cache, a log, a history? Pure. */
bool ab_home_is_noise(const char *path);

#endif
