#pragma once
/*
 * Which file or folder an assignment in git's configuration makes git obey: further
 * configuration, a folder of hooks, a program that is given by its path. Every setting that is
 * not in the table of harmless ones counts (gitkeys.h).
 */
#include "base/base.h"

/* As written: it may begin with "~" or be relative, to the folder of the configuration
 * file if *ret_include, else to the checkout. A new string, or NULL if there is
 * none. Conditions of includeIf are taken to be true. */
char *ab_git_configured_path(const char *key, const char *value, bool *ret_include);

/* Is there a repository or a checkout at this path? A setting that names one has it for another
 * purpose than to run it. */
bool ab_git_is_checkout(const char *path);
