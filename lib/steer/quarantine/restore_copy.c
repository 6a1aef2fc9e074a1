/*
 * A copy, never a rename: the box may have kept other names of the file (hard links) or may have
 * given it set-id bits, and a later box could change it through those.
 */
#include <errno.h>

#include "layer/journal/tree.h"
#include "steer/quarantine/quarantined_state.h"
#include "workspace/tree/copy_tree.h"

int ab_restore_copy(int from, const char *name, mode_t mode, int to, const char *as)
{
	/* As much as is ever moved by copying (workspace/quarantine/move.c), and more. */
	struct ab_copy_tree c = {
		.bytes = 1ull << 30, .entries = 10000, .depth = 32, .restores = true
	};
	int rc = ab_copy_tree(&c, from, name, mode, to, as);

	if (rc != 0 && rc != EEXIST)
		(void)ab_tree_remove(to, as);
	return rc;
}
