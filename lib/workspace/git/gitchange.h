#pragma once
/*
 * Judges a change of a git configuration file: may the box have made it?
 *
 * Lines of a table (gitkeys.h) are free: the box may add, change and remove them.
 * All other lines must be the same bytes in the same order and in the same sections,
 * so removing one is a change, too. A name of a remote is free if that remote has an
 * address in the new text.
 *
 * Pure and bounded. Both texts may be hostile. A text that any two readers of git's
 * syntax could understand differently is not accepted: a line that continues in the
 * next one, "[a.b]", a key behind a section's name, CR, NUL.
 */
#include "base/base.h"
#include "workspace/git/gitkeys.h"

struct ab_gitchange {
	const char *why; /* a clause that follows the key, or the file's name if there is none */
	char key[192];	 /* "core.hookspath", cut if it is longer; "" if none is to blame */
};

/*
 * False: see *ret. *ret_text (may be NULL) is filled if something else is to be written than `after`:
 * a remote was renamed or removed, and other lines still name it. Without it such a line would make
 * git take the name for a path.
 */
bool ab_gitchange_allowed(const char *before, size_t before_len, const char *after,
			  size_t after_len, const struct ab_gitkeys_terms *terms,
			  struct ab_gitchange *ret, struct ab_buf *ret_text);
