/*
 * Runs and denials, by what a person types.
 */
#include "audit/read/find.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "tap.h"

static char top[PATH_MAX];

static int folder(int at, const char *name)
{
	int fd;

	mkdirat(at, name, 0700);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

static void put(int dir, const char *text)
{
	ab_autoclose int fd =
		openat(dir, "audit.jsonl", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || ab_write_all(fd, text, strlen(text)) < 0)
		abort();
}

static void check_names(void)
{
	static const struct {
		const char *text;
		int result;
		enum ab_denial_kind kind;
		uint32_t number;
	} cases[] = {
		{ "7kq2x-1", 0, AB_DENIAL_NETWORK, 1 },
		{ "7kq2x-e12", 0, AB_DENIAL_PROGRAM, 12 },
		{ "7kq2x-f3", 0, AB_DENIAL_FILE, 3 },
		{ "7kq2x-4294967295", 0, AB_DENIAL_NETWORK, UINT32_MAX },
		{ .text = "7kq2x-4294967296", .result = -1 },
		{ .text = "7kq2x-0", .result = -1 },
		{ .text = "7kq2x-01", .result = -1 },
		{ .text = "7kq2x-", .result = -1 },
		{ .text = "7kq2x-e", .result = -1 },
		{ .text = "7kq2x-g1", .result = -1 },
		{ .text = "7kq2x", .result = -1 },
		{ .text = "7kq2-1", .result = -1 },
		{ .text = "7kq2xx-1", .result = -1 },
		{ .text = "7kqlx-1", .result = -1 },
		{ .text = "7kq2x-1 ", .result = -1 },
		{ .text = "", .result = -1 },
		{ .text = "-1", .result = -1 },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_denial_name n = { 0 };
		int r = ab_denial_parse(cases[i].text, &n);

		ok(r == cases[i].result &&
			   (r < 0 || (n.kind == cases[i].kind && n.number == cases[i].number &&
				      strcmp(n.run, "7kq2x") == 0)),
		   "\"%s\"", cases[i].text);
	}
	ok(ab_run_id_valid("7kq2x") && !ab_run_id_valid("7kq2") && !ab_run_id_valid("7kq2xx") &&
		   !ab_run_id_valid("../xy") && !ab_run_id_valid("7kq2l"),
	   "a run's id is five letters");
}

static char *newest(int live, int runs, const char *name)
{
	struct ab_found_run run;
	struct ab_error err;
	char *text;

	if (ab_find_run(live, runs, name, &run, &err) < 0)
		return ab_strdup(err.text);
	text = ab_printf("%s%s", run.id, run.live ? " lives" : "");
	ab_found_run_fini(&run);
	return text;
}

static void finds(int live, int runs, const char *name, const char *want, const char *about)
{
	ab_autofree char *got = newest(live, runs, name);

	is_str(got, want, about);
}

static void check_runs(int live, int runs)
{
	ab_autoclose int a = folder(runs, "aaaaa");
	ab_autoclose int b = folder(runs, "bbbbb");
	ab_autoclose int c = folder(live, "ccccc");
	ab_autoclose int e = folder(runs, "not-a-run");
	ab_autoclose int lock = -1;
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_error err;

	close(folder(live, "ddddd"));
	finds(live, runs, NULL, "no run has left a record yet", "no run at all");
	put(a, "{\"timestamp\":\"2026-01-03T00:00:00.000Z\",\"kind\":\"start\","
	       "\"name\":\"build\"}\n");
	put(b, "{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"kind\":\"start\","
	       "\"name\":\"build\"}\n");
	put(c, "{\"timestamp\":\"2026-01-02T00:00:00.000Z\",\"kind\":\"start\","
	       "\"name\":\"aaaaa\"}\n");
	put(e, "{\"timestamp\":\"2027-01-02T00:00:00.000Z\"}\n");
	finds(live, runs, NULL, "aaaaa", "the newest");
	finds(live, runs, "bbbbb", "bbbbb", "by its id");
	finds(live, runs, "build", "aaaaa", "the newest of a name");
	finds(live, runs, "aaaaa", "aaaaa", "an id is stronger than a name");
	finds(live, runs, "not-a-run", "no run named not-a-run", "none");
	finds(live, runs, "../runs", "no run named ../runs", "a path");
	finds(live, runs, "ddddd", "no run named ddddd", "without a record");
	finds(live, runs, "ccccc", "ccccc", "one whose processes are gone");
	lock = openat(live, "ccccc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	flock(lock, LOCK_EX);
	finds(live, runs, "ccccc", "ccccc lives", "one that goes on");
	ok(ab_find_all(live, runs, &ids, &err) == 0 && ids.len == 3 &&
		   strcmp(ids.v[0], "bbbbb") == 0 && strcmp(ids.v[1], "ccccc") == 0 &&
		   strcmp(ids.v[2], "aaaaa") == 0,
	   "all, in the order of their beginning");
}

#define STAMP(n) "{\"timestamp\":\"2026-01-01T00:00:0" n ".000Z\","

static void check_denials(int runs)
{
	ab_autoclose int dir = folder(runs, "eeeee");
	ab_autostrv struct ab_strv list = { 0 };
	struct ab_found_denial d;
	struct ab_error err;
	size_t n = 0;

	put(dir, STAMP("0") "\"kind\":\"start\"}\n");
	ok(ab_find_denial(dir, NULL, &d, &err) == 0, "nothing was denied");
	put(dir,
	    STAMP("1") "\"kind\":\"violation\",\"id\":\"eeeee-1\",\"domain\":"
		       "\"x.y\",\"port\":443,\"reason\":\"not on the allow "
		       "list\"}\n" STAMP(
			       "1") "\"kind\":\"request\",\"id\":\"eeeee-1\",\"status\":403}"
				    "\n" STAMP(
					    "2") "\"kind\":\"violation\",\"id\":\"eeeee-1\",\"domain\":"
						 "\"x.y\",\"port\":443,\"reason\":\"not on the allow "
						 "list\",\"repeated\":40,\"process\":[]}\n" STAMP(
							 "3") "\"kind\":\"exec\",\"id\":\"eeeee-e1\",\"command\":"
							      "\"rm \\u001b[1m\",\"reason\":\"Deletes.\"}\n" STAMP(
								      "4") "\"kind\":\"violation\",\"id\":\"eeeee-f1\",\"door\":"
									   "\"file\",\"path\":\"/etc/x\",\"access\":\"write\","
									   "\"reason\":\"read-only\"}\n" STAMP(
										   "5") "\"kind\":\"question\",\"id\":\"eeeee-2\",\"answer\":"
											"\"once\"}\n" STAMP(
												"6") "\"kind\":\"violation\",\"id\":\"eeeee-1");
	ok(ab_find_denial(dir, "eeeee-1", &d, &err) == 1, "one by its id");
	ok(d.count == 42, "how often");
	is_str(d.first, "2026-01-01T00:00:01.000Z", "since when");
	is_str(d.last, "2026-01-01T00:00:02.000Z", "until when");
	ok(d.denied && strstr(d.denied, "process"), "with who did it");
	ok(d.request && strstr(d.request, "403") && !d.question, "what was answered");
	ab_found_denial_fini(&d);
	ok(ab_find_denial(dir, NULL, &d, &err) == 1, "the last one");
	is_str(d.id, "eeeee-f1", "is that of the last record");
	ab_found_denial_fini(&d);
	ok(ab_find_denial(dir, "eeeee-2", &d, &err) == 1 && d.count == 0 && d.question && !d.denied,
	   "one that was let through");
	ab_found_denial_fini(&d);
	ok(ab_find_denial(dir, "eeeee-3", &d, &err) == 0, "none by its id");
	ok(ab_find_denials(dir, 10, &list, &n, &err) == 0 && n == 3 && list.len == 3,
	   "a list of them");
	is_str(list.v[0], "eeeee-1    x.y:443  not on the allow list", "host");
	is_str(list.v[1], "eeeee-e1   rm \\x1b[1m  deletes", "program, escaped");
	is_str(list.v[2], "eeeee-f1   write /etc/x  read-only", "file");
	ab_strv_fini(&list);
	ok(ab_find_denials(dir, 2, &list, &n, &err) == 0 && n == 3 && list.len == 2,
	   "no more than asked for");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	ab_autoclose int root = -1, live = -1, runs = -1;

	snprintf(top, sizeof(top), "%s/agentbox-find-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(top))
		abort();
	root = folder(AT_FDCWD, top);
	live = folder(root, "live");
	runs = folder(root, "runs");
	check_names();
	check_runs(live, runs);
	check_denials(runs);
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
