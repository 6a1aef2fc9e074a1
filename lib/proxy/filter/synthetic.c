#include "proxy/filter/synthetic.h"

#include <assert.h>

#include "proxy/filter/tree.h"

static const uint8_t v4_prefix[2] = { 198, 18 };
static const uint8_t v6_prefix[8] = { 0xfd, 0x61, 0x67, 0x65, 0x6e, 0x74, 0x62, 0x6f };

struct named {
	char *text;
	uint16_t number; /* from 1, in order of first use */
};

struct ab_synthetic {
	size_t len;
	struct named **entries; /* number n is entries[n - 1] */
	void *by_text;
};

struct ab_synthetic *ab_synthetic_new(void)
{
	return ab_alloc(sizeof(struct ab_synthetic));
}

void ab_synthetic_free(struct ab_synthetic *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->len; i++) {
		ab_tree_remove(&names->by_text, names->entries[i]);
		ab_free_all(names->entries[i]->text, names->entries[i]);
	}
	ab_free_all(names->entries, names);
}

uint16_t ab_synthetic_number(struct ab_synthetic *names, const struct ab_host *name, size_t most)
{
	struct named *e = ab_tree_find(&names->by_text, name->text);

	assert(name->kind == AB_HOST_NAME);
	if (e)
		return e->number;
	if (names->len >= most)
		return 0;
	e = ab_alloc(sizeof(*e));
	*ab_append(names->entries, names->len) = e;
	*e = (struct named){ ab_strdup(name->text), (uint16_t)names->len };
	ab_tree_add(&names->by_text, e);
	return e->number;
}

void ab_synthetic_v4(uint16_t number, uint8_t ret[4])
{
	memcpy(ret, v4_prefix, sizeof(v4_prefix));
	ret[2] = (uint8_t)(number >> 8);
	ret[3] = (uint8_t)number;
}

void ab_synthetic_v6(uint16_t number, uint8_t ret[16])
{
	memset(ret, 0, 16);
	memcpy(ret, v6_prefix, sizeof(v6_prefix));
	ret[14] = (uint8_t)(number >> 8);
	ret[15] = (uint8_t)number;
}

bool ab_synthetic_is(const struct ab_host *addr)
{
	switch (addr->kind) {
	case AB_HOST_NAME:
		return false;
	case AB_HOST_IPV4:
		/* The other half of the /15 is never assigned, but is not
		 * a public host either. */
		return addr->addr[0] == v4_prefix[0] && (addr->addr[1] & 0xfe) == v4_prefix[1];
	case AB_HOST_IPV6:
		return memcmp(addr->addr, v6_prefix, sizeof(v6_prefix)) == 0;
	}
	return false;
}

const char *ab_synthetic_find(const struct ab_synthetic *names, const struct ab_host *addr)
{
	size_t size = addr->kind == AB_HOST_IPV4 ? 4 : 16;
	const uint8_t *last = addr->addr + size - 2;
	uint16_t number = (uint16_t)(last[0] << 8 | last[1]);
	uint8_t made[16];

	if (!ab_synthetic_is(addr) || number == 0 || number > names->len)
		return NULL;
	/* Exactly the assigned address, not one that ends like it. */
	if (addr->kind == AB_HOST_IPV4)
		ab_synthetic_v4(number, made);
	else
		ab_synthetic_v6(number, made);
	return memcmp(made, addr->addr, size) == 0 ? names->entries[number - 1]->text : NULL;
}
