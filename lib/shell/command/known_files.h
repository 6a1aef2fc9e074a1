#pragma once
/*
 * Known contents of files: those that the same command line wrote before, its
 * open descriptors ("/dev/fd/3"), the output of <( ). Pure.
 */
#include "shell/command/simple.h"

enum {
	AB_FILES_MAX = 64, /* remembered; others are unknown */
	AB_FILE_NAME_MAX = 512,
};

struct ab_file {
	struct ab_text name; /* clean; absolute if the folder is known */
	struct ab_data data;
	bool maybe;		    /* the older content is possible too */
	unsigned older;		    /* number of older ones */
	const struct ab_file *next; /* an older one */
};

/* A path in a folder, without "." and ".."; ".." stops at "/". Returns the length, 0 for "/"; `out` has
 * room for both and a slash. */
uint32_t ab_files_join(struct ab_text folder, struct ab_text path, char *out);
/* Resolves a name in a folder, without "." and "..". Returns its length; 0: too
 * long, or not a usable name. */
uint32_t ab_files_clean(struct ab_text cwd, struct ab_text name, char out[static AB_FILE_NAME_MAX]);
/* The content of a file that the command names; NULL: unknown. */
const struct ab_data *ab_files_read(const struct ab_simple *command, const struct ab_field *name);
/* Iterates over all its possible contents, without <( ): `file` is NULL at
 * first. */
const struct ab_file *ab_files_next(const struct ab_simple *command, const struct ab_field *name,
				    const struct ab_file *file);
/* The bytes as a field: a script or other code. */
struct ab_field ab_data_field(const struct ab_data *data);
/* Neither the content nor its origin is known. */
bool ab_data_unread(const struct ab_data *data);
