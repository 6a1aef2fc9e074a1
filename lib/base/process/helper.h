#pragma once
/*
 * Helper processes: forked from an agentbox process to do one job, often to read hostile bytes.
 *
 * What the starter guarantees, in this order, before `serve` is called:
 *  - with `end_signal`, the helper does not outlive its parent, not even one that died meanwhile;
 *  - it has its name, and its session or group if it asked for one;
 *  - with `hidden`, no other process of the user can read its memory (not dumpable);
 *  - it gets no signal that it did not ask for;
 *  - 0-2 are /dev/null (in a root without devices, an empty pipe) or the given ones, never the
 *    caller's, unless `keep` names them;
 *  - of all other descriptors it has its end of the socket and those in `keep`, and no more.
 * If any of this fails, it exits with AB_HELPER_FAILED and `serve` is not called. The caller has the other end of the
 * socket, which nobody else holds, so the helper sees its end when the caller dies.
 *
 * `serve` does the rest itself: it opens what it needs, gives up what it does not need any more
 * (ab_drop_capabilities(), host/lock/lockdown.h, or a filter), and only then reads what is hostile.
 */
#include "base/base.h"

enum { AB_HELPER_FAILED = 255 };

struct ab_helper {
	pid_t pid;
	int sock;  /* -1: it has none */
	int pidfd; /* -1: it was not asked for */
};

enum ab_helper_signals {
	AB_HELPER_BLOCKS,  /* all are blocked */
	AB_HELPER_TERM,	   /* all but SIGTERM, which ends it, are blocked */
	AB_HELPER_IGNORES, /* those that would end it are ignored, and none is blocked */
	AB_HELPER_MASK,	   /* those in `mask` are blocked, and none is ignored anew */
};

struct ab_helper_setup {
	const char *name; /* of the process, at most 15 letters; NULL: its parent's */
	const char *what; /* for errors: "the reviewer" */
	int socket;	  /* SOCK_SEQPACKET, or another type and flags; 0: no socket */
	const int *keep;  /* negative ones are ignored */
	size_t nkeep;
	const int *stdio; /* three, all above 2; NULL: /dev/null, except for those in `keep` */
	enum ab_helper_signals signals;
	const sigset_t *mask;
	int end_signal; /* when its parent ends; 0: it watches its socket */
	bool session;	/* leads a session without a terminal */
	bool group;	/* leads a process group */
	bool orphan;	/* is not our child, so nobody waits for it; there is no `pid` */
	bool outside;	/* its folder is / */
	bool hidden;
	bool watch;			   /* open `pidfd` */
	int (*serve)(int sock, void *arg); /* returns its exit status */
	/* In the helper: inherited descriptors could not be closed. NULL: its end says enough. */
	void (*failed)(int sock, int errnum);
	void *arg;
};

int ab_helper_start(const struct ab_helper_setup *setup, struct ab_helper *ret,
		    struct ab_error *err);
/* Close our end of the socket, which is how a helper learns that it is over, and wait for it. */
void ab_helper_end(struct ab_helper *helper);

/* Wait for the end of a child. Its wait status, or -1 with errno. */
int ab_await(pid_t pid);
/* Call `work` in a child, and wait for it. What it returned (0-255), or -1 with errno; EIO: it did
 * not return. The child keeps everything: `work` is ours, and short. */
int ab_in_child(int (*work)(const void *arg), const void *arg);

/* In a child. */

/* From now on, end with this parent. A change of credentials (setns()) undoes it. -1: it failed, or
 * the parent is gone. */
int ab_end_with(pid_t parent, int end_signal);
/* Every capability. -1 with errno. */
int ab_drop_capabilities(void);
/* Before exec(): what we ignore or block would be ignored or blocked in the program as well. */
void ab_default_signals(void);
/* 0-2 become these (all above 2), or /dev/null if it is NULL. -1 with errno. */
int ab_arrange_stdio(const int *stdio);
