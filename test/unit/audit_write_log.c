/*
 * The record of a run: what a line is, when a file is full, what a copy may
 * be, and what is said when nothing more can be written.
 */
#include "audit/write/log.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "audit/write/copy.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "base/system/fd.h"
#include "tap.h"

static char top[PATH_MAX];

/* Good until the eighth call from now. */
static const char *at(const char *rel)
{
	static char paths[8][PATH_MAX + 64];
	static size_t next;
	char *path = paths[next++ % AB_COUNT(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, rel);
	return path;
}

static int folder(const char *rel)
{
	int fd;

	mkdir(at(rel), 0700);
	fd = open(at(rel), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

/* Its text; NULL when there is none. */
static char *content(const char *rel)
{
	ab_autoclose int fd = open(at(rel), O_RDONLY | O_CLOEXEC);
	char *text;
	size_t len;

	if (fd < 0 || ab_read_all(fd, 16 << 20, &text, &len) < 0)
		return NULL;
	return text;
}

static bool exists(const char *rel)
{
	return access(at(rel), F_OK) == 0;
}

static int put(struct ab_log *log, int number, struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, "abcde", "test");
	ab_record_number(&line, "n", number);
	return ab_log_write(log, &line, err);
}

static void check_stamp(void)
{
	static const struct {
		struct timespec at;
		const char *text;
	} cases[] = {
		{ { 0, 0 }, "1970-01-01T00:00:00.000Z" },
		{ { 951782399, 999999999 }, "2000-02-28T23:59:59.999Z" },
		{ { 951782400, 0 }, "2000-02-29T00:00:00.000Z" },
		{ { 951868800, 1000000 }, "2000-03-01T00:00:00.001Z" },
		{ { 4107542400, 500000 }, "2100-03-01T00:00:00.000Z" },
		{ { 1735689599, 7000000 }, "2024-12-31T23:59:59.007Z" },
		{ { 253402300799, 0 }, "9999-12-31T23:59:59.000Z" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char text[AB_STAMP_ROOM];

		ab_stamp(&cases[i].at, text);
		is_str(text, cases[i].text, "a time as text");
	}
}

static void check_words(void)
{
	ab_autobuf struct ab_buf line = { 0 };
	ab_autostrv struct ab_strv list = { 0 };

	ab_strv_add(&list, "a\"b");
	ab_strv_add(&list, "");
	ab_record_text(&line, "t", "x\ny\x01\xff");
	ab_record_maybe(&line, "m", NULL);
	ab_record_maybe(&line, "e", "");
	ab_record_maybe(&line, "f", "full");
	ab_record_number(&line, "z", 0);
	ab_record_number(&line, "min", INT64_MIN);
	ab_record_number(&line, "max", INT64_MAX);
	ab_record_list(&line, "l", &list);
	ab_record_json(&line, "j", "true");
	is_str(line.data,
	       ",\"t\":\"x\\u000ay\\u0001\\ufffd\",\"m\":null,\"e\":null,"
	       "\"f\":\"full\",\"z\":0,\"min\":-9223372036854775808,"
	       "\"max\":9223372036854775807,\"l\":[\"a\\\"b\",\"\"],\"j\":true",
	       "values are JSON, whatever they hold");
}

static void check_lines(void)
{
	ab_autoclose int dir = folder("lines");
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde" };
	struct ab_log log, twice;
	struct ab_error err = { 0 };
	ab_autofree char *text = NULL;
	ab_autofree char *first = NULL;
	struct stat st;

	ok(!ab_log_begun(dir), "no record yet");
	ok(ab_log_first(dir, &first) < 0 && errno == ENOENT, "no first line");
	ok(ab_log_open(&setup, &log, &err) == 0, "opened %s", err.text);
	ok(!ab_log_begun(dir), "an empty file is no record");
	ok(stat(at("lines/audit.jsonl"), &st) == 0 && (st.st_mode & 07777) == 0600,
	   "it is ours alone");
	ok(ab_log_open(&setup, &twice, &err) < 0 && err.errnum == EEXIST &&
		   strcmp(err.step, "record") == 0,
	   "it cannot be made twice");
	ok(put(&log, 1, &err) == 0 && put(&log, 2, &err) == 0, "two records");
	ok(ab_log_begun(dir), "now there is one");
	ab_log_fini(&log);
	ok(ab_log_resume(&setup, &log, &err) == 0 && put(&log, 3, &err) == 0,
	   "a later process goes on");
	ab_log_fini(&log);
	text = content("lines/audit.jsonl");
	ok(text && strstr(text, "\"n\":1,\"prev\":null}\n{") && strstr(text, "\"n\":2,") &&
		   strstr(text, "\"n\":3,") && strcmp(text + strlen(text) - 3, "\"}\n") == 0,
	   "a line for each");
	ok(ab_log_first(dir, &first) == 0 && first[strlen(first) - 1] == '}',
	   "the first one without its end");
}

static void check_first(void)
{
	ab_autoclose int dir = folder("first");
	ab_autoclose int fd = open(at("first/audit.jsonl"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ab_autofree char *first = NULL;
	ab_autofree char *big = ab_alloc((5 << 20) + 1);

	if (fd < 0 || ab_write_all(fd, "{\"half", 6) < 0)
		abort();
	ok(ab_log_first(dir, &first) < 0 && errno == EBADMSG, "a line without an end is none");
	memset(big, ' ', 1 << 20);
	if (ab_write_all(fd, big, 1 << 20) < 0 || ab_write_all(fd, "}\n", 2) < 0)
		abort();
	ok(ab_log_first(dir, &first) == 0 && strlen(first) == (1 << 20) + 7, "a long one is read");
	free(ab_take(first));
	memset(big, '\n', 5 << 20);
	if (ab_write_all(fd, big, 5 << 20) < 0)
		abort();
	ok(ab_log_first(dir, &first) == 0, "how much follows does not matter");
	free(ab_take(first));
	memset(big, ' ', 5 << 20);
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
	    ab_write_all(fd, big, 5 << 20) < 0 || ab_write_all(fd, "\n", 1) < 0)
		abort();
	ok(ab_log_first(dir, &first) < 0, "one without measure is not");
}

/* Every line of the files that there are, in order: "n" of each. */
static char *numbers(const char *folder_name, unsigned int highest)
{
	struct ab_buf b = { 0 };

	for (unsigned int i = 1; i <= highest + 1; i++) {
		ab_autofree char *rel = i > highest
						? ab_printf("%s/audit.jsonl", folder_name)
						: ab_printf("%s/audit.%u.jsonl", folder_name, i);
		ab_autofree char *text = content(rel);

		for (char *p = text; p && *p;) {
			size_t len = strcspn(p, "\n");
			json_t *r = json_loadb(p, len, 0, NULL);
			json_t *n = json_object_get(r, "n");

			if (!r)
				ab_buf_puts(&b, "bad ");
			else if (n)
				ab_buf_printf(&b, "%d ", (int)json_integer_value(n));
			else
				ab_buf_printf(
					&b, "(%s %s) ",
					json_string_value(json_object_get(r, "before")),
					json_string_value(json_object_get(r, "removed"))
						? json_string_value(json_object_get(r, "removed"))
						: "-");
			json_decref(r);
			p += len + (p[len] == '\n');
		}
	}
	return ab_buf_take(&b);
}

static void check_full(void)
{
	ab_autoclose int dir = folder("full");
	/* Four of these records, or a "continued" and two. */
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde", .size = 600 };
	struct ab_log log;
	struct ab_error err = { 0 };
	ab_autofree char *got = NULL;
	ab_autofree char *first = NULL;
	bool written = true;
	struct stat st;

	if (ab_log_open(&setup, &log, &err) < 0)
		abort();
	for (int i = 10; i < 14; i++)
		written &= put(&log, i, &err) == 0;
	ok(written && !exists("full/audit.1.jsonl"), "room for four records");
	for (int i = 14; i < 24; i++)
		written &= put(&log, i, &err) == 0;
	ok(written, "and the rest elsewhere");
	ok(stat(at("full/audit.1.jsonl"), &st) == 0 && st.st_size <= 600 &&
		   (st.st_mode & 07777) == 0600,
	   "a full file is not more than full");
	ok(!exists("full/audit.2.jsonl") && exists("full/audit.3.jsonl") && log.full == 5,
	   "the first stays, and the last %d full ones", AB_LOG_FULL - 1);
	got = numbers("full", 5);
	is_str(got,
	       "10 11 12 13 (audit.2.jsonl -) 16 17 (audit.3.jsonl -) 18 19 "
	       "(audit.4.jsonl -) 20 21 (audit.5.jsonl audit.2.jsonl) 22 23 ",
	       "in order, and each says what it follows and what is gone");
	ok(ab_log_first(dir, &first) == 0 && strstr(first, "\"n\":10"),
	   "the first line is still the first");
	ab_log_fini(&log);

	/* The one that finishes in another's place. */
	ok(ab_log_resume(&setup, &log, &err) == 0 && put(&log, 99, &err) == 0 &&
		   put(&log, 98, &err) == 0,
	   "a later process writes behind it %s", err.text);
	ok(!exists("full/audit.6.jsonl"), "and makes no further file");
	ab_log_fini(&log);
}

/* A record that is longer than a file may be is written all the same. */
static void check_long(void)
{
	ab_autoclose int dir = folder("long");
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde", .size = 8 };
	struct ab_log log;
	struct ab_error err = { 0 };
	ab_autofree char *got = NULL;

	if (ab_log_open(&setup, &log, &err) < 0)
		abort();
	ok(put(&log, 1, &err) == 0 && put(&log, 2, &err) == 0 && log.full == 1,
	   "records longer than a file");
	got = numbers("long", 1);
	is_str(got, "1 (audit.1.jsonl -) 2 ", "are each in one");
	ab_log_fini(&log);
}

/* No other file can be made: better too long than lost. */
static void check_stuck(void)
{
	ab_autoclose int dir = folder("stuck");
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde", .size = 100 };
	struct rlimit limit, none = { 0 };
	struct ab_log log;
	struct ab_error err = { 0 };
	ab_autofree char *got = NULL;
	bool written = true;

	if (ab_log_open(&setup, &log, &err) < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		abort();
	none.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &none);
	for (int i = 1; i < 4; i++)
		written &= put(&log, i, &err) == 0;
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(written && log.full == 0 && !exists("stuck/audit.1.jsonl"),
	   "no descriptor free: it goes on in the full one");
	ok(put(&log, 4, &err) == 0 && log.full == 1, "and later in another");
	got = numbers("stuck", 1);
	is_str(got, "1 2 3 (audit.1.jsonl -) 4 ", "nothing is lost");
	ab_log_fini(&log);
}

/* The size limit stands for a disk that fills up: the same partial write. */
static void check_torn(void)
{
	ab_autoclose int dir = folder("torn");
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde" };
	struct rlimit limit, small = { 0 };
	struct ab_log log;
	struct ab_error err = { 0 };
	ab_autofree char *text = NULL;
	bool failed;

	if (ab_log_open(&setup, &log, &err) < 0 || put(&log, 1, &err) < 0 ||
	    getrlimit(RLIMIT_FSIZE, &limit) < 0)
		abort();
	small.rlim_cur = log.len + 20;
	small.rlim_max = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	failed = put(&log, 2, &err) < 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(failed && err.errnum && strcmp(err.step, "record") == 0,
	   "a record that does not fit is an error: %s", err.text);
	ok(put(&log, 3, &err) == 0, "the next one fits again");
	text = content("torn/audit.jsonl");
	ok(text && strstr(text, "\"n\":1,") && !strstr(text, "\"n\":2") && strstr(text, "\"n\":3,"),
	   "and no part of a line is left");
	ab_log_fini(&log);
}

struct writer {
	pthread_t thread;
	struct ab_log *log;
	int from;
	bool failed;
};

static void *write_many(void *arg)
{
	struct writer *w = arg;
	struct ab_error err;

	for (int i = 0; i < 500; i++)
		w->failed |= put(w->log, w->from + i, &err) < 0;
	return NULL;
}

static void check_threads(void)
{
	ab_autoclose int dir = folder("threads");
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde", .size = 32 << 10 };
	struct writer writers[2] = { 0 };
	struct ab_log log;
	struct ab_error err = { 0 };
	ab_autofree char *got = NULL;
	bool seen[1000] = { 0 };
	int count = 0;

	if (ab_log_open(&setup, &log, &err) < 0)
		abort();
	for (size_t i = 0; i < AB_COUNT(writers); i++) {
		writers[i].log = &log;
		writers[i].from = (int)i * 500;
		if (pthread_create(&writers[i].thread, NULL, write_many, &writers[i]) != 0)
			abort();
	}
	for (size_t i = 0; i < AB_COUNT(writers); i++)
		pthread_join(writers[i].thread, NULL);
	ok(!writers[0].failed && !writers[1].failed && log.full >= 1,
	   "two threads write, also while a file gets full");
	got = numbers("threads", log.full);
	for (char *p = got; *p;) {
		char *end;
		long n = strtol(p, &end, 10);

		if (end != p && n >= 0 && n < 1000 && !seen[n]) {
			seen[n] = true;
			count++;
		}
		p = strchr(p, ' ') + 1;
	}
	ok(count == 1000 && !strstr(got, "bad"), "every record is whole: %d", count);
	ab_log_fini(&log);
}

static int open_copy(const char *where, struct ab_copy *ret, struct ab_error *err)
{
	return ab_copy_is_fd(where)
		       ? ab_copy_open_fd("--audit", where, ret, err)
		       : ab_copy_open_file("--audit", where, AT_FDCWD, where, ret, err);
}

static int try_copy(const char *where, struct ab_error *err)
{
	struct ab_copy copy;

	*err = (struct ab_error){ 0 };
	if (open_copy(where, &copy, err) < 0)
		return -1;
	ab_copy_fini(&copy);
	return 0;
}

static void make_file(const char *rel, mode_t mode)
{
	close(open(at(rel), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	chmod(at(rel), mode);
}

static void check_places(void)
{
	struct ab_error err;
	struct ab_copy copy;
	struct stat st;
	char number[12];
	int pair[2], dir;

	mkdir(at("places"), 0700);
	ok(open_copy(at("places/new"), &copy, &err) == 0, "a new file");
	is_str(copy.path, at("places/new"), "goes by its real path");
	ok(stat(copy.path, &st) == 0 && (st.st_mode & 07777) == 0600, "and is ours alone");
	ok(fcntl(copy.fd, F_GETFD) == FD_CLOEXEC, "no program inherits it");
	ab_copy_fini(&copy);
	ok(try_copy(at("places/new"), &err) == 0, "the same again");
	if (symlink("new", at("places/link")) < 0 ||
	    symlink("nowhere", at("places/dangling")) < 0 || symlink(".", at("places/here")) < 0)
		abort();
	ok(try_copy(at("places/link"), &err) < 0 && strstr(err.text, "symbolic link"), "a link: %s",
	   err.text);
	ok(try_copy(at("places/dangling"), &err) < 0 && !exists("places/nowhere"), "makes no file");
	ok(open_copy(at("places/here/new"), &copy, &err) == 0, "a folder may be one");
	is_str(copy.path, at("places/new"), "whose real path is told");
	ab_copy_fini(&copy);
	dir = open(at("places"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rename(at("places"), at("moved")) < 0 || symlink(".", at("places")) < 0)
		abort();
	ok(ab_copy_open_file("--audit", "places/late", dir, "late", &copy, &err) == 0,
	   "a folder that was opened before");
	is_str(copy.path, at("moved/late"), "counts, not a link that took its place");
	ab_copy_fini(&copy);
	close(dir);
	if (unlink(at("places")) < 0 || rename(at("moved"), at("places")) < 0)
		abort();
	ok(try_copy(at("places"), &err) < 0, "a folder: %s", err.text);
	ok(try_copy(at("places/none/x"), &err) < 0 && err.errnum == ENOENT, "in no folder: %s",
	   err.text);
	ok(try_copy("", &err) < 0, "no name");
	ok(try_copy("/dev/full", &err) < 0 && err.hint[0], "a device: %s", err.text);
	make_file("places/open", 0622);
	ok(try_copy(at("places/open"), &err) < 0 && err.hint[0], "one that others write: %s",
	   err.text);
	chmod(at("places/open"), 0644);
	ok(try_copy(at("places/open"), &err) == 0, "to read is no harm");
	if (link(at("places/open"), at("places/second")) < 0)
		abort();
	ok(try_copy(at("places/open"), &err) < 0, "a second name: %s", err.text);
	if (geteuid() == 0) {
		make_file("places/other", 0600);
		if (chown(at("places/other"), 12345, 12345) < 0)
			abort();
		ok(try_copy(at("places/other"), &err) < 0 && strstr(err.text, "another user"),
		   "one of another user");
	}
	mkfifo(at("places/fifo"), 0600);
	ok(try_copy(at("places/fifo"), &err) < 0 && strstr(err.text, "no process reads"),
	   "a FIFO without a reader does not block: %s", err.text);

	ok(try_copy("1000000", &err) < 0, "no such descriptor: %s", err.text);
	ok(try_copy("99999999999999999999999", &err) < 0, "nor can it be");
	ok(try_copy("2", &err) < 0 && err.hint[0], "standard error: %s", err.text);
	if (pipe2(pair, O_CLOEXEC) < 0)
		abort();
	snprintf(number, sizeof(number), "%d", pair[0]);
	ok(try_copy(number, &err) < 0, "the wrong end of a pipe: %s", err.text);
	snprintf(number, sizeof(number), "%d", pair[1]);
	ok(open_copy(number, &copy, &err) == 0 && !copy.path && copy.fd != pair[1],
	   "the right one has no path");
	ab_copy_fini(&copy);
	close(pair[0]);
	close(pair[1]);
	pair[0] = open(at("places/new"), O_WRONLY | O_CLOEXEC);
	snprintf(number, sizeof(number), "%d", pair[0]);
	ok(open_copy(number, &copy, &err) == 0, "a file that is open");
	is_str(copy.path, at("places/new"), "has one");
	ab_copy_fini(&copy);
	unlink(at("places/new"));
	ok(open_copy(number, &copy, &err) == 0 && !copy.path, "unless it was removed");
	ab_copy_fini(&copy);
	close(pair[0]);
	pair[0] = open(top, O_PATH | O_CLOEXEC);
	snprintf(number, sizeof(number), "%d", pair[0]);
	ok(try_copy(number, &err) < 0, "a path is not open: %s", err.text);
	close(pair[0]);
}

/* If the machine is busy, one try may take long by itself. */
static bool fails_at_once(struct ab_copy *copy)
{
	struct ab_error err = { 0 };

	for (int i = 0; i < 10; i++) {
		int64_t begun = ab_now_ms();

		if (ab_copy_write(copy, "second\n", 7, &err) == 0)
			return false;
		if (ab_now_ms() - begun < AB_COPY_MS / 2)
			return true;
	}
	return false;
}

/* A reader that does not read: `fill` bytes are in the way. */
static void check_slow(const char *name, int fd, int reader)
{
	struct ab_error err = { 0 };
	struct ab_copy copy;
	char number[12], chunk[4096];
	ab_autofree char *big = ab_alloc(1 << 20);
	ab_autobuf struct ab_buf all = { 0 };
	int64_t begun;
	ssize_t n;
	bool failed;

	snprintf(number, sizeof(number), "%d", fd);
	if (open_copy(number, &copy, &err) < 0)
		abort();
	ok(ab_copy_write(&copy, "first\n", 6, &err) == 0, "%s: takes a record", name);
	memset(big, 'x', 1 << 20);
	begun = ab_now_ms();
	failed = ab_copy_write(&copy, big, 1 << 20, &err) < 0;
	ok(failed && ab_now_ms() - begun >= AB_COPY_MS - 100 &&
		   ab_now_ms() - begun < AB_COPY_MS + 60000 && strstr(err.text, "no process reads"),
	   "%s: is waited for, and not for ever: %s", name, err.text);
	ok(fails_at_once(&copy), "%s: is not waited for again", name);
	fcntl(reader, F_SETFL, O_NONBLOCK);
	while ((n = read(reader, chunk, sizeof(chunk))) > 0)
		ab_buf_add(&all, chunk, (size_t)n);
	ok(ab_copy_write(&copy, "third\n", 6, &err) == 0, "%s: once it reads, all is well", name);
	while ((n = read(reader, chunk, sizeof(chunk))) > 0)
		ab_buf_add(&all, chunk, (size_t)n);
	ok(strncmp(all.data, "first\nxxx", 9) == 0 &&
		   strcmp(all.data + all.len - 8, "x\nthird\n") == 0,
	   "%s: what was torn is a line of its own", name);
	close(reader);
	ok(ab_copy_write(&copy, "fourth\n", 7, &err) < 0 && err.errnum == EPIPE,
	   "%s: the reader leaves: %s", name, err.text);
	ab_copy_fini(&copy);
}

static void check_slow_readers(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		abort();
	check_slow("pipe", ends[1], ends[0]);
	close(ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		abort();
	check_slow("socket", ends[1], ends[0]);
	close(ends[1]);
}

static void check_copied(void)
{
	ab_autoclose int dir = folder("copied");
	struct ab_copy copy;
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde", .copy = &copy, .size = 540 };
	struct ab_log log;
	struct ab_error err = { 0 };
	ab_autofree char *own = NULL;
	ab_autofree char *other = NULL;
	ab_autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char number[12];

	if (open_copy(at("copied/copy"), &copy, &err) < 0 || ab_log_open(&setup, &log, &err) < 0)
		abort();
	for (int i = 10; i < 14; i++)
		if (put(&log, i, &err) < 0)
			abort();
	own = numbers("copied", 1);
	is_str(own, "10 11 12 (audit.1.jsonl -) 13 ", "the run's own files");
	other = content("copied/copy");
	ok(other && strstr(other, "\"n\":10,") && strstr(other, "\"n\":13,") &&
		   strstr(other, "continued"),
	   "the copy is one file");
	ab_copy_fini(&copy);

	snprintf(number, sizeof(number), "%d", full);
	if (full < 0 || open_copy(number, &copy, &err) < 0)
		abort();
	ok(put(&log, 14, &err) < 0 && err.errnum == ENOSPC && strstr(err.text, "--audit"),
	   "a copy that is full: %s", err.text);
	free(own);
	own = numbers("copied", 1);
	is_str(own, "10 11 12 (audit.1.jsonl -) 13 14 ", "the run's own record has it");
	ab_copy_fini(&copy);
	ab_log_fini(&log);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";
	int result;

	umask(022);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (!mkdtemp(name) || !realpath(name, top))
		abort();
	check_stamp();
	check_words();
	check_lines();
	check_first();
	check_full();
	check_long();
	check_stuck();
	check_torn();
	check_threads();
	check_places();
	check_slow_readers();
	check_copied();
	result = done();
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return result;
}
