#pragma once
/* git over ssh if connections to port 22 are not captured: our own program connects ssh through the
 * proxy. */
struct ab_spec;

/* Adds GIT_SSH_COMMAND to spec->env_uncaptured, unless it is set already or our program is not
 * visible in the box. Plan and environment must exist. */
void ab_git_ssh_fill(struct ab_spec *spec);

/* Pure: the value, for our program at this path. Two shells parse it: the one that git starts, and
 * the one that ssh starts. */
char *ab_git_ssh_command(const char *program);
