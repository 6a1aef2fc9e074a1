#include "layer/giveback/share.h"

#include <sys/sysmacros.h>

#include "layer/giveback/credentials.h"
#include "policy/model/policy.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/host_path.h"

enum { CREATE_TRIES = 5 };

static int identify(int at, const char *name, int flags, struct ab_folder_id *ret)
{
	struct statx st;

	if (statx(at, name, flags | AT_NO_AUTOMOUNT, STATX_INO | STATX_BTIME, &st) < 0)
		return -1;
	*ret = (struct ab_folder_id){ .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
				      .ino = st.stx_ino };
	if (st.stx_mask & STATX_BTIME)
		ret->born_ns = st.stx_btime.tv_sec * INT64_C(1000000000) + st.stx_btime.tv_nsec;
	return 0;
}

static bool is_same(const struct ab_folder_id *a, const struct ab_folder_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born_ns == b->born_ns;
}

/* Takes `path`. A folder that was removed and created again replaces the one before. */
static void add_share(struct ab_shares *shares, char *path, const struct ab_folder_id *id,
		      bool created)
{
	struct ab_share *s = ab_find_row(shares->v, shares->len, path, path);

	if (!s) {
		*ab_append(shares->v, shares->len) =
			(struct ab_share){ .path = path, .id = *id, .created = created };
		return;
	}
	s->created = created || (s->created && is_same(&s->id, id));
	s->id = *id;
	free(path);
}

/* `path` below the folder `home`. -1 with errno. */
static int make_folders(int top, const char *home, const char *path, struct ab_shares *ret)
{
	ab_autofree char *copy = ab_strdup(path);
	ab_autoclose int at = fcntl(top, F_DUPFD_CLOEXEC, 3);
	char *name = copy, *slash;

	do {
		struct ab_folder_id id;
		bool created;
		int next;

		slash = strchr(name, '/');
		if (slash)
			*slash = '\0';
		created = mkdirat(at, name, 0700) == 0;
		if (!created && errno != EEXIST)
			return -1;
		next = ab_open_beneath(at, name, O_PATH | O_DIRECTORY);
		if (next >= 0 && (created || !slash) && identify(next, "", AT_EMPTY_PATH, &id) == 0)
			add_share(ret, ab_path_join(home, copy), &id, created);
		ab_closep(&at);
		at = next;
		if (slash)
			*slash = '/'; /* copy is the path up to here again */
		name = slash ? slash + 1 : name;
	} while (at >= 0 && slash);
	return at < 0 ? -1 : 0;
}

static void create_folder(int top, const char *home, const char *path, struct ab_shares *ret,
			  struct ab_strv *notes)
{
	const char *below = path + (home[1] ? strlen(home) + 1 : 1);
	struct ab_folder_id id;

	if (identify(AT_FDCWD, path, 0, &id) == 0) {
		add_share(ret, ab_strdup(path), &id, false);
		return;
	}
	/* ENOENT: the end of another run has removed a folder on the way. */
	for (int i = 0; i < CREATE_TRIES; i++)
		if (make_folders(top, home, below, ret) == 0)
			return;
		else if (errno != ENOENT)
			break;
	ab_strv_add_safe(notes, "cannot create %s to share it: %s", path,
			 errno == ELOOP ? "it is not below plain folders" : strerror(errno));
}

void ab_share_create(const struct ab_policy *policy, struct ab_shares *ret, struct ab_strv *notes)
{
	const struct ab_strv *share = &policy->fs.share;
	ab_autoclose int home = -1;

	if (!share->len || !policy->home)
		return;
	home = open(policy->home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < share->len && home >= 0; i++)
		if (ab_path_within(share->v[i], policy->home) &&
		    strcmp(share->v[i], policy->home) != 0)
			create_folder(home, policy->home, share->v[i], ret, notes);
}

int ab_share_check(const struct ab_shares *shares, struct ab_error *err)
{
	for (size_t i = 0; i < shares->len; i++) {
		ab_autofree char *shown = NULL;
		struct ab_folder_id now;

		if (identify(AT_FDCWD, shares->v[i].path, 0, &now) == 0 &&
		    is_same(&now, &shares->v[i].id))
			continue;
		shown = ab_escape(shares->v[i].path);
		ab_fail(err, AB_ESYSTEM, 0, "the shared folder %s was removed during the start",
			shown);
		ab_hint(err, "start the run again; an empty one is removed when the run that "
			     "created it ends");
		return ab_step(err, "workspace");
	}
	return 0;
}

void ab_share_explain(const struct ab_shares *shares, struct ab_error *err)
{
	struct ab_error gone = { 0 };

	if (err->errnum == ENOENT && strcmp(err->step, "mounts") == 0 &&
	    ab_share_check(shares, &gone) < 0)
		*err = gone;
}

bool ab_share_is(const struct ab_share *share, int at, const char *name)
{
	struct ab_folder_id now;

	return identify(at, name, AT_SYMLINK_NOFOLLOW, &now) == 0 && is_same(&now, &share->id);
}

void ab_shares_fini(struct ab_shares *shares)
{
	ab_free_rows(shares->v, shares->len, path);
	*shares = (struct ab_shares){ 0 };
}

/* The path below the real home folder, though HOME may be a link. */
static char *rebase(const struct ab_policy *policy, const char *home, const char *path)
{
	if (!policy->home || !ab_path_within(path, policy->home))
		return ab_strdup(path);
	return ab_printf("%s%s", home[1] ? home : "",
			 path + (policy->home[1] ? strlen(policy->home) : 0));
}

void ab_share_returns(const struct ab_policy *policy, const char *home, struct ab_strv *ret_paths,
		      struct ab_strv *ret_entries, struct ab_strv *notes)
{
	for (size_t i = 0; i < policy->fs.returns.len; i++) {
		const char *path = policy->fs.returns.v[i];
		ab_autofree char *stray = NULL;
		ab_autofree char *real = ab_host_path_resolve(&policy->fs.touched, path, &stray);
		const char *name;

		if (stray) {
			ab_strv_add_safe(notes,
					 "cannot return %s: a link that a box could have created "
					 "leads there",
					 path);
			continue;
		}
		if (!real)
			real = rebase(policy, home, path);
		/* The rule is found by the policy's name, because a link of the user may hide it; the
		 * real path counts for an entry that is itself another way to a known file. */
		name = !ab_credentials_known(path) && ab_credentials_known(real) ? real : path;
		if (policy->fs.returns_builtin && !ab_credentials_known(name)) {
			ab_strv_add_safe(
				notes,
				"cannot return %s: there is no rule for what may leave the "
				"box in it",
				path);
			continue;
		}
		ab_strv_add(ret_paths, real);
		ab_strv_add(ret_entries, name);
	}
}
