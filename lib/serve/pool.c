#include "serve/pool.h"

#include <sys/epoll.h>

#include "base/process/helper.h"
#include "serve/channel.h"
#include "serve/served_run.h"
#include "serve/supervised.h"

enum { PACKET_MAX = 16 * 1024 };

static size_t count_ready(const struct ab_pool *pool)
{
	size_t n = 0;

	for (const struct ab_pool_box *b = pool->boxes; b; b = b->next)
		n += b->ready;
	return n;
}

/* The child ends with its socket. */
static void end_box(struct ab_pool_box *box)
{
	ab_loop_close(box->pool->loop, &box->steer);
	box->ready = false;
}

static void end_boxes(struct ab_pool *pool)
{
	pool->closed = true;
	for (struct ab_pool_box *b = pool->boxes; b; b = b->next)
		end_box(b);
}

/* ---- replies ---- */

static void answer_opened(struct ab_pool *pool)
{
	json_auto_t *id = ab_take(pool->opening);

	ab_serve_reply(pool->channel, id, "'ok':true,'pool':%ju,'size':%ju",
		       (uintmax_t)pool->number, (uintmax_t)pool->request.size);
}

/* A pool that never had its boxes does not open. */
static void answer_failed(struct ab_pool *pool)
{
	json_auto_t *id = ab_take(pool->opening);

	end_boxes(pool);
	ab_serve_refuse(pool->channel, id, &pool->why);
}

static void answer_closed(struct ab_pool *pool)
{
	json_auto_t *id = ab_take(pool->closing);

	if (id)
		ab_serve_reply(pool->channel, id, "'ok':true");
}

/* ---- boxes ---- */

static void take_failure(struct ab_pool_box *box, const json_t *packet)
{
	struct ab_pool *pool = box->pool;

	ab_served_failure(packet, &pool->why);
	(void)ab_pool_pace_box(&pool->pace, false);
	end_box(box);
	if (pool->opening)
		answer_failed(pool);
}

static void steer_ready(struct ab_source *source, uint32_t events)
{
	struct ab_pool_box *box = source->owner;
	struct ab_pool *pool = box->pool;
	ab_autofree char *bytes = ab_alloc(PACKET_MAX);
	ssize_t n = recv(source->fd, bytes, PACKET_MAX, MSG_DONTWAIT);
	json_auto_t *packet = n > 0 ? json_loadb(bytes, (size_t)n, 0, NULL) : NULL;
	const char *event = ab_served_text(packet, "event");

	(void)events;
	if (n == 0) /* it has ended, or does so soon */
		ab_loop_remove(pool->loop, source);
	if (strcmp(event, "ready") == 0) {
		box->ready = true;
		if (pool->opening && count_ready(pool) == pool->request.size)
			answer_opened(pool);
	} else if (strcmp(event, "unprepared") == 0) {
		take_failure(box, packet);
	} else if (strcmp(event, "ended") == 0) {
		/* The child ends with the socket, and is replaced then. */
		ab_loop_close(pool->loop, source);
	}
}

static int start_box(struct ab_pool *pool, struct ab_error *err)
{
	struct ab_pool_box *box;
	struct ab_helper helper;

	if (ab_supervised_start(NULL, &pool->request, NULL, pool->before, &helper, err) < 0)
		return -1;
	box = ab_alloc(sizeof(*box));
	*box = (struct ab_pool_box){
		.next = pool->boxes,
		.pool = pool,
		.pid = helper.pid,
		.steer = { .fd = helper.sock, .ready = steer_ready, .owner = box },
	};
	pool->boxes = box;
	pool->nboxes++;
	if (ab_loop_add(pool->loop, &box->steer, EPOLLIN, err) < 0) {
		end_box(box);
		return -1;
	}
	return 0;
}

void ab_pool_fill(struct ab_pool *pool)
{
	while (!pool->closed && pool->nboxes < ab_pool_pace_boxes(&pool->pace, pool->request.size))
		if (start_box(pool, &pool->why) < 0)
			return;
}

unsigned ab_pool_began(struct ab_pool *pool, bool taken, bool warm)
{
	bool back = taken && ab_pool_pace_box(&pool->pace, warm);

	if (!taken)
		ab_pool_pace_run(&pool->pace);
	/* They are as old as those that did not fit. */
	for (struct ab_pool_box *b = back ? pool->boxes : NULL; b; b = b->next)
		end_box(b);
	ab_pool_fill(pool);
	return back ? pool->pace.left : 0;
}

void ab_pool_status(const struct ab_pool *pool, const json_t *id)
{
	ab_serve_reply(pool->channel, id, "'ok':true,'status':{'size':%ju,'ready':%ju,'rests':%u}",
		       (uintmax_t)pool->request.size, (uintmax_t)count_ready(pool),
		       pool->pace.left);
}

static void free_box(struct ab_later *later)
{
	free(later->owner);
}

static void forget_box(struct ab_pool_box **at)
{
	struct ab_pool_box *box = *at;
	struct ab_pool *pool = box->pool;

	*at = box->next;
	pool->nboxes--;
	ab_loop_remove(pool->loop, &box->steer);
	box->later = (struct ab_later){ .run = free_box, .owner = box };
	ab_loop_later(pool->loop, &box->later);
}

static struct ab_pool_box **find_box(struct ab_pool *pool, bool ready)
{
	struct ab_pool_box **found = NULL;

	/* The newest is the first: the oldest is the next that becomes ready. */
	for (struct ab_pool_box **at = &pool->boxes; *at; at = &(*at)->next)
		if ((*at)->steer.fd >= 0 && (*at)->steer.active && (*at)->ready == ready)
			found = at;
	return found;
}

bool ab_pool_take(struct ab_pool *pool, pid_t *ret_pid, int *ret_steer)
{
	struct ab_pool_box **at = find_box(pool, true);

	if (!at)
		at = find_box(pool, false);
	if (!at)
		return false;
	*ret_pid = (*at)->pid;
	*ret_steer = (*at)->steer.fd;
	forget_box(at);
	return true;
}

bool ab_pool_ended(struct ab_pool *pool, pid_t pid)
{
	struct ab_pool_box **at = &pool->boxes;
	bool ready;

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	if (!*at)
		return false;
	/* What it said last may be why. */
	if ((*at)->steer.fd >= 0 && (*at)->steer.active)
		steer_ready(&(*at)->steer, 0);
	ready = (*at)->ready;
	end_box(*at);
	forget_box(at);
	if (pool->opening && pool->why.code == AB_ENONE)
		ab_fail(&pool->why, AB_ESYSTEM, 0, "a box ended while it was prepared");
	if (pool->opening)
		answer_failed(pool);
	else if (ready)
		ab_pool_fill(pool);
	if (pool->closed && pool->nboxes == 0)
		answer_closed(pool);
	return true;
}

/* ---- the pool ---- */

struct ab_pool *ab_pool_open(struct ab_serve_request *request, const sigset_t *before,
			     struct ab_loop *loop, struct ab_channel *channel, uint64_t number)
{
	struct ab_pool *pool = ab_alloc(sizeof(*pool));

	*pool = (struct ab_pool){ .loop = loop,
				  .channel = channel,
				  .before = before,
				  .number = number,
				  .request = *request,
				  .opening = json_incref(request->id) };
	*request = (struct ab_serve_request){ 0 };
	ab_pool_fill(pool);
	if (pool->why.code != AB_ENONE)
		answer_failed(pool);
	return pool;
}

void ab_pool_close(struct ab_pool *pool, json_t *id)
{
	end_boxes(pool);
	if (pool->opening) {
		ab_fail(&pool->why, AB_ESYSTEM, 0, "the pool was closed");
		answer_failed(pool);
	}
	pool->closing = json_incref(id);
	if (pool->nboxes == 0)
		answer_closed(pool);
}

void ab_pool_kill(const struct ab_pool *pool)
{
	for (const struct ab_pool_box *b = pool->boxes; b; b = b->next)
		kill(b->pid, SIGKILL);
}

bool ab_pool_is_over(const struct ab_pool *pool)
{
	return pool->closed && pool->nboxes == 0 && pool->nruns == 0;
}

void ab_pool_discard(struct ab_pool *pool)
{
	json_decref(pool->opening);
	json_decref(pool->closing);
	ab_serve_request_fini(&pool->request);
	free(pool);
}
