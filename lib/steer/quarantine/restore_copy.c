/*
 * A copy, never a rename: the box may have kept other names of the file (hard links) or may have
 * given it set-id bits, and a later box could change it through those.
 */
#include "workspace/tree/remove_tree.h"
#include "steer/quarantine/quarantined_state.h"
#include "workspace/tree/copy_tree.h"

int ab_restore_copy(int from, const char *name, mode_t mode, int to, const char *as)
{
	/* As much as is ever moved by copying (workspace/quarantine/move.c), and more. */
	struct ab_copy_tree c = { .max_bytes = 1ull << 30,
				  .max_entries = 10000,
				  .max_depth = 32,
				  .keep = AB_COPY_RESTORED };
	int rc = ab_copy_tree(&c, from, name, mode, to, as);

	ab_copy_tree_fini(&c);
	if (rc != 0 && rc != EEXIST)
		(void)ab_remove_object(to, as);
	return rc;
}
