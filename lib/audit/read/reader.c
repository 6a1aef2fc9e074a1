/*
 * Theory of operation.
 *
 * `number` is the number of the last full file that was read to its end. The
 * next file is the full file with the smallest number above it, or audit.jsonl
 * if there is none. The writer may rename audit.jsonl to a full file at any
 * time, and remove full files (never the first). So audit.jsonl is the newest
 * file only if no full file above `number` exists after it was opened.
 *
 * At the end of audit.jsonl, more may come as long as the name still means the
 * open file. Otherwise read what was written before the renaming, find the
 * file's new number by its inode, and continue with the file after it.
 */
#include "audit/read/reader.h"

#include "audit/write/log.h"
#include "base/system/folder.h"

#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

enum {
	ROOM = 256 * 1024,
	TRIES = 20, /* to find the next file while they are renamed */
};

/* Only a regular file: another user may have made the folder, and a FIFO or a device has no end.
 * Look before opening, because opening a device can have effects. */
int ab_reader_open_name(int dir, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	fd = S_ISREG(st.st_mode) ? openat(dir, name, OPEN_FLAGS) : -1;
	if (!S_ISREG(st.st_mode) || (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)))) {
		ab_closep(&fd);
		return ab_errno(EBADMSG);
	}
	return fd;
}

/* The smallest number of a full file above `number`; 0 if there is none. */
static unsigned int find_next_full(const struct ab_reader *r)
{
	ab_autodir DIR *dir = ab_folder_list(r->dir, ".");
	unsigned int least = 0;
	const char *name;

	while ((name = ab_folder_next(dir)) != NULL) {
		unsigned int n = ab_log_full_number(name);

		if (n > r->number && (!least || n < least))
			least = n;
	}
	return least;
}

static void change_file(struct ab_reader *r, int fd, bool last)
{
	/* An unfinished line does not continue in another file. */
	r->lost += r->end > r->begin || r->skip;
	r->begin = r->seen = r->end = 0;
	r->lines = 0;
	r->skip = r->over = false;
	r->last = last;
	ab_closep(&r->fd);
	r->fd = fd;
}

/* -1 with errno. */
static int open_next(struct ab_reader *r)
{
	char name[32];

	for (int i = 0; i < TRIES; i++) {
		unsigned int number = find_next_full(r);
		int fd;

		if (number) {
			fd = ab_reader_open_name(r->dir, ab_log_full_name(number, name));
			if (fd < 0 && errno == ENOENT)
				continue; /* removed meanwhile */
			if (fd >= 0)
				r->number = number;
		} else {
			fd = ab_reader_open_name(r->dir, AB_LOG_NAME);
			if (find_next_full(r)) {
				ab_closep(&fd);
				continue;
			}
			/* The writer is between two renames. */
			if (fd < 0 && errno == ENOENT && i + 1 < TRIES)
				continue;
		}
		if (fd < 0)
			return -1;
		change_file(r, fd, !number);
		return 0;
	}
	return ab_errno(EAGAIN);
}

int ab_reader_open(int dir, struct ab_reader *ret, struct ab_error *err)
{
	struct ab_reader r = { .dir = dir, .fd = -1 };

	if (open_next(&r) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open the run's record");
	r.room = ROOM;
	r.buf = ab_alloc(r.room);
	*ret = r;
	return 0;
}

void ab_reader_open_file(int fd, struct ab_reader *ret)
{
	*ret = (struct ab_reader){ .dir = -1, .fd = fd, .last = true, .room = ROOM };
	ret->buf = ab_alloc(ret->room);
}

void ab_reader_fini(struct ab_reader *reader)
{
	ab_closep(&reader->fd);
	free(reader->buf);
	*reader = (struct ab_reader){ .dir = -1, .fd = -1 };
}

static bool is_same(int dir, const char *name, const struct stat *st)
{
	struct stat named;

	return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ab_stat_same(&named, st);
}

/* Find the number of the open file, which is a full one now. */
static void find_own_number(struct ab_reader *r)
{
	unsigned int number = find_next_full(r);
	struct stat st;
	char name[32];

	if (!number)
		return;
	/* If it is another file, ours was removed and this is the next one. */
	if (fstat(r->fd, &st) == 0 && is_same(r->dir, ab_log_full_name(number, name), &st))
		r->number = number;
}

/* At the end of a file: 1: read again, 0: nothing more now, -1 with errno. */
static int open_more(struct ab_reader *r)
{
	struct stat st;

	if (r->dir < 0)
		return 0;
	if (r->last && !r->over) {
		if (fstat(r->fd, &st) < 0)
			return -1;
		if (is_same(r->dir, AB_LOG_NAME, &st))
			return 0;
		/* Read what was written before the renaming. Or the run's
		 * folder was removed, and there is no more. */
		r->over = true;
		return 1;
	}
	if (r->last) {
		/* The writer is between two renames, or a rename failed. */
		if (!find_next_full(r)) {
			r->over = false;
			return 0;
		}
		find_own_number(r);
		r->last = false;
	}
	if (open_next(r) == 0)
		return 1;
	return errno == ENOENT || errno == EAGAIN ? 0 : -1;
}

/* A hole can be as long as the file system allows, and costs its maker nothing. */
static void skip_hole(const struct ab_reader *r)
{
	off_t here = lseek(r->fd, 0, SEEK_CUR);

	if (here >= 0 && lseek(r->fd, here, SEEK_DATA) < 0 && errno == ENXIO)
		(void)lseek(r->fd, 0, SEEK_END);
}

static void make_room(struct ab_reader *r)
{
	size_t len = r->end - r->begin;

	if (r->begin && len)
		memmove(r->buf, r->buf + r->begin, len);
	r->seen -= r->begin;
	r->begin = 0;
	r->end = len;
	if (len < r->room)
		return;
	if (r->room < AB_LINE_MAX) {
		r->room *= 2;
		r->buf = ab_realloc(r->buf, r->room);
		return;
	}
	r->skip = true;
	r->seen = r->end = 0;
	skip_hole(r);
}

/* 1: there are more bytes; 0: not now; -1 with errno. */
static int fill_buffer(struct ab_reader *r)
{
	make_room(r);
	for (;;) {
		ssize_t n = read(r->fd, r->buf + r->end, r->room - r->end);
		int more;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n > 0) {
			r->end += (size_t)n;
			return 1;
		}
		more = open_more(r);
		if (more <= 0)
			return more;
	}
}

/* Take a whole line from the buffer. */
static bool take_line(struct ab_reader *r, const char **ret_line, size_t *ret_len)
{
	while (r->seen < r->end) {
		const char *line = r->buf + r->begin;
		const char *end = memchr(r->buf + r->seen, '\n', r->end - r->seen);
		bool skipped = r->skip;

		if (!end) {
			r->seen = r->end;
			break;
		}
		r->begin = r->seen = (size_t)(end - r->buf) + 1;
		r->skip = false;
		r->lines++;
		if (skipped) {
			r->lost++;
			continue;
		}
		*ret_line = line;
		*ret_len = (size_t)(end - line);
		return true;
	}
	return false;
}

int ab_reader_next(struct ab_reader *reader, const char **ret_line, size_t *ret_len,
		   struct ab_error *err)
{
	int more;

	do {
		if (take_line(reader, ret_line, ret_len))
			return 1;
		more = fill_buffer(reader);
	} while (more > 0);
	if (more < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read the run's record");
	return 0;
}

int ab_reader_each(int dir, ab_line_fn *fn, void *arg, struct ab_error *err)
{
	struct ab_reader r;
	const char *line;
	size_t len;
	int more;

	if (ab_reader_open(dir, &r, err) < 0)
		return -1;
	while ((more = ab_reader_next(&r, &line, &len, err)) > 0)
		if (!fn(arg, line, len))
			break;
	ab_reader_fini(&r);
	return more < 0 ? -1 : 0;
}

uint64_t ab_reader_place(const struct ab_reader *reader, char ret_file[AB_READER_NAME])
{
	if (reader->dir < 0)
		ret_file[0] = '\0';
	else if (reader->last)
		snprintf(ret_file, AB_READER_NAME, AB_LOG_NAME);
	else
		ab_log_full_name(reader->number, ret_file);
	return reader->lines;
}

uint64_t ab_reader_lost(const struct ab_reader *reader)
{
	return reader->lost + (reader->end > reader->begin || reader->skip);
}
