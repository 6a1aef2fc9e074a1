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

	ok(ab_synthetic_number(names, &a, AB_SYNTHETIC_MAX) == 1 &&
		   ab_synthetic_number(names, &b, AB_SYNTHETIC_MAX) == 2 &&
		   ab_synthetic_number(names, &a, AB_SYNTHETIC_MAX) == 1,
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
	ab_synthetic_number(names, &h, AB_SYNTHETIC_MAX);
	ab_synthetic_v4(1, addr);
	ab_host_from_addr(false, addr, &h);
	first = ab_synthetic_find(names, &h);
	for (unsigned n = 1; n <= AB_SYNTHETIC_MAX; n++) {
		h = numbered(n);
		wrong += ab_synthetic_number(names, &h, AB_SYNTHETIC_MAX) != n;
	}
	ok(wrong == 0, "%d names", AB_SYNTHETIC_MAX);
	ok(ab_synthetic_number(names, &over, AB_SYNTHETIC_MAX) == 0, "and none more");
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
		lost += ab_synthetic_number(names, &want, AB_SYNTHETIC_MAX) != n;
	}
	ok(lost == 0, "all are found by both addresses and by name");
	ab_synthetic_v4(1, addr);
	ab_host_from_addr(false, addr, &h);
	ok(ab_synthetic_find(names, &h) == first, "a text stays where it is");
	ok(names->len == AB_SYNTHETIC_MAX, "the table has no more than these");
	ab_synthetic_free(names);
}

static void test_guests(void)
{
	struct ab_synthetic *names = ab_synthetic_new();
	struct ab_host h, known = numbered(7), over = name("over.example");

	for (unsigned n = 1; n <= AB_NAMES_GUESTS; n++) {
		h = numbered(n);
		ab_synthetic_number(names, &h, AB_NAMES_GUESTS);
	}
	ok(ab_synthetic_number(names, &over, AB_NAMES_GUESTS) == 0 &&
		   ab_synthetic_number(names, &known, AB_NAMES_GUESTS) == 7,
	   "names that may never be reached leave room");
	ok(ab_synthetic_number(names, &over, AB_SYNTHETIC_MAX) == AB_NAMES_GUESTS + 1 &&
		   ab_synthetic_number(names, &over, AB_NAMES_GUESTS) == AB_NAMES_GUESTS + 1,
	   "for those that may");
	ab_synthetic_free(names);
}

static size_t deepest;

static void note_depth(const void *node, VISIT visit, int depth)
{
	(void)node;
	if ((visit == leaf || visit == preorder) && (size_t)depth + 1 > deepest)
		deepest = (size_t)depth + 1;
}

/* The box chooses the names, and their order: the worst ones for a tree come sorted. */
static void test_flooding(void)
{
	enum { NAMES = 1024, MOST = 20 };
	struct ab_synthetic *names = ab_synthetic_new();
	size_t wrong = 0;
	char text[64];

	for (unsigned n = 1; n <= NAMES; n++) {
		struct ab_host h;

		snprintf(text, sizeof(text), "n%04u.example.com", n);
		h = name(text);
		wrong += ab_synthetic_number(names, &h, AB_SYNTHETIC_MAX) != n;
	}
	deepest = 0;
	twalk(names->by_text, note_depth);
	ok(wrong == 0 && names->len == NAMES, "%d names in their order", NAMES);
	ok(deepest >= 10 && deepest <= MOST, "%zu steps for the worst of them", deepest);
	ab_synthetic_free(names);
}

int main(void)
{
	test_found();
	test_full();
	test_guests();
	test_flooding();
	return done();
}
