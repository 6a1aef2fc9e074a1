#pragma once
/*
 * The specification of one box: everything that its init needs to know, as plain
 * data. The supervisor encodes it into a sealed memfd, init decodes it. One
 * function (spec.c) does both, so they cannot disagree.
 */
#include <termios.h>

#include "base/base.h"
#include "sandbox/plan/plan.h"

/* Namespaces of the caller that the proof compares with those of the box. The
 * others are proved by their effect. */
enum ab_ns { AB_NS_NET, AB_NS_IPC, AB_NS_COUNT };

struct ab_path_rule { /* for Landlock; paths in the box */
	char *path;
	uint32_t rights;
};

struct ab_file {    /* one of the box's own files, mounted over the path */
	char *path; /* real; or below /dev, where it is created */
	char *data; /* `len` arbitrary bytes */
	size_t len;
	uint32_t same;	/* 0; else the bytes are those of file same-1,
				   which comes earlier */
	uint32_t mode;	/* permissions; 0: readable by all */
	bool over_mask; /* shown although a mask covers it; do not
				   start without it if the host's file
				   would be visible instead */
};

struct ab_limits { /* 0: none */
	uint64_t memory;
	uint64_t processes;
	uint64_t files;
	uint64_t cpu_ms;
	uint64_t file_size;
};

/* The box's ssh agent, in its private /run. */
#define AB_AGENT_SOCKET "/run/agentbox-ssh-agent.sock"

/* Our own program, as the host has it, on a read-only mount: whatever a layer has under its name. */
#define AB_OWN_PROGRAM "/dev/agentbox-program"

/* Commands for programs of the host: links to our own program, in a read-only folder; and the socket
 * by which they are asked for, in the private /run. */
#define AB_TOOLS_FOLDER "/dev/agentbox-tools"
#define AB_TOOLS_SOCKET "/run/agentbox-tools.sock"

struct ab_spec {
	struct ab_plan plan;
	struct ab_layer_mounts layers; /* of the plan's entries AB_MOUNT_LAYER, and no others */
	struct ab_path_rule *rules;
	size_t nrules;
	struct ab_file *files;
	size_t nfiles;
	/* From `host_ns` to `waits` there are neither pointers nor, by their sizes, gaps: all of it is
	 * encoded as it is. */
	uint64_t host_ns[AB_NS_COUNT];
	uint64_t started_ns; /* CLOCK_MONOTONIC of the supervisor's start */
	uint64_t cwd_ino;    /* of the folder `cwd`; 0: any */
	struct ab_limits limits;
	struct termios tty_settings; /* initial settings, unless tty_behind */
	int landlock_abi;
	uint32_t require; /* guarantees without which it must not start */
	uint32_t tty_fds; /* which of 0-2: bits */
	uint16_t rows, cols;
	bool hidden_root;   /* only paths that the plan shows exist */
	bool own_net;	    /* has its own network namespace */
	bool door;	    /* with a proxy */
	bool tty;	    /* fds 0-2 that are terminals get a pty */
	bool no_namespaces; /* nor mounts: the plan is kept as far as Landlock can */
	bool nested;	    /* already in a box: Landlock and filter only */
	bool agent;	    /* the box has an ssh agent, at AB_AGENT_SOCKET */
	bool no_sockets;    /* nested: no internet sockets */
	bool tty_behind;    /* starts in the background */
	bool strict;
	bool protected_complete; /* every protected file was found, under each of its names */
	bool memory_cgroup;	 /* the cgroup enforces the memory limit */
	bool pids_cgroup;	 /* it also enforces the process limit, and has
				   no room for more until the proof is done */
	bool uncounted;		 /* the kernel does not count this user's processes */
	bool count_processes;	 /* during the run: the limit was set on purpose */
	bool children;		 /* judge each program before it is executed */
	bool connects;		 /* the guard makes the box's connections */
	bool datagrams;		 /* Unix datagram sockets are allowed */
	bool userns;		 /* the command may create user namespaces */
	bool traced;		 /* report calls that are or may be denied */
	bool timing;		 /* report the time of each step */
	bool stay;		 /* no command of its own: init starts those that it is asked for */
	bool waits;		 /* prepared ahead: its command comes later (box_wire.h) */
	bool proved;		 /* not encoded: a further command of a box that stays */
	uint64_t others;	 /* not encoded: processes of this user that are not the box's,
				   and count nevertheless */
	char *run_id;
	char *cwd;
	char *readable; /* a hidden file that can be read under another name; "": none */
	char *listen;	/* a stream socket that init makes here for the supervisor; "": none */
	struct ab_strv tools; /* names of commands in AB_TOOLS_FOLDER */
	struct ab_strv argv;
	struct ab_strv env;
	struct ab_strv env_uncaptured; /* added if ssh is not captured */
	struct ab_strv sockets;	       /* host sockets that must not be reachable */
	struct ab_strv unwritable;     /* folders in which the write fence is proved */
	struct ab_strv keep_fds;       /* numbers, as text */
	struct ab_strv blocked; /* set by ab_mounts_apply(): not mounted, because of a link in
					* a layer */
	/* Of a command that comes later: AB_STREAM_* or a device for 0-2. */
	struct ab_strv streams;
};

void ab_spec_fini(struct ab_spec *spec);

/* For `streams`: the descriptor is passed on; the terminal of the command; what a box
 * that waits has there already, which is /dev/null. */
#define AB_STREAM_PASSED "passed"
#define AB_STREAM_TERMINAL "terminal"
#define AB_STREAM_KEPT "kept"

/* Add a file to a spec that is being made (the lists of one that was read have no room); takes ownership
 * of path and bytes. The pointer is valid until the next file is added. */
struct ab_file *ab_spec_add_file(struct ab_spec *spec, char *path, char *data, size_t len);
bool ab_spec_has_file(const struct ab_spec *spec, const char *path);
/* Show the bytes of file `of` at another path, too. */
struct ab_file *ab_spec_share_file(struct ab_spec *spec, char *path, size_t of);

/* Appends it as bytes. */
int ab_spec_write(struct ab_spec *spec, struct ab_buf *ret, struct ab_error *err);
int ab_spec_parse(const char *text, size_t len, struct ab_spec *ret, struct ab_error *err);
/* The same in a sealed memfd, or -1. */
int ab_spec_seal(struct ab_spec *spec, struct ab_error *err);
int ab_spec_seal_text(const char *text, size_t len, struct ab_error *err);
int ab_spec_read(int fd, struct ab_spec *ret, struct ab_error *err);
