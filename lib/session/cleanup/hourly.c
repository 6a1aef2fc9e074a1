#include "session/cleanup/hourly.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "audit/write/log.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/text/units.h"
#include "session/cleanup/gc.h"
#include "session/state/state.h"

/* Its time is that of the last cleanup. */
#define MARKER ".looked"

/* The broker cannot watch the box while it cleans up, so it stops after 50 ms
 * and another run continues later. Otherwise every short run would pay for it. */
enum { HOUR_S = 3600, AGAIN_S = 10, MOMENT_MS = 50 };

static bool is_due(int runs)
{
	struct stat st;
	time_t now = time(NULL);

	return fstatat(runs, MARKER, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_mtime > now ||
	       now - st.st_mtime >= HOUR_S;
}

static void mark_time(int runs, bool again)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_NOW } };
	ab_autoclose int fd = openat(
		runs, MARKER, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (again)
		times[1] = (struct timespec){ .tv_sec = time(NULL) - HOUR_S + AGAIN_S };
	if (fd >= 0)
		futimens(fd, times);
}

int ab_hourly_rule(const char *record, struct ab_gc_rule *ret)
{
	json_t *root = json_loads(record, 0, NULL);
	const json_t *policy = json_object_get(root, "policy");
	const json_t *records = json_object_get(policy, "records");
	const char *age = json_string_value(json_object_get(records, "keepFor"));
	json_int_t runs = json_integer_value(json_object_get(records, "keepRuns"));
	struct ab_gc_rule rule = { .keep_ms = AB_GC_ALL, .keep_runs = AB_GC_ALL };
	int r = policy ? 0 : -1;

	if (age)
		ab_parse_duration(age, &rule.keep_ms);
	if (runs > 0)
		rule.keep_runs = (uint64_t)runs;
	if (policy)
		*ret = rule;
	json_decref(root);
	return r;
}

void ab_hourly_cleanup(const struct ab_run *run)
{
	int runs = run->state->runs;
	ab_autofree char *record = NULL;
	struct ab_gc_report report;
	struct ab_gc_rule rule;

	if (!is_due(runs) || ab_log_first(run->dir, &record) < 0 ||
	    ab_hourly_rule(record, &rule) < 0)
		return;
	rule.ms = MOMENT_MS;
	/* Mark first, so that other runs do not start one too. */
	mark_time(runs, false);
	ab_gc(runs, &rule, &report);
	if (report.cut)
		mark_time(runs, true);
	ab_gc_report_fini(&report);
}
