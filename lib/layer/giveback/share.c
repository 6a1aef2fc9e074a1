#include "layer/giveback/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "layer/giveback/credentials.h"
#include "policy/model/policy.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/host_path.h"

/* `path` below the folder `home`. -1 with errno. */
static int make_folders(int top, const char *home, const char *path, struct ab_strv *created)
{
	ab_autofree char *copy = ab_strdup(path);
	ab_autoclose int at = fcntl(top, F_DUPFD_CLOEXEC, 3);
	char *name = copy, *slash;

	do {
		int next;

		slash = strchr(name, '/');
		if (slash)
			*slash = '\0';
		if (mkdirat(at, name, 0700) == 0)
			ab_strv_give(created, ab_path_join(home, copy));
		else if (errno != EEXIST)
			return -1;
		next = ab_open_beneath(at, name, O_PATH | O_DIRECTORY);
		ab_closep(&at);
		at = next;
		if (slash)
			*slash = '/'; /* copy is the path up to here again */
		name = slash ? slash + 1 : name;
	} while (at >= 0 && slash);
	return at < 0 ? -1 : 0;
}

static void create_folder(int top, const char *home, const char *path, struct ab_strv *created,
			  struct ab_strv *notes)
{
	const char *below = path + (home[1] ? strlen(home) + 1 : 1);
	ab_autofree char *shown = NULL;
	struct stat st;

	if (stat(path, &st) == 0 || make_folders(top, home, below, created) == 0)
		return;
	shown = ab_escape(path);
	ab_strv_addf(notes, "cannot create %s to share it: %s", shown,
		     errno == ELOOP ? "it is not below plain folders" : strerror(errno));
}

void ab_share_create(const struct ab_policy *policy, struct ab_strv *ret_created,
		     struct ab_strv *notes)
{
	const struct ab_strv *share = &policy->fs.share;
	ab_autoclose int home = -1;

	if (!share->len || !policy->home)
		return;
	home = open(policy->home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < share->len && home >= 0; i++)
		if (ab_path_within(share->v[i], policy->home) &&
		    strcmp(share->v[i], policy->home) != 0)
			create_folder(home, policy->home, share->v[i], ret_created, notes);
}

/* The path below the real home folder, though HOME may be a link. */
static char *rebase(const struct ab_policy *policy, const char *home, const char *path)
{
	if (!policy->home || !ab_path_within(path, policy->home))
		return ab_strdup(path);
	return ab_printf("%s%s", home[1] ? home : "",
			 path + (policy->home[1] ? strlen(policy->home) : 0));
}

/* The rule is found by the policy's name, because a link of the user may hide it; the real path
 * counts for an entry that is itself another way to a known file. */
static const char *choose_name(const char *entry, const char *real)
{
	return !ab_credentials_known(entry) && ab_credentials_known(real) ? real : entry;
}

void ab_share_returns(const struct ab_policy *policy, const char *home, struct ab_strv *ret_paths,
		      struct ab_strv *ret_entries, struct ab_strv *notes)
{
	for (size_t i = 0; i < policy->fs.returns.len; i++) {
		const char *path = policy->fs.returns.v[i];
		ab_autofree char *stray = NULL, *shown = NULL;
		ab_autofree char *real = ab_host_path_resolve(&policy->fs.touched, path, &stray);
		const char *name;

		if (stray) {
			shown = ab_escape(path);
			ab_strv_addf(notes,
				     "cannot return %s: a link that a box could have created "
				     "leads there",
				     shown);
			continue;
		}
		if (!real)
			real = rebase(policy, home, path);
		name = choose_name(path, real);
		if (policy->fs.returns_builtin && !ab_credentials_known(name)) {
			shown = ab_escape(path);
			ab_strv_addf(notes,
				     "cannot return %s: there is no rule for what may leave the "
				     "box in it",
				     shown);
			continue;
		}
		ab_strv_add(ret_paths, real);
		ab_strv_add(ret_entries, name);
	}
}
