#ifndef AB_SESSION_HOST_PLAN_LINKS_H
#define AB_SESSION_HOST_PLAN_LINKS_H
/* Links on the way to a file of the host. */
#include <stdbool.h>

struct ab_plan;

/* Does an absolute path lead through a link that the box could replace? Then its name may mean
 * another file after the run. */
bool ab_plan_links_is_open(const struct ab_plan *plan, const char *path);

#endif
