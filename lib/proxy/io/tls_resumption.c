#include <stdint.h>
#include <string.h>

#include "base/data/mem.h"
#include "proxy/io/tls_state.h"

enum { WAYS = 4 };

struct kept {
	char *name;
	void *value;
	uint64_t used;
};

struct ab_tls_memo {
	size_t sets; /* a power of two */
	uint64_t clock;
	void (*drop)(void *value);
	struct kept kept[][WAYS];
};

struct ab_tls_memo *ab_tls_memo_new(size_t sets, void (*drop)(void *value))
{
	struct ab_tls_memo *memo = ab_alloc(sizeof(*memo) + sets * sizeof(memo->kept[0]));

	memo->sets = sets;
	memo->drop = drop;
	return memo;
}

static void drop_kept(struct ab_tls_memo *memo, struct kept *kept)
{
	if (kept->value)
		memo->drop(kept->value);
	free(kept->name);
	*kept = (struct kept){ 0 };
}

void ab_tls_memo_free(struct ab_tls_memo *memo)
{
	if (!memo)
		return;
	for (size_t i = 0; i < memo->sets; i++)
		for (size_t j = 0; j < WAYS; j++)
			drop_kept(memo, &memo->kept[i][j]);
	free(memo);
}

/* The box may choose names that share a set; that only slows down its own
 * connections. */
static struct kept *set_of(struct ab_tls_memo *memo, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return memo->kept[(hash ^ hash >> 16) & (memo->sets - 1)];
}

static struct kept *find_kept(struct ab_tls_memo *memo, const char *name)
{
	struct kept *set = set_of(memo, name);

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].name && strcmp(set[i].name, name) == 0)
			return &set[i];
	return NULL;
}

void *ab_tls_memo_get(struct ab_tls_memo *memo, const char *name)
{
	struct kept *kept = find_kept(memo, name);

	if (!kept)
		return NULL;
	kept->used = ++memo->clock;
	return kept->value;
}

static struct kept *find_least_used(struct ab_tls_memo *memo, const char *name)
{
	struct kept *set = set_of(memo, name), *least = set;

	for (size_t i = 1; i < WAYS; i++)
		if (set[i].used < least->used)
			least = &set[i];
	return least;
}

void ab_tls_memo_put(struct ab_tls_memo *memo, const char *name, void *value)
{
	struct kept *kept = find_kept(memo, name);

	if (!kept && !value)
		return;
	if (!kept)
		kept = find_least_used(memo, name);
	drop_kept(memo, kept);
	if (value)
		*kept = (struct kept){ .name = ab_strdup(name),
				       .value = value,
				       .used = ++memo->clock };
}
