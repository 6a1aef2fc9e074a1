#pragma once
/*
 * A box for trials, with its own home, workspace and state directory, all in one
 * folder of the real state directory. So none of the user's files are at risk,
 * and the next trial finds and removes the leftovers of a killed one.
 */
#include "base/base.h"
#include "policy/layers/layers.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct ab_trial {
	int parent; /* the real state directory */
	int dir;    /* the trial's folder, locked while this process lives */
	char name[24];
	char *base;    /* its path; it also contains "outside" */
	char *state;   /* base/state: the state directory of the box */
	char *home;    /* base/home */
	char *project; /* base/home/project: the workspace */
	struct ab_strv env;
	char *config;  /* settings in place of the user's, as text; or NULL */
	sigset_t mask; /* the caller's signal mask */
};

/*
 * From here to the end of the trial the signals that end a program are blocked,
 * so that none leaves the folder or a process behind. The box gets signals from
 * the terminal itself.
 */
int ab_trial_open(const struct ab_policy_input *input, struct ab_trial *ret, struct ab_error *err);
void ab_trial_fini(struct ab_trial *trial);

struct ab_trial_outcome {
	int result; /* of ab_run */
	int status;
	struct ab_error error;
	char holds[512];   /* names of properties */
	char engine[32];   /* "": the box was not built */
	char missing[512]; /* the message about missing ones */
};

struct ab_trial_run {
	const struct ab_trial *trial;
	pid_t pid;
	int pipe;
};

/*
 * Run `words` in the box, from a separate process, whose outcome ab_trial_wait()
 * fetches. `out` (-1: none) becomes its standard output, `stray` (-1: none) is a
 * file descriptor that the box must not get.
 */
int ab_trial_start(const struct ab_trial *trial, const struct ab_setting *settings,
		   size_t nsettings, const struct ab_strv *words, int out, int stray,
		   struct ab_trial_run *ret, struct ab_error *err);
/* Until there is something to read. A signal that ends a program ends the box; it ends us with the trial. */
void ab_trial_await(struct ab_trial_run *run, int fd);
void ab_trial_wait(struct ab_trial_run *run, struct ab_trial_outcome *ret);
/* The AB_PROP_BIT()s of `holds`. */
uint32_t ab_properties_parse(const char *holds);

/* Add our own program as the first word. If one of these is the second word, it
 * becomes the inside of a trial; see the constructor in trial.c. */
void ab_trial_program(struct ab_strv *words);
#define AB_TRIAL_NOTHING "agentbox-trial-nothing" /* just end */
#define AB_TRIAL_ATTACK "agentbox-trial-attack"
