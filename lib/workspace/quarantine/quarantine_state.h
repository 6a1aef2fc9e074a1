#pragma once
/* Shared by the files of the quarantine. */
#include "base/base.h"
#include "workspace/quarantine/quarantine.h"
#include "workspace/quarantine/repo_index.h"

struct ab_listing;

/* An open folder, and the names that must not be in it. */
struct ab_held_folder {
	int fd;
	int wd; /* in the inotify instance, or -1 */
	dev_t dev;
	ino_t ino;
	struct timespec seen; /* its ctime at the last check */
	char *path;
	struct ab_strv names;
	bool given;    /* from the survey; otherwise found below one */
	unsigned grow; /* repositories may appear in it: how many levels down */
	bool gitfile;  /* its ".git" is a file or link: look again when it is written */
};

/* A checkout of a git directory: the submodules of its index are below it. */
struct ab_repo_top {
	char *path;
	struct ab_strv pending; /* submodules whose folder does not exist yet */
};

/* A git directory, watched while the box runs. */
struct ab_repo {
	int fd, hooks;	  /* hooks: its folder, or -1 */
	int wd, hooks_wd; /* or -1 */
	dev_t dev;
	ino_t ino;
	char *path;
	struct ab_repo_top *tops; /* its own, and others whose ".git" leads here */
	size_t ntops;
	bool known; /* the survey closed what matters in it */
	struct ab_repo_index index;
	int64_t index_at;     /* do not read the index before this time */
	bool dirty;	      /* something in it has changed */
	bool based;	      /* `links` are those of the start */
	int64_t unread_at;    /* its index is too large or not valid: told then; or 0 */
	bool unread;	      /* and was told */
	struct ab_strv links; /* the submodules in its index */
};

/* An object with a neutral name in its own folder, because a copy takes too long. */
struct ab_parked {
	int fd; /* of that folder */
	size_t moved;
	char *name;
};

struct ab_quarantine {
	const struct ab_survey *survey;
	int dir;
	bool inside; /* it is inside a writable root */
	bool live;   /* the box runs */
	struct ab_held_folder *held;
	size_t nheld, ngrown;
	struct ab_repo *repos;
	size_t nrepos, ntops;
	struct ab_parked *parked;
	size_t nparked;
	bool touched;  /* some watched folder has changed */
	bool cut;      /* not everything new is watched */
	unsigned next; /* the last number of a quarantined file */
	bool numbered; /* it is known: another process may have begun this quarantine */

	int inotify; /* or -1 */
	bool armed, polling;
	int64_t arm_at, next_look, next_repos;
	int64_t repos_at;  /* a repository is to be looked at then, or 0 */
	int64_t events_at; /* events are collected until then, or 0 */

	bool ending;	  /* the run must end, see `why` */
	unsigned nfailed; /* moves while the box ran */
	struct ab_error why;
	struct ab_quarantine_report report;
};

/* Why an object is taken. */
enum ab_take_reason {
	AB_TAKE_NAME,	/* it has a protected name */
	AB_TAKE_PART,	/* of a repository that the run created: reported at once */
	AB_TAKE_SHARED, /* neither a file nor a folder, in a shared folder (shared.h) */
};

/* Move `name` of the open folder `fd`, whose path is `path`. `from`: the name that it has there now.
 * `keys`: what was wrong with it, or NULL. True: it is not there any more. */
bool ab_quarantine_take(struct ab_quarantine *q, int fd, const char *path, const char *name,
			const char *from, enum ab_take_reason reason, const char *keys);

/* Report this at once, and once only. The sentence is escaped as a whole. */
void ab_quarantine_alert(struct ab_quarantine *q, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Was it created or changed since the start? */
bool ab_quarantine_is_new(const struct ab_quarantine *q, const struct stat *st);
bool ab_quarantine_is_writable(const struct ab_quarantine *q, const char *path);
/* Sweep the names of a held folder that begin with `entry`; NULL: all names. */
void ab_quarantine_sweep_held(struct ab_quarantine *q, size_t index, const char *entry);
/* Takes ownership of fd. */
struct ab_held_folder *ab_quarantine_hold(struct ab_quarantine *q, int fd, const char *path,
					  bool given);

/* Are these file times certainly in different ticks of the clock? (quarantine_watch.c) */
bool ab_quarantine_ticks_apart(const struct timespec *before, const struct timespec *after);
/* Has it changed since the last call? */
bool ab_quarantine_has_changed(struct ab_held_folder *held);

/* quarantine_watch.c: watch this folder from now on, if the watch is armed. */
void ab_quarantine_watch_held(struct ab_quarantine *q, struct ab_held_folder *held);
void ab_quarantine_watch_repo(struct ab_quarantine *q, struct ab_repo *repo);
/* Files that are written and closed in this folder, too. */
void ab_quarantine_watch_writes(struct ab_quarantine *q, const struct ab_held_folder *held);

/* repo_config.c: replace a configuration file of a git directory that the run created by one
 * with the settings that are known to be harmless (repo_places.h). */
void ab_repo_config_clean(struct ab_quarantine *q, int gitdir, const char *path, const char *file);

/* repos.c: git directories that the run creates. */

/* Watch the repositories of the survey, and their checkouts. */
void ab_repos_begin(struct ab_quarantine *q);
/* Watch `name` in the folder `at`, whose path is `path` (at -1: by its path), and what is in it,
 * `grow` levels down. */
void ab_repos_enter(struct ab_quarantine *q, int at, const char *path, const char *name,
		    unsigned grow);
/* Something with this name appeared in a folder that grows. */
void ab_repos_appeared(struct ab_quarantine *q, size_t held, const char *name, bool folder);
/* Everything in a folder that grows. */
void ab_repos_list(struct ab_quarantine *q, size_t held);
/* Check a repository. */
void ab_repos_look(struct ab_quarantine *q, size_t repo);
/* Is that worth it after an event with this name in the git directory? */
bool ab_repos_concerns(const struct ab_repo *repo, const char *name);
/* Examine a git directory once: configuration, hooks, commondir. */
void ab_repos_clean(struct ab_quarantine *q, int gitdir, const char *path);
/* Did the watch look at all submodules that this git directory has below the checkout `top`? */
bool ab_repos_has_top(const struct ab_quarantine *q, int gitdir, const char *top);
/* Add the checkouts that a git directory names itself: beside it, in "gitdir", in core.worktree. */
void ab_repos_tops(int gitdir, const char *path, struct ab_strv *ret);
/* The submodules that the index of a git directory names. If it cannot be read and the run changed
 * it, that is told. */
void ab_repos_submodules(struct ab_quarantine *q, int gitdir, const char *path,
			 struct ab_strv *ret);
/* Is a folder with these entries a git directory? */
bool ab_repos_is_bare(int fd, const struct ab_listing *l);
void ab_repos_free(struct ab_quarantine *q);
