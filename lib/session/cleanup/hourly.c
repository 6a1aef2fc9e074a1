#include "session/cleanup/hourly.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "audit/write/log.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/text/units.h"
#include "session/cleanup/gc.h"
#include "session/state/state.h"

/* Its time says when old runs were looked for. */
#define MARKER ".looked"

/* Whoever does it does not watch the box meanwhile, so it is done for a moment
 * only, and who did not finish is followed by another one after a while: runs
 * that are short are not all made longer. */
enum { HOUR_S = 3600, AGAIN_S = 10, MOMENT_MS = 50 };

/* No text of the record can hold this: quotes in one are escaped. And no other
 * member of that name is an object. */
size_t ab_hourly_policy(const char *record, const char **ret)
{
	static const char key[] = ",\"policy\":{";
	const char *begin = strstr(record, key), *p;
	size_t depth = 0;
	bool quoted = false;

	if (!begin)
		return 0;
	begin += strlen(key) - 1;
	for (p = begin; *p; p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (!quoted && *p == '{')
			depth++;
		else if (!quoted && *p == '}' && --depth == 0) {
			*ret = begin;
			return (size_t)(p + 1 - begin);
		}
	}
	return 0;
}

static bool is_due(int runs)
{
	struct stat st;
	time_t now = time(NULL);

	return fstatat(runs, MARKER, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_mtime > now ||
	       now - st.st_mtime >= HOUR_S;
}

static void mark(int runs, bool again)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_NOW } };
	ab_autoclose int fd = openat(
		runs, MARKER, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);

	if (again)
		times[1] = (struct timespec){ .tv_sec = time(NULL) - HOUR_S + AGAIN_S };
	if (fd >= 0)
		futimens(fd, times);
}

static uint64_t read_age(const json_t *records)
{
	const char *text = json_string_value(json_object_get(records, "keepFor"));
	uint64_t ms;

	return text && ab_parse_duration(text, &ms) == 0 ? ms : AB_GC_ALL;
}

static uint64_t read_number(const json_t *records)
{
	const json_t *n = json_object_get(records, "keepRuns");

	return json_is_integer(n) && json_integer_value(n) > 0 ? (uint64_t)json_integer_value(n)
							       : AB_GC_ALL;
}

static void clear_old(int runs, const char *policy, size_t len)
{
	json_t *root = json_loadb(policy, len, 0, NULL);
	const json_t *records = json_object_get(root, "records");
	struct ab_gc_rule rule = { .keep_ms = read_age(records),
				   .keep_runs = read_number(records),
				   .ms = MOMENT_MS };
	struct ab_gc_report report;

	/* First: one at a time is enough. */
	mark(runs, false);
	ab_gc(runs, &rule, &report);
	if (report.cut)
		mark(runs, true);
	ab_gc_report_fini(&report);
	json_decref(root);
}

void ab_hourly_cleanup(const struct ab_run *run)
{
	ab_autofree char *record = NULL;
	const char *policy;
	size_t len;

	if (!is_due(run->state->runs) || ab_log_first(run->dir, &record) < 0)
		return;
	len = ab_hourly_policy(record, &policy);
	if (len)
		clear_old(run->state->runs, policy, len);
}
