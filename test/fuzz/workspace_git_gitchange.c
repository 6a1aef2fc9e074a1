#include "workspace/git/gitchange.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "workspace/git/gitconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that makes git run a program, as git's own syntax has it. */
static void collect_programs(void *arg, const char *key, const char *value)
{
	struct ab_buf *all = arg;

	if (ab_gitconfig_runs(key, value))
		ab_buf_printf(all, "%s=%s\n", key, value);
}

/* Two texts, separated by the first 0x01. If the change is allowed, git accepts the new text, and
 * the programs in it are those of the old one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *before = (const char *)data, *cut = memchr(data, 1, size);
	size_t before_len = cut ? (size_t)(cut - before) : size;
	const char *after = cut ? cut + 1 : before;
	size_t after_len = cut ? size - before_len - 1 : size;
	struct ab_buf old = { 0 }, new = { 0 };
	const struct ab_gitchange_terms terms = { .worktree_pinned = size % 2 };
	struct ab_gitchange change;

	ab_buf_puts(&old, "");
	ab_buf_puts(&new, "");
	if (ab_gitchange_allowed(before, before_len, after, after_len, &terms, &change)) {
		if (ab_gitconfig_parse(before, before_len, collect_programs, &old) ||
		    ab_gitconfig_parse(after, after_len, collect_programs, &new) ||
		    strcmp(old.data, new.data) != 0)
			abort();
	} else if (!change.why[0] || strlen(change.key) >= sizeof(change.key)) {
		abort();
	}
	ab_buf_fini(&old);
	ab_buf_fini(&new);
	return 0;
}
