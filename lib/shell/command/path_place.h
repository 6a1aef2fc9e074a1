#ifndef AB_SHELL_COMMAND_PATH_PLACE_H
#define AB_SHELL_COMMAND_PATH_PLACE_H
/*
 * Where a path leads, by its text alone: against the folder that the command
 * runs in, with "//", "." and ".." taken out as the text has them. Links are
 * not followed. What is not known stays in place, and so do patterns, which
 * are judged by what they can reach.
 *
 * Pure; a path's parts are views of the field, the folder and the scene.
 */
#include "shell/command/rules.h"

enum { AB_PATH_PARTS = 48 };

struct ab_path {
	struct ab_text part[AB_PATH_PARTS];
	size_t len;    /* deeper ones than fit are counted only */
	bool anchored; /* from "/" on; else nothing is known of what
				 * stands before the first part */
	bool pattern;
	bool remote; /* of another machine */
	bool empty;  /* the field is "" */
};

void ab_path_read(const struct ab_scene *scene, const struct ab_simple *command,
		  const struct ab_field *field, struct ab_path *ret);

/* What is lost when everything there is lost. */
enum ab_place {
	AB_PLACE_ORDINARY,
	AB_PLACE_UNKNOWN,   /* may be any of these */
	AB_PLACE_WORKSPACE, /* the work: its top, what that is in, its .git */
	AB_PLACE_TOP,	    /* in "/", but no part of a system */
	AB_PLACE_ROOT,	    /* "/", a home, a system tree */
};

enum ab_place ab_path_place(const struct ab_scene *scene, const struct ab_path *path);

/* Below a tree of the system that nobody's work is in; not the devices that
 * every program writes to. */
bool ab_path_system(const struct ab_path *path);
bool ab_path_block_device(const struct ab_path *path);

/* How many parts lead to a home (0: the path is not in one), ours or
 * another's; for a path without a known beginning: up to its first part that
 * is known. */
size_t ab_path_home(const struct ab_scene *scene, const struct ab_path *path);
/* How many parts lead to the workspace; 0: it is not in there. */
size_t ab_path_workspace(const struct ab_scene *scene, const struct ab_path *path);
/* The parts from `at` on begin with those of `names` ("a/b"). A last name
 * that ends in "*" is the beginning of one. */
bool ab_path_has(const struct ab_path *path, size_t at, const char *names);

/* A shell pattern against a name; brackets match any byte, an unknown stretch
 * any number of them. */
bool ab_pattern_reaches(struct ab_text pattern, struct ab_text name);

#endif
