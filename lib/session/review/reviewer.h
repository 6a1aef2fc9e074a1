#pragma once
/*
 * The reviewer: a process, forked before the supervisor locks itself in, that works on the layer of
 * a reviewed run when the box is gone. It counts the changes, applies those without a label
 * (filesystem.review "auto"), and asks a person on the terminal. Until then it only waits; it ends
 * with the supervisor. If that is killed, the changes wait in their set.
 *
 * It reads what the box wrote, as `agentbox diff` does: through layer/walk only, by descriptors.
 */
#include "base/base.h"
#include "base/process/helper.h"

struct ab_layer_set;
struct ab_layer_store;
struct ab_state;

struct ab_reviewer_setup {
	const struct ab_layer_store *store;
	struct ab_layer_set *set; /* locked */
	const struct ab_state *state;
	const char *run;       /* its id */
	const char *workspace; /* its real path */
	bool automatic;	       /* apply changes without a label */
};

int ab_reviewer_start(const struct ab_reviewer_setup *setup, struct ab_helper *ret,
		      struct ab_error *err);

struct ab_review_sum {
	uint64_t changed;   /* changes, as `diff` counts them */
	uint64_t labelled;  /* of these, how many want a look */
	uint64_t conflicts; /* changed on the host as well */
	uint64_t refused;   /* cannot be applied */
	uint64_t held;	    /* one of these three: not applied with the safe ones */
	uint64_t applied;   /* by "auto" */
	uint64_t forgotten; /* earlier applies that can no longer be taken back because of that */
	uint64_t waiting;   /* neither applied nor discarded */
	char busy[8];	    /* the run that kept "auto" from applying, or "" */
	bool unfinished;    /* "auto" applied nothing, because the command did not end by itself */
	bool cut;	    /* there is more: a limit was reached */
	char *json;	    /* all of this, for --result */
};
void ab_review_sum_fini(struct ab_review_sum *sum);

/* The box is gone: count, and apply with "auto" if the command has `finished` by itself. */
int ab_reviewer_count(const struct ab_helper *reviewer, bool finished, struct ab_review_sum *ret,
		      struct ab_error *err);
/* Show the changes on the terminal and ask what to do. False: there is no terminal to ask on, or
 * nobody answered. Our own terminal must be restored. */
bool ab_reviewer_ask(const struct ab_helper *reviewer);
/* Does nothing if it was not started: its pid is 0. */
void ab_reviewer_end(struct ab_helper *reviewer);

/* review_text.c, pure: sentences about the sum. */
struct ab_changes;
/* "12 changes, 2 want a look, 1 conflict" */
void ab_review_text_head(struct ab_buf *b, const struct ab_review_sum *sum);
/* What to do, without a terminal. */
void ab_review_text_lines(const struct ab_review_sum *sum, const char *key, bool automatic,
			  struct ab_strv *ret);
/* The changes that are not safe, `most` of them, a line for each. */
void ab_review_text_list(struct ab_buf *b, const struct ab_changes *changes, size_t most);
/* Counts what is in the list. */
void ab_review_text_count(const struct ab_changes *changes, struct ab_review_sum *ret);
/* sum->json. */
void ab_review_text_json(const struct ab_changes *changes, const struct ab_review_sum *sum,
			 const char *key, struct ab_buf *b);

/* review_prompt.c: one question. */
enum ab_review_answer {
	AB_REVIEW_APPLY,
	AB_REVIEW_SHOW,
	AB_REVIEW_DISCARD,
	AB_REVIEW_LATER,       /* also if nobody can answer */
	AB_REVIEW_INTERRUPTED, /* the run must end */
};
/* `supervisor`: a socket; when its other end is closed, nobody waits for an answer. */
enum ab_review_answer ab_review_prompt(int tty, int supervisor, const struct ab_review_sum *sum);
