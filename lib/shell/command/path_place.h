#pragma once
/*
 * Where a path leads, by its text alone: relative to the command's folder, with
 * "//", "." and ".." removed textually. Links are not followed. Unknown
 * stretches and patterns are kept; patterns are judged by what they can match.
 *
 * Pure; the parts of a path are views of the field, the folder and the scene.
 */
#include "shell/command/rules.h"

enum { AB_PATH_PARTS = 48 };

struct ab_path {
	const struct ab_scene *scene;
	struct ab_text part[AB_PATH_PARTS];
	size_t len;    /* parts that do not fit are only counted */
	bool anchored; /* from "/" on; else its beginning is unknown */
	bool pattern;
	bool remote; /* on another machine */
	bool empty;  /* the field is "" */
};

void ab_path_read(const struct ab_simple *command, const struct ab_field *field,
		  struct ab_path *ret);

/* How bad it would be to lose everything there. */
enum ab_place {
	AB_PLACE_ORDINARY,
	AB_PLACE_UNKNOWN,   /* may be any of the others */
	AB_PLACE_WORKSPACE, /* its top, a parent of it, or its .git */
	AB_PLACE_TOP,	    /* in "/", but not part of the system */
	AB_PLACE_ROOT,	    /* "/", a home, a system tree */
};

enum ab_place ab_path_place(const struct ab_path *path);

/* In a system folder that nobody works in; not the devices that every program
 * writes to. */
bool ab_path_system(const struct ab_path *path);
bool ab_path_block_device(const struct ab_path *path);

/* How many parts lead to a home folder, ours or another's (0: the path is not in
 * one); if its beginning is unknown, the parts before the first known one. */
size_t ab_path_home(const struct ab_path *path);
/* How many parts lead to the workspace; 0: not in it. */
size_t ab_path_workspace(const struct ab_path *path);
/* Do the parts from `at` on begin with those of `names` ("a/b")? "*" in a name
 * matches any bytes. */
bool ab_path_has(const struct ab_path *path, size_t at, const char *names);
/* The same for one of a list separated by blanks. */
bool ab_path_has_listed(const struct ab_path *path, size_t at, const char *list);
/* False: no, as the first byte shows. For long lists of names. */
static inline bool ab_path_may_have(const struct ab_path *path, size_t at, char first)
{
	return at < path->len && at < AB_PATH_PARTS &&
	       (path->pattern || path->part[at].s[0] == first || first == '*' || first == '?' ||
		first == '[');
}

/* Can a shell pattern match a name? Brackets match any byte, an unknown stretch
 * any number of bytes. */
bool ab_pattern_reaches(struct ab_text pattern, struct ab_text name);
