#include "workspace/git/gitlead.h"

#include "workspace/git/gitconfig.h"
#include "workspace/git/gitconfig_clean.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"

#define HOOKS_MAX 1000

/* No hook that git would run, whoever made it. */
static bool has_no_hooks(int gitdir)
{
	ab_autoclose int fd =
		openat(gitdir, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0)
		return errno == ENOENT;
	if (ab_listing_read(&l, fd, HOOKS_MAX) < 0 || l.cut)
		return false;
	for (size_t i = 0; i < l.len; i++)
		if (!ab_name_is_sample(l.v[i].name))
			return false;
	return true;
}

static char *find_setting(int gitdir, const char *file, const struct ab_gitkeys_terms *terms)
{
	ab_autobuf struct ab_buf text = { 0 }, keys = { 0 };
	ab_autofree char *data = NULL;
	size_t len;

	if (ab_read_small(gitdir, file, AB_GITCONFIG_MAX, &data, &len) < 0)
		return errno == ENOENT ? NULL : ab_strdup(file);
	return ab_gitconfig_clean(data, len, terms, &text, &keys) ? ab_buf_take(&keys) : NULL;
}

char *ab_gitdir_lead(int gitdir, const struct ab_gitkeys_terms *terms)
{
	char *lead;

	if (faccessat(gitdir, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return ab_strdup("commondir");
	if (!has_no_hooks(gitdir))
		return ab_strdup("a hook");
	lead = find_setting(gitdir, "config", terms);
	return lead ? lead : find_setting(gitdir, "config.worktree", terms);
}
