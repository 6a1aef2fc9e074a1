/* Files that appear whole, and folders up to a path. */
#include "base/system/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/folder.h"
#include "tap.h"

static char top[] = "/tmp/agentbox-new-file.XXXXXX";
static int dir;

static bool has(const char *name, const char *content)
{
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ab_autofree char *text = NULL;
	size_t len;

	return fd >= 0 && ab_read_all(fd, 100, &text, &len) == 0 && strcmp(text, content) == 0;
}

static size_t count_names(void)
{
	ab_autodir DIR *list = ab_folder_list(dir, ".");
	size_t n = 0;

	while (ab_folder_next(list))
		n++;
	return n;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode : 0;
}

static void test_write(void)
{
	ab_autofree char *path = ab_printf("%s/a", top);

	ok(ab_new_file_write(dir, "a", NULL, "one", 3, 0) == 0 && has("a", "one"), "a new file");
	ok(mode_of("a") == (S_IFREG | 0600), "is private");
	ok(ab_new_file_write(dir, "a", NULL, "two", 3, AB_NEW_FILE_SYNC_NAME) == 0 &&
		   has("a", "two"),
	   "is replaced");
	ok(ab_new_file_write(AT_FDCWD, path, NULL, "three", 5, AB_NEW_FILE_NO_SYNC) == 0 &&
		   has("a", "three"),
	   "by its path, too");
	ok(ab_new_file_write(dir, "a", NULL, "x", 1, AB_NEW_FILE_ONLY) < 0 && errno == EEXIST &&
		   has("a", "three"),
	   "one that must be new does not replace it");
	ok(ab_new_file_write(dir, "b", NULL, "", 0, AB_NEW_FILE_ONLY) == 0 && has("b", ""),
	   "and is made if there is none");
	ok(ab_new_file_write(dir, "none/a", NULL, "x", 1, 0) < 0 && errno == ENOENT,
	   "there is no such folder");
	ok(count_names() == 2, "no other name is left");
}

static void test_links(void)
{
	symlinkat("a", dir, "link");
	symlinkat("a", dir, ".fixed");
	ok(ab_new_file_write(dir, "link", ".fixed", "new", 3, 0) == 0 && S_ISREG(mode_of("link")) &&
		   has("link", "new") && has("a", "three"),
	   "a link is replaced, not followed, nor is one that has the temporary name");
	mkdirat(dir, ".folder", 0700);
	ok(ab_new_file_write(dir, "a", ".folder", "x", 1, 0) < 0 && has("a", "three"),
	   "what cannot be removed has the temporary name");
	unlinkat(dir, ".folder", AT_REMOVEDIR);
	ok(ab_new_file_write(dir, "dangling", NULL, "x", 1, AB_NEW_FILE_ONLY) == 0 &&
		   unlinkat(dir, "dangling", 0) == 0 && symlinkat("gone", dir, "dangling") == 0 &&
		   ab_new_file_write(dir, "dangling", NULL, "x", 1, AB_NEW_FILE_ONLY) < 0 &&
		   errno == EEXIST,
	   "a dangling link is something that is there");
	ok(count_names() == 4, "no other name is left");
}

static void test_parts(void)
{
	struct ab_new_file f = AB_NEW_FILE_NONE;

	ok(ab_new_file_open(dir, "a", NULL, 0644, &f) == 0 && ab_write_all(f.fd, "four", 4) == 0,
	   "a file is written");
	ok(has("a", "three") && count_names() == 5, "beside the old one");
	errno = EXDEV;
	ab_new_file_close(&f);
	ok(errno == EXDEV && f.fd == -1 && has("a", "three") && count_names() == 4,
	   "and given up without a trace");
	ab_new_file_close(&f);
	ok(ab_new_file_open(dir, "a", NULL, 0644, &f) == 0 && ab_new_file_place(&f, 0) == 0 &&
		   f.fd >= 0 && has("a", ""),
	   "or put in its place, and still open");
	ab_new_file_close(&f);
	ok(mode_of("a") == (S_IFREG | 0644) && count_names() == 4, "with its mode");
}

static void test_folders(void)
{
	ab_autofree char *path = ab_printf("%s/x/y/z", top), *file = ab_printf("%s/a/b/c", top);
	ab_autofree char *wrong = ab_printf("%s/a/b", top), *failed = NULL;

	ok(!ab_folder_make_all(path, 0700) && mode_of("x/y/z") == (S_IFDIR | 0700), "folders");
	ok(!ab_folder_make_all(path, 0700) && !ab_folder_make_all("/", 0700), "that are there");
	failed = ab_folder_make_all(file, 0700);
	ok(failed && errno == ENOTDIR && strcmp(failed, file) == 0 &&
		   strncmp(failed, wrong, strlen(wrong)) == 0,
	   "a file is on the way");
	free(failed);
	failed = ab_folder_make_all("", 0700);
	ok(failed != NULL, "an empty path is refused");
}

int main(void)
{
	umask(022);
	if (!mkdtemp(top))
		return 1;
	dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_write();
	test_links();
	test_parts();
	test_folders();
	(void)!system(ab_printf("rm -rf %s", top));
	return done();
}
