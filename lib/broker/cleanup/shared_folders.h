#pragma once
/* Folders that a run created to share them (filesystem.share, layer/giveback/share.h). */
struct ab_shares;
struct ab_state;

/* The box of the run `own` is gone: remove those that are still empty, unless another run can write
 * to them or they have been replaced. */
void ab_shared_folders_remove(const struct ab_state *state, const char *own,
			      const struct ab_shares *shares);
