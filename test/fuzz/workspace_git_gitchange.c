#include "workspace/git/gitchange.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "workspace/git/gitconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct settings {
	const struct ab_gitkeys_terms *terms;
	struct ab_buf kept;    /* those that are not free */
	struct ab_buf remotes; /* "NAME\n" */
	bool names_unknown;    /* a remote is named that has no address */
};

static void find_remotes(void *arg, const char *key, const char *value)
{
	struct settings *s = arg;
	char *name = ab_gitkeys_remote(key, value);

	if (name)
		ab_buf_printf(&s->remotes, "\n%s\n", name);
	free(name);
}

/* Everything that is not free, as git's own syntax has it. */
static void collect_kept(void *arg, const char *key, const char *value)
{
	struct settings *s = arg;
	char line[8192];

	if (!value || !ab_gitkeys_allow(key, value, s->terms))
		ab_buf_printf(&s->kept, "%s=%s\n", key, value ? value : "(flag)");
	if (!ab_gitkeys_names_remote(key, value))
		return;
	snprintf(line, sizeof(line), "\n%s\n", value);
	s->names_unknown |= !strstr(s->remotes.data, line);
}

static bool read_settings(const char *data, size_t len, struct settings *ret)
{
	ab_buf_puts(&ret->kept, "");
	ab_buf_puts(&ret->remotes, "");
	return ab_gitconfig_parse(data, len, find_remotes, ret) == 0 &&
	       ab_gitconfig_parse(data, len, collect_kept, ret) == 0;
}

/* git accepts the new text, what is not free in it is that of the old one, and no name of a remote
 * became one of a path. */
static void check_allowed(const char *before, size_t before_len, const char *after,
			  size_t after_len, const struct ab_gitkeys_terms *terms)
{
	struct settings old = { .terms = terms }, fresh = { .terms = terms };

	if (!read_settings(before, before_len, &old) || !read_settings(after, after_len, &fresh) ||
	    strcmp(old.kept.data, fresh.kept.data) != 0 ||
	    (!old.names_unknown && fresh.names_unknown))
		abort();
	ab_buf_fini_all(&old.kept, &old.remotes, &fresh.kept, &fresh.remotes);
}

/* Two texts, separated by the first 0x01. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *before = (const char *)data, *cut = memchr(data, 1, size);
	size_t before_len = cut ? (size_t)(cut - before) : size;
	const char *after = cut ? cut + 1 : before;
	size_t after_len = cut ? size - before_len - 1 : size;
	const struct ab_gitkeys_terms terms = { .worktree_pinned = size % 2 };
	struct ab_buf text = { 0 };
	struct ab_gitchange change;

	if (!ab_gitchange_allowed(before, before_len, after, after_len, &terms, &change, &text)) {
		if (!change.why[0] || strlen(change.key) >= sizeof(change.key))
			abort();
	} else if (text.len) {
		check_allowed(before, before_len, text.data, text.len, &terms);
	} else {
		check_allowed(before, before_len, after, after_len, &terms);
	}
	ab_buf_fini(&text);
	return 0;
}
