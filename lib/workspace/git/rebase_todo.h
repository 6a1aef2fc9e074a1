#pragma once
/*
 * The steps of a rebase that git will carry out when the user continues it
 * (rebase-merge/git-rebase-todo): finds those that run a command.
 *
 * Pure and bounded. Read as git reads it, with any comment character: a line counts
 * if its first word is "exec" or "x".
 */
#include "base/base.h"

#define AB_REBASE_TODO_MAX (1024 * 1024)

/* command: without blanks around it, not terminated; "" if there is none. */
typedef void ab_rebase_exec_fn(void *arg, const char *command, size_t len);

/* Returns the number of commands; fn may be NULL. */
size_t ab_rebase_execs(const char *data, size_t len, ab_rebase_exec_fn *fn, void *arg);
