#ifndef AB_SESSION_NOTIFY_EXEC_READ_H
#define AB_SESSION_NOTIFY_EXEC_READ_H
/*
 * A process of the box is about to execute a program: what the kernel will be
 * told, read from the process (exec_read.c), and what is decided about it
 * (exec_decide.c, which is pure).
 *
 * The process waits meanwhile, but its other threads, and whoever shares its
 * memory, do not: what was read can be changed before the kernel reads it. So
 * a decision here only ever adds a refusal to what confinement refuses anyway.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shell/judge/judge.h"

struct ab_arena;
struct ab_policy;
struct seccomp_data;

enum {
	AB_EXEC_WORDS = 65536,
	AB_EXEC_BYTES = 1 << 20, /* path and words together */
};

struct ab_exec {
	const char *path;  /* as given, or of the descriptor */
	const char *real;  /* the file that it leads to, or NULL */
	const char *cwd;   /* or NULL */
	const char **argv; /* never empty */
	size_t argc;
	int absent; /* errno: there is no such file */
};

/*
 * Read it, into the arena. 0, or an errno that answers the call: EFAULT and
 * E2BIG as the kernel would say, EPERM when the process cannot be read.
 */
int ab_exec_read(struct ab_arena *arena, pid_t pid, const struct seccomp_data *call,
		 struct ab_exec *ret);

/* A text of at most PATH_MAX bytes, or so many bytes, of its memory: 0 or an
 * errno. */
int ab_exec_path(struct ab_arena *arena, pid_t pid, uint64_t at, const char **ret);
int ab_exec_bytes(pid_t pid, uint64_t at, void *to, size_t len);

/* Has it executed nothing since it was forked? */
bool ab_exec_is_first(pid_t pid);
/* The name of the program that it is now; "" when it is gone. */
void ab_exec_by(pid_t pid, char ret[16]);
/* The words that it was started with, each with its NUL, as far as there is
 * room; how many bytes. */
size_t ab_exec_words(pid_t pid, char *to, size_t room);

/* What attempts are judged by. */
struct ab_terms {
	const struct ab_policy *policy;
	const char *cwd;	   /* where one's own is not known */
	bool yes;		   /* what is escalated is accepted */
	const char *approved;	   /* rule whose escalation is, or NULL */
	const char *approved_user; /* which, where it is one of the user's */
};

struct ab_refused {
	enum ab_decision decision;
	const char *rule; /* "user": one of the user's */
	const char *reason;
	struct ab_text command; /* quoted for a shell */
};

/* 0: nothing against it. Else an errno, for EPERM with *ret filled. */
int ab_exec_judge(struct ab_arena *arena, const struct ab_terms *terms,
		  const struct ab_exec *attempt, struct ab_refused *ret);

#endif
