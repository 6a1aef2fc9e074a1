#pragma once
/*
 * Files that a program outside obeys although their own names do not say so: the host's
 * git configuration names them (core.hooksPath, a filter), or a name that has a label is a
 * symbolic link to them (CLAUDE.md -> docs/agents.txt).
 *
 * Only the host's side is read, before anything is applied. A change of the configuration or of
 * such a link has a label of its own. Bounded; if the host cannot be searched, every change is
 * unchecked.
 */
#include "base/base.h"

struct ab_label_hits;
struct ab_change;

struct ab_host_names;

/* `lower` is the host's folder. */
struct ab_host_names *ab_host_names_find(int lower);
void ab_host_names_free(struct ab_host_names *names);

/* Add the labels of a change at or below one of them, or of one that replaces a folder above. */
void ab_host_names_label(const struct ab_host_names *names, const struct ab_change *change,
			 struct ab_label_hits *hits);
