#include <stdlib.h>
#include <string.h>

#include "client.h"

struct ab_pool {
	struct ab_manager *manager;
	uint64_t number;
};

uint64_t ab_client_pool_number(const struct ab_pool *pool)
{
	return pool ? pool->number : 0;
}

bool ab_client_pool_of(const struct ab_pool *pool, const struct ab_manager *m)
{
	return !pool || pool->manager == m;
}

static int open_pool(struct ab_manager *m, const struct ab_pool_options *o, struct ab_pool *pool,
		     struct ab_fault *fault)
{
	json_t *request = ab_client_policy(m, "pool", o->policy, fault), *reply = NULL;

	if (!request)
		return -1;
	if (json_object_set_new(request, "size", json_integer((json_int_t)o->boxes)) < 0) {
		json_decref(request);
		return ab_client_memory(fault);
	}
	/* A no-op manager prepares nothing. */
	if (m->noop) {
		json_decref(request);
		return 0;
	}
	if (ab_client_ask(m, request, NULL, 0, NULL, &reply, fault) < 0)
		return -1;
	pool->number = (uint64_t)json_integer_value(json_object_get(reply, "pool"));
	json_decref(reply);
	return 0;
}

int ab_pool_new(struct ab_manager *m, const struct ab_pool_options *from, struct ab_pool **ret,
		struct ab_fault *fault)
{
	struct ab_pool_options o = { 0 };
	struct ab_pool *pool;

	if (from && ab_client_options(&o, sizeof(o), from, from->size, fault) < 0)
		return -1;
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return ab_client_memory(fault);
	pool->manager = m;
	if (open_pool(m, &o, pool, fault) < 0) {
		free(pool);
		return -1;
	}
	ab_client_ref(m);
	*ret = pool;
	return 0;
}

void ab_pool_free(struct ab_pool *pool)
{
	struct ab_manager *m = pool ? pool->manager : NULL;
	bool active;

	if (!pool)
		return;
	pthread_mutex_lock(&m->lock);
	active = pool->number && !m->dead && m->sock >= 0;
	pthread_mutex_unlock(&m->lock);
	/* Waits until the boxes are gone. */
	if (active)
		(void)ab_client_ask(
			m, json_pack("{s:s,s:I}", "do", "close", "pool", (json_int_t)pool->number),
			NULL, 0, NULL, NULL, NULL);
	free(pool);
	ab_client_unref(m);
}
