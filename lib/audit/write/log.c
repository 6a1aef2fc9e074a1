#include "audit/write/log.h"

#include "audit/write/audit.h"
#include "audit/write/copy.h"
#include "audit/write/seal.h"
#include "base/system/folder.h"
#include "base/text/sha256.h"

/* A first line that is longer was not written by us. */
enum { FIRST_MAX = 4 << 20 };

/* What the chain adds to a line. */
enum { CHAIN_ROOM = 80 };

#define OPEN_FLAGS (O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC)

const char *ab_log_full_name(unsigned int number, char ret[AB_LOG_NAME_ROOM])
{
	snprintf(ret, AB_LOG_NAME_ROOM, "audit.%u.jsonl", number);
	return ret;
}

unsigned int ab_log_full_number(const char *name)
{
	char again[AB_LOG_NAME_ROOM];
	unsigned int number;

	return sscanf(name, "audit.%9u.jsonl", &number) == 1 &&
			       strcmp(ab_log_full_name(number, again), name) == 0
		       ? number
		       : 0;
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

/* The end of a file, at most FIRST_MAX bytes. -1 with errno. */
static int read_tail(int dir, const char *name, char **ret, size_t *ret_len)
{
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	off_t from;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	from = st.st_size > FIRST_MAX ? st.st_size - FIRST_MAX : 0;
	return lseek(fd, from, SEEK_SET) < 0 ? -1 : ab_read_all(fd, FIRST_MAX, ret, ret_len);
}

/* The last line that has its end, without it. False if there is none. */
static bool find_last(const char *text, size_t len, const char **ret, size_t *ret_len)
{
	const char *end = memrchr(text, '\n', len), *before;

	if (!end)
		return false;
	before = end > text ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
	*ret = before ? before + 1 : text;
	*ret_len = (size_t)(end - *ret);
	return true;
}

/* The newest full file, or "" if there is none. */
static void find_newest_full(int dir, char ret[32])
{
	ab_autodir DIR *list = ab_folder_list(dir, ".");
	unsigned int newest = 0;
	const char *name;

	while ((name = ab_folder_next(list)) != NULL)
		if (ab_log_full_number(name) > newest)
			newest = ab_log_full_number(name);
	ret[0] = '\0';
	if (newest)
		ab_log_full_name(newest, ret);
}

/* Continue the chain. If the writer was killed in the middle of a line, end that line. */
static int find_chain(struct ab_log *log, struct ab_error *err)
{
	ab_autofree char *text = NULL;
	char name[32] = AB_LOG_NAME;
	const char *line;
	size_t len, n;

	/* It may have been killed before the first line of a file. */
	if (log->len == 0)
		find_newest_full(log->setup.dir, name);
	if (name[0] == '\0')
		return 0;
	if (read_tail(log->setup.dir, name, &text, &len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read the run's record");
	if (find_last(text, len, &line, &n))
		ab_sha256(line, n, log->prev);
	if (log->len == 0 || len == 0 || text[len - 1] == '\n')
		return 0;
	if (write(log->fd, "\n", 1) != 1)
		return ab_fail(err, AB_ESYSTEM, errno, "write the run's record");
	log->torn = true;
	log->len++;
	return 0;
}

int ab_log_resume(const struct ab_log_setup *setup, struct ab_log *ret, struct ab_error *err)
{
	if (open_file(setup, 0, ret, err) < 0)
		return -1;
	/* Only one or two records follow, and the number of full files is unknown. */
	ret->limit = UINT64_MAX;
	if (find_chain(ret, err) < 0) {
		ab_log_fini(ret);
		return ab_step(err, "record");
	}
	return 0;
}

void ab_log_fini(struct ab_log *log)
{
	ab_buf_fini(&log->unhashed);
	ab_closep(&log->fd);
}

static void hash_last(struct ab_log *log)
{
	if (!log->unhashed.len)
		return;
	ab_sha256(log->unhashed.data, log->unhashed.len, log->prev);
	log->unhashed.len = 0;
}

void ab_log_settle(struct ab_log *log)
{
	pthread_mutex_lock(&log->mutex);
	hash_last(log);
	pthread_mutex_unlock(&log->mutex);
}

/* Add the members that every line ends with, and close it. */
static void close_line(struct ab_log *log, struct ab_buf *line, bool last)
{
	struct ab_seal *seal = log->setup.seal;

	hash_last(log);
	if (log->torn)
		ab_record_json(line, "torn", "true");
	ab_record_maybe(line, "prev", log->prev);
	if (last && seal && seal->loaded)
		ab_seal_add(seal, line);
	ab_buf_puts(line, "}\n");
}

static int append_bytes(struct ab_log *log, const struct ab_buf *line, struct ab_error *err)
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

static int append_line(struct ab_log *log, const struct ab_buf *line, struct ab_error *err)
{
	if (append_bytes(log, line, err) < 0)
		return -1;
	ab_buf_add(&log->unhashed, line->data, line->len - 1);
	log->torn = false;
	return 0;
}

/* Remove the oldest full file if there are too many. Returns its name, or "". */
static const char *remove_oldest(struct ab_log *log, char buf[32])
{
	buf[0] = '\0';
	if (log->full <= AB_LOG_FULL)
		return buf;
	ab_log_full_name(log->full - AB_LOG_FULL + 1, buf);
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

	ab_log_full_name(log->full + 1, full);
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
	hash_last(log);
	if (log->full++ == 0)
		memcpy(log->first, log->prev, sizeof(log->first));
	remove_oldest(log, removed);
	ab_record_open(&line, log->setup.run_id, "continued");
	ab_record_text(&line, "before", full);
	ab_record_maybe(&line, "removed", removed);
	if (log->full > 1)
		ab_record_text(&line, "first", log->first);
	close_line(log, &line, false);
	/* If this fails, writing the record itself fails and reports it. */
	(void)append_line(log, &line, &ignored);
	/* The copy has the whole chain. */
	if (log->setup.copy)
		(void)ab_copy_write(log->setup.copy, line.data, line.len, &ignored);
}

static int write_record(struct ab_log *log, struct ab_buf *line, bool last, struct ab_error *err)
{
	struct ab_error second;
	int result;

	pthread_mutex_lock(&log->mutex);
	if (log->len > 0 && log->len + line->len + CHAIN_ROOM > log->limit)
		rotate_file(log);
	close_line(log, line, last);
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

int ab_log_write(struct ab_log *log, struct ab_buf *line, struct ab_error *err)
{
	return write_record(log, line, false, err);
}

int ab_log_end(struct ab_log *log, struct ab_buf *line, struct ab_error *err)
{
	return write_record(log, line, true, err);
}

/* The file with the start record. */
static int open_first(int dir)
{
	char name[32];
	int fd = openat(dir, ab_log_full_name(1, name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

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
	ab_autofree char *text = NULL;
	const char *line;
	size_t len, n;

	if (read_tail(dir, AB_LOG_NAME, &text, &len) < 0)
		return -1;
	/* A line without its end was not finished. */
	if (len < 2 || text[len - 1] != '\n' || !find_last(text, len, &line, &n))
		return ab_errno(EBADMSG);
	if (line == text && len >= FIRST_MAX)
		return ab_errno(EFBIG);
	*ret_line = ab_strndup(line, n);
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
	return ab_errno(EBADMSG);
}
