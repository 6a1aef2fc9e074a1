#pragma once
/*
 * Files that a command writes: redirections, `tee FILE`, `cp FILE DEST`,
 * `sort -o FILE`, `dd of=FILE` and the like. Covers known programs only. Pure.
 */
#include "shell/command/simple.h"

enum ab_write_targets {
	AB_WRITTEN_CONTENT, /* its content is written */
	AB_WRITTEN_ENTRY,   /* it is created, or its owner or mode changes */
	AB_WRITTEN_GONE,    /* it is removed or moved */
};

typedef void ab_write_targets_fn(void *arg, enum ab_write_targets how, const struct ab_field *file);

/* Does the table say which files the program writes? */
bool ab_write_targets_known(const struct ab_simple *command);
struct ab_path;
/* Does the policy protect this path (filesystem.denyWrite)? match_writes.c */
bool ab_write_is_protected(const struct ab_path *path);

void ab_write_targets_each(const struct ab_simple *command, ab_write_targets_fn *fn, void *arg);
