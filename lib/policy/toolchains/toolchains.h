#pragma once
/*
 * The presets of the setting "with": what the tools of one language need, or a
 * host of repositories. A preset
 * is a row of one table. "auto" selects presets by the names of files at the top of
 * the workspace. These are hostile input: they select rows, and nothing is read
 * from the files themselves.
 */
#include "base/base.h"

/* Lists are words (base/text/words.h): each pointer in a table costs every start of the program a
 * relocation. */
struct ab_toolchain {
	char name[12];
	char doc[72];
	char also[64];	 /* other words for it, for suggestions */
	char files[128]; /* names of lock files and manifests; "*.x": an ending */
	char hosts[64];	 /* entries of network.allow */
	char env[80];	 /* "NAME=value", unless the caller or a setting has NAME */
	char forge[16];	 /* the host of git remotes that need it; "": none */
};

/* Sorted by name. */
extern const struct ab_toolchain ab_toolchains[];
extern const size_t ab_toolchain_count;

#define AB_TOOLCHAIN_AUTO "auto"

const struct ab_toolchain *ab_toolchain_find(const char *name);
/* The preset that was probably meant, or NULL. */
const char *ab_toolchain_guess(const char *name);

/* Is this the name of one of its files? Pure. */
bool ab_toolchain_has(const struct ab_toolchain *t, const char *file);

/* The preset for a repository with this git configuration, or NULL: a remote is on its host. Pure. */
const struct ab_toolchain *ab_toolchain_of_remote(const char *git_config);

/* The presets whose files are at the top of this folder, in the order of the table. `ret_files` (or
 * NULL) gets the first file of each. */
void ab_toolchains_detect(const char *folder, struct ab_strv *ret_names, struct ab_strv *ret_files);
