#pragma once
/*
 * A command that needs approval only because it reads files with secrets, all of which the box hides
 * (filesystem.denyRead): a yes would not help it, so nobody is asked.
 */
#include "base/base.h"

struct ab_command;
struct ab_judgement;

/* True: it is such a command, and *ret_paths are the files. Reads folders, but no files. */
bool ab_closed_files(struct ab_arena *arena, const struct ab_command *command,
		     const struct ab_judgement *judgement, struct ab_strv *ret_paths);
