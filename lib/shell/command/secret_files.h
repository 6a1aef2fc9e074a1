#pragma once
/*
 * Recognizes files with secrets by name: keys, tokens, password stores,
 * histories. Pure.
 */
#include "shell/syntax/field.h"

/*
 * True for the name of a secret file, relative or absolute, and for a folder
 * or a pattern that leads to such files (".aws", ".ssh" and their contents).
 */
bool ab_secret_path(struct ab_text path);
/* The same for a name in the folder `cwd`. */
bool ab_secret_in(struct ab_text cwd, struct ab_text path);

/* State after reading a path: a folder is read once for many names in it. */
struct ab_secret_folder {
	struct ab_text parent, name;
	bool proc;
	bool secret;
};

struct ab_secret_folder ab_secret_folder(struct ab_text cwd);
bool ab_secret_within(const struct ab_secret_folder *folder, struct ab_text path);
/* The same for a word of a command. */
bool ab_secret_word(const struct ab_secret_folder *folder, const struct ab_field *word);
/* The same without names that are secret by their ending only (*.pem, .env.local):
 * project files often have such names. */
bool ab_secret_for_sure(const struct ab_secret_folder *folder, struct ab_text path);
/* A folder with secrets of the system or of a person somewhere in it: "/", "/etc",
 * a home. Clean absolute paths only. */
bool ab_secret_tree(struct ab_text path);
