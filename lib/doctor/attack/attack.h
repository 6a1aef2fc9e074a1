#ifndef AB_DOCTOR_ATTACK_ATTACK_H
#define AB_DOCTOR_ATTACK_ATTACK_H
/*
 * The self-attack, inside and outside.
 *
 * Outside plants what may not be reached (attack_stage.c), starts our own
 * program in a box and listens. Inside works through the tables of attempts,
 * each in a process of its own, and reports by index: both sides are the same
 * program, so the tables are the same. Afterwards outside looks whether
 * anything planted has changed or was touched.
 *
 * Mustn't: do harm where a wall is missing. Targets are planted for the
 * purpose, files elsewhere are only opened, never truncated or written, what
 * is made by mistake is nameless or removed again.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "doctor/attack/attack_result.h"

/* What the inside is told; all of it is in our own argument list. */
struct ab_attacker {
	const char *base; /* the trial's folder */
	const char *home; /* the caller's real home, or "" */
	const char *tag;  /* in the name of everything planted */
	pid_t victim;	  /* a process of the host */
	int port;	  /* where it listens on the host's loopback */
	int key;	  /* of a System V shared memory segment */
	int stray;	  /* a descriptor that must not have come in */
	char path[4096];  /* ab_place() */
	char seen[160];
};
#define AB_ATTACKER_WORDS 7

/* Names that inside and outside agree on; the tag follows. */
#define AB_ATTACKER_NAME "aba-" /* processes of the attack */
#define AB_VICTIM_NAME "abv-"
#define AB_PLANTED_NAME "agentbox-planted-" /* files, queues, sockets */
#define AB_INSIDE_NAME "agentbox-inside-"   /* what inside leaves behind */
#define AB_PLANTED_SECRET "a planted secret"

/* Addresses for documentation, where the address is not the point: through a
 * hole nothing reaches anybody. The box may reach none of these. */
#define AB_OUT4 "203.0.113.1"
#define AB_OUT6 "2001:db8::1"
#define AB_METADATA "169.254.169.254"
#define AB_PRIVATE "10.0.0.1"

/*
 * One attempt. `run` gets `arg`, and says what it saw with the functions
 * below. `twin` does what a program may do, with the same means; it returns
 * NULL, or what went wrong: a wall that refuses everything is broken too.
 */
struct ab_try {
	const char *wall, *name;
	enum ab_hold (*run)(struct ab_attacker *a, const struct ab_try *t);
	const char *arg;
	long number;
	const char *(*twin)(struct ab_attacker *a);
};

struct ab_tries {
	const struct ab_try *v;
	size_t len;
};

extern const struct ab_tries ab_tries_files, ab_tries_mounts, ab_tries_processes, ab_tries_users,
	ab_tries_net, ab_tries_ipc, ab_tries_calls, ab_tries_terminal, ab_tries_limits,
	ab_tries_environment;

/* All tables as one: the attempt with this index, or NULL. */
const struct ab_try *ab_try_at(size_t index);

enum ab_hold ab_held(struct ab_attacker *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum ab_hold ab_broken(struct ab_attacker *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum ab_hold ab_untried(struct ab_attacker *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* r < 0: held, with errno; else broken, and r is closed if it is an fd. */
enum ab_hold ab_refused(struct ab_attacker *a, long r);
enum ab_hold ab_refused_fd(struct ab_attacker *a, int fd);

/* A path for an attempt: "~/x" in the planted home, "@x" in the trial's
 * folder, "./x" in the workspace, "!" the real home; else as it is. */
const char *ab_place(struct ab_attacker *a, const char *arg);

/* What inside sends for each attempt. */
struct ab_report {
	uint32_t index;
	uint32_t hold;
	char seen[160];
};

/* The inside; never returns. */
_Noreturn void ab_attack_inside(int argc, char **argv);

/* attack_stage.c: what is planted. */
struct ab_trial;

struct ab_stage {
	const struct ab_trial *trial;
	char tag[8];
	pid_t self, victim;
	int control; /* the victim cleans up when this closes */
	int port;
	int key;
	int secret;	  /* a descriptor of a planted key */
	int listeners[3]; /* the host's: TCP, abstract, pathname */
	char *before;	  /* the trial's files, as text */
	char *mounts;
};

int ab_stage_open(struct ab_trial *trial, struct ab_stage *ret, struct ab_error *err);
void ab_stage_fini(struct ab_stage *stage);
/* Folders of the host that the box has its own of; ends with NULL. */
extern const char *const ab_shared_folders[];

/* attack_inspect.c: what can be compared, and the comparison: one attempt
 * for each question. */
char *ab_stage_snapshot(const struct ab_stage *stage);
char *ab_stage_mounts(const struct ab_stage *stage);
void ab_stage_inspect(struct ab_stage *stage, struct ab_attack *attack);

/* Another row of the report. */
void ab_attack_add(struct ab_attack *attack, const char *wall, const char *name, enum ab_hold hold,
		   const char *seen);

#endif
