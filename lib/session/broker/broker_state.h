#ifndef AB_SESSION_BROKER_BROKER_STATE_H
#define AB_SESSION_BROKER_BROKER_STATE_H
/*
 * Inside the broker's own process: broker.c (the loop), broker_workers.c (who
 * works for it), broker_requests.c (what they do), settings_watch.c (settings that
 * change).
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/data/buf.h"
#include "base/data/strv.h"
#include "session/broker/broker.h"
#include "session/broker/broker_wire.h"

struct ab_broker_files;
struct ab_quarantine;
struct ab_renewals;
struct ab_mount_watch;

/*
 * What takes time is done by a process of its own, which answers by itself:
 * so the broker waits for nobody, neither for a program nor for a file system
 * nor for a supervisor that does not read.
 */
struct job {
	struct job *next;
	enum kind kind;
	uint32_t ticket;
	pid_t pid; /* 0: it waits for its turn */
	int pidfd;
	int64_t until; /* then it is killed */
	bool quiet;    /* a failure has been told a moment ago */
	size_t len;
	char body[]; /* of the request, and a NUL */
};

/* What a job has to say. */
struct done {
	struct ab_buf text;
	int fd; /* a sealed memfd instead of the text, or -1 */
	uint32_t number;
	bool silent; /* nothing */
};

/* Packets that the supervisor has no room for yet. */
struct parcel {
	struct parcel *next;
	size_t len;
	char data[];
};

struct broker {
	struct ab_broker_duty duty;
	int sock;
	struct ab_quarantine *quarantine;
	struct ab_mount_watch *walls;
	struct ab_renewals *renewals;  /* NULL: no secrets */
	struct ab_broker_files *files; /* NULL: lists are not in use */
	bool tended;		       /* what nobody waits for is done */
	int64_t look_at;
	bool swept;
	struct parcel *outbox;
	size_t nparcels;
	struct job *jobs; /* in the order that they came */
	int64_t hook_quiet_until;
	uint64_t hook_missed; /* and not told */
};

/* Send it, or keep it until there is room; news may be dropped. */
void ab_broker_post(struct broker *b, const struct answer *a);

/* broker_workers.c */
enum { AB_JOBS_MAX = 16 }; /* at work at once, of all kinds */
void ab_jobs_add(struct broker *b, const struct ask *ask, size_t len);
/* What to wait for: how many, and at most until *until. */
size_t ab_jobs_poll(const struct broker *b, struct pollfd *ret, int64_t *until);
/* Let go who has ended or is late; begin what waits. */
void ab_jobs_tend(struct broker *b);
/* The box is gone: what must still be done has `ms`; the rest ends now. No
 * process is left. Sentences about what was not done. */
void ab_jobs_finish(struct broker *b, int ms, struct ab_strv *ret_lines);

enum { HOOK_MS = 10000 }; /* that one violation may take */

/* broker_requests.c: 0, or why not. */
int ab_work_who(const struct broker *b, const struct job *job, struct done *ret,
		struct ab_error *err);
int ab_work_approve(const struct broker *b, const struct job *job, struct done *ret,
		    struct ab_error *err);
int ab_work_remember(const struct broker *b, const struct job *job, struct done *ret,
		     struct ab_error *err);
int ab_work_lists(const struct broker *b, const struct job *job, struct done *ret,
		  struct ab_error *err);
int ab_work_violation(const struct broker *b, const struct job *job, struct done *ret,
		      struct ab_error *err);

/* settings_watch.c. New before there is a box, so that what a box plants is
 * known from what was there. */
struct ab_broker_files *ab_broker_files_new(const struct ab_broker_duty *duty);
void ab_broker_files_free(struct ab_broker_files *files);
/* Every now and then: has one changed, and does it rest? */
bool ab_broker_files_look(struct ab_broker_files *files);
/* Those that a box could have made. */
const struct ab_strv *ab_broker_files_absent(struct ab_broker_files *files);

#endif
