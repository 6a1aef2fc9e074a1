#pragma once
/* Shared by the files of the labels. */
#include "base/base.h"
#include "layer/diff/labels.h"
#include "layer/walk/changes.h"

/* Add a label once; `detail` is escaped and cut. Both may be NULL. */
void ab_label_add(struct ab_label_hits *hits, enum ab_label_id id, const char *who,
		  const char *detail);

/* The path as a file system without upper case, invisible characters and trailing dots and
 * blanks in names could see it. */
void ab_label_fold(const char *path, struct ab_buf *ret);

/* Is the relative path this folder, or below it? */
static inline bool ab_label_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

/* Does the change take away or replace what is below its path? */
static inline bool ab_label_replaces_folder(const struct ab_change *c)
{
	return c->is != AB_TYPE_DIR && (c->was == AB_TYPE_DIR || c->is == AB_TYPE_LINK);
}

/* Does this component of a folded path match, up to the next slash? "*" stands for any
 * text in a component; the case of the pattern does not matter. It ends at a slash or a blank. */
bool ab_label_matches(const char *pattern, const char *name);

/* Is it such a line? `line` is not terminated. */
typedef bool ab_label_line_fn(void *arg, const char *line, size_t len);

/* The first line of the new content that `fn` accepts and that is not a line of the old
 * one; NULL: there is none. A text with very many such lines has one, or counts as if. */
const char *ab_label_new_line(const struct ab_label_input *in, ab_label_line_fn *fn, void *arg,
			      size_t *ret_len);

/* label_names.c: labels of a name. `folded` is the folded path. */
void ab_label_names(const struct ab_change *change, const char *folded, struct ab_label_hits *hits);

/* label_names.c: is it below a cache of the home folder that no program obeys, or a new folder on
 * the way to one? */
bool ab_label_is_home_cache(const struct ab_change *change);

/* label_git.c: labels of a path in a git directory. */
void ab_label_git(const struct ab_label_input *in, const char *folded, struct ab_label_hits *hits);

/* label_content.c: labels that the content decides. `name` is the last component of the
 * folded path. */
void ab_label_content(const struct ab_label_input *in, const char *name,
		      struct ab_label_hits *hits);

/* label_packages.c: where the packages of a project come from, and what installing them runs. */
void ab_label_packages(const struct ab_label_input *in, const char *name,
		       struct ab_label_hits *hits);
