#pragma once
/* Shared by the files of this folder. */
#include "state/state.h"
#include "steer/quarantine/quarantined.h"

/* One object, with the folder that it is in. */
struct ab_quarantined_one {
	struct ab_state state;
	int dir; /* the run's folder */
	struct ab_quarantined is;
};

/* By the id that a person typed. */
int ab_quarantined_open(const struct ab_policy_input *input, const char *id,
			struct ab_quarantined_one *ret, struct ab_error *err);
void ab_quarantined_close(struct ab_quarantined_one *one);

/* "a file of 12 bytes that can be executed" */
char *ab_quarantined_describe(const struct ab_quarantined *is);

/* Copy it into the folder `to` as `as`, which must not exist. Set-id bits, other
 * owners' rights, hard links and extended attributes stay behind. 0, or an errno; then nothing is
 * left of it. */
int ab_restore_copy(int from, const char *name, mode_t mode, int to, const char *as);
