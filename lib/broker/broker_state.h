#pragma once
/* Inside the broker's own process: broker.c (the loop), broker_workers.c (worker processes),
 * broker_requests.c (their jobs), settings_watch.c (changed settings), broker_wait.c (before the run),
 * broker_end.c (the end). */

#include "base/base.h"
#include "broker/broker.h"
#include "broker/broker_wire.h"

struct ab_settings_watch;
struct ab_moves;
struct ab_quarantine;
struct ab_renewals;
struct ab_spots;
struct ab_wall_watch;

/* A slow request is a job for a worker process, which sends the answer itself. So the broker never
 * waits: not for a program, nor a file system, nor a supervisor that does not read. */
struct job {
	struct job *next;
	enum kind kind;
	uint32_t ticket;
	pid_t pid; /* 0: not started yet */
	int pidfd;
	int64_t until; /* it is killed at this time */
	bool quiet;    /* a failure was reported a moment ago */
	size_t len;
	char body[]; /* the request's, and a NUL */
};

/* The result of a job. */
struct done {
	struct ab_buf text;
	int fd; /* a sealed memfd instead of the text, or -1 */
	uint32_t number;
	bool silent; /* send no answer */
};

/* A packet that the supervisor has no room for yet. */
struct packet {
	struct packet *next;
	size_t len;
	char data[];
};

struct broker {
	struct ab_broker_duty duty;
	bool rehearsed;	 /* there was a check */
	bool begun, yes; /* of a run that came later: ASK_BEGIN */
	char *cwd;	 /* the same */
	int wake;	 /* or -1 */
	int sock;
	struct ab_fds passed; /* descriptors that came with the request */
	struct ab_quarantine *quarantine;
	struct ab_wall_watch *walls;
	int stage;  /* the box's staging tmpfs, or -1 */
	int hidden; /* for ab_overlays_hide(), or -1 */
	int64_t hide_at;
	struct ab_moves *moves;
	pid_t guard;			    /* or 0 */
	struct ab_spots *spots;		    /* of the guard, or NULL */
	bool unheld;			    /* the kernel holds no calls */
	int git_sock;			    /* to the guard, for renames that it holds; or -1 */
	bool guard_gone;		    /* from there */
	struct ab_renewals *renewals;	    /* NULL: no secrets */
	struct ab_settings_watch *settings; /* NULL: lists are not in use */
	bool cleaned_up;		    /* some of what is due */
	int64_t next_check, next_sample;
	bool asked; /* the supervisor waits for the answer to ASK_SWEEP */
	bool empty; /* init is the only process of the box */
	bool swept;
	bool cgroup_left;		      /* it could not be removed */
	size_t noted;			      /* of the quarantine's report, in its list */
	size_t told_moves, told_alerts, told; /* of the quarantine's report, at once */
	bool ended;			      /* the quarantine has ended the run */
	bool deaf;			      /* the last request could not be received */
	struct packet *outbox;
	size_t npackets;
	struct job *jobs;	/* in order of arrival */
	struct ab_strv project; /* entries for the project's settings, at the end */
	int64_t hook_quiet_until;
	uint64_t hook_missed; /* not reported yet */
};

/* Send it with the first `len` bytes of its lines, or keep it until there is room; drops news if
 * there is too much. */
void ab_broker_post(struct broker *b, const struct answer *a, size_t len);

/* Send what was kept, with these flags. */
void ab_broker_flush(struct broker *b, int flags);
/* Report what the watch of the walls has found. */
void ab_broker_report_walls(struct broker *b);

/* broker_wait.c: returns when the run begins. */
void ab_broker_wait(struct broker *b);

/* broker_end.c: is it known how deep the search at the end must go? */
bool ab_broker_knows_search(const struct broker *b);
/* Check everything once more, if that was not done. */
void ab_broker_sweep_workspace(struct broker *b);
/* The box is gone and nothing is left to watch, so the broker may wait for the supervisor. */
_Noreturn void ab_broker_answer_sweep(struct broker *b);
/* The run does not come: remove what the supervisor, which is locked in, cannot. */
void ab_broker_abandon_run(const struct broker *b);
/* The supervisor died: finish the run in its place. */
_Noreturn void ab_broker_finish_alone(struct broker *b);
/* Does what recvmsg() returned, with its errno, say so? Any other failure does not. */
bool ab_broker_is_alone(ssize_t received);
_Noreturn void ab_broker_leave(struct broker *b);
/* Remove some of what is due: old records, layers. Not at the start of the run, when everything else
 * is busy. */
void ab_broker_clean_up(struct broker *b, size_t most);

/* broker_workers.c */
enum { AB_JOBS_MAX = 16 }; /* running at once, of all kinds */
void ab_jobs_add(struct broker *b, const struct ask *ask, size_t len);
/* Descriptors to wait for; lowers *until to the first timeout. */
size_t ab_jobs_poll(const struct broker *b, struct pollfd *ret, int64_t *until);
/* Reap workers that ended, kill late ones, start waiting jobs. */
void ab_jobs_update(struct broker *b);
/* The box is gone: jobs that must still be done get `ms`; all others end now. Leaves no process.
 * *ret_lines: sentences about what was not done. */
void ab_jobs_finish(struct broker *b, int ms, struct ab_strv *ret_lines);

enum { HOOK_MS = 10000 }; /* per violation */

/* broker_requests.c: the work of each kind of job. */
typedef int ab_work(const struct broker *b, const struct job *job, struct done *ret,
		    struct ab_error *err);
ab_work ab_work_owner, ab_work_agent, ab_work_approve, ab_work_remember, ab_work_lists,
	ab_work_violation, ab_work_notice;

/* Write b->project, when the box is gone; *ret_lines: what was done. */
void ab_broker_save_project(const struct broker *b, struct ab_strv *ret_lines);

/* settings_watch.c. Create it before the box, to tell a file that a box plants from one that
 * existed. NULL: the run uses no lists of hosts, or they cannot be watched. */
struct ab_settings_watch *ab_settings_watch_new(const struct ab_broker_duty *duty);
void ab_settings_watch_free(struct ab_settings_watch *settings);
/* Call regularly. True: a file has changed since the last call that returned true, and is
 * stable. */
bool ab_settings_watch_look(struct ab_settings_watch *settings);
/* Files that a box could have created. */
const struct ab_strv *ab_settings_watch_absent(struct ab_settings_watch *settings);
