/*
 * Theory of operation.
 *
 * git changes a configuration file by writing config.lock and renaming it, and a git in the box may
 * do that while we look. So the file without the settings is complete before the two change places
 * in one step: git always finds a whole file, and bases its next change on it.
 *
 * If git replaced the file after it was read, it is read again: otherwise that change would be lost,
 * and missing from the report. This is checked before the exchange, and after it for the few
 * microseconds in between; then the file goes back. git may have replaced the clean file by then,
 * too: so what comes out of its place is compared with what was put there, and if it is another
 * file, that one is the newest and goes back in turn. A file that is open keeps its number, so
 * numbers tell files apart.
 */
#include "workspace/git/gitconfig.h"
#include "workspace/git/gitconfig_clean.h"
#include "workspace/git/gitkeys.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/quarantine/repo_places.h"
#include "workspace/tree/dir.h"

enum { TRIES = 8 };

struct config {
	char *data; /* or NULL: it cannot be read */
	size_t len;
	struct ab_buf text, keys; /* with the harmless settings only; the others */
};

static void free_config(struct config *c)
{
	free(c->data);
	ab_buf_fini_all(&c->text, &c->keys);
}

#define auto_config __attribute__((cleanup(free_config)))

/* False: there is nothing to change in it, or it does not exist. */
static bool read_config(int gitdir, const char *name, const struct ab_gitkeys_terms *terms,
			struct config *ret)
{
	if (ab_read_small(gitdir, name, AB_GITCONFIG_MAX, &ret->data, &ret->len) == 0)
		return ab_gitconfig_clean(ret->data, ret->len, terms, &ret->text, &ret->keys);
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

/* Open for as long as it is to be recognised; -1: not written. */
static int write_new(int gitdir, const char *name, const struct ab_buf *text)
{
	int fd = openat(gitdir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd >= 0 && ab_write_all(fd, text->data, text->len) < 0) {
		(void)unlinkat(gitdir, name, 0);
		ab_closep(&fd);
	}
	return fd;
}

static bool exchange_names(int gitdir, const char *a, const char *b)
{
	return renameat2(gitdir, a, gitdir, b, RENAME_EXCHANGE) == 0;
}

static bool is_file(int gitdir, const char *name, int fd)
{
	struct stat now, open;

	return fstatat(gitdir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &open) == 0 &&
	       ab_stat_same(&now, &open);
}

/* The number of a file that was replaced is soon used again: its ctime tells them apart. */
static bool is_unchanged(int gitdir, const char *name, const struct stat *st)
{
	struct stat now;

	return fstatat(gitdir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st->st_ino &&
	       ab_time_same(now.st_ctim, st->st_ctim);
}

/* The file system cannot exchange names, or the box is in the way: for a moment there is no file. */
static void move_then_write(struct ab_quarantine *q, int gitdir, const char *path, const char *file,
			    const struct config *c)
{
	ab_autoclose int clean = -1;

	/* If it exists again, it is examined again. */
	if (ab_quarantine_take(q, gitdir, path, file, file, AB_TAKE_PART, c->keys.data))
		clean = write_new(gitdir, file, &c->text);
}

/* Add the settings of the file that is aside now, if it is another one than before. */
static void add_keys_of(int gitdir, const char *aside, const struct ab_gitkeys_terms *terms,
			struct ab_buf *keys)
{
	auto_config struct config last = { 0 };

	if (!read_config(gitdir, aside, terms, &last) ||
	    (keys->len && strcmp(last.keys.data, keys->data) == 0))
		return;
	ab_buf_puts(keys, keys->len ? ", " : "");
	ab_buf_puts(keys, last.keys.data);
}

/* The newest file, which is aside, goes back to its place, where `clean` was put. True: it is there,
 * and `clean` is aside, or a file that git has replaced. */
static bool put_back(int gitdir, const char *file, const char *aside, int clean)
{
	ab_autoclose int put = fcntl(clean, F_DUPFD_CLOEXEC, 3);

	for (int i = 0; put >= 0 && i < TRIES; i++) {
		int newest = openat(gitdir, aside, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		bool done;

		if (newest < 0 || !exchange_names(gitdir, aside, file)) {
			ab_closep(&newest);
			return false;
		}
		done = is_file(gitdir, aside, put);
		ab_closep(&put);
		put = newest;
		if (done)
			return true;
	}
	return false;
}

/* `clean`, which is in its place, was made of an older file than the one that was taken aside, whose
 * clean text is `text`: that one is put there. If git has changed the file meanwhile, its file stays. */
static void renew(int gitdir, const char *file, const char *aside, int clean,
		  const struct ab_buf *text)
{
	ab_autoclose int newer = write_new(gitdir, aside, text);

	if (newer < 0)
		return;
	if (exchange_names(gitdir, aside, file) && !is_file(gitdir, aside, clean))
		(void)put_back(gitdir, file, aside, newer);
	(void)unlinkat(gitdir, aside, 0);
}

/* False: it is not what was read any more, and is in its place. `st`: the file that was read; NULL:
 * it is replaced whatever it is now. */
static bool replace_config(struct ab_quarantine *q, int gitdir, const char *path, const char *file,
			   const struct config *c, const struct ab_gitkeys_terms *terms,
			   const struct stat *st)
{
	auto_config struct config out = { 0 };
	ab_autoclose int clean = -1;
	bool again = false;
	char aside[64];

	snprintf(aside, sizeof(aside), ".agentbox-%s-%d", file, (int)getpid());
	clean = write_new(gitdir, aside, &c->text);
	if (clean < 0) {
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
	(void)read_config(gitdir, aside, terms, &out);
	if (st && !is_same(&out, c)) {
		again = put_back(gitdir, file, aside, clean);
		if (again && is_file(gitdir, aside, clean)) {
			(void)unlinkat(gitdir, aside, 0);
			return false;
		}
		add_keys_of(gitdir, aside, terms, &out.keys);
	}
	ab_quarantine_take(q, gitdir, path, file, aside, AB_TAKE_PART,
			   out.keys.len ? out.keys.data : c->keys.data);
	if (!st && out.data && !is_same(&out, c))
		renew(gitdir, file, aside, clean, &out.text);
	return !again;
}

void ab_repo_config_clean(struct ab_quarantine *q, int gitdir, const char *path, const char *file)
{
	bool done = false;
	struct stat st;

	for (int i = 1; i <= TRIES && !done; i++) {
		auto_config struct config c = { 0 };
		struct ab_repo_places places;

		if (fstatat(gitdir, file, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !ab_quarantine_is_new(q, &st))
			return;
		ab_repo_places_open(&places, q, gitdir, path);
		done = !read_config(gitdir, file, &places.terms, &c) ||
		       replace_config(q, gitdir, path, file, &c, &places.terms,
				      i < TRIES ? &st : NULL);
		ab_repo_places_close(&places);
	}
}
