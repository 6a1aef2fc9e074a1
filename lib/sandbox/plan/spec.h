#ifndef AB_SANDBOX_PLAN_SPEC_H
#define AB_SANDBOX_PLAN_SPEC_H
/*
 * The specification of one box: all that its init needs to know, as plain
 * data. The supervisor encodes it into a sealed memfd; init decodes it. Both
 * directions are one function (spec.c), so they cannot disagree.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "base/data/strv.h"
#include "sandbox/plan/plan.h"

struct ab_error;

/* The namespaces of the caller, where the proof that the box has its own is
 * by comparison; the other ones are proved by what they do. */
enum ab_ns { AB_NS_NET, AB_NS_IPC, AB_NS_COUNT };

struct ab_path_rule { /* for Landlock, in the box's own view */
	char *path;
	uint32_t rights;
};

struct ab_file {    /* of the box's own, over what is there */
	char *path; /* real; or below /dev, where it is made */
	char *data; /* `len` bytes, any */
	size_t len;
	uint32_t same;	/* 0; else it is file same-1, which comes
				   earlier and has the bytes */
	uint32_t mode;	/* permissions; 0: anybody may read it */
	bool over_mask; /* shown although a mask covers it, and no
				   start without it where the host's file
				   would be seen instead */
};

struct ab_limits { /* 0: none */
	uint64_t memory;
	uint64_t processes;
	uint64_t files;
	uint64_t cpu_ms;
	uint64_t file_size;
};

struct ab_spec {
	struct ab_plan plan;
	struct ab_path_rule *rules;
	size_t nrules;
	struct ab_file *files;
	size_t nfiles;
	bool hidden_root;	     /* only what the plan shows exists */
	bool own_net;		     /* a network namespace of its own */
	bool door;		     /* which has a door */
	bool tty;		     /* fds 0-2 that are terminals get a pty */
	bool nested;		     /* already in a box: Landlock and filter only */
	bool no_sockets;	     /* nested: no internet sockets */
	uint32_t tty_fds;	     /* which of 0-2: bits */
	bool tty_behind;	     /* starts in its background */
	struct termios tty_settings; /* else what it begins with */
	uint16_t rows, cols;
	int landlock_abi;
	struct ab_limits limits;
	uint64_t host_ns[AB_NS_COUNT];
	uint32_t require; /* properties without which it must not start */
	bool strict;
	bool protected_complete; /* no unseen way to a protected file */
	bool memory_cgroup;	 /* the memory limit is the cgroup's */
	bool pids_cgroup;	 /* and so is that of the processes: it has
				   no room for more until the proof is over */
	bool children;		 /* each program is asked about before it is
				   executed */
	bool traced;		 /* and so are calls that are refused, or may be */
	bool timing;		 /* report what each step took */
	uint64_t started_ns;	 /* CLOCK_MONOTONIC of the supervisor's start */
	char *run_id;
	char *cwd;
	struct ab_strv argv;
	struct ab_strv env;
	struct ab_strv env_uncaptured; /* also, where ssh is not captured */
	struct ab_strv sockets;	       /* host sockets that must be gone */
	struct ab_strv unwritable;     /* folders to prove the write fence on */
	struct ab_strv keep_fds;       /* numbers, as text */
};

void ab_spec_fini(struct ab_spec *spec);

/* Add a file; path and bytes are taken over. The pointer is good until the
 * next one is added. */
struct ab_file *ab_spec_add_file(struct ab_spec *spec, char *path, char *data, size_t len);
/* The bytes of file `of` at another path as well. */
struct ab_file *ab_spec_share_file(struct ab_spec *spec, char *path, size_t of);

/* A sealed memfd, or -1. */
int ab_spec_seal(struct ab_spec *spec, struct ab_error *err);
int ab_spec_read(int fd, struct ab_spec *ret, struct ab_error *err);

#endif
