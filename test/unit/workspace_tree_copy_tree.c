/* Copies of trees that may be hostile: what is the same, what is refused, and where it stops. */
#include "workspace/tree/copy_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "workspace/tree/remove_tree.h"
#include "tap.h"

static char base[] = "/tmp/folder-copy.XXXXXX";

static int open_folder(const char *name)
{
	return open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)!write(fd, text, strlen(text));
	fchmod(fd, mode);
	close(fd);
}

static int copy(struct ab_copy_tree *c, const char *from, const char *to)
{
	int in = open_folder(from), out, r;

	mkdir(to, 0700);
	out = open_folder(to);
	r = ab_copy_folder(c, in, out);
	close(in);
	close(out);
	return r;
}

static bool has_text(const char *path, const char *want)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	return n == (ssize_t)strlen(want) && memcmp(text, want, (size_t)n) == 0;
}

static void test_same(void)
{
	struct ab_copy_tree c = { .max_entries = 100, .max_bytes = 1 << 20 };
	const struct timespec old[] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };
	struct stat st;
	char text[16] = "";
	int fd;

	mkdir("a", 0750);
	mkdir("a/d", 0700);
	put("a/f", "text", 0640);
	put("a/d/x", "#!", 0755);
	symlink("/etc/passwd", "a/l");
	fd = open("a/hole", O_WRONLY | O_CREAT, 0600);
	ftruncate(fd, 1 << 24);
	pwrite(fd, "end", 3, (1 << 24) - 3);
	close(fd);
	(void)setxattr("a/f", "user.note", "v", 1, 0);
	utimensat(AT_FDCWD, "a/f", old, 0);
	utimensat(AT_FDCWD, "a/d", old, 0);
	chmod("a/d", 0500);
	ok(copy(&c, "a", "b") == 0, "a tree can be copied");
	ok(c.entries == 5 && c.skipped == 0, "with five entries");
	ok(has_text("b/f", "text") && has_text("b/d/x", "#!"), "the content is the same");
	ok(stat("b/f", &st) == 0 && (st.st_mode & 07777) == 0640 && st.st_mtime == 2000,
	   "and mode and time");
	ok(stat("b/d", &st) == 0 && (st.st_mode & 07777) == 0500 && st.st_mtime == 2000,
	   "of folders, too");
	ok(lstat("b/l", &st) == 0 && S_ISLNK(st.st_mode) && readlink("b/l", text, 15) == 11 &&
		   strcmp(text, "/etc/passwd") == 0,
	   "a link stays a link");
	ok(stat("b/hole", &st) == 0 && st.st_size == 1 << 24 && st.st_blocks < 1000,
	   "a hole stays a hole");
	ok(getxattr("a/f", "user.note", text, 1) < 0 || getxattr("b/f", "user.note", text, 1) == 1,
	   "an attribute is copied where there are some");
	ab_copy_tree_fini(&c);
}

static void test_limits(void)
{
	struct ab_copy_tree few = { .max_entries = 4, .max_bytes = 1 << 20 };
	struct ab_copy_tree small = { .max_entries = 100, .max_bytes = 3 };
	struct ab_copy_tree deep = { .max_entries = 10000, .max_bytes = 1 << 20 };
	int fd;

	ok(copy(&few, "a", "few") == EFBIG, "too many entries");
	/* A clone shares its blocks, and costs nothing. */
	put("a/big", "more than three bytes", 0600);
	fd = copy(&small, "a", "small");
	ok(fd == EFBIG || (fd == 0 && small.bytes == 0), "too many bytes, unless they are shared");
	mkdir("deep", 0700);
	fd = open_folder("deep");
	for (int i = 0; i < 300; i++) {
		int next;

		mkdirat(fd, "d", 0700);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	close(fd);
	ok(copy(&deep, "deep", "shallow") == EFBIG, "too deep");
	ab_copy_tree_fini(&few);
	ab_copy_tree_fini(&small);
	ab_copy_tree_fini(&deep);
}

static void test_special(void)
{
	struct ab_copy_tree strict = { .max_entries = 100, .max_bytes = 1 << 20 };
	struct ab_copy_tree lax = strict;

	mkdir("s", 0700);
	mkfifo("s/fifo", 0600);
	put("s/file", "x", 0600);
	ok(copy(&strict, "s", "s1") == EINVAL, "a FIFO is refused");
	is_str(strict.path.data, "fifo", "by its name");
	lax.skip_special = true;
	ok(copy(&lax, "s", "s2") == 0 && lax.skipped == 1, "or left out and counted");
	is_str(lax.skipped_first.data, "fifo", "with its name");
	ok(access("s2/file", F_OK) == 0 && access("s2/fifo", F_OK) < 0, "the rest is there");
	ab_copy_tree_fini(&strict);
	ab_copy_tree_fini(&lax);
}

static bool stop_now(void *arg)
{
	return --*(int *)arg < 0;
}

static void test_stop(void)
{
	int left = 2;
	struct ab_copy_tree c = {
		.max_entries = 100, .max_bytes = 1 << 20, .stop = stop_now, .arg = &left
	};

	ok(copy(&c, "a", "stopped") == ECANCELED, "a copy can be stopped");
	ab_copy_tree_fini(&c);
}

static void test_unreadable(void)
{
	struct ab_copy_tree c = { .max_entries = 100, .max_bytes = 1 << 20 };

	mkdir("u", 0700);
	put("u/secret", "x", 0);
	ok(geteuid() == 0 || copy(&c, "u", "u1") == EACCES, "an unreadable file is an error");
	ok(geteuid() == 0 || strcmp(c.path.data, "secret") == 0, "with its name");
	ab_copy_tree_fini(&c);
}

static void test_object(void)
{
	int fd = open_folder(".");
	struct stat st, was;

	chmod("a/f", 06640);
	ok(ab_copy_object(fd, "a", fd, "object") == 0 && has_text("object/d/x", "#!"),
	   "a folder under another name");
	ok(stat("object/f", &st) == 0 && (st.st_mode & 07777) == 0640 && st.st_mtime == 2000,
	   "without set-id bits, with the time");
	ok(lstat("object/l", &st) == 0 && lstat("a/l", &was) == 0 && S_ISLNK(st.st_mode) &&
		   st.st_mtime == was.st_mtime,
	   "of links, too");
	ok(stat("object/hole", &st) == 0 && st.st_size == 1 << 24 && st.st_blocks < 1000,
	   "with its holes");
	ok(ab_copy_object(fd, "a", fd, "object") < 0 && errno == EEXIST, "nothing is replaced");
	ok(ab_copy_object(fd, "s/fifo", fd, "fifo") < 0 && errno == EINVAL, "a FIFO is refused");
	ok(ab_copy_object(fd, "deep", fd, "shallow2") < 0 && errno == EFBIG, "too deep");
	ok(ab_remove_object(fd, "object") == 0 && access("object", F_OK) < 0, "and removed");
	ok(ab_remove_live(fd, "deep", 1000, 10) == EFBIG && access("deep/d/d", F_OK) == 0,
	   "what is too deep is not removed");
	ok(ab_remove_live(fd, "s", 1, 10) != 0, "nor is more than was allowed");
	close(fd);
}

static void test_remove(void)
{
	int fd = open_folder(".");

	mkdir("out", 0700);
	put("out/kept", "x", 0600);
	symlink("../out", "b/link");
	chmod("b", 0500);
	ok(ab_remove_live(fd, "b", 100, 100) == 0 && access("b", F_OK) < 0,
	   "a closed folder is removed");
	ok(access("out/kept", F_OK) == 0, "and no link is followed");
	ok(ab_remove_live(fd, "b", 100, 100) == 0, "nothing to remove is fine");
	symlink("out", "just-a-link");
	ok(ab_remove_live(fd, "just-a-link", 100, 100) == 0 && access("out/kept", F_OK) == 0,
	   "of a link only the link");
	close(fd);
}

static void remove_base(void)
{
	ab_autofree char *command = ab_printf("chmod -R u+rwX %s; rm -rf %s", base, base);

	(void)!system(command);
}

/* Like a file that was truncated after we looked: sysfs says 4096, whatever there is to read. */
static void test_shorter(void)
{
	struct ab_copy_tree c = { .max_entries = 10, .max_bytes = 1 << 20 };
	int in = open_folder("/sys/kernel"), out = open_folder(".");

	ok(ab_copy_tree(&c, in, "uevent_seqnum", S_IFREG | 0444, out, "shorter") == 0 &&
		   c.bytes > 0 && c.bytes < 64,
	   "what is not there any more is not counted, nor read again and again");
	close(in);
	close(out);
	ab_copy_tree_fini(&c);
}

int main(void)
{
	if (!mkdtemp(base) || chdir(base) < 0)
		return 1;
	test_same();
	test_limits();
	test_special();
	test_shorter();
	test_stop();
	test_unreadable();
	test_object();
	test_remove();
	chdir("/");
	remove_base();
	return done();
}
