#ifndef AB_STEER_WATCH_STATE_H
#define AB_STEER_WATCH_STATE_H
/* Shared by watch*.c. */
#include <jansson.h>

/* A command line quoted for a shell, as much of it as is shown; free it. */
char *ab_watch_command(const json_t *argv);

#endif
