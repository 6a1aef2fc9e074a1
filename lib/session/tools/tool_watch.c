#include "session/tools/tool_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/loop.h"
#include "session/tools/tool_broker.h"
#include "session/tools/tool_records.h"

enum { END_MS = 10000 }; /* how long the supervisor waits for one more note at the end */

struct ab_tool_watch {
	struct ab_tool_broker broker;
	struct ab_tool_records *records;
	struct ab_loop *loop;
	struct ab_source source;
	struct ab_tool_watch_hands hands;
	bool strict, ended;
	struct ab_error failed; /* the first note that could not be recorded */
};

int ab_tool_watch_start(const struct ab_tool_broker_setup *setup, struct ab_log *log, bool strict,
			struct ab_tool_watch **ret, struct ab_error *err)
{
	struct ab_tool_watch *w = ab_alloc(sizeof(*w));

	w->strict = strict;
	if (ab_tool_broker_start(setup, &w->broker, err) < 0) {
		free(w);
		return -1;
	}
	w->records = ab_tool_records_new(setup->run, log);
	*ret = w;
	return 0;
}

static void note_failure(struct ab_tool_watch *w, const struct ab_error *err)
{
	if (!w->strict || w->failed.code != AB_ENONE)
		return;
	w->failed = *err;
	if (w->hands.fail)
		w->hands.fail(w->hands.arg, err);
}

static void take_note(struct ab_tool_watch *w, const struct ab_tool_note *note)
{
	struct ab_error err = { 0 };

	if (ab_tool_records_take(w->records, note, &err) < 0)
		note_failure(w, &err);
	if (note->news == AB_TOOL_NEWS_WAITS && w->hands.wants)
		w->hands.wants(w->hands.arg, note);
	if (note->news == AB_TOOL_NEWS_SETTLED && w->hands.settled)
		w->hands.settled(w->hands.arg, note->number, note->status);
}

/* 1: there was a note; 0: nothing yet; -1: the broker has ended. */
static int hear_broker(struct ab_tool_watch *w)
{
	struct ab_tool_note note;
	ssize_t n = recv(w->broker.sock, &note, sizeof(note), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(note)) {
		w->ended = true;
		return -1;
	}
	take_note(w, &note);
	return 1;
}

static void broker_ready(struct ab_source *source, uint32_t events)
{
	struct ab_tool_watch *w = source->owner;

	(void)events;
	/* It died: the box has no tools any more. */
	if (hear_broker(w) < 0)
		ab_loop_remove(w->loop, source);
}

int ab_tool_watch_attach(struct ab_tool_watch *w, struct ab_loop *loop,
			 const struct ab_tool_watch_hands *hands, struct ab_error *err)
{
	w->hands = *hands;
	w->loop = loop;
	w->source = (struct ab_source){ .fd = w->broker.sock, .ready = broker_ready, .owner = w };
	return ab_loop_add(loop, &w->source, EPOLLIN, err);
}

void ab_tool_watch_listen(struct ab_tool_watch *w, int fd)
{
	struct ab_tool_order order = { 0 };

	/* If the broker is gone, connections of the box fail. */
	(void)ab_send_fds(w->broker.sock, &order, sizeof(order), &fd, 1);
	close(fd);
}

void ab_tool_watch_answer(struct ab_tool_watch *w, uint32_t number, int answer, const char *by)
{
	struct ab_tool_order order = { .number = number, .answer = (uint32_t)answer };
	struct ab_error err = { 0 };

	if (ab_tool_records_answer(w->records, number, answer, by, &err) < 0)
		note_failure(w, &err);
	(void)ab_send_fds(w->broker.sock, &order, sizeof(order), NULL, 0);
}

void ab_tool_watch_end(struct ab_tool_watch *w)
{
	w->hands = (struct ab_tool_watch_hands){ 0 };
	shutdown(w->broker.sock, SHUT_WR);
}

int ab_tool_watch_ended(struct ab_tool_watch *w, struct ab_strv *ret_denied, struct ab_error *err)
{
	struct pollfd p = { .fd = w->broker.sock, .events = POLLIN };
	int result;

	while (!w->ended && poll(&p, 1, END_MS) != 0)
		hear_broker(w);
	close(w->broker.sock);
	if (w->ended)
		while (waitpid(w->broker.pid, NULL, 0) < 0 && errno == EINTR)
			;
	ab_tool_records_summary(w->records, ret_denied);
	ab_tool_records_free(w->records);
	result = w->failed.code == AB_ENONE ? 0 : -1;
	if (result < 0)
		*err = w->failed;
	free(w);
	return result;
}
