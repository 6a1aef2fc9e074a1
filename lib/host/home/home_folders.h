#pragma once
/* What tools keep in a home folder. Tables. */
#include "base/base.h"

/* Where variables lead tools that cannot write to their folder. In every box, whatever the policy says
 * about /tmp. */
#define AB_HOME_REPLACEMENT "/dev/shm/agentbox-home"

/* Folders that tools write to. */
struct ab_home_folder {
	const char *path;	/* below the home folder */
	const char *instead[2]; /* NAME=VALUE, or NULL: variables that move it to a private folder */
};

extern const struct ab_home_folder ab_home_folders[];
extern const size_t ab_home_folders_len;

/* Is this path below a home folder one that nobody misses: a cache, a log, a history? Pure. */
bool ab_home_is_noise(const char *path);
