#ifndef AB_WORKSPACE_GIT_GITTODO_H
#define AB_WORKSPACE_GIT_GITTODO_H
/*
 * The todo list of a rebase that is in progress: `git rebase --continue` runs the
 * commands of its "exec" lines. Pure and bounded.
 */
#include <stddef.h>

#define AB_GITTODO_MAX (1024 * 1024)

typedef void ab_gittodo_fn(void *arg, const char *command);

/* One call for each line that runs a command. */
void ab_gittodo_parse(const char *data, size_t len, ab_gittodo_fn *fn, void *arg);

#endif
