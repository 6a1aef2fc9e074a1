/*
 * Theory of operation.
 *
 * The process reads lines from its socket into a queue. At most one batch is under way: taken from
 * the queue, made into a request, and kept until the collector has answered.
 *
 *	idle -> (enough records, or AB_EXPORT_DELAY_MS, or the end) -> sending
 *	sending -> taken or refused: idle
 *	sending -> no answer, or "later": waiting -> sending
 *
 * Should: read the socket in every state, so that the supervisor finds room. Mustn't: hold more
 * than the queue and one batch.
 *
 * The end of the socket starts the deadline. The counts are in memory that the supervisor shares.
 */
#include "export/exporter.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/utsname.h>

#include "audit/read/reader.h"
#include "audit/write/copy.h"
#include "base/process/helper.h"
#include "base/system/loop.h"
#include "export/otlp_json.h"
#include "export/otlp_reply.h"
#include "export/otlp_target.h"
#include "policy/values/paths.h"
#include "secrets/fetch/fetcher.h"
#include "secrets/fetch/http_client.h"

enum {
	RETRY_FIRST_MS = 500,
	RETRY_MOST_MS = 30000,
	RETRY_ENDING_MS = 1000, /* the most, once the run has ended */
	READ_ROOM = 64 << 10,
	GRACE_MS = 500, /* for the process to leave */
};

/* In memory that the process shares. */
struct ab_exporter {
	_Atomic uint64_t sent, dropped, refused, unsent;
	_Atomic bool failed; /* `why` is there */
	char why[160];	     /* written before `failed`, and then not again */
};

struct waiting {
	struct waiting *next;
	size_t len;
	char line[];
};

struct process {
	struct ab_otlp_target target;
	const struct ab_policy *policy;
	char *const *variables;
	struct ab_exporter *shared;
	struct ab_loop loop;
	struct ab_source in;
	struct ab_buf input; /* an unfinished line */
	bool skip;	     /* until the end of this line */
	bool ended;
	int64_t deadline;
	struct waiting *first, **last;
	size_t records, bytes;
	/* The batch that is under way: */
	struct ab_buf request;
	size_t batch; /* its records; 0: there is none */
	unsigned int tries;
	struct ab_http_client_setup setup;
	struct ab_http_client *client;
	struct ab_timer batch_timer, retry_timer, deadline_timer;
	char machine[65];
};

static void start_attempt(struct process *p);
static void consider_batch(struct process *p, bool due);

/* The first reason is the one to tell: later ones are its consequences. */
static void note_failure(struct process *p, const char *why)
{
	if (atomic_load(&p->shared->failed))
		return;
	snprintf(p->shared->why, sizeof(p->shared->why), "%.150s", why);
	atomic_store(&p->shared->failed, true);
}

static void leave(struct process *p)
{
	atomic_fetch_add(&p->shared->unsent, p->batch + p->records);
	p->batch = p->records = 0;
	p->loop.stop = true;
}

static void queue_line(struct process *p, const char *line, size_t len)
{
	struct waiting *w;

	if (p->records == AB_EXPORT_QUEUE || p->bytes + len > AB_EXPORT_QUEUE_BYTES) {
		atomic_fetch_add(&p->shared->dropped, 1);
		return;
	}
	w = ab_alloc(sizeof(*w) + len);
	w->len = len;
	memcpy(w->line, line, len);
	*p->last = w;
	p->last = &w->next;
	p->records++;
	p->bytes += len;
}

static void take_lines(struct process *p, const char *data, size_t len)
{
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		if (p->skip || p->input.len + n > AB_LINE_MAX) {
			atomic_fetch_add(&p->shared->dropped, !p->skip);
			p->skip = true;
			ab_buf_fini(&p->input);
		} else {
			ab_buf_add(&p->input, data, n);
		}
		if (!end)
			return;
		if (!p->skip && p->input.len)
			queue_line(p, p->input.data, p->input.len);
		p->skip = false;
		ab_buf_fini(&p->input);
		data = end + 1;
		len -= n + 1;
	}
}

static void end_input(struct process *p)
{
	/* It stays open: to the supervisor, its end is ours. */
	ab_loop_remove(&p->loop, &p->in);
	p->ended = true;
	p->deadline = ab_now_ms() + AB_EXPORT_FLUSH_MS;
	ab_loop_timer(&p->loop, &p->deadline_timer, AB_EXPORT_FLUSH_MS);
	ab_loop_timer_stop(&p->loop, &p->batch_timer);
	/* Do not wait any longer for the next try. */
	if (p->retry_timer.slot)
		ab_loop_timer(&p->loop, &p->retry_timer, 0);
}

static void read_input(struct ab_source *source, uint32_t events)
{
	struct process *p = source->owner;
	char data[READ_ROOM];
	ssize_t n = recv(source->fd, data, sizeof(data), 0);

	(void)events;
	if (n > 0)
		take_lines(p, data, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		end_input(p);
	consider_batch(p, false);
}

/* Take records from the queue and make a request of them. */
static void take_batch(struct process *p)
{
	ab_autobuf struct ab_buf body = { 0 };
	uint64_t now = (uint64_t)ab_clock_ns(CLOCK_REALTIME);
	size_t bytes = 0;

	ab_otlp_open(&body, p->machine);
	while (p->first && p->batch < AB_EXPORT_BATCH &&
	       (!p->batch || bytes + p->first->len <= AB_EXPORT_BATCH_BYTES)) {
		struct waiting *w = p->first;

		ab_otlp_add(&body, w->line, w->len, now);
		bytes += w->len;
		p->bytes -= w->len;
		p->records--;
		p->batch++;
		p->first = w->next;
		free(w);
	}
	if (!p->first)
		p->last = &p->first;
	ab_otlp_close(&body);
	ab_buf_fini(&p->request);
	ab_buf_printf(&p->request,
		      "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
		      "User-Agent: agentbox/" AB_VERSION "\r\n%sConnection: close\r\n"
		      "Content-Length: %zu\r\n\r\n",
		      p->target.path, p->target.authority, p->target.headers, body.len);
	ab_buf_add(&p->request, body.data, body.len);
}

/* `due`: the first record has waited long enough. */
static void consider_batch(struct process *p, bool due)
{
	if (p->batch)
		return;
	if (!p->records) {
		if (p->ended)
			leave(p);
		return;
	}
	if (due || p->ended || p->records >= AB_EXPORT_BATCH || p->bytes >= AB_EXPORT_BATCH_BYTES) {
		ab_loop_timer_stop(&p->loop, &p->batch_timer);
		take_batch(p);
		p->tries = 0;
		start_attempt(p);
	} else if (!p->batch_timer.slot) {
		ab_loop_timer(&p->loop, &p->batch_timer, AB_EXPORT_DELAY_MS);
	}
}

static void send_waiting(struct ab_timer *timer)
{
	consider_batch(timer->owner, true);
}

/* Between half and all of 0.5 s, 1 s, 2 s ... 30 s, so that many runs do not come back at once. */
static uint64_t choose_delay(struct process *p)
{
	uint64_t ms = (uint64_t)RETRY_FIRST_MS << (p->tries < 6 ? p->tries : 6), most;
	uint32_t random = 0;

	most = p->ended ? RETRY_ENDING_MS : RETRY_MOST_MS;
	ms = ms < most ? ms : most;
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return ms / 2 + random % (ms / 2 + 1);
}

static void try_later(struct process *p, uint64_t wait_ms, const char *why)
{
	uint64_t delay = choose_delay(p);

	note_failure(p, why);
	p->tries++;
	delay = wait_ms > delay ? wait_ms : delay;
	if (p->ended && ab_now_ms() + (int64_t)delay >= p->deadline)
		leave(p);
	else
		ab_loop_timer(&p->loop, &p->retry_timer, delay);
}

static void finish_batch(struct process *p, uint64_t refused, const char *why)
{
	refused = refused < p->batch ? refused : p->batch;
	if (refused)
		note_failure(p, why);
	atomic_fetch_add(&p->shared->sent, p->batch - refused);
	atomic_fetch_add(&p->shared->refused, refused);
	p->batch = 0;
	ab_buf_fini(&p->request);
	consider_batch(p, false);
}

static void collector_answered(void *arg, const struct ab_http_reply *http, const char *failed)
{
	struct process *p = arg;
	struct ab_otlp_reply reply;
	char why[96];

	if (!http) {
		try_later(p, 0, failed);
		return;
	}
	ab_otlp_reply_read(http, &reply);
	snprintf(why, sizeof(why), "the collector answered %d", reply.status);
	switch (reply.outcome) {
	case AB_OTLP_TAKEN:
		finish_batch(p, reply.rejected, "the collector rejected some of them");
		return;
	case AB_OTLP_AGAIN:
		try_later(p, reply.wait_ms, why);
		return;
	case AB_OTLP_REFUSED:
		finish_batch(p, p->batch, why);
		return;
	case AB_OTLP_NO_REPLY:
		try_later(p, 0, "the collector closed the connection without an answer");
		return;
	}
}

static void start_attempt(struct process *p)
{
	ab_http_client_send(p->client, &p->request, AB_EXPORT_REQUEST_MS, collector_answered, p);
}

static void try_again(struct ab_timer *timer)
{
	start_attempt(timer->owner);
}

static void end_all(struct ab_timer *timer)
{
	struct process *p = timer->owner;

	note_failure(p, "the collector did not answer in time");
	leave(p);
}

static int set_up(struct process *p, int sock, struct ab_error *err)
{
	struct utsname machine;

	p->in = (struct ab_source){ .fd = sock, .ready = read_input, .owner = p };
	p->last = &p->first;
	p->batch_timer = (struct ab_timer){ .fire = send_waiting, .owner = p };
	p->retry_timer = (struct ab_timer){ .fire = try_again, .owner = p };
	p->deadline_timer = (struct ab_timer){ .fire = end_all, .owner = p };
	if (uname(&machine) == 0)
		snprintf(p->machine, sizeof(p->machine), "%.64s", machine.nodename);
	p->setup = (struct ab_http_client_setup){ .loop = &p->loop,
						  .who = "the collector",
						  .host = &p->target.host,
						  .port = p->target.port,
						  .tls = p->target.tls,
						  .policy = p->policy,
						  .environ = p->variables };
	if (ab_loop_init(&p->loop, err) < 0 || ab_http_client_new(&p->setup, &p->client, err) < 0)
		return -1;
	return ab_loop_add(&p->loop, &p->in, EPOLLIN, err);
}

static int serve_export(int sock, void *arg)
{
	struct process *p = arg;
	struct ab_error err = { 0 };

	if (set_up(p, sock, &err) < 0 || ab_fetcher_confine(p->variables, &err) < 0 ||
	    ab_loop_run(&p->loop, &err) < 0)
		note_failure(p, err.text);
	return 0;
}

static int start_process(struct process *p, struct ab_helper *ret, struct ab_error *err)
{
	const struct ab_helper_setup helper = {
		.name = "agentbox-export",
		.what = "the exporter of the record",
		.socket = SOCK_STREAM | SOCK_NONBLOCK,
		.session = true,
		.outside = true,
		.orphan = true,
		.hidden = true,
		.serve = serve_export,
		.arg = p,
	};

	return ab_helper_start(&helper, ret, err);
}

int ab_exporter_start(const char *audit, const struct ab_policy *policy, char *const *variables,
		      struct ab_copy *ret_copy, struct ab_exporter **ret, struct ab_error *err)
{
	const char *headers = ab_environ_get(variables, "OTEL_EXPORTER_OTLP_LOGS_HEADERS");
	struct process p = { .policy = policy, .variables = variables };
	struct ab_exporter *shared;
	struct ab_helper helper;
	int r;

	if (!headers)
		headers = ab_environ_get(variables, "OTEL_EXPORTER_OTLP_HEADERS");
	if (ab_otlp_target_parse(audit, headers, &p.target, err) < 0)
		return -1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	p.shared = shared;
	r = shared == MAP_FAILED
		    ? ab_fail(err, AB_ESYSTEM, errno, "start the exporter of the record")
		    : start_process(&p, &helper, err);
	ab_otlp_target_fini(&p.target);
	if (r < 0)
		ab_step(err, "record");
	else
		r = ab_copy_open_own("--audit", "otlp", helper.sock, true, ret_copy, err);
	if (r < 0) {
		if (shared != MAP_FAILED)
			munmap(shared, sizeof(*shared));
		return -1;
	}
	*ret = shared;
	return 0;
}

void ab_exporter_counts(const struct ab_exporter *e, const struct ab_copy *copy,
			struct ab_export_counts *ret)
{
	*ret = (struct ab_export_counts){ .sent = atomic_load(&e->sent),
					  .dropped = atomic_load(&e->dropped) + copy->dropped,
					  .refused = atomic_load(&e->refused),
					  .unsent = atomic_load(&e->unsent) };
	if (atomic_load(&e->failed))
		snprintf(ret->why, sizeof(ret->why), "%.*s", (int)sizeof(e->why) - 1, e->why);
}

void ab_exporter_end(struct ab_exporter *exporter, struct ab_copy *copy,
		     struct ab_export_counts *ret)
{
	int64_t until = ab_now_ms() + AB_EXPORT_FLUSH_MS + GRACE_MS;
	uint64_t known;
	int64_t left;

	ab_copy_flush(copy);
	shutdown(copy->fd, SHUT_WR);
	/* It closes its end when it leaves. */
	while ((left = until - ab_now_ms()) > 0)
		if (ab_poll(copy->fd, POLLIN, (int)left) > 0)
			break;
	ab_exporter_counts(exporter, copy, ret);
	/* It may have crashed, or it did not leave in time. */
	known = ret->sent + ret->refused + ret->unsent + ret->dropped - copy->dropped;
	if (copy->given > known) {
		ret->unsent += copy->given - known;
		if (!ret->why[0])
			snprintf(ret->why, sizeof(ret->why),
				 "the process that sends them did not finish");
	}
}

void ab_exporter_free(struct ab_exporter *exporter)
{
	if (exporter)
		munmap(exporter, sizeof(*exporter));
}
