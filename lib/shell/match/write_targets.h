#ifndef AB_SHELL_MATCH_WRITE_TARGETS_H
#define AB_SHELL_MATCH_WRITE_TARGETS_H
/*
 * What a command writes to, by what its program is known to do: redirections,
 * `tee FILE`, `cp FILE DEST`, `sort -o FILE`, `dd of=FILE` and the like. Pure.
 */
#include "shell/command/simple.h"

enum ab_write_targets {
	AB_WRITTEN_CONTENT, /* bytes go into it */
	AB_WRITTEN_ENTRY,   /* it is made, or its owner or mode changed */
	AB_WRITTEN_GONE,    /* it is removed or moved away */
};

typedef void ab_write_targets_fn(void *arg, enum ab_write_targets how, const struct ab_field *file);

void ab_write_targets_each(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg);

#endif
