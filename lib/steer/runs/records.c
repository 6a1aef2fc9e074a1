/*
 * Theory of operation: following a run.
 *
 * The processes of an active run lock its folder. A run ends with a record
 * "end"; if all of its processes were killed there is none, and the lock is
 * free. So after each wait, check the lock *before* reading the rest: if it is
 * free, no more will be written.
 *
 * The folder moves from live/ to runs/ at the end. We keep it open, and the
 * inotify watch is on the folder itself, so neither is affected.
 */
#include "steer/runs/records.h"

#include <sys/inotify.h>

#include "audit/read/collect.h"
#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/reader.h"
#include "base/system/new_file.h"
#include "state/state.h"
#include "steer/client/steer.h"

/* How often to check the lock; or the file, if inotify is not available. */
enum { LOOK_MS = 500, BLIND_MS = 100 };

struct ab_records {
	struct ab_state state;
	struct ab_strv ids;	    /* of all runs; else empty */
	size_t next;		    /* of ids */
	struct ab_collect *collect; /* of a folder, or NULL */
	struct ab_collected item;   /* its record that is read */
	uint64_t items;
	struct ab_found_run run;
	struct ab_reader reader;
	bool reading;
	bool ended;    /* its last record was returned, or it was killed */
	int watch;     /* inotify, once it is needed */
	uint64_t lost; /* in earlier runs */
};

static int open_reader(struct ab_records *r, struct ab_error *err)
{
	if (ab_reader_open(r->run.dir, &r->reader, err) < 0)
		return -1;
	r->reading = true;
	return 0;
}

static void close_reader(struct ab_records *r)
{
	if (!r->reading)
		return;
	r->lost += ab_reader_lost(&r->reader);
	ab_reader_fini(&r->reader);
	ab_found_run_fini(&r->run);
	r->reading = false;
}

/* Skip records that are removed meanwhile. */
static void open_next_item(struct ab_records *r)
{
	struct ab_error ignored;

	while (!r->reading && ab_collect_next(r->collect, &r->item)) {
		if (!r->item.run) {
			ab_reader_open_file(r->item.fd, &r->reader);
			r->reading = true;
		} else {
			r->run.dir = r->item.fd;
			if (open_reader(r, &ignored) < 0)
				ab_found_run_fini(&r->run);
		}
		r->items += r->reading;
	}
}

/* Skip runs that are removed meanwhile. */
static void open_next_run(struct ab_records *r)
{
	struct ab_error ignored;

	close_reader(r);
	if (r->collect)
		open_next_item(r);
	while (!r->reading && r->next < r->ids.len) {
		const char *id = r->ids.v[r->next++];

		if (ab_find_run(r->state.live, r->state.runs, id, &r->run, &ignored) == 0 &&
		    open_reader(r, &ignored) < 0)
			ab_found_run_fini(&r->run);
	}
}

static int open_runs(struct ab_records *r, const char *run, bool all, struct ab_error *err)
{
	if (!all)
		return ab_find_run(r->state.live, r->state.runs, run, &r->run, err) < 0
			       ? -1
			       : open_reader(r, err);
	if (ab_find_all(r->state.live, r->state.runs, &r->ids, err) < 0)
		return -1;
	open_next_run(r);
	if (!r->reading)
		return ab_fail(err, AB_ESYSTEM, 0, "no run has left a record yet");
	return 0;
}

static struct ab_records *new_records(void)
{
	struct ab_records *r = ab_alloc(sizeof(*r));

	r->watch = r->run.dir = -1;
	r->state = (struct ab_state){ .root = -1, .live = -1, .runs = -1 };
	return r;
}

int ab_records_open_folder(const char *folder, struct ab_records **ret, struct ab_error *err)
{
	struct ab_records *r = new_records();

	if (ab_collect_open(folder, &r->collect, err) < 0) {
		ab_records_close(r);
		return -1;
	}
	open_next_run(r);
	*ret = r;
	return 0;
}

const char *ab_records_path(const struct ab_records *records, uint64_t *ret_number)
{
	*ret_number = records->items;
	return records->collect && records->reading ? records->item.path : NULL;
}

const struct ab_left_out *ab_records_left_out(const struct ab_records *records)
{
	return records->collect ? ab_collect_left_out(records->collect) : NULL;
}

int ab_records_open(const struct ab_policy_input *input, const char *run, bool all,
		    struct ab_records **ret, struct ab_error *err)
{
	struct ab_records *r = new_records();

	if (ab_steer_state(input, &r->state, err) < 0 || open_runs(r, run, all, err) < 0) {
		ab_records_close(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void ab_records_close(struct ab_records *records)
{
	if (!records)
		return;
	close_reader(records);
	ab_found_run_fini(&records->run);
	ab_strv_fini(&records->ids);
	ab_collect_close(records->collect);
	ab_closep(&records->watch);
	ab_state_fini(&records->state);
	free(records);
}

static bool is_end(const char *line, size_t len)
{
	struct ab_detail kind;

	(void)ab_details_one(line, len, "kind", &kind);
	return ab_detail_is(&kind, "end") || ab_detail_is(&kind, "refused");
}

int ab_records_next(struct ab_records *records, const char **ret_line, size_t *ret_len,
		    struct ab_error *err)
{
	while (records->reading) {
		int more = ab_reader_next(&records->reader, ret_line, ret_len, err);

		/* Needed for following only, which starts the watch first. If
		 * the run ended before that, the lock says so. */
		if (more > 0 && records->watch >= 0)
			records->ended |= is_end(*ret_line, *ret_len);
		if (more == 0 && !records->ids.len && !records->collect)
			return 0;
		/* One file that cannot be read is no reason to leave out the others. */
		if (more < 0 && records->collect)
			records->lost++;
		else if (more != 0)
			return more;
		open_next_run(records);
	}
	return 0;
}

static void start_watch(struct ab_records *r)
{
	char path[32];

	r->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r->run.dir);
	if (r->watch >= 0 &&
	    inotify_add_watch(r->watch, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		ab_closep(&r->watch);
}

int ab_records_wait(struct ab_records *records)
{
	struct pollfd p = { .fd = records->watch, .events = POLLIN };
	char events[4096];
	bool first = p.fd < 0;

	if (records->ended || !records->reading)
		return 0;
	if (first)
		start_watch(records);
	/* First read what was written before the watch began. */
	if (!first || records->watch < 0)
		(void)poll(&p, 1, p.fd < 0 ? BLIND_MS : LOOK_MS);
	while (p.fd >= 0 && read(p.fd, events, sizeof(events)) > 0)
		;
	records->ended = !ab_find_live(records->run.dir);
	return 1;
}

bool ab_records_active(const struct ab_records *records)
{
	return records->reading && ab_find_live(records->run.dir);
}

uint64_t ab_records_lost(const struct ab_records *records)
{
	return records->lost + (records->reading ? ab_reader_lost(&records->reader) : 0);
}

int ab_records_save(const char *path, const char *data, size_t len, struct ab_error *err)
{
	if (ab_new_file_write(AT_FDCWD, path, NULL, data, len, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", path);
	return 0;
}
