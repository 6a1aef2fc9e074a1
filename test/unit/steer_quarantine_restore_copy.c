/* What a box left in quarantine is copied without its tricks, completely or not at all. */
#include "steer/quarantine/quarantined_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "workspace/tree/remove_tree.h"
#include "tap.h"

static char top[] = "/tmp/ab-restore-XXXXXX";
static int from = -1, to = -1;

static int sh(const char *script)
{
	ab_autofree char *line = ab_printf("cd %s && { %s\n}", top, script);

	return system(line);
}

static int open_folder(const char *name)
{
	ab_autofree char *path = ab_printf("%s/%s", top, name);

	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int copy(const char *name, mode_t mode)
{
	return ab_restore_copy(from, name, mode, to, "copy");
}

static bool is_gone(void)
{
	return faccessat(to, "copy", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

static void check_files(void)
{
	struct stat st;

	sh("echo one >from/f; ln from/f other; chmod 6777 from/f; chmod 6777 from/f");
	ok(copy("f", S_IFREG | 06777) == 0 && fstatat(to, "copy", &st, 0) == 0, "a file");
	ok((st.st_mode & 07777) == 0755 && st.st_nlink == 1, "without set-id bits and other names");
	ok(copy("f", S_IFREG | 0644) == EEXIST && sh("test -s to/copy") == 0,
	   "what is there stays there");
	ok(ab_remove_object(to, "copy") == 0 && is_gone(), "removed");
	sh("chmod 0 from/f");
	ok(copy("f", S_IFREG) == 0 && sh("test \"$(stat -c %a to/copy)\" = 600") == 0,
	   "one that nobody could open");
	ab_remove_object(to, "copy");
	sh("truncate -s 1T from/huge");
	ok(copy("huge", S_IFREG | 0600) == EFBIG && is_gone(), "a sparse one of any size");
	sh("ln -s /etc/passwd from/link");
	ok(copy("link", S_IFLNK) == 0 && sh("test \"$(readlink to/copy)\" = /etc/passwd") == 0,
	   "a link as a link");
	ab_remove_object(to, "copy");
	/* It became a link since it was looked at. */
	ok(copy("link", S_IFREG | 0600) != 0 && is_gone(), "a link is not followed");
	sh("mkfifo from/fifo");
	ok(copy("fifo", S_IFIFO | 0600) == EINVAL && is_gone(), "a FIFO is refused");
	ok(copy("fifo", S_IFREG | 0600) == ESTALE && is_gone(), "and does not block");
}

static void check_folders(void)
{
	sh("mkdir -p from/d/a/b; echo x >from/d/a/b/x; chmod 4755 from/d/a/b/x; ln -s / from/d/root");
	sh("chmod 0 from/d/a");
	ok(copy("d", S_IFDIR | 0777) == 0, "a folder");
	ok(sh("test \"$(cat to/copy/a/b/x)\" = x && test ! -u to/copy/a/b/x && test -x to/copy/a/b/x"
	      " && test \"$(readlink to/copy/root)\" = / && test \"$(stat -c %a to/copy)\" = 755") ==
		   0,
	   "with what is in it");
	ok(ab_remove_object(to, "copy") == 0 && is_gone(), "removed");
	sh("mkfifo from/d/a/b/fifo");
	ok(copy("d", S_IFDIR | 0700) == EINVAL && is_gone(), "all of it or nothing");
	sh("d=from/deep; mkdir $d; for i in $(seq 40); do d=$d/x; mkdir $d; done");
	ok(copy("deep", S_IFDIR | 0700) == EFBIG && is_gone(), "not deeper than that");
	sh("mkdir from/many; cd from/many; seq 10001 | xargs touch");
	ok(copy("many", S_IFDIR | 0700) == EFBIG && is_gone(), "and not more");
}

int main(void)
{
	if (!mkdtemp(top) || sh("mkdir from to") != 0)
		abort();
	from = open_folder("from");
	to = open_folder("to");
	check_files();
	check_folders();
	sh("chmod -R u+rwX . && rm -rf from to other");
	rmdir(top);
	return done();
}
