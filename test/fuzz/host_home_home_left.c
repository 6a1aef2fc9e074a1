/*
 * What a box left in its home: NUL-separated entries, each a letter for its kind (d a folder that is
 * entered, u back up, f a file, l a link, p a FIFO) and a name. Whatever it is, the search ends, follows
 * no link, and what it shows is short and printable.
 */
#include "host/home/home_left.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES_MAX = 24 };

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int enter(int dir, const char *name)
{
	int below;

	(void)mkdirat(dir, name, 0700);
	below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0)
		return dir;
	close(dir);
	return below;
}

static int make_entry(int dir, int top, const char *entry)
{
	const char *name = *entry ? entry + 1 : "";

	if (!*name || strchr(name, '/') || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
		return dir;
	switch (*entry) {
	case 'd':
		return enter(dir, name);
	case 'u':
		close(dir);
		return dup(top);
	case 'f':
		(void)!mknodat(dir, name, S_IFREG | 0600, 0);
		break;
	case 'l':
		(void)!symlinkat(name, dir, name);
		break;
	case 'p':
		(void)!mkfifoat(dir, name, 0600);
		break;
	}
	return dir;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/dev/shm/agentbox-fuzz-XXXXXX";
	struct ab_home_left left = { 0 };
	size_t n = 0;
	int top, dir;

	if (!mkdtemp(path))
		abort();
	top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = dup(top);
	for (size_t at = 0; at < size && n < ENTRIES_MAX; n++) {
		ab_autofree char *entry = ab_strndup((const char *)data + at, size - at);

		at += strlen(entry) + 1;
		dir = make_entry(dir, top, entry);
	}
	ab_home_left_search(top, "", &left);
	if (left.names.len > AB_HOME_LEFT_NAMES || left.names.len > left.files ||
	    left.files > ENTRIES_MAX || left.cut)
		abort();
	for (size_t i = 0; i < left.names.len; i++)
		for (const char *c = left.names.v[i]; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				abort();
	ab_home_left_fini(&left);
	close(dir);
	close(top);
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}
