#include "session/warm/pool_pace.h"

enum {
	WINDOW = 8, /* boxes; more than half of them decide */
	REST = 16,  /* runs, the first time */
	REST_MAX = 1024,
};

size_t ab_pool_pace_boxes(const struct ab_pool_pace *p, size_t size)
{
	if (p->left)
		return 0;
	return p->tries ? 1 : size;
}

bool ab_pool_pace_box(struct ab_pool_pace *p, bool fits)
{
	unsigned rest;

	/* One that was taken before. */
	if (p->left)
		return false;
	if (p->tries && fits)
		*p = (struct ab_pool_pace){ 0 };
	p->fates = (uint8_t)(p->fates << 1 | !fits);
	p->nfates += p->nfates < WINDOW;
	if (!p->tries &&
	    (p->nfates < WINDOW || (unsigned)__builtin_popcount(p->fates) <= WINDOW / 2))
		return false;
	rest = p->rest ? p->rest * 2 : REST;
	if (rest > REST_MAX)
		rest = REST_MAX;
	*p = (struct ab_pool_pace){ .rest = rest, .left = rest };
	return true;
}

void ab_pool_pace_run(struct ab_pool_pace *p)
{
	if (p->left && --p->left == 0)
		p->tries = true;
}
