#ifndef AGENTBOX_H
#define AGENTBOX_H
/*
 * libagentbox: run commands in boxes from a program. See agentbox(3).
 *
 * A manager is a connection to one process of agentbox, which the library starts
 * and which supervises every run. The library itself starts no thread, installs no
 * signal handler, prints nothing, never exits and keeps no state outside of what it
 * returns. Its process raises no SIGCHLD and is not seen by wait().
 *
 * Every function may be called from any thread. Callbacks run on a thread that is in
 * ab_manager_dispatch() or ab_proc_wait(), one at a time. A callback may call every
 * function except these two, ab_proc_free() and ab_manager_free().
 *
 * Functions return 0, or -1 with *fault filled in; `fault` may be NULL. Structs with
 * a member `size` are extended by later versions: set it with the macro.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AB_API __attribute__((visibility("default")))

/* The version of the library, for example "0.1.0". */
AB_API const char *ab_version(void);

/* ---- failures ---- */

enum ab_fault_code {
	AB_FAULT_NONE,
	AB_FAULT_USAGE,	   /* the call or the request is wrong */
	AB_FAULT_CONFIG,   /* the policy is wrong */
	AB_FAULT_SYSTEM,   /* a system call failed; agentbox could not be started */
	AB_FAULT_PROPERTY, /* a required guarantee is not in force */
	AB_FAULT_REFUSED,  /* the policy refuses the command */
	AB_FAULT_NOT_EXECUTABLE,
	AB_FAULT_NOT_FOUND, /* the program, or the run: it has ended */
	AB_FAULT_MEMORY,    /* out of memory */
	AB_FAULT_GONE,	    /* agentbox has ended; nothing more works */
};

struct ab_fault {
	enum ab_fault_code code;
	int errnum;	/* of a system call, or 0 */
	char text[512]; /* what happened, one sentence */
	char hint[512]; /* what to do, or "" */
};

/* ---- the policy of a command ---- */

struct ab_setting_value {
	const char *key;   /* "network.allow" */
	const char *value; /* as on the command line; one entry of a list */
};

/* Everything may be NULL or 0. Strings are copied. */
struct ab_policy_options {
	size_t size;
	const char *policy;	 /* settings as JSON text, agentbox.json(5) ... */
	const char *policy_file; /* ... or a file of them; instead of the user's own */
	const char *profile;
	const char *cwd;       /* where the command starts; NULL: where the manager was created */
	const char *workspace; /* NULL: cwd */
	bool no_project;       /* ignore .agentbox.json in the workspace */
	const struct ab_setting_value *settings; /* on top of everything else */
	size_t nsettings;
	/* "K=V", ends with NULL: the environment that the run starts from; NULL: that of the
	 * caller when the manager was created. The policy decides what the box sees of it. */
	const char *const *env;
};
#define AB_POLICY_OPTIONS                                \
	{                                                \
		.size = sizeof(struct ab_policy_options) \
	}

/* ---- managers ---- */

struct ab_manager;

struct ab_manager_options {
	size_t size;
	/* The agentbox program: an open file, or a path. 0 and NULL: the installed one. */
	int program_fd;
	const char *program;
	/* A base for the policy of every command; members of a command's own options replace
	 * its members, and settings add up. */
	const struct ab_policy_options *policy;
	/* Start nothing: every run ends at once with noop_exit and no guarantee. For tests of
	 * the caller, and for systems without agentbox. */
	bool noop;
	int noop_exit;
};
#define AB_MANAGER_OPTIONS                                \
	{                                                 \
		.size = sizeof(struct ab_manager_options) \
	}

/* `options` may be NULL. */
AB_API int ab_manager_new(const struct ab_manager_options *options, struct ab_manager **ret,
			  struct ab_fault *fault);
/* End every run and the process, and wait until nothing is left of them. Handles of
 * runs stay valid until they are freed. NULL is allowed. */
AB_API void ab_manager_free(struct ab_manager *manager);

/* Readable when ab_manager_dispatch() has work. -1 for a no-op manager. */
AB_API int ab_manager_fd(const struct ab_manager *manager);
/* Wait up to `timeout_ms` for events (0: do not wait; -1: without limit) and call the
 * callbacks. Returns how many events there were. */
AB_API int ab_manager_dispatch(struct ab_manager *manager, int timeout_ms, struct ab_fault *fault);

/* Can a box be built on this machine? *ret_report (may be NULL) is the report of
 * `agentbox doctor --json`, to be released with ab_free(). */
AB_API int ab_manager_available(struct ab_manager *manager, bool *ret_available, char **ret_report,
				struct ab_fault *fault);

/* ---- judging a command ---- */

enum ab_verdict {
	AB_VERDICT_ALLOW,
	AB_VERDICT_SANDBOXED,
	AB_VERDICT_ESCALATED, /* needs approval */
	AB_VERDICT_FORBIDDEN,
};

/* Give `argv` (ends with NULL) or `shell`, a text for a shell. Nothing runs. *ret_json
 * (may be NULL) is the object of `agentbox check --json`; ab_free(). */
AB_API int ab_manager_check(struct ab_manager *manager, const char *const *argv, const char *shell,
			    const struct ab_policy_options *policy, enum ab_verdict *ret,
			    char **ret_json, struct ab_fault *fault);

/* An argv, ends with NULL, that runs the command in a box when the caller executes it.
 * Release it with ab_strings_free(). */
AB_API int ab_manager_wrap(struct ab_manager *manager, const char *const *argv, const char *shell,
			   const struct ab_policy_options *policy, char ***ret_argv,
			   struct ab_fault *fault);

/* ---- boxes that are prepared before their commands are known ---- */

struct ab_pool;

struct ab_pool_options {
	size_t size;
	size_t boxes; /* how many wait; from 1; at most 64 in all pools of a manager */
	const struct ab_policy_options *policy;
};
#define AB_POOL_OPTIONS                                \
	{                                              \
		.size = sizeof(struct ab_pool_options) \
	}

/* Returns when all boxes are ready. */
AB_API int ab_pool_new(struct ab_manager *manager, const struct ab_pool_options *options,
		       struct ab_pool **ret, struct ab_fault *fault);
/* End the boxes that wait. Runs of the pool continue. NULL is allowed. */
AB_API void ab_pool_free(struct ab_pool *pool);

/* ---- running a command ---- */

struct ab_proc;

/* Streams: a descriptor of the caller, which is copied, or one of these. */
enum {
	AB_STDIO_DEFAULT = 0, /* input: null; output: capture. (Pass 0 itself as AB_STDIO_FD0.) */
	AB_STDIO_NULL = -1,
	AB_STDIO_PIPE = -2,    /* input: ab_proc_write() */
	AB_STDIO_CAPTURE = -3, /* output: in the outcome */
	AB_STDIO_STREAM = -4,  /* output: the callback `output` */
	AB_STDIO_STDOUT = -5,  /* standard error: where standard output goes */
	AB_STDIO_FD0 = -6,     /* descriptor 0 of the caller */
};

enum ab_question_kind {
	AB_QUESTION_ABOUT_COMMAND, /* nothing has started */
	AB_QUESTION_ABOUT_HOST,	   /* a connection waits */
	AB_QUESTION_ABOUT_KEY,	   /* the box wants to use a key of the SSH agent */
	AB_QUESTION_ABOUT_NETWORK, /* a threshold has paused the network */
	AB_QUESTION_ABOUT_TOOL,	   /* the box wants to call a host tool */
};

/* Valid during the callback; copy `id` to answer later. A question may be sent again
 * when more is known about it. */
struct ab_asked {
	const char *id;
	enum ab_question_kind kind;
	const char *text;	   /* the command, the host, or what the box wants to do */
	uint16_t port;		   /* of a host */
	const char *rule, *reason; /* about a command, else "" */
	uint64_t left_ms;
	const char *json; /* everything, as in docs/serve.md */
};

enum ab_message_level { AB_MESSAGE_DETAIL, AB_MESSAGE_NOTE, AB_MESSAGE_WARNING };

struct ab_outcome;

/* Any of them may be NULL. */
struct ab_callbacks {
	size_t size;
	void *arg;
	void (*started)(void *arg, struct ab_proc *proc, const char *run_id);
	/* `stream` is 1 or 2. */
	void (*output)(void *arg, struct ab_proc *proc, int stream, const char *data, size_t len);
	/* Answer now or later, from any thread, with ab_proc_answer(). Without this callback
	 * nobody is asked: what would be asked is denied. */
	void (*question)(void *arg, struct ab_proc *proc, const struct ab_asked *question);
	void (*settled)(void *arg, struct ab_proc *proc, const char *id);
	/* A denial, and any record of the run: one JSON object. */
	void (*violation)(void *arg, struct ab_proc *proc, const char *json);
	void (*record)(void *arg, struct ab_proc *proc, const char *json);
	void (*message)(void *arg, struct ab_proc *proc, enum ab_message_level level,
			const char *text);
	void (*ended)(void *arg, struct ab_proc *proc, const struct ab_outcome *outcome);
};
#define AB_CALLBACKS                                \
	{                                           \
		.size = sizeof(struct ab_callbacks) \
	}

struct ab_run_options {
	size_t size;
	const char *const *argv; /* ends with NULL; or: */
	const char *shell;	 /* a text for shell_path, by default /bin/sh */
	const char *shell_path;
	const struct ab_policy_options *policy;
	const char *name;  /* of the run, or NULL */
	int in, out, err;  /* AB_STDIO_... or a descriptor */
	const void *input; /* bytes for standard input, with in = AB_STDIO_DEFAULT */
	size_t input_len;
	size_t capture_max;   /* of each stream; 0: 10 MiB; at most 64 MiB */
	uint64_t deadline_ms; /* 0: none */
	uint64_t question_ms; /* how long a question about the command waits; 0: a minute */
	int records_fd;	      /* gets the records as JSON lines; 0: none */
	bool yes;	      /* approve a command that needs approval */
	bool trace_denials;
	bool require_covered;
	const struct ab_callbacks *callbacks; /* copied */
	/* A pool of the same manager: use one of its boxes. `policy` may then only have cwd and
	 * env, and trace_denials is not possible. */
	const struct ab_pool *pool;
};
#define AB_RUN_OPTIONS                                \
	{                                             \
		.size = sizeof(struct ab_run_options) \
	}

/* How a run ended. It belongs to its handle. Later versions may add members. */
struct ab_outcome {
	int exit;     /* as of `agentbox run`: 124 timeout, 125 agentbox, 126, 127 */
	int signal;   /* that ended the command, or 0 */
	bool started; /* the command ran, in a box */
	bool timed_out;
	const char *error, *hint; /* why it did not start or was ended; "" if none */
	const char *run_id;	  /* for `agentbox log`, or "" */
	const char *out, *err;	  /* captured output; a NUL follows, others may be in it */
	size_t out_len, err_len;
	uint64_t out_total, err_total; /* bytes that the command wrote */
	bool out_truncated, err_truncated;
	uint64_t duration_ms;
	const char *const *violations; /* JSON objects, ends with NULL: the first 200 */
	size_t nviolations;
	uint64_t violations_total;
	const char *engine;	    /* what the box was built with, or "" */
	const char *const *holds;   /* guarantees in force, ends with NULL */
	const char *const *missing; /* and those that are not */
	const char *json;	    /* the whole result, without captured output */
};

AB_API int ab_manager_run(struct ab_manager *manager, const struct ab_run_options *options,
			  struct ab_proc **ret, struct ab_fault *fault);
/* Wait until it has ended, and call callbacks meanwhile. 1: it has; *ret (may be NULL) lives as
 * long as the handle. 0: the time is over. */
AB_API int ab_proc_wait(struct ab_proc *proc, int timeout_ms, const struct ab_outcome **ret,
			struct ab_fault *fault);
/* NULL: it has not ended, as far as the callbacks know. */
AB_API const struct ab_outcome *ab_proc_outcome(struct ab_proc *proc);
/* Write to AB_STDIO_PIPE; returns when the bytes are in the pipe. `eof`: close it. */
AB_API int ab_proc_write(struct ab_proc *proc, const void *data, size_t len, bool eof,
			 struct ab_fault *fault);
AB_API int ab_proc_signal(struct ab_proc *proc, int signal, struct ab_fault *fault);
/* SIGTERM, and after the grace SIGKILL. Does not wait for the end. */
AB_API int ab_proc_stop(struct ab_proc *proc, unsigned grace_ms, struct ab_fault *fault);
/* "once", "run", "session", "always", "no" and others: see agentbox_proc(3). `reason` may be NULL. */
AB_API int ab_proc_answer(struct ab_proc *proc, const char *id, const char *answer,
			  const char *reason, struct ab_fault *fault);
/* Change the host lists of an active run; each list ends with NULL or is NULL. for_ms 0: until
 * it ends. *ret_released (may be NULL): connections that waited and continue. */
AB_API int ab_proc_update(struct ab_proc *proc, const char *const *allow, const char *const *deny,
			  uint64_t for_ms, uint64_t *ret_released, struct ab_fault *fault);
/* What is known about an active run, as JSON; ab_free(). */
AB_API int ab_proc_status(struct ab_proc *proc, char **ret_json, struct ab_fault *fault);
/* Release the handle. A run that is active is ended, and no callback is called for it any more.
 * NULL is allowed. */
AB_API void ab_proc_free(struct ab_proc *proc);

AB_API void ab_free(void *text);
AB_API void ab_strings_free(char **strings);

#ifdef __cplusplus
}
#endif

#endif
