#ifndef AB_SESSION_HOST_PLAN_LINKS_H
#define AB_SESSION_HOST_PLAN_LINKS_H
/*
 * The way to a file outside the box, by the name that somebody uses for it.
 */
#include <stdbool.h>

struct ab_plan;

/* Does an absolute path lead through a link that the box could replace? Then
 * its name may mean another file when the box has run. */
bool ab_plan_links_is_open(const struct ab_plan *plan, const char *path);

#endif
