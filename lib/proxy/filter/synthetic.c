#include "proxy/filter/synthetic.h"

#include <assert.h>
#include <sys/random.h>

/*
 * Names are numbered from 1 in order of first use, and found by an open hash
 * table of those numbers, at most half full. The box chooses the names, so the
 * hash is keyed: the box sees only numbers, and can neither learn the key nor
 * make names collide.
 */
enum { FIRST_SLOTS = 64 }; /* a power of two, like all sizes */

static const uint8_t v4_prefix[2] = { 198, 18 };
static const uint8_t v6_prefix[8] = { 0xfd, 0x61, 0x67, 0x65, 0x6e, 0x74, 0x62, 0x6f };

struct ab_synthetic {
	uint64_t key[2];
	uint32_t len; /* names assigned; the highest number */
	uint32_t room;
	struct entry {
		uint64_t hash;
		char *text;
	} * entries; /* number n is entries[n - 1] */
	uint32_t nslots;
	uint16_t *slots; /* numbers; 0: free */
};

struct ab_synthetic *ab_synthetic_new(void)
{
	struct ab_synthetic *names = ab_alloc(sizeof(*names));

	/* Fails for so few bytes only if a seccomp filter is wrong. */
	if (getrandom(names->key, sizeof(names->key), 0) != (ssize_t)sizeof(names->key))
		abort();
	names->nslots = FIRST_SLOTS;
	names->slots = ab_alloc(FIRST_SLOTS * sizeof(*names->slots));
	return names;
}

void ab_synthetic_free(struct ab_synthetic *names)
{
	if (!names)
		return;
	for (uint32_t i = 0; i < names->len; i++)
		free(names->entries[i].text);
	ab_free_all(names->entries, names->slots, names);
}

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void mix_state(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* SipHash-2-4. */
static uint64_t hash_name(const uint64_t key[2], const char *s, size_t len)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			  key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };

	for (size_t at = 0; at <= len; at += 8) {
		size_t n = len - at < 8 ? len - at : 8;
		uint64_t word = n < 8 ? (uint64_t)len << 56 : 0;

		for (size_t i = 0; i < n; i++)
			word |= (uint64_t)(uint8_t)s[at + i] << 8 * i;
		v[3] ^= word;
		mix_state(v);
		mix_state(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		mix_state(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot of a name, or a free one for it. */
static uint32_t find_slot(const struct ab_synthetic *names, uint64_t h, const char *text)
{
	uint32_t mask = names->nslots - 1;
	uint32_t i = (uint32_t)h & mask;

	while (names->slots[i]) {
		const struct entry *e = &names->entries[names->slots[i] - 1];

		if (e->hash == h && strcmp(e->text, text) == 0)
			break;
		i = (i + 1) & mask;
	}
	return i;
}

static void make_room(struct ab_synthetic *names)
{
	if (names->len == names->room) {
		names->room = names->room ? names->room * 2 : FIRST_SLOTS / 2;
		names->entries = ab_realloc(names->entries, names->room * sizeof(*names->entries));
	}
	if (names->len < names->nslots / 2)
		return;
	free(names->slots);
	names->nslots *= 2;
	names->slots = ab_alloc(names->nslots * sizeof(*names->slots));
	for (uint32_t n = 1; n <= names->len; n++) {
		const struct entry *e = &names->entries[n - 1];

		names->slots[find_slot(names, e->hash, e->text)] = (uint16_t)n;
	}
}

static uint16_t assign_number(struct ab_synthetic *names, const struct ab_host *name, uint32_t most)
{
	uint64_t h = hash_name(names->key, name->text, strlen(name->text));
	uint32_t slot = find_slot(names, h, name->text);

	assert(name->kind == AB_HOST_NAME);
	if (names->slots[slot])
		return names->slots[slot];
	if (names->len >= most)
		return 0;
	make_room(names);
	names->entries[names->len++] = (struct entry){
		.hash = h,
		.text = ab_strdup(name->text),
	};
	/* make_room may have rebuilt the table. */
	slot = find_slot(names, h, name->text);
	names->slots[slot] = (uint16_t)names->len;
	return names->slots[slot];
}

uint16_t ab_synthetic_number(struct ab_synthetic *names, const struct ab_host *name)
{
	return assign_number(names, name, AB_SYNTHETIC_MAX);
}

uint16_t ab_synthetic_guest(struct ab_synthetic *names, const struct ab_host *name)
{
	return assign_number(names, name, AB_NAMES_GUESTS);
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
	return memcmp(made, addr->addr, size) == 0 ? names->entries[number - 1].text : NULL;
}
