#pragma once
/*
 * Removes what the box must not leave behind, on the host side. The broker watches the
 * folders of the survey while the box runs, and moves protected files that are
 * created there to the run's quarantine. It sweeps the same folders at the end;
 * the next start does that for a run whose processes were all killed
 * (workspace/quarantine/journal.h).
 *
 * A run that creates the same protected name a third time must end: no watch is fast
 * enough for a loop. One retry is not a loop.
 *
 * Repositories that the run creates keep working, but what makes git run a program
 * is moved as soon as it is seen: hooks, and the settings that name programs. A
 * submodule that is added to the index of a repository is reported, because git
 * obeys its settings from then on.
 *
 * The box may change everything meanwhile. A watched folder is kept open from the
 * beginning and is the one that the survey saw (device and inode); all work is
 * relative to it and follows no link. Files that cannot be moved are always
 * reported.
 *
 * One thread. The quarantine keeps a pointer to the survey and to nothing else;
 * `dir` belongs to the caller and stays open as long as the quarantine.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

struct ab_quarantine;
struct ab_spots;
struct ab_survey;

enum { AB_QUARANTINE_NAME = 256 };

struct ab_moved {
	char *path; /* where it was */
	enum ab_node kind;
	char *name;	    /* in the quarantine folder; NULL if not moved */
	unsigned number;    /* in that name, from 1 */
	struct stat st;	    /* of what is in the folder; zero if not moved */
	mode_t mode;	    /* permissions before it was moved */
	struct timespec at; /* when it was moved */
	char *entry;	    /* the protected name: an entry of denyWrite, or a part of it */
	char *parked;	    /* not moved: its neutral name in the same folder, or NULL */
	char *keys;	    /* git settings that were removed from it, or NULL */
	bool part;	    /* of a repository that the run created */
	bool shared;	    /* neither a file nor a folder, in a shared folder */
	bool alert;	    /* report it at once */
	bool late;	    /* it was parked first */
	int errnum;	    /* why it is still there, 0 if it is not */
};

struct ab_quarantine_report {
	struct ab_moved *moved;
	size_t nmoved;
	struct ab_strv alerts;	 /* sentences to be told at once */
	struct ab_strv findings; /* sentences for the user */
	struct ab_strv missed; /* the first of `nmissed` folders that were not searched completely */
	size_t nmissed;
	size_t nstayed; /* protected names that are still there */
};

/* Is this the name of a quarantined file? */
bool ab_quarantine_is_name(const char *name);
/* The highest number in a quarantine folder, or 0. */
unsigned ab_quarantine_last_number(int dir);
/* Its number, or 0. */
unsigned ab_quarantine_number(const char *name);
/* The name for a number, "0001-.envrc". */
void ab_quarantine_make_name(unsigned number, const char *name, char ret[AB_QUARANTINE_NAME]);

/* dir: the run's quarantine folder, not writable by the box. */
int ab_quarantine_open(const struct ab_survey *survey, int dir, struct ab_quarantine **ret,
		       struct ab_error *err);

/*
 * While the box runs. inotify tells what appears in the watched folders (0.1 ms late, or 2 ms
 * while the box creates many files);
 * without it their ctime, which nobody can set, is checked every
 * AB_QUARANTINE_POLL_MS. inotify is used only when a watched folder has changed or
 * the run is AB_QUARANTINE_ARM_MS old; before that the ctime is checked as well.
 *
 * Call _events when the descriptor is readable and when _events_at has come, and _look when it
 * is due and every AB_QUARANTINE_MS: writes through a mapping cause no event.
 */
#define AB_QUARANTINE_MS 100
#define AB_QUARANTINE_POLL_MS 5
#define AB_QUARANTINE_ARM_MS 50
int ab_quarantine_fd(const struct ab_quarantine *q);		/* -1: not now */
int64_t ab_quarantine_events_at(const struct ab_quarantine *q); /* ab_now_ms(), or INT64_MAX */
int64_t ab_quarantine_due(const struct ab_quarantine *q);	/* the same */
void ab_quarantine_events(struct ab_quarantine *q);
/*
 * Stop watching. Closing the last descriptor of an inotify instance waits about 10 ms for other
 * processors. So the descriptor stays in flight in a socket that is closed at both ends, and the kernel's
 * collector, which runs in a thread of its own (Linux 6.9), closes it.
 */
void ab_quarantine_unwatch(struct ab_quarantine *q);
void ab_quarantine_look(struct ab_quarantine *q);

/* This file was created for the box, protected: do not move it. */
void ab_quarantine_accept(struct ab_quarantine *q, const char *path);

/* Must the run end? Then *ret says why. */
bool ab_quarantine_must_end(const struct ab_quarantine *q, struct ab_error *ret);

/* Check all watched folders now. */
void ab_quarantine_sweep(struct ab_quarantine *q);

/* How far the search at the end goes. */
enum ab_search_depth {
	AB_SEARCH_SHORT, /* no call of the box can have made a folder, or changed a file of git */
	AB_SEARCH_USUAL, /* as far as that of the survey */
	AB_SEARCH_ALL,	 /* without limits */
};

/*
 * After the box ended: examine the repositories that the run created or changed once
 * more, wherever they are. Also report protected names in deeper folders that changed, and
 * commands in the todo list of a rebase. Folders beyond the limits are in the report. `spots`: what
 * the guard has noted, or NULL.
 */
void ab_quarantine_review(struct ab_quarantine *q, enum ab_search_depth search,
			  const struct ab_spots *spots);

/* Owned by q. */
const struct ab_quarantine_report *ab_quarantine_report(const struct ab_quarantine *q);
void ab_quarantine_close(struct ab_quarantine *q);
