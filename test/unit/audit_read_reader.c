/*
 * Reading a record: through files that were full, while it is written, and
 * what a crash left.
 */
#include "audit/read/reader.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/read/details.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "tap.h"

static char top[PATH_MAX];
static int folders;

static int fresh_folder(void)
{
	ab_autofree char *path = ab_printf("%s/%d", top, folders++);
	int fd;

	mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void put(int dir, const char *name, const char *text)
{
	ab_autoclose int fd = openat(dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || ab_write_all(fd, text, strlen(text)) < 0)
		abort();
}

/* What comes, with a bar behind each line. */
static char *read_lines(struct ab_reader *r)
{
	struct ab_buf b = { 0 };
	struct ab_error err;
	const char *line;
	size_t len;
	int more;

	while ((more = ab_reader_next(r, &line, &len, &err)) > 0) {
		ab_buf_add(&b, line, len);
		ab_buf_puts(&b, "|");
	}
	if (more < 0)
		ab_buf_printf(&b, "error: %s", err.text);
	return ab_buf_take(&b);
}

static void reads(struct ab_reader *r, const char *want, const char *name)
{
	ab_autofree char *got = read_lines(r);

	is_str(got, want, name);
}

static struct ab_reader open_reader(int dir)
{
	struct ab_reader r;
	struct ab_error err;

	if (ab_reader_open(dir, &r, &err) < 0)
		abort();
	return r;
}

static void check_order(void)
{
	ab_autoclose int dir = fresh_folder();
	struct ab_reader r;

	put(dir, "audit.10.jsonl", "e\n");
	put(dir, "audit.2.jsonl", "c\nd\n");
	put(dir, "audit.1.jsonl", "a\nb\n");
	put(dir, "audit.jsonl", "f\n\n");
	put(dir, "audit.02.jsonl", "no\n");
	put(dir, "audit.3.jsonl.old", "no\n");
	put(dir, "other.jsonl", "no\n");
	r = open_reader(dir);
	reads(&r, "a|b|c|d|e|f||", "files in the order of their numbers");
	ok(ab_reader_lost(&r) == 0, "nothing is lost");
	ab_reader_fini(&r);
}

static void check_torn(void)
{
	ab_autoclose int dir = fresh_folder();
	struct ab_reader r;

	put(dir, "audit.1.jsonl", "a\ntorn");
	put(dir, "audit.jsonl", "b\nc");
	r = open_reader(dir);
	reads(&r, "a|b|", "a line without its end is passed over");
	ok(r.lost == 1 && ab_reader_lost(&r) == 2, "and counted");
	put(dir, "audit.jsonl", "d\ne\n");
	reads(&r, "cd|e|", "one that gets its end after all is whole");
	ok(ab_reader_lost(&r) == 1, "and not counted any more");
	ab_reader_fini(&r);
}

static void check_resumed(void)
{
	ab_autoclose int dir = fresh_folder();
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde" };
	struct ab_log log;
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_error err;
	struct ab_reader r;
	ab_autofree char *got = NULL;

	put(dir, "audit.jsonl", "{\"n\":1}\n{\"n\":2,\"te");
	ok(ab_log_resume(&setup, &log, &err) == 0, "a torn record goes on");
	ab_record_open(&line, "abcde", "end");
	ok(ab_log_write(&log, &line, &err) == 0, "with its end");
	ab_log_fini(&log);
	r = open_reader(dir);
	got = read_lines(&r);
	ok(strncmp(got, "{\"n\":1}|{\"n\":2,\"te|{\"timestamp\":", 32) == 0,
	   "which is a line of its own");
	ab_reader_fini(&r);
}

static void check_long(void)
{
	ab_autoclose int dir = fresh_folder();
	ab_autofree char *most = ab_alloc(AB_LINE_MAX + 2);
	struct ab_reader r;
	struct ab_error err;
	const char *line;
	size_t len;

	put(dir, "audit.jsonl", "a\n");
	memset(most, 'x', AB_LINE_MAX - 1);
	put(dir, "audit.jsonl", most);
	put(dir, "audit.jsonl", "\nb\n");
	memset(most, 'y', AB_LINE_MAX + 1);
	put(dir, "audit.jsonl", most);
	put(dir, "audit.jsonl", most);
	put(dir, "audit.jsonl", "\nc\n");
	r = open_reader(dir);
	ok(ab_reader_next(&r, &line, &len, &err) == 1 && len == 1, "short");
	ok(ab_reader_next(&r, &line, &len, &err) == 1 && len == AB_LINE_MAX - 1 && line[0] == 'x' &&
		   line[len - 1] == 'x',
	   "the longest line is given");
	reads(&r, "b|c|", "one that is longer is passed over");
	ok(ab_reader_lost(&r) == 1 && r.room <= AB_LINE_MAX,
	   "it is counted, and memory does not grow");
	ab_reader_fini(&r);
}

static void check_follow(void)
{
	ab_autoclose int dir = fresh_folder();
	struct ab_reader r;

	put(dir, "audit.jsonl", "a\n");
	r = open_reader(dir);
	reads(&r, "a|", "what is there");
	reads(&r, "", "then nothing");
	put(dir, "audit.jsonl", "b\n");
	reads(&r, "b|", "then what was written since");
	put(dir, "audit.jsonl", "c\n");
	renameat(dir, "audit.jsonl", dir, "audit.1.jsonl");
	reads(&r, "c|", "between two names");
	reads(&r, "", "and still");
	put(dir, "audit.jsonl", "d\n");
	reads(&r, "d|", "the next file");
	put(dir, "audit.jsonl", "e\n");
	renameat(dir, "audit.jsonl", dir, "audit.2.jsonl");
	put(dir, "audit.3.jsonl", "f\n");
	put(dir, "audit.4.jsonl", "g\n");
	put(dir, "audit.jsonl", "h\n");
	reads(&r, "e|f|g|h|", "several at once");
	renameat(dir, "audit.jsonl", dir, "audit.5.jsonl");
	unlinkat(dir, "audit.5.jsonl", 0);
	put(dir, "audit.6.jsonl", "i\n");
	put(dir, "audit.jsonl", "j\n");
	reads(&r, "i|j|", "its own was removed");
	renameat(dir, "audit.jsonl", dir, "audit.7.jsonl");
	renameat(dir, "audit.7.jsonl", dir, "audit.jsonl");
	put(dir, "audit.jsonl", "k\n");
	reads(&r, "k|", "a renaming that was taken back");
	unlinkat(dir, "audit.jsonl", 0);
	reads(&r, "", "the whole record was removed");
	ok(ab_reader_lost(&r) == 0, "nothing was lost");
	ab_reader_fini(&r);
}

static void check_none(void)
{
	ab_autoclose int dir = fresh_folder();
	struct ab_reader r;
	struct ab_error err;

	ok(ab_reader_open(dir, &r, &err) < 0, "no record: an error");
	symlinkat("/etc/passwd", dir, "audit.jsonl");
	ok(ab_reader_open(dir, &r, &err) < 0, "a link is not followed");
}

enum { WRITTEN = 20000 };

static void *write_all(void *arg)
{
	struct ab_log *log = arg;
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_error err;

	for (int i = 0; i < WRITTEN; i++) {
		ab_record_open(&line, "abcde", "test");
		ab_record_number(&line, "n", i);
		ab_log_write(log, &line, &err);
	}
	return NULL;
}

/* Files become full all the time, and the reader keeps up or loses whole
 * files: what it gives is in order in any case. */
static void check_race(void)
{
	static const char *const names[] = { "n" };
	ab_autoclose int dir = fresh_folder();
	struct ab_log_setup setup = { .dir = dir, .run_id = "abcde", .size = 256 << 10 };
	struct ab_log log;
	struct ab_reader r;
	struct ab_error err;
	struct ab_detail n;
	const char *line;
	size_t len;
	pthread_t writer;
	int64_t last = -1;
	bool ordered = true, sound = true;

	if (ab_log_open(&setup, &log, &err) < 0 ||
	    pthread_create(&writer, NULL, write_all, &log) != 0)
		abort();
	r = open_reader(dir);
	while (last < WRITTEN - 1) {
		int more = ab_reader_next(&r, &line, &len, &err);

		if (more < 0)
			break;
		if (more == 0)
			continue;
		sound &= ab_details_find(line, len, names, 1, &n) == 0;
		if (n.kind == AB_DETAIL_NONE)
			continue; /* "continued" */
		ordered &= ab_detail_number(&n, -1) > last;
		last = ab_detail_number(&n, -1);
	}
	pthread_join(writer, NULL);
	ok(last == WRITTEN - 1, "a reader comes to the end of what is written");
	ok(sound && ordered, "line by line, in order");
	ok(log.full > 4, "through %u files", log.full);
	ab_reader_fini(&r);
	ab_log_fini(&log);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	snprintf(top, sizeof(top), "%s/agentbox-reader-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(top))
		abort();
	check_order();
	check_torn();
	check_resumed();
	check_long();
	check_follow();
	check_none();
	check_race();
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
