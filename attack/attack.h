#pragma once
/*
 * The self-attack, inside and outside.
 *
 * The outside plants targets that must not be reached (attack_stage.c), starts
 * our own program in a box and reads its reports. The inside works through the
 * tables of attempts, each in its own process, and reports by index: both sides
 * are the same program, so the tables are the same. Afterwards the outside
 * checks whether any target was changed or touched.
 *
 * The attack must not do harm if a wall is missing. Targets are planted for the
 * purpose; other files are only opened, never truncated or written; files that
 * are created through a hole have no name or are removed again.
 */
#include "attack/attack_result.h"
#include "attack/attack_stand_ins.h"
#include "base/base.h"

/* What the inside knows, from its arguments. */
struct ab_attacker {
	const char *base;	 /* the trial's folder */
	const char *home;	 /* the caller's real home, or "" */
	const char *tag;	 /* in the name of everything planted */
	pid_t victim;		 /* a process of the host */
	int port;		 /* a listener on the host's loopback */
	int key;		 /* key of a System V shared memory segment */
	int stray;		 /* a file descriptor that the box must not have */
	char word[AB_WORD_SIZE]; /* of struct ab_stand_ins */
	char path[4096];	 /* ab_attacker_path() */
	char seen[160];
};
#define AB_ATTACKER_WORDS 4
#define AB_ATTACKER_NUMBERS "%d %d %d %d" /* victim, port, key, stray: the last word */

/* Names that inside and outside agree on; the tag follows. */
#define AB_ATTACKER_NAME "aba-" /* processes of the attack */
#define AB_VICTIM_NAME "abv-"
#define AB_PLANTED_NAME "agentbox-planted-" /* files, queues, sockets */
#define AB_INSIDE_NAME "agentbox-inside-"   /* what the inside leaves behind */
#define AB_PLANTED_SECRET "a planted secret"
#define AB_PLANTED_LOGIN "planted-login"
#define AB_LATE_FILE "home/.config/pip/pip.conf" /* written while the box starts */

/* Addresses that the box must not reach. Where the address does not matter, it
 * is one for documentation, so that nothing arrives anywhere through a hole. */
#define AB_OUT4 "203.0.113.1"
#define AB_OUT6 "2001:db8::1"
#define AB_METADATA "169.254.169.254"
#define AB_PRIVATE "10.0.0.1"

/* The functions of the tables have the same parameters; many need none of them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/*
 * One attempt. `run` gets `arg` and reports with the functions below. `twin` does
 * something that is allowed, by the same means, and returns NULL or what failed:
 * a wall that denies everything is broken too.
 */
struct ab_try {
	const char *name;
	enum ab_hold (*run)(struct ab_attacker *a, const struct ab_try *t);
	const char *arg;
	long number;
	const char *(*twin)(struct ab_attacker *a);
	int (*call)(void); /* of kernel_calls.h */
	uint32_t claim; /* AB_PROP_BIT(): an engine without it does not claim to stop this; 0: all do */
};
/* In `claim`: so does an engine without mounts, or it cannot do what is allowed elsewhere. */
#define AB_CLAIM_MOUNTS (1u << 31)

struct ab_tries {
	const char *wall;
	const struct ab_try *v;
	size_t len;
	uint32_t claim; /* of all of them */
};

extern const struct ab_tries ab_tries_files, ab_tries_names, ab_tries_machine, ab_tries_home,
	ab_tries_mounts, ab_tries_processes, ab_tries_users, ab_tries_net, ab_tries_ipc,
	ab_tries_calls, ab_tries_terminal, ab_tries_limits, ab_tries_environment, ab_tries_secrets,
	ab_tries_containers;

/* All tables as one: the attempt with this index, or NULL; and its table. */
const struct ab_try *ab_try_at(size_t index, const struct ab_tries **ret);

/* What it has seen; returns `hold`. */
enum ab_hold ab_result(struct ab_attacker *a, enum ab_hold hold, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define ab_held(a, ...) ab_result(a, AB_HOLD_HELD, __VA_ARGS__)
#define ab_broken(a, ...) ab_result(a, AB_HOLD_BROKEN, __VA_ARGS__)
#define ab_untried(a, ...) ab_result(a, AB_HOLD_UNTRIED, __VA_ARGS__)
/* r < 0: held, with errno; otherwise broken. The second one closes fd. */
enum ab_hold ab_refused(struct ab_attacker *a, long r);
enum ab_hold ab_refused_fd(struct ab_attacker *a, int fd);

/* A path for an attempt: "~/x" in the planted home, "@x" in the trial's folder,
 * "./x" in the workspace, "!" the real home; anything else is unchanged. */
const char *ab_attacker_path(struct ab_attacker *a, const char *arg);

/* The box's own folder for temporary files. */
const char *ab_attacker_tmp(void);

/* The report of one attempt. */
struct ab_report {
	uint32_t index;
	uint32_t hold;
	char seen[160];
};

/* The inside; never returns. */
_Noreturn void ab_attack_inside(int argc, char **argv);

/* attack_stage.c: plant the targets. */
struct ab_trial;

struct ab_stage {
	const struct ab_trial *trial;
	char tag[8];
	pid_t self, victim;
	int control; /* the victim cleans up when this closes */
	int port;
	int key;
	int secret;	  /* a file descriptor of a planted key */
	int listeners[4]; /* the host's: TCP, abstract, pathname, renamed */
	struct ab_stand_ins stand_ins;
	char *before; /* the trial's files, as text */
	char *mounts;
};

int ab_stage_open(struct ab_trial *trial, struct ab_stage *ret, struct ab_error *err);
void ab_stage_fini(struct ab_stage *stage);
/* A socket of AF_UNIX on which bind() or connect() was called. -1 with errno. */
int ab_unix_socket(const char *path, bool abstract, int type,
		   int (*use)(int fd, const struct sockaddr *at, socklen_t len));
/* A socket that listens; -1: it cannot. *ret_port is set if it can be reached. */
int ab_stage_listen(const char *path, bool abstract);
int ab_stage_listen_loopback(int *ret_port);
/* A file in the trial's folder, with its parents; `text` NULL: a folder. */
int ab_stage_plant(const struct ab_trial *trial, const char *path, const char *text);
/* Folders of the host that are private in the box; ends with NULL. */
extern const char *const ab_shared_folders[];

/* attack_inspect.c: record the state outside, and compare it afterwards: one row
 * for each question. */
char *ab_stage_snapshot(const struct ab_stage *stage);
char *ab_stage_mounts(const struct ab_stage *stage);
void ab_stage_inspect(struct ab_stage *stage, struct ab_attack *attack);

/* Add a row to the report. */
void ab_attack_add(struct ab_attack *attack, const char *wall, const char *name, enum ab_hold hold,
		   const char *seen);
