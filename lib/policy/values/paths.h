#pragma once
/*
 * The folders of agentbox's own files, from the caller's environment. Pure, except
 * for ab_account_home() and ab_program_find(). The results are clean and absolute, or NULL if neither a
 * variable nor a home says where. A variable that is not an absolute path counts as
 * unset.
 */
#include "base/base.h"

/* The value of a variable in an environ-like list, or NULL. */
const char *ab_environ_get(char *const *environ, const char *name);

/* $AGENTBOX_STATE, $XDG_STATE_HOME/agentbox, ~/.local/state/agentbox. A
 * relative AGENTBOX_STATE starts at cwd. */
char *ab_state_dir(char *const *environ, const char *home, const char *cwd);
/* $XDG_CONFIG_HOME/agentbox, ~/.config/agentbox. */
char *ab_config_dir(char *const *environ, const char *home);

/* The home folder of this user in /etc/passwd, as it is written there; NULL: the user is not in it. */
char *ab_account_home(uid_t uid);

/* The file that a shell would execute: `name` if it has a slash, else the first program of this name in a
 * folder of `path`, in which an empty folder is the current one; NULL: none. */
char *ab_program_find(const char *name, const char *path);

#define AB_SYSTEM_CONFIG "/etc/agentbox/config.json"
#define AB_PROJECT_CONFIG ".agentbox.json"
