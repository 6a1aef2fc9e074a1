#pragma once
/*
 * The broker: a small process, forked before the supervisor locks itself in, that does on the host
 * what the locked supervisor no longer can. It never sees bytes of the box's network; it accepts a
 * table of typed, bounded requests over one socket. When the supervisor dies, it restores the
 * terminal, sweeps, retires the run, and exits.
 */
#include "base/base.h"
#include "broker/cleanup/gc.h"
#include "sandbox/plan/plan.h"
#include "terminal/terminal.h"

struct ab_home_return;
struct ab_log_setup;
struct ab_peer;
struct ab_policy;
struct ab_policy_input;
struct ab_run;
struct ab_safe;
struct ab_shares;
struct ab_spec;
struct ab_survey;
struct ab_guard_duty;
struct ab_broker;

/* For a box that waits for its command (broker_wait.c). */
struct ab_broker_view { /* what it would begin with now */
	const struct ab_survey *survey;
	uint64_t claims; /* for ab_claim_check() */
};
struct ab_broker_wait {
	/* In the broker: NULL if a new run would get the same box, else why not. */
	const char *(*check)(void *arg, struct ab_broker_view *ret);
	/* The first check is a rehearsal: its memory is there for the next one. */
	void (*forget)(void *arg);
	void *arg;
};

struct ab_broker_duty {
	const struct ab_broker_wait *wait; /* or NULL: the run begins */
	const struct ab_policy_input *input;
	const struct ab_survey *survey;
	struct ab_run *run;
	const struct ab_log_setup *log; /* to write the end of the record */
	int init;			/* pidfd of the box's init */
	pid_t init_pid;
	const char *cgroup; /* removed after the box, or NULL */
	uint64_t memory;    /* limit of the whole box, to sample; 0: none */
	const struct ab_policy *policy;
	const struct ab_spec *spec;	/* what the box's mounts close and hide */
	const char *home;		/* the real home folder, or NULL */
	const struct ab_shares *shares; /* shared folders, of which empty ones are removed; or NULL */
	const char *tmp;		/* the box's folder for temporary files, or NULL */
	struct ab_home_return *returns; /* files that the home layer gives back, or NULL */
	bool containers;		/* they may write to the workspace, too */
	struct ab_terminal_rescue rescue;
	const struct ab_safe *safe;	   /* what was read of the policy's secrets */
	char *const *environ;		   /* with secrets: for their commands */
	const char *approver;		   /* answers questions about hosts, or NULL */
	const char *on_violation;	   /* or NULL */
	const char *agent;		   /* the socket of the caller's ssh agent, or NULL */
	uint32_t notify;		   /* AB_NOTICE_BIT()s of ab_notice_send() */
	const struct ab_guard_duty *guard; /* for the guard, or NULL: there is none */
	int locks[2];		/* of the run's kept layers, held until it ends; -1: none */
	int guard_sock;		/* its end of the socket to the supervisor, or -1 */
	struct ab_gc_rule keep; /* which records */
};

int ab_broker_start(const struct ab_broker_duty *duty, struct ab_broker **ret,
		    struct ab_error *err);

/* With duty->wait. Ask for the check; it takes a moment, in which the caller can do something else. */
int ab_broker_check(struct ab_broker *broker);
/* Its result: 0: the same box; 1: another one, and *ret_why (free it) says why. */
int ab_broker_checked(struct ab_broker *broker, uint64_t *ret_claims, char **ret_why,
		      struct ab_error *err);
/* The run begins: what its guard needs to know, and the copy of its record (-1: none). Afterwards it
 * is a broker like every other. */
int ab_broker_begin(struct ab_broker *broker, const char *cwd, bool yes, int copy);

/* Messages of the broker, unasked or in answer to one of the requests below that do not wait. A
 * ticket is the caller's own number for its request. */
enum ab_news_kind {
	AB_NEWS_SECRET,	    /* number: which; text: its value */
	AB_NEWS_OWNER,	    /* ticket; text: JSON array of processes */
	AB_NEWS_APPROVED,   /* ticket; number: enum ab_answer; text: the program's reason, or "" */
	AB_NEWS_REMEMBERED, /* ticket; text: the change, lines to show; not of a project */
	AB_NEWS_LISTS,	    /* ticket, 0: a file has changed; text: the lists (list_wire.h) */
	AB_NEWS_HOOK,	    /* error: the --on-violation command failed */
	AB_NEWS_MEMORY,	    /* number: MiB that the box uses, more than duty->memory */
	AB_NEWS_FINDING,    /* text: a sentence about what the run did in the workspace */
	AB_NEWS_AGENT,	    /* ticket; number: errno, or 0 and fd */
	AB_NEWS_COUNT,
};

#define AB_BROKER_TEXT_MAX (16 << 20)

struct ab_broker_news {
	enum ab_news_kind kind;
	uint32_t ticket;
	size_t number;
	const char *text; /* NULL: it failed, see `error` */
	size_t len;	  /* without the NUL that follows */
	size_t mapped;	  /* bytes to unmap, or 0 */
	int fd;		  /* AB_NEWS_AGENT: the connection, or -1 */
	struct ab_error error;
};

/* Readable when it has news, or has failed. 0: news, whose text is valid until ab_broker_forget();
 * -1: the broker has failed. */
int ab_broker_fd(const struct ab_broker *broker);
int ab_broker_hear(struct ab_broker *broker, struct ab_broker_news *ret, struct ab_error *err);
void ab_broker_forget(struct ab_broker_news *news); /* wipes */

/* These do not wait; the answer comes as news. -1: the broker has no room for the request, and no
 * answer will come. */

/* What the guard must know of the box as it was built: from struct ab_holds. */
struct ab_built {
	int16_t layers[AB_LAYERS_MAX];
	uint32_t filters;
};
/* Fork the guard and give it this listener. The guard reports to the supervisor itself, and its end
 * is seen there too. Only the first request counts. 1: there is no room for it yet. */
int ab_broker_start_guard(struct ab_broker *broker, int listener, const struct ab_built *built);
/* The box's filter holds no calls: there will be no guard. */
void ab_broker_unheld(struct ab_broker *broker);
/* The box is built: pass what its init handed out (ab_mounts_apply()). -1: the broker is gone. */
int ab_broker_walls(struct ab_broker *broker, const int *fds, size_t nfds);
/* Read this secret again, if that can help. */
void ab_broker_secret(struct ab_broker *broker, size_t i);
/*
 * Find the process whose socket has this end in the box's network, its parent, and so on up to the
 * box's init: [{"pid":3,"exe":"/usr/bin/curl","argv":["curl","-s"]}, ...]; [] if it is not found.
 * The pids are the box's own.
 */
int ab_broker_find_owner(struct ab_broker *broker, uint32_t ticket, const struct ab_peer *peer);
/* Connect to the caller's ssh agent (duty->agent). */
int ab_broker_agent(struct ab_broker *broker, uint32_t ticket);
/* Ask the approver program (duty->approver) with this JSON object. */
int ab_broker_approve(struct ab_broker *broker, uint32_t ticket, const char *request, size_t len);
/* Write this entry into a list of settings. The project's file is written when the box is gone, and
 * what happened is a note of ab_broker_swept(): until then the box could have created the file. */
enum ab_remember {
	AB_REMEMBER_ALLOW, /* the user's network.allow */
	AB_REMEMBER_DENY,  /* the user's network.deny */
	AB_REMEMBER_PROJECT,
	AB_REMEMBER_COUNT,
};
int ab_broker_remember(struct ab_broker *broker, uint32_t ticket, enum ab_remember where,
		       const char *entry);
/* Read all settings again. */
int ab_broker_reload(struct ab_broker *broker, uint32_t ticket);
/* Pass this record (without a newline) to the --on-violation command (duty->on_violation). One at a
 * time, in order; only failures are news. */
int ab_broker_violation(struct ab_broker *broker, const char *line, size_t len);
/* Tell the user outside of the terminal (consent/ask/notice.h); at most 512 bytes. Never news. */
void ab_broker_notice(struct ab_broker *broker, const char *text, size_t len);

/*
 * When the box is gone, or will be in a moment: sweep then, and report as sentences what was moved to
 * quarantine. `empty`: no process is left in it that could write, so do not wait for init's end.
 * This is the last request: write the end of the record then, and dismiss the broker, which retires the
 * run's folder; if the caller dies before, the broker writes the end. It works between the two calls, and
 * so may the caller. *ret_notes: sentences about the home folder. *ret is complete even
 * if the result is -1 because the broker had ended the run, or because a protected file could not be
 * removed.
 */
int ab_broker_sweep(struct ab_broker *broker, bool empty, struct ab_error *err);
int ab_broker_swept(struct ab_broker *broker, struct ab_strv *ret, struct ab_strv *ret_notes,
		    struct ab_error *err);
/* It did, whatever the result was: false if it has died. */
bool ab_broker_has_swept(const struct ab_broker *broker);

/* Tell it to exit. Ask nothing afterwards. */
void ab_broker_dismiss(struct ab_broker *broker);
/* The same, if it has not been told, and reap it. */
void ab_broker_end(struct ab_broker *broker);
/* Let it end the run in our place, as if we had died, and reap it. The box must be gone. */
void ab_broker_abandon(struct ab_broker *broker);
