#pragma once
/*
 * The command's own process: limits, Landlock, filter, proof, then exec.
 *
 * It shares init's memory while init sleeps (vfork), so it allocates nothing.
 */
#include "base/base.h"
#include "netns/capture.h"
#include "policy/model/policy.h"
#include "sandbox/seccomp/seccomp.h"

struct ab_spec;
struct ab_holds;

struct ab_target {
	const struct ab_spec *spec;
	int sock;		 /* connected to the supervisor */
	int ruleset;		 /* Landlock; -1: not available */
	int tty;		 /* the slave, or -1 */
	enum ab_capture capture; /* how connections are captured */
	struct ab_holds *holds;	 /* filled by the proof */
	bool inside;		 /* init is behind Landlock and the filter itself */
	bool proof_only;	 /* prove the box and exit */
	int listener;		 /* set by ab_target_lock(), or -1 */
	bool asked;		 /* the listener was already sent */
	struct ab_spec *waiting; /* its own, if it gets its command later; else NULL */
	bool uncaptured;	 /* then also spec.env_uncaptured counts */
	struct ab_error *err;	 /* init's: why the command is not executed */
	bool ready;		 /* nothing but the exec is left */
};

/* Returns once the command was executed. -1: it was not, and the process is gone or ending. */
int ab_target_start(struct ab_target *target, pid_t *ret, struct ab_error *err);

/* The folder of the command. */
int ab_target_enter(const struct ab_spec *spec, struct ab_error *err);

/* The 0-2 of a command that comes later, by spec->streams: those that are passed on are `fds` from
 * `first` to `end`, and others are opened here. */
int ab_target_take_streams(const struct ab_spec *spec, const struct ab_fds *fds, size_t first,
			   size_t end, struct ab_error *err);

/*
 * The filter that is loaded first. It leaves namespaces to the listener, which tells who wants one,
 * only where the kernel itself forbids user namespaces until there is a listener. A nested run has
 * none of its own.
 */
enum ab_filter ab_target_filter(const struct ab_spec *spec, enum ab_box_engine engine);

/* The part after the fork, also for a nested run in the current process: lock and
 * prove, then execute. ab_target_exec() returns only on failure. */
int ab_target_lock(struct ab_target *target, struct ab_error *err);
int ab_target_exec(const struct ab_spec *spec, struct ab_error *err);
/* Fail if a required guarantee is missing. */
int ab_target_check(const struct ab_spec *spec, const struct ab_holds *holds, struct ab_error *err);

/*
 * Record when each step of the launch ended, for `run -vv`. When disabled, a mark costs
 * one test. The clock is the host's, so the supervisor's marks are comparable.
 */
void ab_mark_open(struct ab_holds *holds);
void ab_mark(const char *step);
