/*
 * Each requested name has an entry in one of these states:
 *
 *	queued		too many are active; in `queue`
 *	active		pending > 0: lookups have not finished
 *	settled		`answer` is set, and waits for delivery (in `done`) or
 *			was delivered
 *	idle		settled, delivered, no lookup pending; in `idle`, least
 *			recently used first
 *
 * An entry may be settled while a lookup is pending: when one family is late,
 * or no server answered in time. A late result is added to the answer.
 *
 * Asks are called from an ab_later only: c-ares mustn't be closed from its own
 * callback, and ab_resolver_ask mustn't call back.
 */
#include "proxy/dial/resolver.h"

#include <sys/queue.h>

#include "base/data/list.h"
#include "base/system/loop.h"
#include "policy/values/host.h"
#include "proxy/dial/dns_client.h"
#include "proxy/dial/hosts_file.h"
#include "proxy/filter/tree.h"

enum {
	HOSTS_SIZE = 16 * 1024 * 1024,
	CHECK_MS = 3000,   /* between checks of the files */
	SERVER_MS = 10000, /* to answer, for each server: what the C library gives it */
	LATE_MS = 250,	   /* more for the second family */
	TTL_MIN = 1,
	TTL_MAX = 300,
	TTL_HALF = 5, /* one family failed */
	TTL_NO_NAME = 5,
	TTL_NONE = 1,
};

TAILQ_HEAD(entries, cached);

struct cached {
	char *name;
	struct ab_resolver *resolver;
	struct entries *list; /* that it is in, or NULL */
	TAILQ_ENTRY(cached) link;
	struct ab_ask *asks;
	struct ab_timer timer;
	struct ab_lookup lookups[2];
	unsigned pending;
	bool settled, failed;
	unsigned ttl;
	uint64_t expires;
	struct ab_answer answer;
};

struct file {
	char *path;
	struct stat seen;
};

struct ab_resolver {
	struct ab_loop *loop;
	struct ab_lookups *lookups;
	struct file resolv_conf, hosts;
	char *hosts_text;
	size_t hosts_len;
	uint64_t checked; /* the files; 0: never */
	unsigned active, nidle;
	struct entries queue, done, idle;
	struct ab_later later;
	bool closed;
	void *by_name;
};

static void move_entry(struct cached *e, struct entries *to)
{
	struct ab_resolver *r = e->resolver;

	if (e->list) {
		TAILQ_REMOVE(e->list, e, link);
		r->nidle -= e->list == &r->idle;
	}
	e->list = to;
	if (to) {
		TAILQ_INSERT_TAIL(to, e, link);
		r->nidle += to == &r->idle;
	}
}

static void free_entry(struct cached *e)
{
	ab_tree_remove(&e->resolver->by_name, e);
	move_entry(e, NULL);
	ab_loop_timer_stop(e->resolver->loop, &e->timer);
	ab_free_all(e->name, e);
}

static void settle_entry(struct cached *e, unsigned ttl)
{
	struct ab_resolver *r = e->resolver;

	ab_loop_timer_stop(r->loop, &e->timer);
	e->settled = true;
	e->expires = r->loop->now + 1000 * (uint64_t)ttl;
	move_entry(e, &r->done);
	ab_loop_later(r->loop, &r->later);
}

/* Settle with the results so far. */
static void settle_with_results(struct cached *e)
{
	unsigned max = e->failed || e->pending ? TTL_HALF : TTL_MAX;

	if (e->answer.n4 + e->answer.n6 > 0) {
		e->answer.kind = AB_ANSWER_OK;
		settle_entry(e, e->ttl < TTL_MIN ? TTL_MIN : e->ttl > max ? max : e->ttl);
	} else if (e->failed || e->pending) {
		e->answer.kind = AB_ANSWER_NONE;
		settle_entry(e, TTL_NONE);
	} else {
		e->answer.kind = AB_ANSWER_NO_NAME;
		settle_entry(e, TTL_NO_NAME);
	}
}

static void lookup_done(struct ab_lookup *lookup, enum ab_lookup_status status,
			const uint8_t *addrs, size_t n, unsigned ttl)
{
	struct cached *e = lookup->owner;
	size_t size = lookup->v6 ? 16 : 4;

	e->pending--;
	e->failed = e->failed || status == AB_LOOKUP_FAILED;
	for (size_t i = 0; i < n; i++)
		ab_answer_add(&e->answer, lookup->v6, addrs + i * size);
	if (n > 0 && ttl < e->ttl)
		e->ttl = ttl;
	if (!e->pending) {
		e->resolver->active--;
		settle_with_results(e);
	} else if (n > 0 && !e->settled) {
		ab_loop_timer(e->resolver->loop, &e->timer, LATE_MS);
	}
}

static void entry_timed_out(struct ab_timer *timer)
{
	settle_with_results(timer->owner);
}

static void send_lookups(struct cached *e)
{
	struct ab_resolver *r = e->resolver;

	move_entry(e, NULL);
	ab_loop_timer(r->loop, &e->timer, SERVER_MS * ab_lookups_servers(r->lookups));
	r->active++;
	e->pending = 2;
	for (int i = 0; i < 2; i++)
		ab_lookup_start(r->lookups, &e->lookups[i]);
}

static void resolve_entry(struct cached *e)
{
	struct ab_resolver *r = e->resolver;

	move_entry(e, NULL);
	e->answer = (struct ab_answer){ .kind = AB_ANSWER_NONE };
	e->settled = e->failed = false;
	e->ttl = TTL_MAX;
	if (r->hosts_text && ab_hosts_find(r->hosts_text, r->hosts_len, e->name, &e->answer)) {
		settle_entry(e, TTL_MAX);
		return;
	}
	if (r->active < AB_RESOLVER_ACTIVE)
		send_lookups(e);
	else
		move_entry(e, &r->queue);
}

static struct cached *new_entry(struct ab_resolver *r, const char *name)
{
	struct cached *e = ab_alloc(sizeof(*e));

	e->name = ab_strdup(name);
	e->resolver = r;
	e->timer = (struct ab_timer){ .fire = entry_timed_out, .owner = e };
	for (int i = 0; i < 2; i++)
		e->lookups[i] = (struct ab_lookup){
			.name = e->name, .v6 = i == 0, .done = lookup_done, .owner = e
		};
	ab_tree_add(&r->by_name, e);
	return e;
}

static void deliver_answer(struct cached *e)
{
	struct ab_ask *ask;

	/* A callback may cancel any other ask. */
	while ((ask = e->asks)) {
		ab_list_remove(ask);
		ask->fn(ask, &e->answer);
	}
	if (e->list == &e->resolver->done)
		move_entry(e, e->pending ? NULL : &e->resolver->idle);
}

static void run_later(struct ab_later *later)
{
	struct ab_resolver *r = later->owner;
	struct cached *e;

	if (r->closed) {
		free(r);
		return;
	}
	while ((e = TAILQ_FIRST(&r->done)))
		deliver_answer(e);
	while (r->nidle > AB_RESOLVER_NAMES)
		free_entry(TAILQ_FIRST(&r->idle));
	while (r->active < AB_RESOLVER_ACTIVE && (e = TAILQ_FIRST(&r->queue))) {
		if (e->asks)
			send_lookups(e);
		else
			free_entry(e); /* all asks were cancelled */
	}
}

/* A missing file is probably being replaced: keep what was read. */
static bool has_changed(struct file *f)
{
	struct stat now;
	bool same;

	if (stat(f->path, &now) < 0)
		return false;
	same = now.st_dev == f->seen.st_dev && now.st_ino == f->seen.st_ino &&
	       now.st_size == f->seen.st_size && ab_time_same(now.st_mtim, f->seen.st_mtim);
	f->seen = now;
	return !same;
}

static void read_hosts(struct ab_resolver *r)
{
	char *text;
	size_t len;

	if (ab_read_file(AT_FDCWD, r->hosts.path, 0, HOSTS_SIZE, &text, &len) < 0)
		return;
	ab_hosts_lower(text, len);
	free(r->hosts_text);
	r->hosts_text = text;
	r->hosts_len = len;
}

static void check_files(struct ab_resolver *r)
{
	bool changed = false;

	if (r->checked && r->loop->now - r->checked < CHECK_MS)
		return;
	r->checked = r->loop->now;
	if (has_changed(&r->hosts)) {
		read_hosts(r);
		changed = true;
	}
	if (has_changed(&r->resolv_conf)) {
		ab_lookups_reopen(r->lookups);
		changed = true;
	}
	while (changed && !TAILQ_EMPTY(&r->idle))
		free_entry(TAILQ_FIRST(&r->idle));
}

const struct ab_answer *ab_resolver_ask(struct ab_resolver *r, const struct ab_host *host,
					struct ab_ask *ask)
{
	static const struct ab_answer local = {
		.kind = AB_ANSWER_OK,
		.n4 = 1,
		.n6 = 1,
		.v4[0] = { 127, 0, 0, 1 },
		.v6[0] = { [15] = 1 },
	};
	const char *name = host->text;
	struct cached *e;

	if (ab_host_is_local(host))
		return &local;
	check_files(r);
	e = ab_tree_find(&r->by_name, name);
	if (!e) {
		e = new_entry(r, name);
		resolve_entry(e);
	} else if (e->list == &r->idle) {
		if (e->expires <= r->loop->now)
			resolve_entry(e);
		else
			move_entry(e, &r->idle);
	}
	if (e->settled)
		return &e->answer;
	ab_list_push(&e->asks, ask);
	return NULL;
}

void ab_resolver_cancel(struct ab_ask *ask)
{
	if (ask->link)
		ab_list_remove(ask);
}

struct ab_resolver *ab_resolver_new(const struct ab_resolver_setup *setup)
{
	struct ab_resolver *r = ab_alloc(sizeof(*r));

	r->loop = setup->loop;
	r->resolv_conf.path =
		ab_strdup(setup->resolv_conf ? setup->resolv_conf : "/etc/resolv.conf");
	r->hosts.path = ab_strdup(setup->hosts ? setup->hosts : "/etc/hosts");
	r->lookups = ab_lookups_new(r->loop, r->resolv_conf.path, setup->port);
	TAILQ_INIT(&r->queue);
	TAILQ_INIT(&r->done);
	TAILQ_INIT(&r->idle);
	r->later = (struct ab_later){ .run = run_later, .owner = r };
	return r;
}

void ab_resolver_free(struct ab_resolver *r)
{
	if (!r)
		return;
	ab_lookups_free(r->lookups);
	while (r->by_name) {
		struct cached *e = *(struct cached **)r->by_name;

		while (e->asks)
			ab_list_remove(e->asks);
		free_entry(e);
	}
	ab_free_all(r->resolv_conf.path, r->hosts.path, r->hosts_text);
	r->closed = true;
	ab_loop_later(r->loop, &r->later); /* it may be queued already */
}
