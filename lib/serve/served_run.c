#include "serve/served_run.h"

#include <sys/epoll.h>
#include <sys/mman.h>

#include "base/process/helper.h"
#include "serve/channel.h"
#include "serve/pool.h"
#include "serve/supervised.h"

enum {
	BLOCK = 65536,
	SHARE = 4 * BLOCK,
	RECORD_MAX = 1 << 20,
	INPUTS_MAX = 256,
};

static const char *const stream_names[] = { "stdout", "stderr" };

/* False: nothing more comes. It reads at most `share` bytes, because another box may write as fast as
 * we read; `all`: also if the program does not read. */
static bool read_output(struct ab_served_run *run, size_t i, size_t share, bool all)
{
	struct ab_served_output *o = &run->out[i];
	ab_autobuf struct ab_buf b = { 0 };
	char block[BLOCK];

	do {
		ssize_t n = read(o->pipe.fd, block, sizeof(block));
		size_t left, kept;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		share -= (size_t)n < share ? (size_t)n : share;
		if (o->kind == AB_STREAM_STREAMED) {
			ab_output_event(&b, run->number, stream_names[i], &o->cut, block, (size_t)n,
					false);
			if (b.len)
				ab_channel_send(run->channel, b.data, b.len);
			ab_buf_skip(&b, b.len);
			continue;
		}
		left = run->capture - o->kept.len;
		kept = (size_t)n < left ? (size_t)n : left;
		o->kept.total += (uint64_t)n;
		if (kept == 0)
			continue;
		o->kept.data = ab_realloc(o->kept.data, o->kept.len + kept);
		memcpy(o->kept.data + o->kept.len, block, kept);
		o->kept.len += kept;
	} while (share > 0 && (all || ab_channel_load(run->channel) == AB_CHANNEL_LIGHT));
	return true;
}

static void output_ready(struct ab_source *source, uint32_t events)
{
	struct ab_served_run *run = source->owner;
	size_t i = source == &run->out[1].pipe;

	(void)events;
	if (!read_output(run, i, SHARE, false))
		ab_loop_remove(run->loop, source);
	else if (run->out[i].kind == AB_STREAM_STREAMED &&
		 ab_channel_load(run->channel) != AB_CHANNEL_LIGHT)
		ab_loop_remove(run->loop, source);
}

void ab_served_continue(struct ab_served_run *run)
{
	struct ab_error ignored;

	for (size_t i = 0; i < 2; i++) {
		struct ab_source *pipe = &run->out[i].pipe;

		if (pipe->fd >= 0 && !pipe->active)
			(void)ab_loop_add(run->loop, pipe, EPOLLIN, &ignored);
	}
}

static void tell_record(struct ab_served_run *run, const char *line, size_t len)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_puts(&b, ",\"record\":");
	ab_buf_add(&b, line, len);
	ab_served_tell(run, "record", b.data);
}

/* False: nothing more comes. The supervisor writes whole lines of JSON. */
static bool read_records(struct ab_served_run *run)
{
	struct ab_buf *got = &run->record_bytes;
	char block[BLOCK];

	for (;;) {
		ssize_t n = read(run->records.fd, block, sizeof(block));
		char *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		ab_buf_add(got, block, (size_t)n);
		while (got->len && (end = memchr(got->data, '\n', got->len)) != NULL) {
			tell_record(run, got->data, (size_t)(end - got->data));
			ab_buf_skip(got, (size_t)(end - got->data) + 1);
		}
		if (got->len > RECORD_MAX)
			return false;
	}
}

static void records_ready(struct ab_source *source, uint32_t events)
{
	struct ab_served_run *run = source->owner;

	(void)events;
	if (!read_records(run))
		ab_loop_remove(run->loop, source);
}

static void free_input(struct ab_served_run *run)
{
	struct ab_served_input *in = run->inputs;

	run->inputs = in->next;
	if (!run->inputs)
		run->inputs_end = &run->inputs;
	run->ninputs--;
	json_decref(in->id);
	ab_free_all(in->bytes, in);
}

static void close_input(struct ab_served_run *run)
{
	struct ab_error err = { 0 };

	ab_loop_close(run->loop, &run->input);
	while (run->inputs) {
		ab_fail(&err, AB_ESYSTEM, 0, "the command does not read its standard input");
		if (run->inputs->id)
			ab_serve_refuse(run->channel, run->inputs->id, &err);
		free_input(run);
	}
}

static void write_input(struct ab_served_run *run)
{
	while (run->inputs) {
		struct ab_served_input *in = run->inputs;
		ssize_t n = 0;
		bool eof;

		while (in->done < in->len) {
			n = write(run->input.fd, in->bytes + in->done, in->len - in->done);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				break;
			in->done += (size_t)n;
		}
		if (n < 0 && errno == EAGAIN) {
			ab_loop_set(run->loop, &run->input, EPOLLOUT);
			return;
		}
		if (n < 0) {
			close_input(run);
			return;
		}
		eof = in->eof;
		if (in->id)
			ab_serve_reply(run->channel, in->id, "'ok':true");
		free_input(run);
		if (eof) {
			close_input(run);
			return;
		}
	}
	ab_loop_set(run->loop, &run->input, 0);
}

static void input_ready(struct ab_source *source, uint32_t events)
{
	struct ab_served_run *run = source->owner;

	if (events & EPOLLERR)
		close_input(run);
	else
		write_input(run);
}

/* Takes over the id and the request's bytes. */
static void queue_input(struct ab_served_run *run, json_t *id, struct ab_serve_request *r, bool eof)
{
	struct ab_served_input *in = ab_alloc(sizeof(*in));

	*in = (struct ab_served_input){
		.id = id, .bytes = ab_take(r->bytes), .len = r->nbytes, .eof = eof
	};
	*run->inputs_end = in;
	run->inputs_end = &in->next;
	run->ninputs++;
	write_input(run);
}

int ab_served_input(struct ab_served_run *run, struct ab_serve_request *r, struct ab_error *err)
{
	if (run->input.fd < 0)
		return ab_fail(err, AB_EUSAGE, 0,
			       "the standard input of this run is closed, or is not \"pipe\"");
	if (run->ninputs == INPUTS_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "too much input waits for the command");
	queue_input(run, json_incref(r->id), r, r->eof);
	return 0;
}

int ab_served_signal(struct ab_served_run *run, struct ab_serve_request *r, struct ab_error *err)
{
	if (r->signal == SIGKILL) {
		ab_served_stop(run, r->id, 0);
		return 0;
	}
	if (r->signal == SIGSTOP)
		return ab_fail(err, AB_EUSAGE, 0, "SIGSTOP cannot be sent to a run; use TSTP");
	if (run->began)
		kill(run->pid, r->signal);
	else
		run->held_signals |= 1ull << r->signal;
	ab_serve_reply(run->channel, r->id, "'ok':true");
	return 0;
}

/* A pipe whose end `ours` does not wait. */
static int make_pipe(struct ab_source *source, size_t ours, int *ret_theirs)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	source->fd = pair[ours];
	*ret_theirs = pair[!ours];
	return fcntl(pair[ours], F_SETFL, O_NONBLOCK);
}

static int open_stream(struct ab_served_run *run, const struct ab_serve_request *r, const int *fds,
		       size_t i, struct ab_ends *e)
{
	const struct ab_stream_spec *spec = &r->streams[i];

	if (i > 0)
		run->out[i - 1].kind = spec->kind;
	switch (spec->kind) {
	case AB_STREAM_NULL:
		e->stdio[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
		break;
	case AB_STREAM_CAPTURED:
	case AB_STREAM_STREAMED:
		return make_pipe(&run->out[i - 1].pipe, 0, &e->stdio[i]);
	case AB_STREAM_PIPE:
	case AB_STREAM_BYTES:
		return make_pipe(&run->input, 1, &e->stdio[i]);
	case AB_STREAM_FD:
		e->stdio[i] = fcntl(fds[spec->fd], F_DUPFD_CLOEXEC, 3);
		break;
	case AB_STREAM_SAME:
		e->stdio[i] = fcntl(e->stdio[1], F_DUPFD_CLOEXEC, 3);
		break;
	}
	return e->stdio[i] < 0 ? -1 : 0;
}

static int open_ends(struct ab_served_run *run, const struct ab_serve_request *r, const int *fds,
		     struct ab_ends *e)
{
	for (size_t i = 0; i < 3; i++)
		if (open_stream(run, r, fds, i, e) < 0)
			return -1;
	if (r->records && make_pipe(&run->records, 0, &e->records) < 0)
		return -1;
	if (r->records_fd) {
		e->records = fcntl(fds[r->records_at], F_DUPFD_CLOEXEC, 3);
		if (e->records < 0)
			return -1;
	}
	run->result = memfd_create("result", MFD_CLOEXEC);
	if (run->result < 0)
		return -1;
	e->result = run->result;
	return 0;
}

static void close_ends(struct ab_ends *e)
{
	for (size_t i = 0; i < 3; i++)
		ab_closep(&e->stdio[i]);
	ab_close_all(&e->steer, &e->records);
}

static int watch_run(struct ab_served_run *run, struct ab_error *err)
{
	struct ab_source *const sources[] = { &run->out[0].pipe, &run->out[1].pipe, &run->records };

	for (size_t i = 0; i < AB_COUNT(sources); i++)
		if (sources[i]->fd >= 0 && ab_loop_add(run->loop, sources[i], EPOLLIN, err) < 0)
			return -1;
	return run->input.fd >= 0 ? ab_loop_add(run->loop, &run->input, 0, err) : 0;
}

static struct ab_served_run *make_run(struct ab_loop *loop, struct ab_channel *channel,
				      uint64_t number, uint64_t capture)
{
	struct ab_served_run *run = ab_alloc(sizeof(*run));

	*run = (struct ab_served_run){
		.loop = loop, .channel = channel, .number = number, .capture = capture, .result = -1
	};
	run->steer = (struct ab_source){ .fd = -1, .ready = ab_served_hear, .owner = run };
	run->records = (struct ab_source){ .fd = -1, .ready = records_ready, .owner = run };
	run->input = (struct ab_source){ .fd = -1, .ready = input_ready, .owner = run };
	for (size_t i = 0; i < 2; i++)
		run->out[i].pipe =
			(struct ab_source){ .fd = -1, .ready = output_ready, .owner = run };
	run->packets_end = &run->packets;
	run->inputs_end = &run->inputs;
	clock_gettime(CLOCK_REALTIME, &run->started);
	return run;
}

/* Hand it to a child that waits with a box, if the pool has one. */
static bool take_prepared(struct ab_served_run *run, const struct ab_serve_request *r,
			  const struct ab_ends *e)
{
	int steer;
	pid_t pid;

	while (run->pool && ab_pool_take(run->pool, &pid, &steer)) {
		if (ab_supervised_hand(steer, r->text, r->text_len, e) == 0) {
			run->steer.fd = steer;
			run->pid = pid;
			run->prepared = true;
			return true;
		}
		/* It ends, and nobody else waits for it. */
		close(steer);
	}
	return false;
}

static int start_supervisor(struct ab_served_run *run, const struct ab_serve_request *r,
			    const struct ab_ends *e, const sigset_t *before, struct ab_error *err)
{
	struct ab_helper helper;

	if (ab_supervised_start(r, run->pool ? &run->pool->request : NULL, e, before, &helper,
				err) < 0)
		return -1;
	run->steer.fd = helper.sock;
	run->pid = helper.pid;
	return 0;
}

int ab_served_start(struct ab_serve_request *r, const int *fds, const sigset_t *before,
		    struct ab_loop *loop, struct ab_channel *channel, struct ab_pool *pool,
		    uint64_t number, struct ab_served_run **ret, struct ab_error *err)
{
	struct ab_served_run *run = make_run(loop, channel, number, r->capture);
	struct ab_ends e = AB_ENDS_NONE;
	int result = 0;

	run->pool = pool;
	if (open_ends(run, r, fds, &e) < 0)
		result = ab_fail(err, AB_ESYSTEM, errno, "prepare the run");
	else if (!take_prepared(run, r, &e))
		result = start_supervisor(run, r, &e, before, err);
	/* While it starts. */
	if (result == 0 &&
	    (watch_run(run, err) < 0 || ab_loop_add(loop, &run->steer, EPOLLIN, err) < 0)) {
		kill(run->pid, SIGKILL);
		result = -1;
	}
	close_ends(&e);
	if (result < 0)
		ab_served_free(run);
	else
		*ret = run;
	if (result == 0 && r->streams[0].kind == AB_STREAM_BYTES)
		queue_input(run, NULL, r, true);
	return result;
}

/* The supervisor wrote none: it could not begin, or was killed. If the client has stopped it, the
 * result names the signal, as it does when the command has started. */
static char *make_result(struct ab_served_run *run, int code, int status)
{
	ab_autobuf struct ab_buf json = { 0 };
	struct ab_result what = { .started = run->started, .error = &run->why };

	if (!run->failed && code != CLD_EXITED && run->stopped && status == SIGTERM) {
		run->exit = 128 + status;
		what.ran = true;
		what.status = status;
		ab_fail(&run->why, AB_ESYSTEM, 0, "the run was stopped before its command started");
	} else if (!run->failed && code != CLD_EXITED) {
		run->exit = 128 + status;
		ab_fail(&run->why, AB_ESYSTEM, 0, "signal %d ended the run's supervisor", status);
	} else if (!run->failed) {
		run->exit = status;
		ab_fail(&run->why, AB_ESYSTEM, 0,
			"the run's supervisor ended without reporting a result");
	}
	what.exit = run->exit;
	ab_result_json(&what, &json);
	return ab_buf_take(&json);
}

static void send_exit(struct ab_served_run *run, int code, int status)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *text = ab_result_read(run->result);
	const struct ab_stream *kept[2];

	if (!text)
		text = make_result(run, code, status);
	for (size_t i = 0; i < 2; i++)
		kept[i] = run->out[i].kind == AB_STREAM_CAPTURED ? &run->out[i].kept : NULL;
	ab_buf_jsonf(&b, "{'event':'exit','run':%ju,'result':%-s", (uintmax_t)run->number, text);
	ab_result_add_streams(&b, kept[0], kept[1]);
	ab_buf_puts(&b, "}");
	ab_channel_send(run->channel, b.data, b.len);
}

/* What was cut off will not become a character. */
static void send_rest(struct ab_served_run *run, size_t i)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_output_event(&b, run->number, stream_names[i], &run->out[i].cut, "", 0, true);
	if (b.len)
		ab_channel_send(run->channel, b.data, b.len);
}

/* The box ends with its supervisor, so all of it is in the pipes. Another box that was given the
 * stream may still write, so no more is read than a pipe can hold. */
static void read_last_output(struct ab_served_run *run, size_t i)
{
	int room = fcntl(run->out[i].pipe.fd, F_GETPIPE_SZ);

	read_output(run, i, room > 0 ? (size_t)room : SHARE, true);
}

void ab_served_ended(struct ab_served_run *run, int code, int status)
{
	ab_served_hear(&run->steer, 0);
	for (size_t i = 0; i < 2; i++) {
		if (run->out[i].pipe.fd >= 0)
			read_last_output(run, i);
		if (run->out[i].kind == AB_STREAM_STREAMED)
			send_rest(run, i);
	}
	if (run->records.fd >= 0)
		read_records(run);
	close_input(run);
	ab_served_settle_command(run, "time");
	ab_served_refuse_steered(run);
	send_exit(run, code, status);
}

void ab_served_free(struct ab_served_run *run)
{
	struct ab_source *const sources[] = { &run->out[0].pipe, &run->out[1].pipe, &run->records,
					      &run->steer, &run->input };

	for (size_t i = 0; i < AB_COUNT(sources); i++)
		ab_loop_close(run->loop, sources[i]);
	for (size_t i = 0; i < 2; i++)
		free(run->out[i].kept.data);
	while (run->inputs)
		free_input(run);
	ab_buf_fini(&run->record_bytes);
	ab_closep(&run->result);
	free(run);
}
