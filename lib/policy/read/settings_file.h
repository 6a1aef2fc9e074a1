#pragma once
/*
 * Inside lib/policy: one settings file, from bytes to a config. The bytes may
 * be hostile (a project's file): the size is bounded, no link is followed,
 * nothing blocks, and everything that a message quotes is escaped.
 */
#include "policy/model/config.h"

#define AB_FILE_MAX (1024 * 1024)

/*
 * Read a whole file; *ret_text is NULL if it does not exist. It must be a
 * regular file; with `nofollow` a symbolic link is an error. Messages call it
 * `name`.
 */
int ab_settings_file_read(const char *path, const char *name, bool nofollow, char **ret_text,
			  size_t *ret_len, struct ab_error *err);

/* The same for a file that is obeyed as the user's own: links are followed, but the file, its folder
 * and the links must belong to the user or to root, and others must not be able to write them.
 * `roots`: for the system's file; it and its folder must belong to root. */
int ab_settings_file_read_own(const char *path, const char *name, bool roots, char **ret_text,
			      size_t *ret_len, struct ab_error *err);

/* The mistakes in a file: "file:line:column: key: what is wrong", and for each
 * what would be right, or "". */
struct ab_problems {
	struct ab_strv wrong, right;
};

enum { AB_PROBLEMS_MAX = 100 };

void ab_problems_fini(struct ab_problems *p);
#define ab_autoproblems __attribute__((cleanup(ab_problems_fini)))

/* Fill *ret from the text. Every mistake is reported, up to a bound; values
 * without a mistake are set. `name` must live as long as the arena. ret_managed gets the section
 * "managed"; NULL: this file must not have it. */
void ab_settings_file_parse(const struct ab_context *ctx, enum ab_layer layer, const char *name,
			    const char *text, size_t len, struct ab_config *ret,
			    struct ab_config *ret_managed, struct ab_problems *problems);

/* The first problem as an error. */
int ab_settings_file_fail(const struct ab_problems *problems, struct ab_error *err);
