#pragma once
/*
 * Sees what the box denies, before it happens: calls that write, and with
 * --trace-denials all others.
 *
 * A call that may be denied waits for the guard (guard_link.h). The guard
 * runs the command's plain filter itself, so it knows what the filter denies. It predicts
 * what mounts and Landlock will deny: it resolves the names in the call as the
 * process sees them, and examines the mount they lead to.
 *
 * Namespaces that a program wants are seen in every run: a program whose own sandbox fails blames
 * the kernel.
 *
 * The process may change the names meanwhile, so this only writes records and
 * never permits anything. In doubt nothing is reported: a missing file, or one
 * that the user cannot use outside the box either, is not our denial.
 */
#include "base/base.h"

struct ab_note;
struct ab_plan;
struct ab_policy;
struct ab_trace;
struct seccomp_data;

struct ab_trace_terms {
	const struct ab_policy *policy;
	const struct ab_plan *plan;
	const struct ab_strv *sockets; /* the host's, hidden from the box */
	const char *state;	       /* agentbox's own folder, or NULL */
	const char *home;	       /* or NULL; the guard resolves it */
	uid_t uid;		       /* of the run */
	bool all;		       /* --trace-denials, not only calls that write */
	bool judged;		       /* programs are judged as well */
	bool learn;		       /* report programs that are executed */
	bool userns;		       /* user namespaces are allowed */
	bool no_mounts;		       /* the engine has none: Landlock alone denies writes */
	uint32_t filters;	       /* of a process that has not restricted itself */
};

/* A denial. Texts live as long as the arena and the terms. */
struct ab_denied {
	const char *access; /* "read", "write", "connect", "create"; "": the filter denies the call */
	const char *path;   /* real, in the box's own view; or "" */
	const char *rule, *reason;
	const char *hint; /* a command that allows it, or "" */
};

/* trace_calls.c: calls that take the name of a file. */
enum ab_touch_kind {
	AB_TOUCH_OPEN,
	AB_TOUCH_MAKE, /* creates a name */
	AB_TOUCH_REMOVE,
	AB_TOUCH_RENAME,
	AB_TOUCH_CHANGE,  /* changes an existing file */
	AB_TOUCH_CONNECT, /* path: the address */
	AB_TOUCH_BIND,
};

struct ab_touch { /* numbers of arguments; -1: it has none */
	int nr;
	enum ab_touch_kind kind;
	signed char dir, path, flags; /* dir -1: the current folder */
	signed char to_dir, to_path;  /* of a rename */
	bool nofollow;
};

/* NULL: the call takes no name. */
const struct ab_touch *ab_touch_find(int nr);
/* The flags of a call; *ret_plain: its names are resolved in the usual way. False: they cannot be
 * read. */
bool ab_touch_flags(const struct ab_touch *touch, pid_t pid, const struct seccomp_data *call,
		    int *ret, bool *ret_plain);

/*
 * trace_rules.c, pure: which rule denies it. False: no rule of agentbox.
 *
 * write: on a read-only file system; `whole` when the folder of the path would have to be changed.
 * unmount: the name is a mount point.
 * protected: the name does not exist and must not be created.
 */
bool ab_trace_write(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		    bool whole, struct ab_denied *ret);
bool ab_trace_unmount(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		      struct ab_denied *ret);
void ab_trace_protected(struct ab_arena *arena, const struct ab_trace_terms *terms,
			const char *path, struct ab_denied *ret);
bool ab_trace_mask(struct ab_arena *arena, const struct ab_trace_terms *terms, const char *path,
		   const char *access, struct ab_denied *ret);
/* The entry of denyWrite that closes a path, or NULL. */
const char *ab_trace_entry(const struct ab_policy *policy, const char *path);
bool ab_trace_socket(struct ab_arena *arena, const char *path, struct ab_denied *ret);

/* trace_predict.c: will the box deny a call that the filter allows? */
bool ab_trace_look(struct ab_arena *arena, const struct ab_trace_terms *terms, pid_t pid,
		   const struct seccomp_data *call, struct ab_denied *ret);

/* trace_namespaces.c, pure: what the box denies of the CLONE_NEW* in `flags`. False: nothing that a
 * program could have outside of the box. */
bool ab_namespace_denied(uint64_t flags, bool userns, struct ab_denied *ret);
/* The line for the terminal; NULL: the denial is not about namespaces. The names are escaped. */
char *ab_namespace_notice(const char *by, int pid, const char *id, const char *rule,
			  const char *reason);

/*
 * trace.c: remembers what was reported, so that each denial is reported once.
 *
 * denied() makes a note of a denial of the call `nr`. False: it was reported before and is only
 * counted. A note whose `told` is 0 means that there was no room to remember one more. Call sent()
 * for each note that was sent. again() returns, one by one, the denials that happened more than once.
 */
struct ab_trace *ab_trace_new(void);
bool ab_trace_denied(struct ab_trace *trace, struct ab_arena *arena, pid_t pid, int nr,
		     const struct ab_denied *denied, struct ab_note *ret);
/* The same for a program that is executed. */
bool ab_trace_program(struct ab_trace *trace, const char *real, struct ab_note *ret);
void ab_trace_sent(struct ab_trace *trace, const struct ab_note *note);
bool ab_trace_again(struct ab_trace *trace, struct ab_note *ret);
