
#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/query.h"
#include "audit/read/reader.h"
#include "consent/request.h"
#include "host/lock/lockdown.h"
#include "session/stay/output.h"
#include "state/state.h"
#include "steer/stay/enter.h"
#include "steer/stay/follow.h"
#include "steer/stay/kept_boxes.h"
#include "steer/stay/questions.h"
#include "terminal/screen_filter.h"
#include "terminal/screen_modes.h"
#include "terminal/terminal.h"

/*
 * What is left of the detached command of a box (run -d) after its end: the output that was kept, and
 * its status. The box may have ended with it, or may have stayed.
 */

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

/* Until the record of the command's end. */
static bool find_end(void *arg, const char *line, size_t len)
{
	static const char *const names[] = { "kind", "number", "status", "timestamp", "error" };
	struct ended *e = arg;
	struct ab_detail v[AB_COUNT(names)];
	char stamp[AB_STAMP_ROOM];

	if (ab_details_find(line, len, names, AB_COUNT(names), v) < 0 ||
	    !ab_detail_is(&v[0], "ended") || ab_detail_number(&v[1], 0) != DETACHED)
		return true;
	e->status = ab_detail_number(&v[2], LOST);
	ab_detail_copy(&v[3], stamp, sizeof(stamp));
	ab_time_local(stamp, e->when);
	e->why = ab_detail_dup(&v[4]);
	e->known = true;
	return false;
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
	ab_autobuf struct ab_buf undo = { 0 };

	ab_screen_modes_undo(&e->modes, &undo);
	if (e->terminal && ab_write_all(STDOUT_FILENO, undo.data, undo.len) == 0 && e->last &&
	    e->last != '\n')
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
	if (ab_reader_each(e->run.dir, find_end, e, err) < 0)
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

/*
 * Print the output, and say how the command ended. On a terminal it is the last output, and filtered;
 * else all of it, as the box wrote it. The calling process is confined before it reads a byte of it,
 * as a supervisor is. *ret_status: the command's, as of ab_run().
 *
 * -1, and *err stays as it is: `box`, a name or an id, had no such command, or the command still runs;
 * nothing was printed.
 */
static int show_kept(const struct ab_request *request, const char *box, int *ret_status,
		     struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct ended e = { .request = request, .box = box };
	struct ab_error late = { 0 };
	int result;

	if (ab_steer_state(&request->policy, &state, &late) < 0 ||
	    ab_find_run(state.live, state.runs, box, &e.run, &late) < 0)
		return -1;
	result = show_end(&e, &state, ret_status, &late);
	free(e.why);
	ab_found_run_fini(&e.run);
	if (result < 0)
		*err = late;
	return result == 0 ? 0 : -1;
}

/* Attach to a command that runs. */

struct attached {
	struct ab_kept_box box;
	struct ab_terminal *terminal;
	int ours[2], boxs[2]; /* messages, bytes */
	bool asks;	      /* the box asks about hosts */
};

static int open_sockets(struct attached *a, struct ab_error *err)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM };

	for (size_t i = 0; i < AB_COUNT(types); i++) {
		int pair[2];

		if (socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create a socket pair");
		a->ours[i] = pair[0];
		a->boxs[i] = pair[1];
	}
	return 0;
}

static int ask_box(struct attached *a, struct ab_error *err)
{
	uint16_t rows, cols;
	json_auto_t *answer = NULL;
	uint32_t fds;

	if (open_sockets(a, err) < 0 || ab_terminal_open(&a->terminal, &fds, &rows, &cols, err) < 0)
		return -1;
	if (ab_steer_pass(&a->box.steer, a->boxs, 2, &answer, err, "'do':'attach'") < 0)
		return -1;
	a->asks = json_is_true(json_object_get(answer, "asks"));
	return 0;
}

static int attach_terminal(struct attached *a, const struct ab_request *rq, const char *box,
			   int *ret_status, struct ab_error *err)
{
	struct ab_follow follow = { .request = rq, .box = box };

	for (size_t i = 0; i < AB_COUNT(a->boxs); i++) {
		ab_closep(&a->boxs[i]);
	}
	if (a->terminal)
		ab_request_say(rq, AB_SAY_NOTE,
			       "attached to %s; Ctrl-] detaches and leaves it running", box);
	if (a->asks)
		follow.questions = ab_questions_open(&a->box, a->terminal);
	ab_steer_fini(&a->box.steer);
	if (ab_supervise_prepare(err) < 0 || ab_lock_supervisor(a->box.state.root, err) < 0) {
		ab_questions_close(follow.questions);
		return -1;
	}
	follow.sock = a->ours[0];
	/* The terminal takes it over. */
	follow.bytes = a->terminal ? ab_take_fd(&a->ours[1]) : a->ours[1];
	follow.terminal = ab_take(a->terminal);
	return ab_follow(&follow, ret_status, err);
}

static void close_attached(struct attached *a)
{
	ab_terminal_close(a->terminal);
	for (size_t i = 0; i < 2; i++)
		ab_close_all(&a->ours[i], &a->boxs[i]);
	ab_kept_box_fini(&a->box);
}

int ab_attach(const struct ab_request *request, const char *box, int *ret_status,
	      struct ab_error *err)
{
	struct attached a = { .ours = { -1, -1 }, .boxs = { -1, -1 } };
	int result;

	if (ab_kept_box_open(&request->policy, box, &a.box, err) < 0)
		return show_kept(request, box, ret_status, err);
	if (ask_box(&a, err) < 0) {
		close_attached(&a);
		return show_kept(request, box, ret_status, err);
	}
	result = attach_terminal(&a, request, box, ret_status, err);
	close_attached(&a);
	return result;
}
