#include "steer/stay/ended.h"

#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/query.h"
#include "audit/read/reader.h"
#include "consent/request.h"
#include "host/lock/lockdown.h"
#include "session/stay/output.h"
#include "state/state.h"
#include "terminal/screen_filter.h"
#include "terminal/screen_modes.h"

enum {
	LAST_SHOWN = 16 * 1024, /* on a terminal, as for a client that attaches */
	CHUNK = 8192,
	DETACHED = 1, /* it is the first command of its box */
	LOST = 125,
};

struct ended {
	const struct ab_request *request;
	const char *box;
	struct ab_found_run run;
	int64_t status;
	char when[AB_LOCAL_ROOM];
	char *why; /* it was not executed; or NULL */
	bool known;
	bool terminal;
	struct ab_screen_filter filter;
	struct ab_screen_modes modes;
	char last; /* byte that was written */
};

/* The record of the command's end. */
static bool take_end(struct ended *e, const char *line, size_t len)
{
	static const char *const names[] = { "kind", "number", "status", "timestamp", "error" };
	struct ab_detail v[AB_COUNT(names)];
	char stamp[AB_STAMP_ROOM];

	if (ab_details_find(line, len, names, AB_COUNT(names), v) < 0 ||
	    !ab_detail_is(&v[0], "ended") || ab_detail_number(&v[1], 0) != DETACHED)
		return false;
	e->status = ab_detail_number(&v[2], LOST);
	ab_detail_copy(&v[3], stamp, sizeof(stamp));
	ab_time_local(stamp, e->when);
	e->why = ab_detail_dup(&v[4]);
	return true;
}

static int find_end(struct ended *e, struct ab_error *err)
{
	struct ab_reader reader;
	const char *line;
	size_t len;
	int r;

	if (ab_reader_open(e->run.dir, &reader, err) < 0)
		return -1;
	while ((r = ab_reader_next(&reader, &line, &len, err)) > 0 && !e->known)
		e->known = take_end(e, line, len);
	ab_reader_fini(&reader);
	return r < 0 ? -1 : 0;
}

static int open_output(const struct ended *e, const char *name, off_t *ret_len)
{
	ab_autoclose int fd = openat(e->run.dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	*ret_len = st.st_size;
	return ab_take_fd(&fd);
}

/* -1: nobody reads it any more. */
static int put_bytes(struct ended *e, const char *data, size_t len)
{
	char shown[AB_SCREEN_FILTER_ROOM(CHUNK)];

	if (e->terminal) {
		len = ab_screen_filter_take(&e->filter, data, len, shown);
		ab_screen_modes_feed(&e->modes, shown, len);
		data = shown;
	}
	if (len)
		e->last = data[len - 1];
	return ab_write_all(STDOUT_FILENO, data, len);
}

static int copy_file(struct ended *e, int fd, off_t from)
{
	char data[CHUNK];
	ssize_t n;

	while ((n = pread(fd, data, sizeof(data), from)) > 0) {
		if (put_bytes(e, data, (size_t)n) < 0)
			return -1;
		from += n;
	}
	return 0;
}

/* Our own line must begin on a line of its own, on an ordinary screen. */
static void leave_screen(struct ended *e)
{
	char undo[AB_MODES_ROOM];
	size_t n = ab_screen_modes_undo(&e->modes, undo);

	if (e->terminal && ab_write_all(STDOUT_FILENO, undo, n) == 0 && e->last && e->last != '\n')
		(void)!ab_write_all(STDOUT_FILENO, "\r\n", 2);
}

/* The older file first. Behind the lock. Not inlined: scripts/check-calls looks for it. */
static __attribute__((noinline)) void print_kept_output(struct ended *e)
{
	static const char *const names[] = { AB_OUTPUT_NAME ".1", AB_OUTPUT_NAME };
	off_t lens[AB_COUNT(names)] = { 0 }, skip = 0;
	int fds[AB_COUNT(names)];
	bool open = true;

	for (size_t i = 0; i < AB_COUNT(names); i++)
		fds[i] = open_output(e, names[i], &lens[i]);
	if (e->terminal && lens[0] + lens[1] > LAST_SHOWN)
		skip = lens[0] + lens[1] - LAST_SHOWN;
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		off_t from = skip < lens[i] ? skip : lens[i];

		open = open && (fds[i] < 0 || copy_file(e, fds[i], from) == 0);
		skip -= from;
		ab_closep(&fds[i]);
	}
	leave_screen(e);
}

static bool had_output(const struct ended *e)
{
	off_t len;
	ab_autoclose int fd = open_output(e, AB_OUTPUT_NAME, &len);

	return fd >= 0;
}

static void say_end(const struct ended *e)
{
	const struct ab_request *rq = e->request;
	ab_autofree char *text =
		!e->known
			? ab_printf("the box of %s was killed; the end of its command is not known",
				    e->box)
		: e->why ? ab_printf("the command of %s was not executed (%s): %s", e->box, e->when,
				     e->why)
			 : ab_printf("the command of %s has ended (%s) with status %d", e->box,
				     e->when, (int)e->status);

	rq->say(rq->arg, AB_SAY_NOTE, text);
}

static int show_end(struct ended *e, const struct ab_state *state, int *ret_status,
		    struct ab_error *err)
{
	if (find_end(e, err) < 0)
		return -1;
	if (!had_output(e) || (!e->known && e->run.live))
		return 1;
	e->terminal = isatty(STDOUT_FILENO);
	if (ab_lock_supervisor(state->root, err) < 0)
		return -1;
	print_kept_output(e);
	say_end(e);
	*ret_status = e->known ? (int)e->status : LOST;
	return 0;
}

int ab_ended_show(const struct ab_request *request, const struct ab_state *state, const char *box,
		  int *ret_status, struct ab_error *err)
{
	struct ended e = { .request = request, .box = box };
	struct ab_error unknown = { 0 };
	int result;

	if (ab_find_run(state->live, state->runs, box, &e.run, &unknown) < 0)
		return 1;
	result = show_end(&e, state, ret_status, err);
	free(e.why);
	ab_found_run_fini(&e.run);
	return result;
}
