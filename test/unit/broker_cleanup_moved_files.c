/* The list of a quarantine: what is written is read back, whatever names the box chose, and nothing
 * else is taken for an entry. */
#include "broker/cleanup/moved_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "audit/write/log.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "state/state.h"
#include "tap.h"
#include "workspace/quarantine/quarantine.h"

static char top[] = "/tmp/ab-moved-XXXXXX";
static struct ab_run run = { .id = "7kq2x", .dir = -1 };

static char *read_list(const char *name)
{
	ab_autoclose int fd = openat(run.dir, name, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	return fd >= 0 && ab_read_all(fd, 1 << 20, &text, &len) == 0 ? text : ab_strdup("");
}

static struct ab_moved make_moved(const char *path, const char *entry, unsigned number)
{
	static char name[AB_QUARANTINE_NAME];

	ab_quarantine_make_name(number, "\xff.envrc", name);
	return (struct ab_moved){ .path = (char *)(uintptr_t)path,
				  .entry = (char *)(uintptr_t)entry,
				  .name = name,
				  .number = number,
				  .mode = 04755,
				  .st = { .st_mode = S_IFREG | 0600,
					  .st_size = 12,
					  .st_dev = 7,
					  .st_ino = UINT64_MAX },
				  .at = { .tv_sec = 1700000000 } };
}

static void check_round(void)
{
	static const char path[] = "/w/\n\"\\%\xff/.envrc";
	struct ab_moved m = make_moved(path, ".envrc", 3);
	struct ab_quarantine_report report = { .moved = &m, .nmoved = 1 };
	ab_autofree char *list = NULL;
	struct ab_moved_file f;
	size_t told = 0;

	ab_moved_note(&run, &report, &told);
	ab_moved_note(&run, &report, &told);
	list = read_list(AB_MOVED_LIST);
	ok(told == 1 && strchr(list, '\n') == list + strlen(list) - 1, "one line, once");
	ok(ab_moved_parse(list, strlen(list) - 1, &f) == 0, "it is read back");
	is_str(f.id, "7kq2x-q3", "the id");
	is_str(f.where, path, "the bytes of the path");
	is_str(f.entry, ".envrc", "the name");
	is_str(f.stamp, "2023-11-14T22:13:20.000Z", "when");
	ok(f.kind == AB_NODE_FILE && f.mode == 04755 && f.size == 12 && f.dev == 7 &&
		   f.ino == UINT64_MAX && !f.keys,
	   "and what it is");
	ab_moved_file_fini(&f);
	for (size_t n = 0; n + 1 < strlen(list); n++)
		if (ab_moved_parse(list, n, &f) == 0) {
			ok(false, "cut at %zu", n);
			ab_moved_file_fini(&f);
		}
	m.late = true;
	ab_moved_note(&run, &report, &told);
	free(list);
	list = read_list(AB_MOVED_LIST);
	ok(strchr(list, '\n') != list + strlen(list) - 1, "one that was late is added");
}

static void check_others(void)
{
	static const char *const lines[] = {
		"",
		"{}",
		"{\"door\":\"file\",\"id\":\"a\",\"file\":\"0001-x\",\"where\":\"/x\"}",
		"{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"0001-x\",\"where\":\"x\"}",
		"{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"0001-x\",\"where\":\"/%zz\"}",
		"{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"0001-x\",\"where\":\"/%00\"}",
		"{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"audit.jsonl\",\"where\":\"/x\"}",
		"{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"0001-/../x\",\"where\":\"/x\"}",
		"{\"door\":\"quarantine\",\"file\":\"0001-x\",\"where\":\"/x\"}",
	};
	struct ab_moved_file f;

	for (size_t i = 0; i < AB_COUNT(lines); i++)
		ok(ab_moved_parse(lines[i], strlen(lines[i]), &f) < 0, "not an entry: %s",
		   lines[i]);
	ok(ab_moved_parse(
		   "{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"0001-x\",\"where\":\"/x\"}",
		   sizeof("{\"door\":\"quarantine\",\"id\":\"a\",\"file\":\"0001-x\","
			  "\"where\":\"/x\"}") -
			   1,
		   &f) == 0,
	   "and one");
	ab_moved_file_fini(&f);
}

/* As with a bad disk: every read fails. */
static void check_unreadable(void)
{
	struct ab_log log = AB_LOG_NONE;
	struct ab_error err = { 0 };
	char *list;
	size_t len;

	unlinkat(run.dir, AB_MOVED_LIST, 0);
	ok(ab_moved_read(run.dir, &list, &len) < 0 && errno == ENOENT, "a run without a list");
	if (mkdirat(run.dir, AB_MOVED_LIST, 0700) < 0)
		abort();
	ok(ab_moved_read(run.dir, &list, &len) < 0 && errno == EISDIR, "one that cannot be read");
	ok(ab_moved_record(&run, &log, &err) < 0 && err.errnum == EISDIR &&
		   strstr(err.text, AB_MOVED_LIST),
	   "is told: %s", err.text);
	unlinkat(run.dir, AB_MOVED_LIST, AT_REMOVEDIR);
}

/* A run can move any number of files; its record gets a few, and the number of the others. */
static void check_record(void)
{
	struct ab_log_setup setup = { .dir = run.dir, .run_id = run.id };
	struct ab_log log = AB_LOG_NONE;
	ab_autofree char *record = NULL;
	struct ab_error err = { 0 };
	size_t told = 0, n = 0;

	unlinkat(run.dir, AB_MOVED_LIST, 0);
	ok(ab_log_open(&setup, &log, &err) == 0 && ab_moved_record(&run, &log, &err) == 0,
	   "a run that moved nothing: %s", err.text);
	for (unsigned i = 1; i <= AB_MOVED_RECORDED + 5; i++) {
		struct ab_moved m = make_moved("/w/.envrc", ".envrc", i);
		struct ab_quarantine_report report = { .moved = &m, .nmoved = 1 };

		told = 0;
		ab_moved_note(&run, &report, &told);
	}
	ok(ab_moved_record(&run, &log, &err) == 0, "one that moved many: %s", err.text);
	ab_log_fini(&log);
	record = read_list(AB_LOG_NAME);
	for (const char *p = record; (p = strchr(p, '\n')); p++)
		n++;
	ok(n == AB_MOVED_RECORDED + 1, "as many lines as there is room for, and one: %zu", n);
	ok(strstr(record, "\"repeated\":5,\"prev\":"), "with the number of the others");
}

int main(void)
{
	if (!mkdtemp(top))
		abort();
	run.dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check_round();
	check_unreadable();
	check_others();
	check_record();
	unlinkat(run.dir, AB_MOVED_LIST, 0);
	unlinkat(run.dir, AB_LOG_NAME, 0);
	rmdir(top);
	return done();
}
