#pragma once
/*
 * What apply, discard and undo have in common: find the set of layers that is meant, lock
 * it, complete what was interrupted, and turn paths into paths of the layer.
 */
#include "base/base.h"
#include "layer/apply/apply.h"
#include "layer/store/store.h"
#include "state/claim.h"

struct ab_policy_input;

/* The arguments: the name of a set, then paths. Each may be missing. Without "--", the first word
 * is a name if a set has it, else a path. */
struct ab_layer_words {
	const char *const *v;
	size_t n;
	bool dashes;   /* "--" was given */
	size_t before; /* how many words come before it */
};

struct ab_layer_command {
	struct ab_layer_set set;
	struct ab_layer_store store;
	struct ab_strv paths;  /* relative to the root; "" is the root */
	struct ab_strv notes;  /* sentences for standard error */
	struct ab_claim claim; /* for functions that need a guard */
	bool chosen;	       /* without a name: say which set it is */
	bool home;	       /* the home layer is meant, not the workspace's */
	/* From here on private. */
	struct ab_state *state;
};

enum ab_layer_use {
	AB_LAYER_WAITING, /* without a name: the newest set with changes for this folder */
	AB_LAYER_APPLIED, /* the newest one whose last apply can be taken back */
	AB_LAYER_DROPPED, /* as AB_LAYER_WAITING; the host's files are not changed */
};

int ab_layer_command_open(const struct ab_policy_input *input, const struct ab_layer_words *words,
			  enum ab_layer_use use, bool home, struct ab_layer_command *ret,
			  struct ab_error *err);
void ab_layer_command_fini(struct ab_layer_command *command);
#define ab_autolayercommand __attribute__((cleanup(ab_layer_command_fini)))
#define AB_LAYER_COMMAND_NONE                                     \
	{                                                         \
		.set = AB_LAYER_SET_NONE, .claim = AB_CLAIM_NONE, \
	}

/* Pick the paths of the command; AB_ENOTFOUND if nothing changed at one of them. */
int ab_layer_command_pick(const struct ab_layer_command *command, struct ab_apply *apply,
			  struct ab_error *err);

/* {"set","root","applied":[...],"left":[...],"dropped":[...],"rest":N}; `verb` names the first
 * list. */
char *ab_layer_command_json(const struct ab_layer_command *command, const struct ab_apply *apply,
			    const char *verb);
/* The names of its labels: "git, folder". Free it. */
char *ab_change_labels(const struct ab_change *change);
