#ifndef AB_STEER_WATCH_STATE_H
#define AB_STEER_WATCH_STATE_H
/* What the parts of `watch` share. */
#include <jansson.h>

/* The words of a command as a shell reads them, or the first of them. */
char *ab_watch_command(const json_t *argv);

#endif
