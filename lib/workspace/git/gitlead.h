#pragma once
/*
 * What a git directory makes git obey: hooks, settings that are not harmless, the configuration of
 * another folder. The files are hostile.
 */
#include "base/base.h"

struct ab_gitkeys_terms;

/* The first of them, as a new string for people: a setting, "a hook", a file; NULL: there is none. What
 * cannot be read counts. `terms` are for the settings. */
char *ab_gitdir_lead(int gitdir, const struct ab_gitkeys_terms *terms);
