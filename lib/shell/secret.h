#ifndef AB_SHELL_SECRET_H
#define AB_SHELL_SECRET_H
/*
 * Which files hold secrets, by their names: keys, tokens, password stores,
 * histories. Pure.
 */
#include "shell/field.h"

/*
 * True for the name of a secret file, relative or absolute, and for a folder
 * or a pattern that leads to nothing else (~/.ssh/ *, .aws). "~" in front
 * stands for any home.
 */
bool ab_secret_path(struct ab_text path);

#endif
