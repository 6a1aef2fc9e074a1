#pragma once
/*
 * Files of filesystem.return: from the home layer of a run back to the host
 * (layer/giveback/giveback.h). The supervisor looks at them before the box starts, and the broker
 * returns them when the box is gone, also if the supervisor was killed. A temporary layer, which a
 * second run of an agent has, is as good as a kept one.
 */
#include "layer/store/meta.h"

struct ab_layer_set;
struct ab_policy;
struct ab_spec;

struct ab_home_return {
	char *home;		  /* the real home folder; NULL: nothing to return */
	struct ab_strv paths;	  /* real, absolute, below home */
	struct ab_strv entries;	  /* as many: their names in the policy, for the rules */
	struct ab_layer_set *set; /* of a kept layer, borrowed; NULL: it is temporary */
	struct ab_layer_meta
		seen; /* without a set: the host's files at the start, and placeholders */
};

/* `home` is the real path of the home folder, or NULL if it is not layered. */
void ab_home_return_begin(const struct ab_policy *policy, const char *home,
			  struct ab_layer_set *set, struct ab_home_return *ret,
			  struct ab_strv *notes);
/* The descriptor that ab_home_return_end() needs; -1: none. */
int ab_home_return_fd(const struct ab_home_return *files);
/* `stage` is the box's staging tmpfs, or -1. The lines are sentences about what was returned and
 * what was not. */
void ab_home_return_end(struct ab_home_return *files, const struct ab_spec *spec, int stage,
			struct ab_strv *ret_lines);
void ab_home_return_fini(struct ab_home_return *files);
