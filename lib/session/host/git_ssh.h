#ifndef AB_SESSION_HOST_GIT_SSH_H
#define AB_SESSION_HOST_GIT_SSH_H
/*
 * git over ssh where connections to port 22 are not captured: ssh is told to
 * go through the door, by our own program.
 */
struct ab_spec;

/* Adds GIT_SSH_COMMAND to spec->env_uncaptured, unless the command has one
 * already or our program cannot be seen in the box. Plan and environment must
 * be made. */
void ab_git_ssh_fill(struct ab_spec *spec);

/* Pure: the value, for our program at this path. Two shells will read it: the
 * one that git starts, and the one that ssh starts. */
char *ab_git_ssh_command(const char *program);

#endif
