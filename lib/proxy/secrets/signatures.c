#include "proxy/secrets/signatures.h"

#include "proxy/secrets/escapes.h"

enum {
	DIGITS = 64,
	/* They stay, so that a text which ends in a few digits does not wait for more. */
	FIRST = 8,
	REST = DIGITS - FIRST,
};

/* Where the name is, or would be. Names are as good as random, and half of the table is free (0). */
static uint64_t *find_name(uint64_t *names, size_t room, uint64_t name)
{
	size_t i = name;

	while (names[i & (room - 1)] && names[i & (room - 1)] != name)
		i++;
	return &names[i & (room - 1)];
}

static void double_room(struct ab_signatures *s)
{
	size_t room = s->room ? 2 * s->room : 64;
	uint64_t *names = ab_alloc(room * sizeof(names[0]));

	for (size_t i = 0; i < s->room; i++)
		if (s->names[i])
			*find_name(names, room, s->names[i]) = s->names[i];
	free(s->names);
	s->names = names;
	s->room = room;
}

bool ab_signatures_keep(struct ab_signatures *s, const char signature[65], uint64_t now)
{
	uint64_t name = strtoull(signature + DIGITS - 16, NULL, 16), *at;

	if (s->n == AB_SIGNATURES_MOST && now - s->since >= AB_SIGNATURES_MS) {
		free(s->older);
		*s = (struct ab_signatures){ .older = s->names };
	}
	if (s->n == AB_SIGNATURES_MOST)
		return false;
	if (!s->n)
		s->since = now;
	if (2 * s->n == s->room)
		double_room(s);
	at = find_name(s->names, s->room, name);
	s->n += !*at;
	*at = name;
	return true;
}

void ab_signatures_fini(struct ab_signatures *s)
{
	ab_free_all(s->names, s->older);
}

static bool is_known(const struct ab_signatures *s, uint64_t name)
{
	return *find_name(s->names, s->room, name) ||
	       (s->older && *find_name(s->older, 2 * AB_SIGNATURES_MOST, name));
}

/* Digits, and what else is in escaped ones. */
enum { DIGIT = 1, MARK };
static const uint8_t kinds[256] = {
	['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT,
	['6'] = DIGIT, ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT, ['a'] = DIGIT, ['b'] = DIGIT,
	['c'] = DIGIT, ['d'] = DIGIT, ['e'] = DIGIT, ['f'] = DIGIT, ['%'] = MARK,  ['\\'] = MARK,
	['u'] = MARK,  ['x'] = MARK,  ['X'] = MARK,  ['&'] = MARK,  ['#'] = MARK,  [';'] = MARK,
};

/* Where `REST` bytes begin that may all be of digits, escaped or not, from `p` on; or the last bytes,
 * which are fewer. */
static size_t find_digits(const uint8_t *s, size_t p, size_t len)
{
	for (size_t n = REST; n && len - p >= REST; p += n)
		for (n = REST; n && kinds[s[p + n - 1]]; n--)
			;
	return p;
}

/* The length of the escaped digit at `s`; 0: there is none. *ret_cut: more bytes may change that. */
static unsigned read_escaped(const uint8_t *s, size_t left, uint8_t *ret, bool *ret_cut)
{
	unsigned n = 0;

	for (int e = AB_ESCAPE_NONE + 1; !n && e < AB_ESCAPE_WRAP; e++) {
		n = ab_escape_read(s, left, (enum ab_escape)e, ret);
		n = kinds[*ret] == DIGIT ? n : 0;
		*ret_cut |= ab_escape_is_cut(s, left, (enum ab_escape)e, s[0]);
	}
	return n;
}

size_t ab_signatures_cover(const struct ab_signatures *s, uint8_t *data, size_t len, bool end)
{
	size_t at[DIGITS]; /* where the last digits begin */
	size_t p = 0, sure = 0, n = 0;
	uint64_t name = 0;
	bool cut = false;

	while (s->names && p < len) {
		uint8_t c = data[p];
		unsigned size = 1;

		if (!n && p >= sure) {
			p = find_digits(data, p, len);
			sure = p + REST;
			continue;
		}
		if (kinds[c] != DIGIT) {
			size = read_escaped(data + p, len - p, &c, &cut);
			if (cut && !end)
				break;
		}
		at[n++ % DIGITS] = p;
		p += size ? size : 1;
		name = name << 4 | ((c & 15) + (c >> 6) * 9u);
		if (size && n >= REST && is_known(s, name)) {
			memset(data + at[(n - REST) % DIGITS], 'x', p - at[(n - REST) % DIGITS]);
			size = 0;
		}
		if (!size)
			n = 0;
	}
	/* Those at the very beginning may follow some that were final. */
	if (end || !n || (n <= FIRST && at[0]))
		return cut && !end ? p : len;
	return at[n < REST ? 0 : (n - REST + 1) % DIGITS];
}
