#pragma once
/*
 * A command of the user that we run on the host, outside of any box (host/program.h): an
 * approver, a hook, a source of a secret. A box can make it run, so nothing of it may be the box's:
 * not its program, not a file that it names, not a folder of its PATH. `touched` are the folders
 * whose content a box may have made (fs.touched of the policy).
 *
 * Whatever passes these checks cannot be changed by the box afterwards: neither it nor a folder or
 * a link on the way to it is in such a folder. The commands run in /, so a relative path does not
 * lead there either.
 */
#include "base/base.h"

struct ab_policy;

/*
 * Check a text for /bin/sh: every program that it could run, every word that is a path, every file
 * that it reads or writes. A program whose name is not known before run time is refused. `option`
 * is for messages.
 */
int ab_host_command_check(const char *option, const char *text, const struct ab_policy *policy,
			  char *const *env, struct ab_error *err);

/*
 * The environment without what a box could have made: folders are taken out of PATH, and other
 * variables that contain such a path are dropped, except HOME. Entries are not copied; *ret_path is
 * the new PATH, or NULL. Free both.
 */
char **ab_host_command_environ(const struct ab_strv *touched, char *const *env, char **ret_path);

/*
 * A program by its name, in a PATH of ab_host_command_environ(): its absolute path. NULL: there is
 * none, or the first one leads to where a box can write.
 */
char *ab_host_command_find(const struct ab_strv *touched, const char *path, const char *name);
