#ifndef AB_SHELL_SECRET_H
#define AB_SHELL_SECRET_H
/*
 * Which files hold secrets, by their names: keys, tokens, password stores,
 * histories. Pure.
 */
#include "shell/field.h"

/*
 * True for the name of a secret file, relative or absolute, and for a folder
 * or a pattern that leads to such files (".aws", ".ssh" and all in it).
 */
bool ab_secret_path(struct ab_text path);
/* The same for a name in the folder `cwd`. */
bool ab_secret_in(struct ab_text cwd, struct ab_text path);

#endif
