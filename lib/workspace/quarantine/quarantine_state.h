#ifndef AB_WORKSPACE_QUARANTINE_QUARANTINE_STATE_H
#define AB_WORKSPACE_QUARANTINE_QUARANTINE_STATE_H
/* What the files of the quarantine share. */
#include <time.h>

#include "workspace/quarantine/quarantine.h"

/* A folder held open, and the names that must not be in it. */
struct ab_held {
	int fd;
	struct timespec seen; /* its ctime when it was looked at last */
	char *path;
	struct ab_strv names;
	bool given; /* by the survey; else found on the way down */
};

struct ab_quarantine {
	const struct ab_survey *survey;
	int dir;
	bool inside; /* a writable root holds it */
	struct ab_held *held;
	size_t nheld;
	bool touched;  /* some watched folder has changed */
	unsigned next; /* number of the next name in the quarantine */
	struct ab_quarantine_report report;
};

/* Move `name` of the open folder `fd`, whose path is `path`. */
void ab_quarantine_take(struct ab_quarantine *q, int fd, const char *path, const char *name);

#endif
