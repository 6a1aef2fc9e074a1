#include "layer/walk/index.h"

#include "layer/walk/look.h"
#include "layer/walk/records.h"
#include "workspace/git/gitindex.h"

static const char kind[8] ab_unterminated = "ab-index";
static const char file_name[] = "git-index";

size_t ab_index_repo(const char *path)
{
	size_t len = strlen(path), own = strlen(AB_INDEX_PATH);

	if (len < own || strcmp(path + len - own, AB_INDEX_PATH) != 0)
		return 0;
	return len == own || path[len - own - 1] == '/' ? len - strlen("/index") : 0;
}

/* Files and folders of a git directory. */
static const char *const state_names[] = {
	"AUTO_MERGE",  "CHERRY_PICK_HEAD", "FETCH_HEAD",   "HEAD",
	"MERGE_HEAD",  "MERGE_MODE",	   "MERGE_MSG",	   "ORIG_HEAD",
	"REBASE_HEAD", "REVERT_HEAD",	   "SQUASH_MSG",   "index",
	"logs",	       "packed-refs",	   "rebase-apply", "rebase-merge",
	"refs",	       "reftable",	   "sequencer",	   "shallow",
};

static bool is_state_name(const char *name)
{
	size_t len = strcspn(name, "/");

	for (size_t i = 0; i < AB_COUNT(state_names); i++)
		if (strlen(state_names[i]) == len && strncmp(state_names[i], name, len) == 0)
			return true;
	return strncmp(name, "sharedindex.", strlen("sharedindex.")) == 0;
}

/* The next component, or NULL. */
static const char *skip_component(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? slash + 1 : NULL;
}

size_t ab_index_state(const char *path)
{
	const char *rest = path;

	while (rest && strncmp(rest, ".git/", 5) != 0)
		rest = skip_component(rest);
	if (!rest)
		return 0;
	for (const char *name = rest + 5; name; name = skip_component(name)) {
		if (is_state_name(name))
			return (size_t)(rest + 4 - path);
		/* The name of a submodule may have slashes. */
		if (name == rest + 5 && strncmp(name, "modules/", 8) != 0 &&
		    strncmp(name, "worktrees/", 10) != 0)
			return 0;
	}
	return 0;
}

/* `rest` follows "objects/": two digits of a name, or "pack". Other files there are settings. */
static bool is_object_name(const char *rest)
{
	size_t len = strcspn(rest, "/");

	return (len == 2 && strspn(rest, "0123456789abcdef") >= 2) ||
	       (len == 4 && strncmp(rest, "pack", 4) == 0);
}

bool ab_index_object(const char *path)
{
	static const char objects[] = ".git/objects/";
	const size_t len = sizeof(objects) - 1;

	for (; path; path = skip_component(path))
		if (strncmp(path, objects, len) == 0 && is_object_name(path + len))
			return true;
	return false;
}

int ab_index_digest(int root, const char *path, char ret[AB_INDEX_DIGEST])
{
	ab_autoclose int fd = ab_look_open_file(root, path);
	ab_autofree char *data = NULL;
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > AB_GITINDEX_MAX ||
	    ab_read_all(fd, AB_GITINDEX_MAX, &data, &len) < 0)
		return -1;
	return ab_gitindex_digest(data, len, ret);
}

/* Has the layer an index that is not the host's? */
static bool has_own_index(int project, const char *upper, const char *digest)
{
	ab_autoclose int dir =
		ab_open_same_mount(project, upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	ab_autoclose int fd =
		dir < 0 ? -1 : ab_open_same_mount(dir, AB_INDEX_PATH, O_PATH | O_NOFOLLOW);
	char own[AB_INDEX_DIGEST];

	if (fd < 0)
		return dir < 0 || (errno != ENOENT && errno != ENOTDIR);
	return ab_index_digest(dir, AB_INDEX_PATH, own) < 0 || strcmp(own, digest) != 0;
}

void ab_index_remember(int project, const char *upper, int host)
{
	ab_autobuf struct ab_buf b = { 0 };
	char digest[AB_INDEX_DIGEST];

	if (ab_index_digest(host, AB_INDEX_PATH, digest) < 0 ||
	    has_own_index(project, upper, digest))
		return;
	ab_record_put_text(&b, digest);
	(void)ab_record_file_save(project, file_name, kind, &b);
}

void ab_index_recall(int project, char ret[AB_INDEX_DIGEST])
{
	ab_autofree char *file = NULL, *digest = NULL;
	struct ab_record_reader r;

	ret[0] = '\0';
	if (ab_record_file_load(project, file_name, kind, &file, &r) < 0)
		return;
	digest = ab_record_get_text(&r);
	if (!r.bad && strlen(digest) == AB_INDEX_DIGEST - 1)
		memcpy(ret, digest, AB_INDEX_DIGEST);
}
