#pragma once
/*
 * Ordinary files of a project that programs outside also obey: settings of package
 * managers, hooks that a tool installs, instructions for agents. Editing them is
 * the command's work, so they are open; the user is told which ones the run
 * created or changed, at the top of each writable root and repository. The names
 * are in agents/obeyed.c.
 */
#include "base/base.h"

struct ab_listing;
struct ab_survey;

/* Before the start: remember those that exist in the folder `top`. */
void ab_project_files_note(struct ab_survey *survey, const char *top,
			   const struct ab_listing *entries);

/* After the end: add a sentence if some were created or changed. The box has ended. */
void ab_project_files_report(const struct ab_survey *survey, struct ab_strv *findings);
