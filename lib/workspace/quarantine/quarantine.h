#ifndef AB_WORKSPACE_QUARANTINE_QUARANTINE_H
#define AB_WORKSPACE_QUARANTINE_QUARANTINE_H
/*
 * Removes what the box must not leave behind, on the host side. The broker watches the
 * folders of the survey while the box runs, and moves protected files that are
 * created there to the run's quarantine. It sweeps the same folders at the end;
 * the next start does that for a run whose processes were all killed
 * (workspace/quarantine/journal.h).
 *
 * The box may change everything meanwhile. A watched folder is kept open from the
 * beginning and is the one that the survey saw (device and inode); all work is
 * relative to it and follows no link. Files that cannot be moved are always
 * reported.
 *
 * One thread. The quarantine keeps a pointer to the survey and to nothing else;
 * `dir` belongs to the caller and stays open as long as the quarantine.
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
	char *name; /* in the quarantine folder; NULL if not moved */
	int errnum; /* why it is still there, 0 if it is not */
};

struct ab_quarantine_report {
	struct ab_moved *moved;
	size_t nmoved;
	struct ab_strv findings; /* sentences for the user */
	struct ab_strv notes;	 /* the same, for -v */
};

/* Is this the name of a quarantined file? */
bool ab_quarantine_is_name(const char *name);

/* dir: the run's quarantine folder, not writable by the box. */
int ab_quarantine_open(const struct ab_survey *survey, int dir, struct ab_quarantine **ret,
		       struct ab_error *err);

/*
 * While the box runs, every AB_QUARANTINE_MS: check the folders that have changed
 * since the last time. This uses their ctime, which nobody can set, instead of
 * inotify: closing an inotify descriptor takes about 20 ms at the end of every
 * run, and a user has only 128 of them.
 */
#define AB_QUARANTINE_MS 100
void ab_quarantine_look(struct ab_quarantine *q);

/* This file was created for the box, protected: do not move it. */
void ab_quarantine_accept(struct ab_quarantine *q, const char *path);

/* Check all watched folders now. */
void ab_quarantine_sweep(struct ab_quarantine *q);

/*
 * After the box ended: keep the repositories that the run created, but move their
 * hooks, and report configuration that runs programs. Also report protected names
 * in deeper folders that changed. A bounded walk.
 */
void ab_quarantine_review(struct ab_quarantine *q);

/* Owned by q. */
const struct ab_quarantine_report *ab_quarantine_report(const struct ab_quarantine *q);
void ab_quarantine_close(struct ab_quarantine *q);

#endif
