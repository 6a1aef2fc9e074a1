#include "audit/write/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "audit/write/copy.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"

/* A first line that is longer was not written by us. */
enum { FIRST_MAX = 4 << 20 };

#define OPEN_FLAGS (O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC)

static const char *name_full_file(unsigned int number, char buf[32])
{
	snprintf(buf, 32, "audit.%u.jsonl", number);
	return buf;
}

static int open_file(const struct ab_log_setup *setup, int flags, struct ab_log *ret,
		     struct ab_error *err)
{
	struct ab_log log = { .setup = *setup,
			      .mutex = PTHREAD_MUTEX_INITIALIZER,
			      .limit = setup->size ? setup->size : AB_LOG_SIZE };
	struct stat st;

	log.fd = openat(setup->dir, AB_LOG_NAME, OPEN_FLAGS | flags, 0600);
	if (log.fd < 0 || fstat(log.fd, &st) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "open the run's record");
		ab_closep(&log.fd);
		ab_hint(err, "agentbox does not start a run that it cannot record; choose another "
			     "folder with AGENTBOX_STATE");
		return ab_step(err, "record");
	}
	log.len = (uint64_t)st.st_size;
	*ret = log;
	return 0;
}

int ab_log_open(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err)
{
	return open_file(setup, O_EXCL, ret, err);
}

/* If the writer was killed in the middle of a line, end that line. */
static int end_torn(struct ab_log *log, struct ab_error *err)
{
	ab_autoclose int fd =
		openat(log->setup.dir, AB_LOG_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char last = '\n';

	if (fd < 0 || (log->len && pread(fd, &last, 1, (off_t)log->len - 1) != 1))
		return ab_fail(err, AB_ESYSTEM, errno, "read the run's record");
	if (last == '\n')
		return 0;
	if (write(log->fd, "\n", 1) != 1)
		return ab_fail(err, AB_ESYSTEM, errno, "write the run's record");
	log->len++;
	return 0;
}

int ab_log_resume(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err)
{
	if (open_file(setup, 0, ret, err) < 0)
		return -1;
	/* Only one or two records follow, and the number of full files is unknown. */
	ret->limit = UINT64_MAX;
	if (end_torn(ret, err) < 0) {
		ab_log_fini(ret);
		return ab_step(err, "record");
	}
	return 0;
}

void ab_log_fini(struct ab_log *log)
{
	ab_closep(&log->fd);
	log->fd = -1;
}

static int append_line(struct ab_log *log, const struct ab_buf *line, struct ab_error *err)
{
	ssize_t n, more;
	int errnum;

	do {
		n = write(log->fd, line->data, line->len);
	} while (n < 0 && errno == EINTR);
	/* Only the next write says why this one was cut: no space, or a limit on file sizes. */
	if (n > 0 && n < (ssize_t)line->len) {
		more = write(log->fd, line->data + n, line->len - (size_t)n);
		errnum = more < 0 ? errno : ENOSPC;
		n += more > 0 ? more : 0;
	} else {
		errnum = errno;
	}
	if (n == (ssize_t)line->len) {
		log->len += line->len;
		return 0;
	}
	/* Remove the part of a line. */
	if (n > 0 && ftruncate(log->fd, (off_t)log->len) < 0)
		log->len += (uint64_t)n;
	ab_fail(err, AB_ESYSTEM, errnum, "write the run's record");
	if (errnum == ENOSPC || errnum == EDQUOT)
		ab_hint(err, "the state folder is full; remove old records with agentbox gc "
			     "--older 1d, or choose another folder with AGENTBOX_STATE");
	return -1;
}

/* Remove the oldest full file if there are too many. Returns its name, or "". */
static const char *remove_oldest(struct ab_log *log, char buf[32])
{
	buf[0] = '\0';
	if (log->full <= AB_LOG_FULL)
		return buf;
	name_full_file(log->full - AB_LOG_FULL + 1, buf);
	if (unlinkat(log->setup.dir, buf, 0) < 0)
		buf[0] = '\0';
	return buf;
}

/*
 * Start the next file. If that fails, for example because no descriptor is
 * free, continue in this one and try again some records later: a file that is
 * too long is better than a lost record.
 */
static void rotate_file(struct ab_log *log)
{
	uint64_t size = log->setup.size ? log->setup.size : AB_LOG_SIZE;
	ab_autobuf struct ab_buf line = { 0 };
	char full[32], removed[32];
	struct ab_error ignored;
	int dir = log->setup.dir, fd = -1;

	name_full_file(log->full + 1, full);
	log->limit = log->len + size / 16;
	if (renameat(dir, AB_LOG_NAME, dir, full) < 0)
		return;
	fd = openat(dir, AB_LOG_NAME, OPEN_FLAGS | O_EXCL, 0600);
	if (fd < 0) {
		renameat(dir, full, dir, AB_LOG_NAME);
		return;
	}
	close(log->fd);
	log->fd = fd;
	log->len = 0;
	log->limit = size;
	log->full++;
	remove_oldest(log, removed);
	ab_record_open(&line, log->setup.run_id, "continued");
	ab_record_text(&line, "before", full);
	ab_record_maybe(&line, "removed", removed);
	ab_buf_puts(&line, "}\n");
	/* If this fails, writing the record itself fails and reports it. */
	(void)append_line(log, &line, &ignored);
}

int ab_log_write(struct ab_log *log, struct ab_buf *line, struct ab_error *err)
{
	struct ab_error second;
	int result;

	ab_buf_puts(line, "}\n");
	pthread_mutex_lock(&log->mutex);
	if (log->len > 0 && log->len + line->len > log->limit)
		rotate_file(log);
	result = append_line(log, line, err);
	if (log->setup.copy &&
	    ab_copy_write(log->setup.copy, line->data, line->len, result < 0 ? &second : err) < 0)
		result = -1;
	if (log->setup.tap)
		log->setup.tap(log->setup.tap_arg, line->data, line->len - 1);
	pthread_mutex_unlock(&log->mutex);
	line->len = 0;
	return result < 0 ? ab_step(err, "record") : 0;
}

/* The file with the start record. */
static int open_first(int dir)
{
	char name[32];
	int fd = openat(dir, name_full_file(1, name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? fd : openat(dir, AB_LOG_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

bool ab_log_begun(int dir)
{
	ab_autoclose int fd = open_first(dir);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

int ab_log_last(int dir, char **ret_line)
{
	ab_autoclose int fd = openat(dir, AB_LOG_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ab_autofree char *text = NULL;
	struct stat st;
	const char *before;
	off_t from;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	from = st.st_size > FIRST_MAX ? st.st_size - FIRST_MAX : 0;
	if (lseek(fd, from, SEEK_SET) < 0 || ab_read_all(fd, FIRST_MAX, &text, &len) < 0)
		return -1;
	/* A line without its end was not finished. */
	if (len < 2 || text[len - 1] != '\n') {
		errno = EBADMSG;
		return -1;
	}
	before = memrchr(text, '\n', len - 1);
	if (!before && from > 0) {
		errno = EFBIG;
		return -1;
	}
	*ret_line = before ? ab_strndup(before + 1, len - 2 - (size_t)(before - text))
			   : ab_strndup(text, len - 1);
	return 0;
}

ssize_t ab_log_head(int dir, char *ret, size_t size)
{
	ab_autoclose int fd = open_first(dir);

	return fd < 0 ? -1 : read(fd, ret, size);
}

int ab_log_first(int dir, char **ret_line)
{
	ab_autoclose int fd = open_first(dir);
	ab_autobuf struct ab_buf b = { 0 };
	char chunk[16384];

	if (fd < 0)
		return -1;
	while (b.len < FIRST_MAX) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		const char *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		end = memchr(chunk, '\n', (size_t)n);
		ab_buf_add(&b, chunk, end ? (size_t)(end - chunk) : (size_t)n);
		if (end) {
			*ret_line = ab_buf_take(&b);
			return 0;
		}
	}
	errno = EBADMSG;
	return -1;
}
