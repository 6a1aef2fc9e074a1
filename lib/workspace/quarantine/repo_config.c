/*
 * Theory of operation.
 *
 * git changes a configuration file by writing config.lock and renaming it, and a git in the box may
 * do that while we look. So the file without the settings is complete before the two change places
 * in one step: git always finds a whole file, and bases its next change on it.
 *
 * If git replaced the file after it was read, it is read again: otherwise that change would be lost,
 * and missing from the report. This is checked before the exchange, and after it for the few
 * microseconds in between; then the file goes back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "workspace/git/gitconfig.h"
#include "workspace/git/gitconfig_clean.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/tree/dir.h"

enum { TRIES = 8 };

struct config {
	char *data; /* or NULL: it cannot be read */
	size_t len;
	struct ab_buf text, keys; /* without the settings that run programs; those */
};

static void free_config(struct config *c)
{
	free(c->data);
	ab_buf_fini(&c->text);
	ab_buf_fini(&c->keys);
}

#define auto_config __attribute__((cleanup(free_config)))

/* False: nothing in it runs a program, or it does not exist. */
static bool read_config(int gitdir, const char *name, struct config *ret)
{
	if (ab_read_small(gitdir, name, AB_GITCONFIG_MAX, &ret->data, &ret->len) == 0)
		return ab_gitconfig_clean(ret->data, ret->len, &ret->text, &ret->keys);
	if (errno == ENOENT)
		return false;
	ab_buf_puts(&ret->text, "");
	ab_buf_puts(&ret->keys, "it cannot be read");
	return true;
}

static bool is_same(const struct config *a, const struct config *b)
{
	if (!a->data || !b->data)
		return !a->data && !b->data;
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static bool write_new(int gitdir, const char *name, const struct ab_buf *text, struct stat *ret)
{
	ab_autoclose int fd =
		openat(gitdir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	return fd >= 0 && ab_write_all(fd, text->data, text->len) == 0 && fstat(fd, ret) == 0;
}

static bool exchange_names(int gitdir, const char *a, const char *b)
{
	return renameat2(gitdir, a, gitdir, b, RENAME_EXCHANGE) == 0;
}

static bool is_file(int gitdir, const char *name, const struct stat *st)
{
	struct stat now;

	return fstatat(gitdir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st->st_ino &&
	       now.st_dev == st->st_dev && now.st_size == st->st_size;
}

/* The number of a file that was replaced is soon used again: its ctime tells them apart. */
static bool is_unchanged(int gitdir, const char *name, const struct stat *st)
{
	struct stat now;

	return fstatat(gitdir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st->st_ino &&
	       now.st_ctim.tv_sec == st->st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == st->st_ctim.tv_nsec;
}

/* The file system cannot exchange names, or the box is in the way: for a moment there is no file. */
static void move_then_write(struct ab_quarantine *q, int gitdir, const char *path, const char *file,
			    const struct config *c)
{
	struct stat st;

	/* If it exists again, it is examined again. */
	if (ab_quarantine_take_part(q, gitdir, path, file, c->keys.data))
		(void)write_new(gitdir, file, &c->text, &st);
}

/* False: it is not what was read any more, and is in its place. `st`: the file that was read. */
static bool replace_config(struct ab_quarantine *q, int gitdir, const char *path, const char *file,
			   const struct config *c, const struct stat *st)
{
	auto_config struct config out = { 0 };
	struct stat clean;
	char aside[64];

	snprintf(aside, sizeof(aside), ".agentbox-%s-%d", file, (int)getpid());
	if (!write_new(gitdir, aside, &c->text, &clean)) {
		move_then_write(q, gitdir, path, file, c);
		return true;
	}
	if (st && !is_unchanged(gitdir, file, st)) {
		(void)unlinkat(gitdir, aside, 0);
		return false;
	}
	if (!exchange_names(gitdir, aside, file)) {
		(void)unlinkat(gitdir, aside, 0);
		move_then_write(q, gitdir, path, file, c);
		return true;
	}
	(void)read_config(gitdir, aside, &out);
	if (st && !is_same(&out, c) && exchange_names(gitdir, aside, file)) {
		if (is_file(gitdir, aside, &clean)) {
			(void)unlinkat(gitdir, aside, 0);
			return false;
		}
		/* git has replaced ours, too: its file is the newest one. */
		(void)exchange_names(gitdir, aside, file);
	}
	ab_quarantine_take_aside(q, gitdir, path, file, aside,
				 out.keys.len ? out.keys.data : c->keys.data);
	return true;
}

void ab_repo_config_clean(struct ab_quarantine *q, int gitdir, const char *path, const char *file)
{
	struct stat st;

	for (int i = 1; i <= TRIES; i++) {
		auto_config struct config c = { 0 };

		if (fstatat(gitdir, file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !ab_quarantine_is_new(q, &st) || !read_config(gitdir, file, &c) ||
		    replace_config(q, gitdir, path, file, &c, i < TRIES ? &st : NULL))
			return;
	}
}
