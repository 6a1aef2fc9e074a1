#include "base/process/helper_watch.h"

void ab_helper_watch_failed(struct ab_helper_watch *w, const struct ab_error *err)
{
	if (!w->strict || w->failed.code != AB_ENONE)
		return;
	w->failed = *err;
	if (w->fail)
		w->fail(w->fail_arg, err);
}

static void hear_helper(struct ab_helper_watch *w)
{
	/* The helper reads hostile bytes: its last text ends here, whatever it sends. */
	ab_autofree void *note = ab_alloc(w->size + 1);
	ssize_t n = recv(w->helper.sock, note, w->size, MSG_DONTWAIT | MSG_TRUNC);
	struct ab_error err = { 0 };

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	w->ended = n != (ssize_t)w->size;
	if (!w->ended && w->take(w->arg, note, &err) < 0)
		ab_helper_watch_failed(w, &err);
}

static void helper_ready(struct ab_source *source, uint32_t events)
{
	struct ab_helper_watch *w = source->owner;

	(void)events;
	hear_helper(w);
	if (w->ended)
		ab_loop_remove(w->loop, source);
}

int ab_helper_watch_attach(struct ab_helper_watch *w, struct ab_loop *loop,
			   void (*fail)(void *arg, const struct ab_error *err), void *arg,
			   struct ab_error *err)
{
	w->fail = fail;
	w->fail_arg = arg;
	w->loop = loop;
	return ab_loop_watch(loop, &w->source, w->helper.sock, helper_ready, w, err);
}

void ab_helper_watch_end(struct ab_helper_watch *w)
{
	w->fail = NULL;
	shutdown(w->helper.sock, SHUT_WR);
}

int ab_helper_watch_await(struct ab_helper_watch *w, int ms, struct ab_error *err)
{
	while (!w->ended && ab_poll(w->helper.sock, POLLIN, ms) != 0)
		hear_helper(w);
	close(w->helper.sock);
	if (w->ended)
		(void)ab_await(w->helper.pid);
	if (w->failed.code == AB_ENONE)
		return 0;
	*err = w->failed;
	return -1;
}
