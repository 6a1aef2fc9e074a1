#ifndef AB_SHELL_COMMAND_KNOWN_FILES_H
#define AB_SHELL_COMMAND_KNOWN_FILES_H
/*
 * What is known to stand in files: those that the same command line wrote
 * before, its open descriptors ("/dev/fd/3"), what <( ) prints. Pure.
 */
#include "shell/command/simple.h"

enum {
	AB_FILES_MAX = 64, /* remembered; others are not known */
	AB_FILE_NAME_MAX = 512,
};

struct ab_file {
	struct ab_text name; /* clean, absolute where the folder is known */
	struct ab_data data;
	bool maybe;		    /* what was in it before may still be */
	unsigned older;		    /* how many are behind it */
	const struct ab_file *next; /* an older one */
};

/* The name against a folder, without "." and ".."; 0: too long, or not a name
 * by which it could be found again. */
uint32_t ab_files_clean(struct ab_text cwd, struct ab_text name, char out[static AB_FILE_NAME_MAX]);
/* What the file that a word of the command names has in it, NULL: not known. */
const struct ab_data *ab_files_read(const struct ab_simple *command, const struct ab_field *name);
/* The same with what it may have as well: `file` NULL to begin. <( ) is not
 * among them. */
const struct ab_file *ab_files_next(const struct ab_simple *command, const struct ab_field *name,
				    const struct ab_file *file);
/* Those bytes as a script or another program. */
struct ab_field ab_data_field(const struct ab_data *data);
/* Nothing of what it says is known, nor who wrote it. */
bool ab_data_unread(const struct ab_data *data);

#endif
