#pragma once
/*
 * A process of the box is about to execute a program: read the arguments of the call from the
 * process (exec_read.c), and judge them (exec_decide.c, pure).
 *
 * The process waits meanwhile, but its other threads, and processes that share its memory, do not:
 * they can change what was read before the kernel reads it. So a verdict here only ever adds a
 * refusal to what the confinement denies anyway.
 */
#include "base/base.h"
#include "shell/judge/judge.h"

struct ab_policy;
struct seccomp_data;

enum {
	AB_EXEC_WORDS = 65536,
	AB_EXEC_BYTES = 1 << 20, /* path and words together */
};

struct ab_exec {
	const char *path;  /* as given, or the descriptor's */
	const char *real;  /* the file that it leads to, or NULL */
	const char *cwd;   /* or NULL */
	const char **argv; /* never empty */
	size_t argc;
	int absent; /* errno: the file does not exist */
};

/* Read it into the arena. 0, or an errno to answer the call with: EFAULT and E2BIG as the kernel
 * would, EPERM when the process cannot be read. */
int ab_exec_read(struct ab_arena *arena, pid_t pid, const struct seccomp_data *call,
		 struct ab_exec *ret);

/* Read a text of at most PATH_MAX bytes, or `len` bytes, from its memory: 0 or an errno. */
int ab_exec_path(struct ab_arena *arena, pid_t pid, uint64_t at, const char **ret);
int ab_exec_bytes(pid_t pid, uint64_t at, void *to, size_t len);

/* Has it executed no program since it was forked? */
bool ab_exec_is_first(pid_t pid);
/* The name of its current program; "" when it is gone. */
void ab_exec_by(pid_t pid, char ret[16]);

/* The basis for verdicts. */
struct ab_terms {
	const struct ab_policy *policy;
	const char *cwd;	   /* if the process's own is unknown */
	bool yes;		   /* escalated programs are accepted */
	const char *approved;	   /* rule that was approved, or NULL */
	const char *approved_user; /* which one, if it is the user's own */
};

struct ab_refused {
	enum ab_decision decision;
	const char *rule; /* "user": one of the user's own */
	const char *reason;
	struct ab_text command; /* quoted for a shell */
};

/* 0: not refused. Else an errno; with EPERM, *ret is filled in. */
int ab_exec_judge(struct ab_arena *arena, const struct ab_terms *terms,
		  const struct ab_exec *attempt, struct ab_refused *ret);
