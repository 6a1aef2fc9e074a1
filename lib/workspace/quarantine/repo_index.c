#include "workspace/quarantine/repo_index.h"

#include "workspace/git/gitindex.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/tree/dir.h"

#define INDEX "index"
#define SHARED "sharedindex."
#define SHARED_MAX 80 /* with a name in hex */

static void collect_link(void *arg, const char *path)
{
	struct ab_strv *found = arg;

	if (found->len <= AB_REPO_LINKS_MAX)
		ab_strv_add(found, path);
}

static int read_links(int gitdir, const char *file, struct ab_strv *ret, char base[65])
{
	ab_autofree char *data = NULL;
	struct ab_gitindex index;
	size_t len;

	if (ab_read_small(gitdir, file, AB_GITINDEX_MAX, &data, &len) < 0)
		return errno == ENOENT ? 0 : -1;
	index = ab_gitindex_parse(data, len, collect_link, ret);
	memcpy(base, index.base, sizeof(index.base));
	return index.valid && !index.unnamed && ret->len <= AB_REPO_LINKS_MAX ? 0 : -1;
}

/* A file that was written a moment ago may change again without a new time. */
static struct ab_stamp stamp_file(int gitdir, const char *name)
{
	struct ab_stamp stamp = { 0 };
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (fstatat(gitdir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ab_quarantine_ticks_apart(&st.st_ctim, &now))
		stamp = (struct ab_stamp){ .ino = st.st_ino, .ctime = st.st_ctim };
	return stamp;
}

static bool has_stamp(int gitdir, const char *name, const struct ab_stamp *stamp)
{
	struct stat st;

	return stamp->ino && fstatat(gitdir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == stamp->ino && ab_time_same(st.st_ctim, stamp->ctime);
}

/* Each stamp is taken first: what is written while it is read is read again. */
int ab_repo_index_read(struct ab_repo_index *index, int gitdir, struct ab_strv *ret)
{
	char shared[SHARED_MAX], none[65];

	*index = (struct ab_repo_index){ .own = stamp_file(gitdir, INDEX) };
	if (read_links(gitdir, INDEX, ret, index->base) < 0)
		return -1;
	if (!index->base[0])
		return 0;
	snprintf(shared, sizeof(shared), SHARED "%s", index->base);
	index->shared = stamp_file(gitdir, shared);
	return read_links(gitdir, shared, ret, none);
}

bool ab_repo_index_is_read(const struct ab_repo_index *index, int gitdir)
{
	char shared[SHARED_MAX];

	if (!has_stamp(gitdir, INDEX, &index->own))
		return false;
	snprintf(shared, sizeof(shared), SHARED "%s", index->base);
	return !index->base[0] || has_stamp(gitdir, shared, &index->shared);
}

bool ab_repo_index_has_name(const char *name)
{
	return strcmp(name, INDEX) == 0 || strncmp(name, SHARED, strlen(SHARED)) == 0;
}
