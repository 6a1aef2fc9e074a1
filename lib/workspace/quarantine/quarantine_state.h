#ifndef AB_WORKSPACE_QUARANTINE_QUARANTINE_STATE_H
#define AB_WORKSPACE_QUARANTINE_QUARANTINE_STATE_H
/* Shared by the files of the quarantine. */
#include <time.h>

#include "workspace/quarantine/quarantine.h"

/* An open folder, and the names that must not be in it. */
struct ab_held {
	int fd;
	struct timespec seen; /* its ctime at the last check */
	char *path;
	struct ab_strv names;
	bool given; /* from the survey; otherwise found below one */
};

struct ab_quarantine {
	const struct ab_survey *survey;
	int dir;
	bool inside; /* it is inside a writable root */
	struct ab_held *held;
	size_t nheld;
	bool touched;  /* some watched folder has changed */
	unsigned next; /* number of the next quarantined file */
	struct ab_quarantine_report report;
};

/* Move `name` of the open folder `fd`, whose path is `path`. */
void ab_quarantine_take(struct ab_quarantine *q, int fd, const char *path, const char *name);

#endif
