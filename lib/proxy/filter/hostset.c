#include "proxy/filter/hostset.h"

#include <assert.h>

#include "base/data/hash.h"

enum kind { NAME, BELOW, IPV4, IPV6 };

struct ab_hostkey {
	const char *text; /* the entry */
	uint64_t hash;
	uint32_t port; /* 0: none; AB_HOSTSET_ANY_PORT: matches every port */
	uint8_t kind;
	uint8_t bits; /* of an address */
	uint8_t len;
	const void *data; /* a name, in text; or the bytes of an address */
};

/*
 * Bytes are added from last to first, so walking a name in that direction
 * yields the hash of each name above it.
 */
static uint64_t hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t hash = AB_HASH_START;

	while (len > 0)
		hash = ab_hash(hash, &p[--len], 1);
	return hash;
}

/* Mix all bits into the low ones, which choose the slot. */
static uint64_t finish_hash(uint64_t hash, const struct ab_hostkey *key)
{
	hash ^= ((uint64_t)key->port << 16 | (uint64_t)key->kind << 8 | key->bits) *
		UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}

static bool same_key(const struct ab_hostkey *a, const struct ab_hostkey *b)
{
	return a->hash == b->hash && a->port == b->port && a->kind == b->kind &&
	       a->bits == b->bits && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* The slot with this key, or a free one for it. At least half are free. */
static uint32_t *slot_of(const struct ab_hostset *set, const struct ab_hostkey *key)
{
	size_t i = key->hash & set->mask;

	while (set->slots[i] && !same_key(&set->keys[set->slots[i] - 1], key))
		i = (i + 1) & set->mask;
	return &set->slots[i];
}

static const char *find_key(const struct ab_hostset *set, struct ab_hostkey *key, uint64_t hash)
{
	uint32_t number;

	key->hash = finish_hash(hash, key);
	number = *slot_of(set, key);
	return number ? set->keys[number - 1].text : NULL;
}

/* If two keys are equal, the first one stays. */
static void add_key(struct ab_hostset *set, struct ab_hostkey *key, uint64_t hash)
{
	uint32_t *slot;

	key->hash = finish_hash(hash, key);
	slot = slot_of(set, key);
	if (*slot)
		return;
	set->keys[set->len++] = *key;
	*slot = (uint32_t)set->len;
}

static void add_entry(struct ab_hostset *set, const struct ab_host_entry *e)
{
	char text[AB_HOST_ENTRY_TEXT];
	struct ab_hostkey key = { .port = e->port, .bits = e->bits };
	uint64_t hash;

	ab_host_entry_format(e, text);
	key.text = ab_arena_dup(&set->texts, text);
	if (e->host.kind == AB_HOST_NAME) {
		key.kind = e->below ? BELOW : NAME;
		key.data = key.text + (e->below ? 2 : 0);
		key.len = (uint8_t)strlen(e->host.text);
	} else {
		bool v6 = e->host.kind == AB_HOST_IPV6;

		key.kind = v6 ? IPV6 : IPV4;
		key.len = sizeof(e->host.addr);
		key.data = memcpy(ab_arena_alloc(&set->texts, key.len), e->host.addr, key.len);
		(v6 ? set->v6_bits : set->v4_bits)[e->bits] = true;
	}
	hash = hash_bytes(key.data, key.len);
	add_key(set, &key, hash);
	key.port = AB_HOSTSET_ANY_PORT;
	add_key(set, &key, hash);
}

void ab_hostset_init(struct ab_hostset *set, const struct ab_strv *entries)
{
	size_t room = 4;

	while (room < 4 * entries->len) /* two keys per entry, half free */
		room *= 2;
	*set = (struct ab_hostset){
		.keys = ab_alloc((2 * entries->len + 1) * sizeof(*set->keys)),
		.slots = ab_alloc(room * sizeof(*set->slots)),
		.mask = room - 1,
	};
	for (size_t i = 0; i < entries->len; i++) {
		struct ab_host_entry e;
		int r = ab_host_entry_parse(entries->v[i], strlen(entries->v[i]), &e, NULL);

		assert(r == 0);
		if (r == 0)
			add_entry(set, &e);
	}
}

void ab_hostset_fini(struct ab_hostset *set)
{
	ab_arena_fini(&set->texts);
	ab_free_all(set->keys, set->slots);
	*set = (struct ab_hostset){ 0 };
}

static const char *find_name(const struct ab_hostset *set, const char *name, uint32_t port)
{
	struct ab_hostkey key = { .port = port, .kind = BELOW };
	uint64_t hash = AB_HASH_START;
	size_t len = strlen(name);
	const char *found = NULL, *text;

	for (size_t i = len; i > 0; i--) {
		if (name[i - 1] == '.') {
			key.data = name + i;
			key.len = (uint8_t)(len - i);
			text = find_key(set, &key, hash);
			found = text ? text : found;
		}
		hash = ab_hash(hash, &name[i - 1], 1);
	}
	key.kind = NAME;
	key.data = name;
	key.len = (uint8_t)len;
	text = find_key(set, &key, hash);
	return text ? text : found;
}

static const char *find_address(const struct ab_hostset *set, const struct ab_host *host,
				uint32_t port)
{
	bool v6 = host->kind == AB_HOST_IPV6;
	const bool *used = v6 ? set->v6_bits : set->v4_bits;
	uint8_t addr[sizeof(host->addr)] = { 0 };
	struct ab_hostkey key = {
		.port = port, .kind = v6 ? IPV6 : IPV4, .len = sizeof(addr), .data = addr
	};

	memcpy(addr, host->addr, v6 ? 16 : 4);
	/* From the longest prefix down, each step clears one more bit. */
	for (int bits = v6 ? 128 : 32; bits >= 0; bits--) {
		const char *text;

		if (bits < (v6 ? 128 : 32))
			addr[bits / 8] &= (uint8_t) ~(0x80 >> bits % 8);
		if (!used[bits])
			continue;
		key.bits = (uint8_t)bits;
		text = find_key(set, &key, hash_bytes(addr, sizeof(addr)));
		if (text)
			return text;
	}
	return NULL;
}

const char *ab_hostset_find(const struct ab_hostset *set, const struct ab_host *host, uint32_t port)
{
	if (set->len == 0)
		return NULL;
	return host->kind == AB_HOST_NAME ? find_name(set, host->text, port)
					  : find_address(set, host, port);
}
