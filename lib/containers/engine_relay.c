#include "containers/engine_relay.h"

enum { END_MS = 15000 }; /* for answers of the engine that are due when the run ends */

static void relay_end_timed_out(struct ab_timer *timer)
{
	struct ab_engine_relay *r = timer->owner;

	r->loop.stop = true;
}

int ab_engine_relay_init(struct ab_engine_relay *r, struct ab_error *err)
{
	r->listener = (struct ab_source){ .fd = -1 };
	r->end = (struct ab_timer){ .fire = relay_end_timed_out, .owner = r };
	return ab_loop_init(&r->loop, err);
}

static void accept_box_connections(struct ab_source *source, uint32_t events)
{
	struct ab_engine_relay *r = source->owner;

	(void)events;
	while (r->nopen < AB_ENGINE_RELAY_MAX) {
		int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		ab_relay_conn_start(r, fd);
	}
	/* The others wait in the backlog; the end of one continues here. */
	ab_loop_set(&r->loop, source, 0);
}

int ab_engine_relay_listen(struct ab_engine_relay *r, int fd, struct ab_error *err)
{
	if (r->listener.fd >= 0) {
		close(fd);
		return 0;
	}
	return ab_loop_watch(&r->loop, &r->listener, fd, accept_box_connections, r, err);
}

void ab_engine_relay_end(struct ab_engine_relay *r)
{
	r->ending = true;
	ab_source_close(&r->listener);
	ab_relay_conns_hurry(r);
	ab_loop_timer(&r->loop, &r->end, END_MS);
	if (!r->nopen)
		r->loop.stop = true;
}

void ab_engine_relay_fini(struct ab_engine_relay *r)
{
	while (r->open)
		ab_relay_conn_end(r->open);
	ab_loop_settle(&r->loop);
	ab_source_close(&r->listener);
	ab_loop_fini(&r->loop);
	ab_engine_judge_fini(&r->judge);
}
