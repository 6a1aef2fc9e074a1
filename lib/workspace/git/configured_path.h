#ifndef AB_WORKSPACE_GIT_CONFIGURED_PATH_H
#define AB_WORKSPACE_GIT_CONFIGURED_PATH_H
/*
 * Which file or folder an assignment in git's configuration makes git obey: further
 * configuration, a folder of hooks, a program that is given by its path. Pure.
 */
#include <stdbool.h>

/* As written: it may begin with "~" or be relative, to the folder of the configuration
 * file if *ret_include, else to the checkout. A new string, or NULL if there is
 * none. Conditions of includeIf are taken to be true. */
char *ab_git_configured_path(const char *key, const char *value, bool *ret_include);

#endif
