#ifndef AB_WORKSPACE_QUARANTINE_QUARANTINE_H
#define AB_WORKSPACE_QUARANTINE_QUARANTINE_H
/*
 * What the box must not leave behind, on the host side: the broker watches
 * the folders of the survey while the box runs, and moves a protected name
 * that appears there into the run's quarantine; it sweeps the same folders
 * at the end, and the next start does it for a run whose processes were all
 * killed (workspace/quarantine/journal.h).
 *
 * The box may be changing everything while we look. A watched folder is held
 * open from the beginning and is the one that the survey saw (device and
 * inode); all work is relative to it and follows no link. What cannot be
 * moved is reported, never left in silence.
 *
 * One thread. The quarantine keeps a pointer to the survey and to nothing
 * else; `dir` is the caller's and stays open as long as the quarantine.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"
#include "workspace/tree/guard.h"

struct ab_error;
struct ab_quarantine;
struct ab_survey;

struct ab_moved {
	char *path; /* where it was */
	enum ab_node kind;
	char *name; /* in the quarantine folder; NULL: not moved */
	int errnum; /* why it is still there, 0 when it is gone */
};

struct ab_quarantine_report {
	struct ab_moved *moved;
	size_t nmoved;
	struct ab_strv findings; /* sentences for the user */
	struct ab_strv notes;	 /* the same, for those who ask for more */
};

/* Is this what it calls something that it moved away? */
bool ab_quarantine_is_name(const char *name);

/* dir: the run's quarantine folder, not writable by the box. */
int ab_quarantine_open(const struct ab_survey *survey, int dir, struct ab_quarantine **ret,
		       struct ab_error *err);

/*
 * While the box runs, every AB_QUARANTINE_MS: look at the folders that changed
 * since the last time. (By their ctime, which nobody can set, and not by
 * inotify: closing an inotify descriptor takes some 20 ms, at the end of every
 * run, and a user has only 128 of them.)
 */
#define AB_QUARANTINE_MS 100
void ab_quarantine_look(struct ab_quarantine *q);

/* Look at all watched folders now. */
void ab_quarantine_sweep(struct ab_quarantine *q);

/*
 * After the box ended: repositories that the run made itself stay, but their
 * hooks are moved and the configuration that runs programs is named; so are
 * protected names in deeper folders that changed. A bounded walk.
 */
void ab_quarantine_review(struct ab_quarantine *q);

/* Belongs to q. */
const struct ab_quarantine_report *ab_quarantine_report(const struct ab_quarantine *q);
void ab_quarantine_close(struct ab_quarantine *q);

#endif
