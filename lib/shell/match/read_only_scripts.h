#ifndef AB_SHELL_MATCH_READ_ONLY_SCRIPTS_H
#define AB_SHELL_MATCH_READ_ONLY_SCRIPTS_H
/*
 * Small programs inside a command: sed and awk that only print. Careful: what
 * is not understood is no.
 */
#include "shell/command/simple.h"

bool ab_reads_sed(const struct ab_simple *command);
bool ab_reads_awk(const struct ab_simple *command);

#endif
