/* What a run leaves in its home layer: what counts, and how a hostile tree is looked at. */
#include "host/home/home_left.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "host/home/home_folders.h"
#include "workspace_help.h"

static const struct {
	const char *path;
	bool noise;
} paths[] = {
	{ ".cache", true },
	{ ".cache/pip/x", true },
	{ ".cached", false },
	{ ".npm/_cacache/index-v5/00", true },
	{ ".npmrc", false },
	{ ".cargo/registry/cache/x", true },
	{ ".cargo/config.toml", false },
	{ ".cargo/.package-cache-mutate", true },
	{ ".cargo/bin/tool", false },
	{ ".m2/repository/a/b", true },
	{ ".m2/settings.xml", false },
	{ "go/pkg/mod/x", true },
	{ "go/bin/x", false },
	{ ".bash_history", true },
	{ ".bashrc", false },
	{ "x.log", true },
	{ "x/x.log", false },
	{ ".local/state/tool/x", true },
	{ ".local/share/tool/x", false },
	{ ".ssh/id_rsa", false },
	{ ".gitconfig", false },
};

static void check_noise(void)
{
	for (size_t i = 0; i < AB_COUNT(paths); i++)
		ok(ab_home_is_noise(paths[i].path) == paths[i].noise, "%s", paths[i].path);
	for (size_t i = 1; i < ab_home_folders_len; i++)
		ok(strcmp(ab_home_folders[i - 1].path, ab_home_folders[i].path) < 0, "%s is sorted",
		   ab_home_folders[i].path);
}

static void search(const char *rel, const char *prefix, struct ab_home_left *ret)
{
	ab_autofree char *path = at(rel);
	ab_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret = (struct ab_home_left){ 0 };
	ab_home_left_search(fd, prefix, ret);
}

static void check_search(void)
{
	struct ab_home_left left;

	sh("mkdir -p $T/a/.cache/x $T/a/empty/er $T/a/d; echo x >$T/a/.cache/x/y; echo x >$T/a/.x");
	search("a", "", &left);
	ok(left.files == 1 && left.names.len == 1 && !left.cut, "caches and folders do not count");
	is_str(left.names.v[0], "~/.x", "but a file does");
	ab_home_left_fini(&left);
	sh("cd $T/a; rm .x; ln -s /etc d/link; mkfifo d/fifo; mknod d/gone c 0 0 2>/dev/null || :; "
	   "printf x >\"$(printf 'd/a\\nb\\033[2J')\"");
	search("a", "", &left);
	ok(left.files >= 3 && left.names.len == 3 && !left.cut, "links and FIFOs are not followed");
	for (size_t i = 0; i < left.names.len; i++)
		ok(!strpbrk(left.names.v[i], "\n\033"), "%s is escaped", left.names.v[i]);
	ab_home_left_fini(&left);
	search("a/d", ".cache", &left);
	ok(left.files == 0, "below a cache nothing counts");
	ab_home_left_fini(&left);
}

static void check_limits(void)
{
	struct ab_home_left left;
	int dir;

	sh("mkdir -p $T/deep $T/many");
	dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 3 * AB_HOME_LEFT_DEPTH; i++) {
		int below;

		if (mkdirat(dir, "deep", 0700) < 0 && errno != EEXIST)
			abort();
		below = openat(dir, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = below;
	}
	close(dir);
	search("deep", "", &left);
	ok(left.cut && left.files == 1, "a deep tree ends the search, and counts");
	ab_home_left_fini(&left);
	sh("cd $T/many; seq %d | xargs touch", AB_HOME_LEFT_MAX + 10);
	search("many", "", &left);
	ok(left.cut && left.files <= AB_HOME_LEFT_MAX, "so do many files: %zu", left.files);
	ab_home_left_fini(&left);
	sh("mkdir -p $T/over/closed; chmod 0 $T/over/closed");
	search("over", "", &left);
	ok(geteuid() == 0 || (left.cut && left.files == 1), "and what cannot be read");
	ab_home_left_fini(&left);
}

int main(void)
{
	start();
	check_noise();
	check_search();
	check_limits();
	finish();
	return done();
}
