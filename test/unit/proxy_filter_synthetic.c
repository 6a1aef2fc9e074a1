/* Includes the module itself: what the table does inside is the question. */
#include "proxy/filter/synthetic.c"

#include <stdio.h>

#include "tap.h"

static struct ab_host name(const char *text)
{
	struct ab_host h = { .kind = AB_HOST_NAME };

	snprintf(h.text, sizeof(h.text), "%s", text);
	return h;
}

static struct ab_host numbered(unsigned n)
{
	char text[64];

	snprintf(text, sizeof(text), "n%u.example.com", n);
	return name(text);
}

static struct ab_host address(const char *text)
{
	struct ab_host h = { .kind = AB_HOST_NAME };

	if (ab_host_parse(text, strlen(text), &h, NULL) < 0)
		printf("# not a host: %s\n", text);
	return h;
}

static const struct {
	const char *addr;
	bool synthetic;
	const char *name;
} found[] = {
	{ "198.18.0.1", true, "a.example" },
	{ "198.18.0.2", true, "b.example" },
	{ "::ffff:198.18.0.2", true, "b.example" },
	{ "fd61:6765:6e74:626f::1", true, "a.example" },
	{ "fd61:6765:6e74:626f::2", true, "b.example" },
	{ "198.18.0.0", true, NULL },
	{ "198.18.0.3", true, NULL },
	{ "198.18.255.255", true, NULL },
	{ "198.19.0.1", true, NULL },
	{ "198.19.255.1", true, NULL },
	{ "198.19.255.255", true, NULL },
	{ "fd61:6765:6e74:626f::", true, NULL },
	{ "fd61:6765:6e74:626f::3", true, NULL },
	{ "fd61:6765:6e74:626f::1:1", true, NULL },
	{ "fd61:6765:6e74:626f:1::1", true, NULL },
	{ "fd61:6765:6e74:626f:ffff::1", true, NULL },
	{ "198.17.0.1", false, NULL },
	{ "198.20.0.1", false, NULL },
	{ "199.18.0.1", false, NULL },
	{ "1.2.0.1", false, NULL },
	{ "fd61:6765:6e74:626e::1", false, NULL },
	{ "fd61:6765:6e74:6270::1", false, NULL },
	{ "::1", false, NULL },
	{ "a.example", false, NULL },
};

static void test_found(void)
{
	struct ab_synthetic *names = ab_synthetic_new();
	struct ab_host a = name("a.example"), b = name("b.example");

	ok(ab_synthetic_number(names, &a) == 1 && ab_synthetic_number(names, &b) == 2 &&
		   ab_synthetic_number(names, &a) == 1,
	   "a number for each name, and for a name always the same");
	for (size_t i = 0; i < AB_COUNT(found); i++) {
		struct ab_host h = address(found[i].addr);
		const char *text = ab_synthetic_find(names, &h);

		ok(ab_synthetic_is(&h) == found[i].synthetic &&
			   (found[i].name ? text && strcmp(text, found[i].name) == 0 : !text),
		   "%s: %s", found[i].addr, text ? text : "nobody");
	}
	ab_synthetic_free(names);
	ab_synthetic_free(NULL);
}

/* Every number there is, by both of its addresses, and no one more. */
static void test_full(void)
{
	struct ab_synthetic *names = ab_synthetic_new();
	struct ab_host h, over = name("over.example");
	size_t wrong = 0, lost = 0;
	const char *first;
	uint8_t addr[16];

	h = numbered(1);
	ab_synthetic_number(names, &h);
	ab_synthetic_v4(1, addr);
	ab_host_from_addr(false, addr, &h);
	first = ab_synthetic_find(names, &h);
	for (unsigned n = 1; n <= AB_SYNTHETIC_MAX; n++) {
		h = numbered(n);
		wrong += ab_synthetic_number(names, &h) != n;
	}
	ok(wrong == 0, "%d names", AB_SYNTHETIC_MAX);
	ok(ab_synthetic_number(names, &over) == 0, "and none more");
	for (unsigned n = 1; n <= AB_SYNTHETIC_MAX; n++) {
		struct ab_host want = numbered(n);
		const char *text;

		for (int v6 = 0; v6 < 2; v6++) {
			if (v6)
				ab_synthetic_v6((uint16_t)n, addr);
			else
				ab_synthetic_v4((uint16_t)n, addr);
			ab_host_from_addr(v6, addr, &h);
			text = ab_synthetic_find(names, &h);
			lost += !text || strcmp(text, want.text) != 0;
		}
		lost += ab_synthetic_number(names, &want) != n;
	}
	ok(lost == 0, "all are found by both addresses and by name");
	ab_synthetic_v4(1, addr);
	ab_host_from_addr(false, addr, &h);
	ok(ab_synthetic_find(names, &h) == first, "a text stays where it is");
	ok(names->nslots == 131072 && names->room <= 65536,
	   "the table has no more room than that needs");
	ab_synthetic_free(names);
}

static void test_guests(void)
{
	struct ab_synthetic *names = ab_synthetic_new();
	struct ab_host h, known = numbered(7), over = name("over.example");

	for (unsigned n = 1; n <= AB_NAMES_GUESTS; n++) {
		h = numbered(n);
		ab_synthetic_guest(names, &h);
	}
	ok(ab_synthetic_guest(names, &over) == 0 && ab_synthetic_guest(names, &known) == 7,
	   "names that may never be reached leave room");
	ok(ab_synthetic_number(names, &over) == AB_NAMES_GUESTS + 1 &&
		   ab_synthetic_guest(names, &over) == AB_NAMES_GUESTS + 1,
	   "for those that may");
	ab_synthetic_free(names);
}

static void test_small(void)
{
	struct ab_synthetic *names = ab_synthetic_new();
	struct ab_host h = name("a.example");

	ab_synthetic_number(names, &h);
	ok(names->nslots <= 64 && names->room <= 64, "a table with one name is small");
	ab_synthetic_free(names);
}

static void test_hash(void)
{
	/* From the paper: the key is the bytes 0 to 15. */
	const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	const char data[] = "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16";

	ok(hash_name(key, data, 15) == 0xa129ca6149be45e5, "15 bytes");
	ok(hash_name(key, data, 8) == 0x93f5f5799a932462, "8 bytes");
	ok(hash_name(key, data, 0) == 0x726fdb47dd0e0e31, "nothing");
}

/* Slots looked at to find each name once. */
static size_t probes(const struct ab_synthetic *names, size_t *ret_worst)
{
	uint32_t mask = names->nslots - 1;
	size_t sum = 0;

	*ret_worst = 0;
	for (uint32_t i = 0; i < names->nslots; i++) {
		size_t n;

		if (!names->slots[i])
			continue;
		n = 1 + ((i - (uint32_t)names->entries[names->slots[i] - 1].hash) & mask);
		sum += n;
		*ret_worst = n > *ret_worst ? n : *ret_worst;
	}
	return sum;
}

/*
 * Names that all fall into one corner of a table with one key are spread like
 * any others in a table with another: what was learnt about one run is worth
 * nothing in the next.
 */
static void test_flooding(void)
{
	enum { NAMES = 1024, SLOTS = 2048, CORNER = 8 };
	struct ab_synthetic *known = ab_synthetic_new(), *other = ab_synthetic_new();
	size_t sum, worst;

	/* The corner is the same at every size that the table has. */
	known->key[0] = 1;
	known->key[1] = 2;
	for (unsigned n = 0; known->len < NAMES; n++) {
		struct ab_host h = numbered(n);
		uint64_t hashed = hash_name(known->key, h.text, strlen(h.text));

		if ((hashed & (SLOTS - 1)) >= CORNER)
			continue;
		ab_synthetic_number(other, &h);
		known->len++; /* only counted: to put them in is the attack */
	}
	known->len = 0;
	ok(other->key[0] != 1 && other->len == NAMES && other->nslots == SLOTS,
	   "%d names that collide with another key", NAMES);
	sum = probes(other, &worst);
	ok(sum < 3 * NAMES && worst < 200, "%zu steps to find them all, %zu for the worst", sum,
	   worst);
	ab_synthetic_free(known);
	ab_synthetic_free(other);
}

static void test_keys(void)
{
	struct ab_synthetic *a = ab_synthetic_new(), *b = ab_synthetic_new();

	ok(memcmp(a->key, b->key, sizeof(a->key)) != 0, "every table has a key of its own");
	ab_synthetic_free(a);
	ab_synthetic_free(b);
}

int main(void)
{
	test_found();
	test_full();
	test_guests();
	test_small();
	test_hash();
	test_flooding();
	test_keys();
	return done();
}
